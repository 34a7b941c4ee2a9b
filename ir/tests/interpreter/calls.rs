//! What a call and a program's structure must satisfy: bad input is an error, never a panic.

use crate::{run, tensor};
use tilewright_ir::program::{Access, Axis, Buffer, Count, Deal, Instruction, Layout, Loop, Role, Statement};
use tilewright_ir::{DataType, InterpretError, ProgramBuilder};

/// The reason why a program made of `build`'s statements is refused.
fn refusal(build: impl FnOnce(&mut ProgramBuilder) -> Vec<Statement>) -> String {
    let mut builder = ProgramBuilder::new("malformed");
    builder.resource("thread", Count::Fixed(2));
    let phase = build(&mut builder);
    let program = builder.finish_run([phase]);
    let operands =
        program.tensors.iter().map(|declared| tensor(declared.data_type, &[4], &[0.0; 4])).collect();
    match run(&program, operands, 0) {
        Err(InterpretError::Invalid { what }) => what,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn malformed_programs_are_refused() {
    let writes_input = refusal(|builder| {
        let x = builder.dense_tensor("x", DataType::F32, [4], Role::Input);
        vec![Instruction::fill([], Access::new(x, [0]), 0.0).into()]
    });
    assert_eq!(writes_input, "input x is written");
    let wrong_rank = refusal(|builder| {
        let x = builder.dense_tensor("x", DataType::F32, [4], Role::Output);
        vec![Instruction::fill([], Access::scalar(x), 0.0).into()]
    });
    assert_eq!(wrong_rank, "x has 1 dimensions, found 0 indices");
    let undeclared = refusal(|builder| {
        let t = builder.buffer(Buffer::scalar("t", DataType::F32, "L1"));
        vec![Instruction::fill([], Access::scalar(t), 0.0).into()]
    });
    assert_eq!(undeclared, "t is used outside its scope");
    let shared_declaration = refusal(|builder| {
        let t = builder.buffer(Buffer::scalar("t", DataType::F32, "L1"));
        let i = builder.variable("i");
        let body: [Statement; 1] = [t.into()];
        vec![Loop::over_range(i, 0, 2, 1).mapped("thread", Deal::Block).with_body(body).into()]
    });
    assert_eq!(shared_declaration, "t is declared inside a loop over thread, which shares it");
    let free_variable = refusal(|builder| {
        let x = builder.dense_tensor("x", DataType::F32, [4], Role::Output);
        let i = builder.variable("i");
        vec![Instruction::fill([], Access::new(x, [i]), 0.0).into()]
    });
    assert_eq!(free_variable, "variable i has no value here");
    let twice_over = refusal(|builder| {
        let (i, j) = (builder.variable("i"), builder.variable("j"));
        let inner = Loop::over_range(j, 0, 2, 1).mapped("thread", Deal::Block);
        vec![Loop::over_range(i, 0, 2, 1).mapped("thread", Deal::Block).with_body([inner]).into()]
    });
    assert_eq!(twice_over, "a loop over thread inside a loop over thread");
    assert_eq!(refusal(|_| vec![Statement::barrier("warp")]), "no resource is called `warp`");
}

#[test]
fn layouts_that_are_not_one_to_one_are_refused() {
    for (layout, shape) in [
        (Layout::Swizzled, vec![]),
        (Layout::Padded { by: 1 }, vec![]),
        (Layout::Panels { dimension: 2, width: 4 }, vec![2, 10]),
        (Layout::Panels { dimension: 0, width: 0 }, vec![2, 10]),
    ] {
        refusal(|builder| {
            let buffer = Buffer::new("t", DataType::F32, shape.iter().copied(), "L1").laid_out(layout);
            vec![builder.buffer(buffer).into()]
        });
    }
}

#[test]
fn operands_and_entries_must_fit() {
    let mut builder = ProgramBuilder::new("fill");
    let x = builder.dense_tensor("x", DataType::F32, [4], Role::Output);
    let i = builder.variable("i");
    let program =
        builder.finish_run([vec![Instruction::fill([Axis::new(i, 4)], Access::new(x, [i]), 2.0).into()]]);
    assert_eq!(
        run(&program, vec![tensor(DataType::F32, &[4], &[0.0; 4])], 0).unwrap()[0].elements(),
        [2.0; 4]
    );
    for wrong in [
        vec![],
        vec![tensor(DataType::F32, &[5], &[0.0; 5])],
        vec![tensor(DataType::F64, &[4], &[0.0; 4])],
        vec![tensor(DataType::F32, &[2, 2], &[0.0; 4])],
    ] {
        assert!(matches!(run(&program, wrong, 0), Err(InterpretError::Call { .. })));
    }
    let mut renamed = program;
    renamed.entries[0].name = "other".to_owned();
    let operands = vec![tensor(DataType::F32, &[4], &[0.0; 4])];
    assert!(matches!(run(&renamed, operands, 0), Err(InterpretError::Call { name, .. }) if name == "entry"));
}
