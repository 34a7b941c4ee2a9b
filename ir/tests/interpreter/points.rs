//! Points of an instruction: limits, masks, padding, rounding, blocks, scatters, random numbers.

use crate::{run, tensor};
use tilewright_ir::affine::{Affine, Constraint, Index};
use tilewright_ir::expression::Expression;
use tilewright_ir::program::{Access, Axis, Instruction, Operation, Program, Role};
use tilewright_ir::{Action, DataType, InterpretError, ProgramBuilder};

/// Copies x f32[n] to y of a type, with an axis that `shape` may change.
fn copy(length: u64, data_type: DataType, axis: impl Fn(Axis) -> Axis, pad: Option<f64>) -> Program {
    let mut builder = ProgramBuilder::new("copy");
    let x = builder.dense_tensor("x", DataType::F32, [length], Role::Input);
    let y = builder.dense_tensor("y", data_type, [length], Role::Output);
    let i = builder.variable("i");
    let operation = Operation::Copy {
        destination: Access::new(y, [i]),
        source: Access::new(x, [i]),
        pad: pad.map(Into::into),
    };
    builder.finish_run([vec![Instruction::new([axis(Axis::new(i, length))], operation).into()]])
}

fn copied(program: &Program, data_type: DataType, values: &[f64]) -> Result<Vec<f64>, InterpretError> {
    let length = values.len() as u64;
    let operands = vec![
        tensor(DataType::F32, &[length], values),
        tensor(data_type, &[length], &vec![0.0; values.len()]),
    ];
    Ok(run(program, operands, 0)?[1].elements())
}

#[test]
fn padding_fills_what_limits_cut_off() {
    let values = [1.0, 2.0, 3.0, 4.0];
    let f32 = DataType::F32;
    let limited = |axis: Axis| axis.limited(3).limited(2);
    assert_eq!(copied(&copy(4, f32, limited, Some(-1.0)), f32, &values), Ok(vec![1.0, 2.0, -1.0, -1.0]));
    assert_eq!(copied(&copy(4, f32, |axis| axis.limited(-3), Some(5.0)), f32, &values), Ok(vec![5.0; 4]));
    let wanted = InterpretError::Incomplete { target: "y".to_owned(), indices: vec![2] };
    assert_eq!(copied(&copy(4, f32, limited, None), f32, &values), Err(wanted));
}

#[test]
fn stores_round_to_the_type_of_their_target() {
    let values = [0.1, 300.7, -2.5, 65520.0];
    let rounded = |data_type| copied(&copy(4, data_type, |axis| axis, None), data_type, &values).unwrap();
    assert_eq!(rounded(DataType::Int8), [0.0, 127.0, -2.0, 127.0]);
    assert_eq!(rounded(DataType::Uint8), [0.0, 255.0, 0.0, 255.0]);
    assert_eq!(rounded(DataType::F16)[3], f64::INFINITY);
    assert_eq!(rounded(DataType::Bf16)[0], f64::from(f32::from_bits(0x3dcd_0000)));
}

#[test]
fn blocks_are_rounded_whole_or_not_at_all() {
    let mut values = vec![0.25; 32];
    values[31] = -127.0;
    let quantised = DataType::Q8_0;
    let result = copied(&copy(32, quantised, |axis| axis, None), quantised, &values).unwrap();
    assert_eq!((result[0], result[31]), (0.0, -127.0));
    let wanted = InterpretError::PartialBlock {
        target: "y".to_owned(),
        data_type: quantised,
        indices: vec![0],
        written: 31,
        elements: 32,
    };
    assert_eq!(copied(&copy(32, quantised, |axis| axis.limited(31), None), quantised, &values), Err(wanted));
}

#[test]
fn a_limit_may_depend_on_another_axis() {
    let mut builder = ProgramBuilder::new("triangle");
    let y = builder.dense_tensor("y", DataType::F32, [3, 3], Role::InputOutput);
    let (i, j) = (builder.variable("i"), builder.variable("j"));
    // On and below the diagonal 1, by a limit; the last column 2, by a mask.
    let lower = [Axis::new(i, 3), Axis::new(j, 3).limited(i + 1)];
    let last = Constraint::at_most(2, j);
    let program = builder.finish_run([vec![
        Instruction::fill(lower, Access::new(y, [i, j]), 1.0).into(),
        Instruction::fill([Axis::new(i, 3), Axis::new(j, 3)], Access::new(y, [i, j]), 2.0)
            .masked([last])
            .into(),
    ]]);
    let result = run(&program, vec![tensor(DataType::F32, &[3, 3], &[0.0; 9])], 0).unwrap();
    assert_eq!(result[0].elements(), [1.0, 0.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0]);
}

#[test]
fn only_active_points_are_checked() {
    let build = |limit: i64| {
        let mut builder = ProgramBuilder::new("shifted");
        let x = builder.dense_tensor("x", DataType::F32, [4], Role::Input);
        let y = builder.dense_tensor("y", DataType::F32, [4], Role::Output);
        let i = builder.variable("i");
        let source = Access::new(x, [i + 2]);
        let axes = [Axis::new(i, 4).limited(limit)];
        let copy = Instruction::copy_padded(axes, Access::new(y, [i]), source, 0.0);
        builder.finish_run([vec![copy.into()]])
    };
    let values = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(copied(&build(2), DataType::F32, &values), Ok(vec![3.0, 4.0, 0.0, 0.0]));
    let wanted = InterpretError::OutOfRange {
        action: Action::Read,
        target: "x".to_owned(),
        indices: vec![4],
        shape: vec![4],
    };
    assert_eq!(copied(&build(3), DataType::F32, &values), Err(wanted));
}

#[test]
fn a_scatter_goes_to_distinct_places() {
    let mut builder = ProgramBuilder::new("scatter");
    let x = builder.dense_tensor("x", DataType::F32, [3], Role::Input);
    let to = builder.dense_tensor("to", DataType::Int32, [3], Role::Input);
    let y = builder.dense_tensor("y", DataType::F32, [3], Role::Output);
    let i = builder.variable("i");
    let place = Index::lookup(to, [i], (0, 2), 1);
    let copy = Instruction::copy([Axis::new(i, 3)], Access::new(y, [place]), Access::new(x, [i]));
    let program = builder.finish_run([vec![copy.into()]]);
    let scattered = |places: [f64; 3]| {
        let operands = vec![
            tensor(DataType::F32, &[3], &[1.0, 2.0, 3.0]),
            tensor(DataType::Int32, &[3], &places),
            tensor(DataType::F32, &[3], &[0.0; 3]),
        ];
        run(&program, operands, 0).map(|result| result[2].elements())
    };
    assert_eq!(scattered([2.0, 0.0, 1.0]), Ok(vec![2.0, 3.0, 1.0]));
    let wanted = InterpretError::Overlap { target: "y".to_owned(), indices: vec![2] };
    assert_eq!(scattered([2.0, 0.0, 2.0]), Err(wanted));
}

#[test]
fn random_numbers_depend_on_seed_and_counter_alone() {
    let mut builder = ProgramBuilder::new("random");
    let y = builder.dense_tensor("y", DataType::F32, [1000], Role::Output);
    let i = builder.variable("i");
    let random = Expression::Random { seed: 42, counter: (Affine::from(i) * 3).into() };
    let map = Instruction::map([Axis::new(i, 1000)], Access::new(y, [i]), random);
    let program = builder.finish_run([vec![map.into()]]);
    let draw =
        |seed| run(&program, vec![tensor(DataType::F32, &[1000], &[0.0; 1000])], seed).unwrap()[0].elements();
    let values = draw(1);
    assert_eq!(values, draw(2));
    assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
    // Mean of 1000 uniform numbers: standard deviation 0.0091.
    assert!((values.iter().sum::<f64>() / 1000.0 - 0.5).abs() < 0.04);
}
