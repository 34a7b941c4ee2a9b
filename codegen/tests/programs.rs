//! Programs that were built by hand: machine code against the interpreter, and properties of all code.
#![expect(clippy::print_stdout, reason = "says what is skipped")]

mod support;

use iced_x86::{Code, Decoder, DecoderOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{CACHES, Guarded, Kernel, Touch};
use tilewright_codegen::{CompileError, Isa, disassemble, isas};
use tilewright_ir::affine::{Affine, Variable};
use tilewright_ir::examples::{self, Matmul, RowNorm};
use tilewright_ir::expression::{Binary, Expression, Unary};
use tilewright_ir::program::{Access, Axis, Combine, Instruction, Loop, Program, Role};
use tilewright_ir::{
    DataType, PersistentStore, ProgramBuilder, TensorData, TensorLayout, interpret, legalise,
};

fn available() -> impl Iterator<Item = &'static dyn Isa> {
    isas().iter().copied().filter(|isa| {
        if !isa.available() {
            println!("skipped: this processor has no {}", isa.id());
        }
        isa.available()
    })
}

/// Runs a program of fixed shape on small whole numbers, and compares all operands with the interpreter's.
fn agrees(program: &Program, isa: &dyn Isa, relative: f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let program = legalise(program, &isa.limits(program.workers() as u32, &CACHES)).expect("legal");
    let artifact = isa.compile(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
    let mut operands = Vec::new();
    for tensor in &program.tensors {
        let shape = tensor.shape.iter().map(|n| n.as_constant().expect("a fixed shape") as u64).collect();
        let layout = TensorLayout { data_type: DataType::F32, shape, strides: tensor.strides.clone() };
        operands
            .push(TensorData::from_fn(layout, |_| f64::from(rng.random_range(-4..5))).expect("an operand"));
    }
    let mut memory: Vec<Guarded> = operands
        .iter()
        .map(|operand| {
            let mut block = Guarded::new(operand.layout().span() as usize, Touch::End);
            for (to, from) in block.elements_mut().iter_mut().zip(operand.to_bytes().chunks(4)) {
                *to = f32::from_ne_bytes(from.try_into().expect("four bytes"));
            }
            block
        })
        .collect();
    interpret(&program, "run", &mut operands, &[], &mut PersistentStore::default(), &mut rng)
        .unwrap_or_else(|error| panic!("{error}\n{program}"));
    let pointers: Vec<*mut u8> = memory.iter_mut().map(|block| block.pointer()).collect();
    Kernel::new(&artifact).launch(&pointers);
    for ((tensor, block), operand) in program.tensors.iter().zip(&memory).zip(&operands) {
        let bytes = operand.to_bytes();
        for (at, (found, expected)) in block.elements().iter().zip(bytes.chunks(4)).enumerate() {
            let expected = f32::from_ne_bytes(expected.try_into().expect("four bytes"));
            let error = f64::from((found - expected).abs());
            assert!(
                found == &expected || error <= relative * f64::from(expected.abs()).max(1.0),
                "{} {}[{at}] is {found}, expected {expected}\n{program}",
                isa.id(),
                tensor.name
            );
        }
    }
}

#[test]
fn the_matmul_example_agrees_with_the_interpreter() {
    for isa in available() {
        for (m, n, k, threads) in [(40, 70, 50, 2), (13, 33, 64, 1), (97, 100, 33, 3)] {
            let rows = [24, 12, 6];
            let example = Matmul { m, n, k, rows, columns: [64, 16], depth: 16, threads };
            agrees(&example.program(), isa, 1e-6);
        }
    }
}

#[test]
fn the_norm_example_agrees_with_the_interpreter() {
    for isa in available() {
        let lanes = isa.limits(1, &CACHES).lanes(4);
        for (rows, columns, threads) in [(5, 64, 1), (7, 45, 2), (3, 3, 2)] {
            let example = RowNorm { rows, columns, lanes, epsilon: 1e-5, threads };
            agrees(&example.program(), isa, 1e-6);
        }
    }
}

#[test]
fn every_example_compiles_or_is_refused_with_a_reason() {
    for isa in isas() {
        for program in examples::all() {
            match isa.compile(&program) {
                Ok(artifact) => assert_decodes(&artifact.code, &program.name),
                Err(CompileError::Unsupported { what }) => println!("{}: {what}", program.name),
                Err(error) => panic!("{}: {error}", program.name),
            }
        }
    }
}

#[test]
fn reductions_agree_with_the_interpreter() {
    for isa in available() {
        let lanes = isa.limits(1, &CACHES).lanes(4);
        for combine in [Combine::Sum, Combine::Maximum, Combine::Minimum] {
            let mut builder = ProgramBuilder::new("reductions");
            let (i, j) = (builder.variable("i"), builder.variable("j"));
            let x = builder.dense_tensor("x", DataType::F32, [6, 2 * lanes], Role::Input);
            let rows = builder.dense_tensor("rows", DataType::F32, [6], Role::Output);
            let columns = builder.dense_tensor("columns", DataType::F32, [2 * lanes], Role::Output);
            let axes = || [Axis::new(i, 6), Axis::new(j, 2 * lanes)];
            let value = || Access::new(x, [Affine::from(i), Affine::from(j)]).load();
            let body = [
                Instruction::reduce(axes(), Access::new(rows, [i]), combine, value()).vector(j),
                Instruction::reduce(axes(), Access::new(columns, [j]), combine, value()).vector(j),
            ];
            agrees(&builder.finish_run([body.map(Into::into).to_vec()]), isa, 0.0);
        }
    }
}

/// `y ← expression of x` over a vector loop with a masked rest.
fn element_wise(length: u64, lanes: u64, expression: impl Fn(Expression) -> Expression) -> Program {
    let mut builder = ProgramBuilder::new("element-wise");
    let (at, lane) = (builder.variable("at"), builder.variable("lane"));
    let x = builder.dense_tensor("x", DataType::F32, [length], Role::Input);
    let y = builder.dense_tensor("y", DataType::F32, [length], Role::Output);
    let element = |of, lane: Variable| Access::new(of, [at + lane]);
    let axis = Axis::new(lane, lanes).limited(-(at - length as i64));
    let map = Instruction::map([axis], element(y, lane), expression(element(x, lane).load())).vector(lane);
    builder.finish_run([vec![Loop::over_range(at, 0, length as i64, lanes).with_body([map]).into()]])
}

fn evaluate(isa: &dyn Isa, function: Unary, inputs: &[f32]) -> Vec<f32> {
    let lanes = isa.limits(1, &CACHES).lanes(4);
    let program = element_wise(inputs.len() as u64, lanes, |x| x.unary(function));
    let program = legalise(&program, &isa.limits(1, &CACHES)).expect("legal");
    let artifact = isa.compile(&program).expect("compiles");
    let mut x = Guarded::new(inputs.len(), Touch::End);
    x.elements_mut().copy_from_slice(inputs);
    let y = Guarded::new(inputs.len(), Touch::End);
    Kernel::new(&artifact).launch(&[x.pointer(), y.pointer()]);
    y.elements().to_vec()
}

/// Distance in units of the last place of the exact value, gradual underflow included.
fn ulps(found: f32, exact: f64) -> f64 {
    if f64::from(found) == exact || (exact.abs() > f64::from(f32::MAX) && found.is_infinite()) {
        return 0.0;
    }
    let magnitude = exact.abs().max(f64::from(f32::MIN_POSITIVE));
    (f64::from(found) - exact).abs() / (2.0_f64.powf(magnitude.log2().floor()) * f64::from(f32::EPSILON))
}

#[test]
fn functions_are_accurate_over_their_whole_range() {
    type Exact = fn(f64) -> f64;
    let functions: [(Unary, f64, Exact); 9] = [
        (Unary::Logarithm, 2.0, f64::ln),
        (Unary::ErrorFunction, 2.0, error_function),
        (Unary::Exponential, 2.0, f64::exp),
        (Unary::HyperbolicTangent, 2.0, f64::tanh),
        (Unary::Silu, 4.0, |x| x / (1.0 + (-x).exp())),
        (Unary::SquareRoot, 0.51, f64::sqrt),
        (Unary::ReciprocalSquareRoot, 1.6, |x| 1.0 / x.sqrt()),
        (Unary::Absolute, 0.0, f64::abs),
        (Unary::Negate, 0.0, |x| -x),
    ];
    let mut inputs: Vec<f32> = (-2000..2000).map(|at| at as f32 * 0.06).collect();
    inputs.extend((0..2000).map(|at| 1.013_f32.powi(at - 1000)));
    inputs.extend((0..2000).map(|at| -1.013_f32.powi(at - 1000)));
    for isa in available() {
        for (function, bound, exact) in functions {
            let found = evaluate(isa, function, &inputs);
            let mut worst = (0.0, 0.0);
            for (&x, &y) in inputs.iter().zip(&found) {
                let exact = exact(f64::from(x));
                if exact.is_nan() {
                    assert!(y.is_nan(), "{function:?}({x}) is {y}");
                    continue;
                }
                // Silu far below 0 is the quotient of x and an overflowing power.
                if function == Unary::Silu && x < -87.0 {
                    assert!(y.abs() <= 1e-35, "{function:?}({x}) is {y}");
                    continue;
                }
                let error = ulps(y, exact);
                if error > worst.0 {
                    worst = (error, x);
                }
            }
            println!("{} {function:?}: {:.2} units in the last place at {}", isa.id(), worst.0, worst.1);
            assert!(worst.0 <= bound, "{function:?}({}) is off by {}", worst.1, worst.0);
        }
    }
}

/// `erf` by its series (Abramowitz and Stegun, 7.1.6); 1 from 6 on.
fn error_function(x: f64) -> f64 {
    if x.abs() >= 6.0 {
        return x.signum();
    }
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

#[test]
fn functions_follow_ieee_for_special_values() {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let inputs = [nan, infinity, -infinity, 0.0, -0.0];
    for isa in available() {
        let same = |function, expected: [f32; 5]| {
            let found = evaluate(isa, function, &inputs);
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    *found == expected || (found.is_nan() && expected.is_nan()),
                    "{function:?}: {found} instead of {expected}"
                );
            }
        };
        same(Unary::Exponential, [nan, infinity, 0.0, 1.0, 1.0]);
        same(Unary::Silu, [nan, infinity, nan, 0.0, 0.0]);
        same(Unary::Relu, [nan, infinity, 0.0, 0.0, 0.0]);
        same(Unary::HyperbolicTangent, [nan, 1.0, -1.0, 0.0, 0.0]);
        same(Unary::Absolute, [nan, infinity, infinity, 0.0, 0.0]);
        same(Unary::SquareRoot, [nan, infinity, nan, 0.0, 0.0]);
        same(Unary::Logarithm, [nan, infinity, nan, -infinity, -infinity]);
        same(Unary::ErrorFunction, [nan, 1.0, -1.0, 0.0, 0.0]);
    }
}

#[test]
fn a_nan_wins_every_maximum_and_minimum() {
    for isa in available() {
        let lanes = isa.limits(1, &CACHES).lanes(4);
        for function in [Binary::Maximum, Binary::Minimum] {
            for swapped in [false, true] {
                let program = element_wise(4, lanes, |x| {
                    let one = Expression::constant(1.0);
                    if swapped { one.binary(function, x) } else { x.binary(function, one) }
                });
                let artifact = isa.compile(&program).expect("compiles");
                let mut x = Guarded::new(4, Touch::End);
                x.elements_mut().copy_from_slice(&[f32::NAN, 5.0, -5.0, 1.0]);
                let y = Guarded::new(4, Touch::End);
                Kernel::new(&artifact).launch(&[x.pointer(), y.pointer()]);
                let found = y.elements();
                let expected = if function == Binary::Maximum { [5.0, 1.0] } else { [1.0, -5.0] };
                assert!(found[0].is_nan() && found[1..3] == expected, "{function:?}: {found:?}");
            }
        }
    }
}

/// All bytes up to the end mark are instructions.
fn assert_decodes(code: &[u8], name: &str) {
    for instruction in &mut Decoder::with_ip(64, code, 0, DecoderOptions::NONE) {
        match instruction.code() {
            Code::INVALID => panic!("{name}: no instruction at {:#x}", instruction.ip()),
            Code::Ud2 => return,
            _ => {}
        }
    }
    panic!("{name}: the code has no end");
}

#[test]
fn generated_bytes_are_instructions_and_disassemble() {
    for isa in isas() {
        let limits = isa.limits(2, &CACHES);
        for workload in tilewright_ir::operator("matmul").expect("matmul").test_workloads() {
            let schedule = tilewright_ir::default_schedule(&workload, &limits);
            let program = support::program(&workload, &schedule, &limits).expect("legal");
            let artifact = isa.compile(&program).expect("compiles");
            assert_decodes(&artifact.code, &program.name);
            let text = disassemble(&artifact);
            assert!(text.contains("entry_run:") && text.contains("ret"), "{text}");
        }
    }
}

// U042, U156
#[test]
fn compiling_twice_gives_the_same_bytes() {
    for isa in isas() {
        let program = Matmul::default().program();
        assert_eq!(isa.compile(&program), isa.compile(&program));
    }
}
