//! Bugs planted in the examples, each of which the interpreter must report.

use crate::support::{operands, run};
use tilewright_ir::examples::{Matmul, QuantisedGemv, RowNorm, TensorCore};
use tilewright_ir::program::{Operation, Program, Statement};
use tilewright_ir::{Action, InterpretError};

/// Keeps the statements of all entries, loops and branches for which `keep` holds, after it may have changed them.
fn edit(program: &mut Program, keep: &mut dyn FnMut(&mut Statement) -> bool) {
    fn body(statements: &mut Vec<Statement>, keep: &mut dyn FnMut(&mut Statement) -> bool) {
        statements.retain_mut(|statement| {
            let kept = keep(statement);
            match statement {
                Statement::Loop(repeated) => body(&mut repeated.body, keep),
                Statement::When { then, otherwise, .. } => {
                    body(then, keep);
                    body(otherwise, keep);
                }
                _ => {}
            }
            kept
        });
    }
    program.entries.iter_mut().flat_map(|entry| &mut entry.phases).for_each(|phase| body(phase, keep));
}

/// The program without its `which`-th barrier.
fn without_barrier(mut program: Program, which: usize) -> Program {
    let mut seen = 0;
    edit(&mut program, &mut |statement| {
        if matches!(statement, Statement::Barrier { .. }) {
            seen += 1;
            return seen != which + 1;
        }
        true
    });
    assert!(seen > which);
    program
}

fn matmul() -> Program {
    Matmul { m: 30, n: 40, k: 35, rows: [12, 12, 6], columns: [32, 16], depth: 16, threads: 2 }.program()
}

fn outcome(program: &Program, seed: u64) -> Result<(), InterpretError> {
    run(program, &mut operands(program, &[]), seed)
}

#[test]
fn the_examples_are_free_of_races_in_every_order() {
    for seed in 0..20 {
        assert_eq!(outcome(&matmul(), seed), Ok(()));
    }
}

#[test]
fn a_missing_barrier_before_the_packed_panel_is_used_is_a_race() {
    for seed in 0..5 {
        let Err(InterpretError::Race { target, first_action, second_action, first, second, .. }) =
            outcome(&without_barrier(matmul(), 0), seed)
        else {
            panic!("not reported");
        };
        assert_eq!((target.as_str(), first_action, second_action), ("Bp", Action::Write, Action::Read));
        assert!(first.starts_with("thread ") && second.starts_with("thread ") && first != second);
    }
}

#[test]
fn a_missing_barrier_before_the_panel_is_packed_again_is_a_race() {
    for seed in 0..5 {
        let Err(InterpretError::Race { target, first_action, second_action, .. }) =
            outcome(&without_barrier(matmul(), 1), seed)
        else {
            panic!("not reported");
        };
        assert_eq!((target.as_str(), first_action, second_action), ("Bp", Action::Read, Action::Write));
    }
}

#[test]
fn a_block_and_its_warps_need_barriers_between_copy_and_use() {
    let program = TensorCore { m: 20, n: 40, k: 20, block: [16, 32, 8], warp: [8, 16, 4] }.program();
    assert_eq!(outcome(&program, 0), Ok(()));
    for which in [0, 1] {
        let Err(InterpretError::Race { target, first, second, .. }) =
            outcome(&without_barrier(program.clone(), which), 0)
        else {
            panic!("not reported");
        };
        assert_eq!(target, "As");
        assert!(first.contains("warp") != second.contains("warp"), "{first}; {second}");
    }
}

#[test]
fn overlapping_writes_of_two_threads_are_a_race() {
    let mut program = QuantisedGemv { n: 24, k: 32, rows: 4, threads: 2 }.program();
    edit(&mut program, &mut |statement| {
        if let Statement::Loop(repeated) = statement {
            repeated.dimensions.iter_mut().filter(|dimension| dimension.step == 4).for_each(|d| d.step = 3);
        }
        true
    });
    let Err(InterpretError::Race { target, indices, first_action, second_action, .. }) = outcome(&program, 3)
    else {
        panic!("not reported");
    };
    // Eight turns of three rows; the fourth also writes the first row of the fifth, which is another thread's.
    assert_eq!((target.as_str(), indices), ("y", vec![12]));
    assert_eq!((first_action, second_action), (Action::Write, Action::Write));
}

#[test]
fn a_read_beyond_a_tensor_is_reported_with_its_place() {
    let mut program = RowNorm { rows: 2, columns: 12, lanes: 8, epsilon: 0.0, threads: 1 }.program();
    edit(&mut program, &mut |statement| {
        if let Statement::Instruction(instruction) = statement {
            instruction.axes.iter_mut().for_each(|axis| axis.limit.clear());
        }
        true
    });
    let wanted = InterpretError::OutOfRange {
        action: Action::Read,
        target: "a".to_owned(),
        indices: vec![0, 12],
        shape: vec![2, 12],
    };
    assert_eq!(outcome(&program, 0), Err(wanted));
}

#[test]
fn an_accumulator_that_nothing_filled_is_reported() {
    let mut program = matmul();
    edit(
        &mut program,
        &mut |statement| !matches!(statement, Statement::Instruction(i) if matches!(i.operation, Operation::Fill { .. })),
    );
    let wanted = InterpretError::Uninitialised { target: "acc".to_owned(), indices: vec![0, 0] };
    assert_eq!(outcome(&program, 0), Err(wanted));
}

#[test]
fn rows_that_nobody_writes_are_reported() {
    let mut program = RowNorm { rows: 5, columns: 3, lanes: 8, epsilon: 0.1, threads: 2 }.program();
    edit(&mut program, &mut |statement| {
        if let Statement::Loop(repeated) = statement
            && repeated.over.is_some()
        {
            repeated.dimensions[0].stop = vec![4.into()];
        }
        true
    });
    let wanted = InterpretError::Incomplete { target: "y".to_owned(), indices: vec![4, 0] };
    assert_eq!(outcome(&program, 0), Err(wanted));
}
