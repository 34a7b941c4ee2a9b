//! Barriers: who must arrive, and what they order.

use crate::{run, tensor};
use tilewright_ir::expression::{Binary, Expression};
use tilewright_ir::program::{Access, Buffer, Count, Deal, Instruction, Loop, Program, Role, Statement};
use tilewright_ir::{DataType, InterpretError, ProgramBuilder};

/// Each of `iterations` on two threads writes its place, waits (or not), and reads its mirror image's.
fn exchange(iterations: i64, with_barrier: bool) -> Program {
    let mut builder = ProgramBuilder::new("exchange");
    builder.resource("thread", Count::Fixed(2));
    let out = builder.dense_tensor("out", DataType::F32, [iterations as u64], Role::Output);
    let shared = builder.buffer(Buffer::new("shared", DataType::F32, [iterations], "memory"));
    let i = builder.variable("i");
    let mut body: Vec<Statement> = vec![
        Instruction::map([], Access::new(shared, [i]), Expression::Position(i.into())).into(),
        Instruction::copy(
            [],
            Access::new(out, [i]),
            Access::new(shared, [tilewright_ir::affine::Affine::from(iterations - 1) - i]),
        )
        .into(),
    ];
    if with_barrier {
        body.insert(1, Statement::barrier("device"));
    }
    let over = Loop::over_range(i, 0, iterations, 1).mapped("thread", Deal::Cyclic).with_body(body);
    builder.finish_run([vec![shared.into(), over.into()]])
}

fn outcome(program: &Program, seed: u64) -> Result<Vec<f64>, InterpretError> {
    let length = program.tensors[0].shape[0].as_constant().unwrap() as usize;
    let operands = vec![tensor(DataType::F32, &[length as u64], &vec![0.0; length])];
    Ok(run(program, operands, seed)?[0].elements())
}

#[test]
fn instances_exchange_across_a_barrier_that_all_reach() {
    for seed in 0..10 {
        assert_eq!(outcome(&exchange(2, true), seed), Ok(vec![1.0, 0.0]));
    }
}

#[test]
fn without_the_barrier_the_exchange_is_a_race_or_reads_too_early() {
    for seed in 0..10 {
        let result = outcome(&exchange(2, false), seed);
        assert!(
            matches!(result, Err(InterpretError::Race { .. } | InterpretError::Uninitialised { .. })),
            "{result:?}"
        );
    }
}

#[test]
fn a_barrier_that_one_instance_reaches_more_often_is_reported() {
    for seed in 0..10 {
        let wanted = InterpretError::UnequalBarrier { scope: "device".to_owned(), arrived: 1, of: 2 };
        // One thread has one iteration, the other none.
        assert_eq!(outcome(&exchange(1, true), seed), Err(wanted));
    }
    let mut program = exchange(3, true);
    // No reads: only the barrier is wrong.
    if let Statement::Loop(repeated) = &mut program.entries[0].phases[0][1] {
        repeated.body.remove(2);
    }
    for seed in 0..10 {
        let wanted = InterpretError::UnequalBarrier { scope: "device".to_owned(), arrived: 1, of: 2 };
        assert_eq!(outcome(&program, seed), Err(wanted));
    }
}

/// Blocks of two warps; each warp writes its place of shared memory and, after a barrier of `scope`, reads the
/// other's (`across`: that of the other block).
fn warps(scope: &str, across: bool) -> Program {
    let mut builder = ProgramBuilder::new("warps");
    builder.resource("block", Count::Fixed(2));
    builder.resource("warp", Count::Fixed(2));
    let out = builder.dense_tensor("out", DataType::F32, [2, 2], Role::Output);
    let shared = builder.buffer(Buffer::new("shared", DataType::F32, [2_i64, 2], "memory"));
    let (b, w) = (builder.variable("b"), builder.variable("w"));
    let one = tilewright_ir::affine::Affine::from(1);
    let value = Expression::Position((b * 10 + w).into());
    let block = if across { one.clone() - b } else { b.into() };
    let body: [Statement; 3] = [
        Instruction::map([], Access::new(shared, [b, w]), value).into(),
        Statement::barrier(scope),
        Instruction::copy([], Access::new(out, [b, w]), Access::new(shared, [block, one - w])).into(),
    ];
    let inner = Loop::over_range(w, 0, 2, 1).mapped("warp", Deal::Block).with_body(body);
    let outer = Loop::over_range(b, 0, 2, 1).mapped("block", Deal::Block).with_body([inner]);
    builder.finish_run([vec![shared.into(), outer.into()]])
}

#[test]
fn a_barrier_of_the_block_joins_its_warps_and_no_others() {
    let operands = || vec![tensor(DataType::F32, &[2, 2], &[0.0; 4])];
    for seed in 0..10 {
        let result = run(&warps("block", false), operands(), seed).unwrap();
        assert_eq!(result[0].elements(), [1.0, 0.0, 11.0, 10.0]);
        let result = run(&warps("device", true), operands(), seed).unwrap();
        assert_eq!(result[0].elements(), [11.0, 10.0, 1.0, 0.0]);
        let result = run(&warps("block", true), operands(), seed);
        assert!(matches!(result, Err(InterpretError::Race { .. } | InterpretError::Uninitialised { .. })));
    }
}

#[test]
fn the_device_as_a_whole_and_a_thread_need_a_barrier() {
    let build = |with_barrier: bool| {
        let mut builder = ProgramBuilder::new("fill, then add");
        builder.resource("thread", Count::Fixed(2));
        let out = builder.dense_tensor("out", DataType::F32, [2], Role::Output);
        let (i, x) = (builder.variable("i"), builder.variable("x"));
        let add = Access::new(out, [i]).load().binary(Binary::Add, Expression::constant(1.0));
        let axis = tilewright_ir::program::Axis::new(x, 2);
        let mut phase: Vec<Statement> = vec![
            Instruction::fill([axis], Access::new(out, [x]), 4.0).into(),
            Loop::over_range(i, 0, 2, 1)
                .mapped("thread", Deal::Block)
                .with_body([Instruction::map([], Access::new(out, [i]), add)])
                .into(),
        ];
        if with_barrier {
            phase.insert(1, Statement::barrier("device"));
        }
        builder.finish_run([phase])
    };
    assert_eq!(outcome(&build(true), 0), Ok(vec![5.0, 5.0]));
    let Err(InterpretError::Race { first, .. }) = outcome(&build(false), 0) else { panic!("not reported") };
    assert_eq!(first, "the device as a whole");
}
