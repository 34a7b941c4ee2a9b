//! Buffers of instances, dealing of iterations, and collectives.

use crate::{run, tensor};
use tilewright_ir::affine::Affine;
use tilewright_ir::expression::{Binary, Expression};
use tilewright_ir::program::{
    Access, Axis, Buffer, CollectiveKind, Combine, Count, Deal, Instruction, Loop, Mapping, Operation,
    Program, Role, Statement,
};
use tilewright_ir::{DataType, InterpretError, ProgramBuilder};

/// Two loops over three threads with one deal: the first keeps each iteration's number in a buffer of the
/// thread's own, the second adds 100 and writes it out.
fn kept(iterations: i64, deals: [Deal; 2], first: u64) -> Program {
    let mut builder = ProgramBuilder::new("kept");
    builder.resource("thread", Count::Fixed(3));
    let out = builder.dense_tensor("out", DataType::F32, [iterations as u64], Role::Output);
    let own = builder.buffer(Buffer::new("own", DataType::F32, [iterations], "L1").owned_by("thread"));
    let (i, j) = (builder.variable("i"), builder.variable("j"));
    let plus = Access::new(own, [j]).load().binary(Binary::Add, Expression::constant(100.0));
    let mut phase: Vec<Statement> = vec![own.into()];
    let bodies = [
        Instruction::map([], Access::new(own, [i]), Expression::Position(i.into())),
        Instruction::map([], Access::new(out, [j]), plus),
    ];
    for ((variable, deal), body) in [i, j].into_iter().zip(deals).zip(bodies) {
        let mut over = Loop::over_range(variable, 0, iterations, 1).with_body([body]);
        over.over = Some(Mapping { resource: "thread".to_owned(), deal, first });
        phase.push(over.into());
    }
    builder.finish_run([phase])
}

fn outcome(program: &Program, seed: u64) -> Result<Vec<f64>, InterpretError> {
    let shape: Vec<u64> =
        program.tensors[0].shape.iter().map(|extent| extent.as_constant().unwrap() as u64).collect();
    let zeros = vec![0.0; shape.iter().product::<u64>() as usize];
    Ok(run(program, vec![tensor(DataType::F32, &shape, &zeros)], seed)?[0].elements())
}

#[test]
fn a_buffer_of_an_instance_lives_across_loops_with_one_split() {
    for seed in 0..5 {
        for deal in [Deal::Block, Deal::Cyclic] {
            for iterations in [1, 3, 7] {
                let wanted = (0..iterations).map(|i| (100 + i) as f64).collect();
                assert_eq!(outcome(&kept(iterations, [deal; 2], 2), seed), Ok(wanted));
            }
        }
        let result = outcome(&kept(7, [Deal::Block, Deal::Cyclic], 0), seed);
        assert!(matches!(result, Err(InterpretError::Uninitialised { target, .. }) if target == "own"));
    }
}

#[test]
fn iterations_of_a_dynamic_loop_race_whoever_takes_them() {
    let mut builder = ProgramBuilder::new("dynamic");
    builder.resource("thread", Count::Fixed(1));
    let out = builder.dense_tensor("out", DataType::F32, [1], Role::Output);
    let i = builder.variable("i");
    let body = [Instruction::fill([], Access::new(out, [0]), 1.0)];
    let over = Loop::over_range(i, 0, 2, 1).mapped("thread", Deal::Dynamic).with_body(body);
    let program = builder.finish_run([vec![over.into()]]);
    assert!(matches!(outcome(&program, 0), Err(InterpretError::Race { .. })));
}

#[test]
fn what_instances_own_may_be_reused_in_a_dynamic_loop() {
    let mut builder = ProgramBuilder::new("dynamic, own");
    builder.resource("thread", Count::Fixed(2));
    let out = builder.dense_tensor("out", DataType::F32, [9], Role::Output);
    let own = builder.buffer(Buffer::scalar("own", DataType::F32, "register").owned_by("thread"));
    let i = builder.variable("i");
    let body = [
        Instruction::map([], Access::scalar(own), Expression::Position(i.into())),
        Instruction::copy([], Access::new(out, [i]), Access::scalar(own)),
    ];
    let over = Loop::over_range(i, 0, 9, 1).mapped("thread", Deal::Dynamic).with_body(body);
    let program = builder.finish_run([vec![own.into(), over.into()]]);
    for seed in 0..10 {
        assert_eq!(outcome(&program, seed), Ok((0..9).map(f64::from).collect()));
    }
}

/// Each of two units fills its source of two elements with `10·unit + column`, then exchanges.
fn exchanged(
    kind: CollectiveKind,
    source: i64,
    destination: i64,
    part: u64,
) -> Result<Vec<f64>, InterpretError> {
    let mut builder = ProgramBuilder::new("exchange");
    builder.resource("unit", Count::Fixed(2));
    let out = builder.dense_tensor("out", DataType::F32, [2, destination as u64], Role::Output);
    let mut local = |name: &str, extent: i64| {
        builder.buffer(Buffer::new(name, DataType::F32, [extent], "sram").owned_by("unit"))
    };
    let (from, to) = (local("from", source), local("to", destination));
    let [u, v, x, y, z] = ["u", "v", "x", "y", "z"].map(|name| builder.variable(name));
    let value = Expression::Position((u * 10 + x).into());
    let over = |variable, body: Instruction| -> Statement {
        Loop::over_range(variable, 0, 2, 1).mapped("unit", Deal::Block).with_body([body]).into()
    };
    let operation = Operation::Collective {
        kind,
        destination: Access::new(to, [y]),
        source: Access::new(from, [y]),
        resource: "unit".to_owned(),
    };
    let program = builder.finish_run([vec![
        from.into(),
        to.into(),
        over(u, Instruction::map([Axis::new(x, source as u64)], Access::new(from, [x]), value)),
        Instruction::new([Axis::new(y, part)], operation).into(),
        over(
            v,
            Instruction::copy(
                [Axis::new(z, destination as u64)],
                Access::new(out, [v, z]),
                Access::new(to, [z]),
            ),
        ),
    ]]);
    outcome(&program, 0)
}

#[test]
fn collectives_give_each_instance_its_due() {
    let sum = Combine::Sum;
    assert_eq!(exchanged(CollectiveKind::AllReduce(sum), 2, 2, 2), Ok(vec![10.0, 12.0, 10.0, 12.0]));
    assert_eq!(
        exchanged(CollectiveKind::AllGather, 2, 4, 2),
        Ok([[0.0, 1.0, 10.0, 11.0], [0.0, 1.0, 10.0, 11.0]].concat())
    );
    assert_eq!(exchanged(CollectiveKind::ReduceScatter(sum), 4, 2, 2), Ok(vec![10.0, 12.0, 14.0, 16.0]));
    assert_eq!(
        exchanged(CollectiveKind::AllReduce(Combine::Maximum), 2, 2, 2),
        Ok(vec![10.0, 11.0, 10.0, 11.0])
    );
    assert_eq!(exchanged(CollectiveKind::Broadcast, 2, 2, 2), Ok(vec![0.0, 1.0, 0.0, 1.0]));
}

#[test]
fn what_all_read_together_must_agree() {
    let build = |differs: bool| {
        let mut builder = ProgramBuilder::new("together");
        builder.resource("unit", Count::Fixed(2));
        let out = builder.dense_tensor("out", DataType::F32, [1], Role::Output);
        let own = builder.buffer(Buffer::scalar("own", DataType::F32, "sram").owned_by("unit"));
        let u = builder.variable("u");
        let value = if differs { Affine::from(u) } else { Affine::from(3) };
        let body = [Instruction::map([], Access::scalar(own), Expression::Position(value.into()))];
        let over = Loop::over_range(u, 0, 2, 1).mapped("unit", Deal::Block).with_body(body);
        let read = Instruction::copy([], Access::new(out, [0]), Access::scalar(own));
        builder.finish_run([vec![own.into(), over.into(), Statement::barrier("device"), read.into()]])
    };
    assert_eq!(outcome(&build(false), 0), Ok(vec![3.0]));
    let wanted = InterpretError::Disagreement { target: "own".to_owned(), indices: vec![] };
    assert_eq!(outcome(&build(true), 0), Err(wanted));
}
