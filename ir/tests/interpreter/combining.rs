//! Reductions, scans and selections.

use crate::{run, tensor};
use tilewright_ir::affine::{Affine, Constraint};
use tilewright_ir::program::{Access, Axis, Combine, Instruction, Operation, Role};
use tilewright_ir::{DataType, InterpretError, ProgramBuilder};

/// Reduces each row of a 2×4 input by `combine`, with positions, the mask leaving `columns` of each row.
fn reduced(
    values: [f64; 8],
    combine: Combine,
    columns: i64,
    before: Option<[f64; 2]>,
) -> Result<[Vec<f64>; 2], InterpretError> {
    let mut builder = ProgramBuilder::new("reduce");
    let input = builder.dense_tensor("x", DataType::F32, [2, 4], Role::Input);
    let result = builder.dense_tensor("y", DataType::F32, [2], Role::InputOutput);
    let place = builder.dense_tensor("at", DataType::Int32, [2], Role::InputOutput);
    let (r, c) = (builder.variable("r"), builder.variable("c"));
    let has_position = matches!(combine, Combine::Maximum | Combine::Minimum);
    let operation = Operation::Reduce {
        destination: Access::new(result, [r]),
        expression: Access::new(input, [r, c]).load(),
        combine,
        accumulate: before.is_some(),
        position: has_position.then(|| Access::new(place, [r])),
    };
    let instruction = Instruction::new([Axis::new(r, 2), Axis::new(c, 4)], operation)
        .masked([Constraint::less(c, columns)]);
    let program = builder.finish_run([vec![instruction.into()]]);
    let operands = vec![
        tensor(DataType::F32, &[2, 4], &values),
        tensor(DataType::F32, &[2], &before.unwrap_or([9.0, 9.0])),
        tensor(DataType::Int32, &[2], &[-7.0, -7.0]),
    ];
    let result = run(&program, operands, 0)?;
    Ok([result[1].elements(), result[2].elements()])
}

#[test]
fn reductions_combine_what_is_active_and_prefer_the_first_of_equals() {
    let values = [1.0, 5.0, 5.0, 8.0, -1.0, -4.0, -4.0, 2.0];
    let expect = |combine, columns, before, result: [f64; 2], at: [f64; 2]| {
        assert_eq!(reduced(values, combine, columns, before), Ok([result.to_vec(), at.to_vec()]));
    };
    expect(Combine::Maximum, 3, None, [5.0, -1.0], [1.0, 0.0]);
    expect(Combine::Minimum, 3, None, [1.0, -4.0], [0.0, 1.0]);
    expect(Combine::Sum, 4, None, [19.0, -7.0], [-7.0, -7.0]);
    expect(Combine::Product, 2, Some([2.0, 3.0]), [10.0, 12.0], [-7.0, -7.0]);
    // Over nothing: the identity, and no position.
    expect(Combine::Maximum, 0, None, [f64::NEG_INFINITY; 2], [-7.0, -7.0]);
    // The old value came first: an equal one does not replace it.
    expect(Combine::Maximum, 3, Some([5.0, -3.0]), [5.0, -1.0], [-7.0, 0.0]);
}

#[test]
fn nan_is_the_maximum_and_its_first_place_the_position() {
    let values = [1.0, f64::NAN, 5.0, f64::NAN, 0.0, 1.0, 2.0, 3.0];
    let [result, at] = reduced(values, Combine::Maximum, 4, None).unwrap();
    assert!(result[0].is_nan());
    assert_eq!((result[1], at), (3.0, vec![1.0, 3.0]));
}

#[test]
fn scans_run_along_one_axis_of_each_row() {
    let mut builder = ProgramBuilder::new("scan");
    let input = builder.dense_tensor("x", DataType::F32, [2, 4], Role::Input);
    let result = builder.dense_tensor("y", DataType::F32, [2, 4], Role::InputOutput);
    let (r, c) = (builder.variable("r"), builder.variable("c"));
    let operation = Operation::Scan {
        destination: Access::new(result, [r, c]),
        expression: Access::new(input, [r, c]).load(),
        combine: Combine::Sum,
        axis: c,
    };
    // The order of axes does not matter to what runs along which.
    let columns = Axis::new(c, 4).limited(3);
    let program = builder.finish_run([vec![Instruction::new([columns, Axis::new(r, 2)], operation).into()]]);
    let operands = vec![
        tensor(DataType::F32, &[2, 4], &[1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0]),
        tensor(DataType::F32, &[2, 4], &[-1.0; 8]),
    ];
    let wanted = [1.0, 3.0, 6.0, -1.0, 10.0, 30.0, 60.0, -1.0];
    assert_eq!(run(&program, operands, 0).unwrap()[1].elements(), wanted);
}

#[test]
fn selections_are_sorted_stable_and_filled_up() {
    let mut builder = ProgramBuilder::new("select");
    let input = builder.dense_tensor("x", DataType::F32, [2, 5], Role::Input);
    let values = builder.dense_tensor("values", DataType::F32, [2, 3], Role::Output);
    let positions = builder.dense_tensor("positions", DataType::Int32, [2, 3], Role::Output);
    let [r, c, rank] = ["r", "c", "rank"].map(|name| builder.variable(name));
    let operation = Operation::Select {
        values: Access::new(values, [r, rank]),
        positions: Access::new(positions, [r, rank]),
        source: Access::new(input, [r, c]).load(),
        axis: c,
        rank,
        count: 3,
    };
    // The second row has two active points only.
    let instruction = Instruction::new([Axis::new(r, 2), Axis::new(c, 5)], operation)
        .masked([Constraint::less(c, Affine::from(5) - r * 3)]);
    let program = builder.finish_run([vec![instruction.into()]]);
    let operands = vec![
        tensor(DataType::F32, &[2, 5], &[3.0, 7.0, 3.0, f64::NAN, 7.0, 1.0, 2.0, 9.0, 9.0, 9.0]),
        tensor(DataType::F32, &[2, 3], &[0.0; 6]),
        tensor(DataType::Int32, &[2, 3], &[0.0; 6]),
    ];
    let result = run(&program, operands, 0).unwrap();
    assert_eq!(result[2].elements(), [3.0, 1.0, 4.0, 1.0, 0.0, -1.0]);
    assert!(result[1].get(&[0, 0]).is_nan());
    assert_eq!(result[1].elements()[1..], [7.0, 7.0, 2.0, 1.0, f64::NEG_INFINITY]);
}
