//! Matrix multiplication: `C ← epilogue(A·B (+ C))`.
//!
//! Example: `matmul:m=128,n=3072,k=1024,dtype=f32,layout=nt,epilogue=bias+silu`. `layout` says for A and B
//! whether the operand is stored as in the formula (`n`) or transposed (`t`); `lda`, `ldb`, `ldc` are the
//! distances of neighbouring rows in memory, elements.

use crate::affine::{Affine, Variable};
use crate::computation::{ACCUMULATED, AxisRole, Computation, ComputationAxis, Contraction, Operand};
use crate::data_type::DataType;
use crate::expression::{Binary, Expression, Unary};
use crate::operator::{Operator, ReferenceElement, Tolerance};
use crate::program::{Access, Role, Target, TensorId};
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// The operator.
pub(crate) struct Matmul;

const NAMES: [&str; 10] = ["m", "n", "k", "dtype", "layout", "lda", "ldb", "ldc", "accumulate", "epilogue"];

/// Bound of every extent and of the iteration space: offsets and operation counts stay exact in 64 bits.
const LARGEST_EXTENT: u64 = 1 << 31;
const LARGEST_SPACE: u128 = 1 << 53;
/// Bound of one operand: displacements in generated code stay within 47 address bits.
const LARGEST_OPERAND: u128 = 1 << 40;

/// Parameters after reading.
struct Shape {
    m: u64,
    n: u64,
    k: u64,
    transpose_a: bool,
    transpose_b: bool,
    /// Row distances of A, B and C.
    leading: [u64; 3],
    accumulate: bool,
    epilogue: Vec<String>,
}

fn value_error(name: &str, found: &str, wanted: impl Into<String>) -> WorkloadError {
    WorkloadError::Value { name: name.to_owned(), found: found.to_owned(), wanted: wanted.into() }
}

fn required<'a>(parameters: &'a Parameters, name: &str) -> Result<&'a str, WorkloadError> {
    parameters.get(name).map(String::as_str).ok_or_else(|| WorkloadError::Missing {
        operator: "matmul".to_owned(),
        name: name.to_owned(),
        known: NAMES.join(", "),
    })
}

fn extent(name: &str, text: &str) -> Result<u64, WorkloadError> {
    match text.parse::<u64>() {
        Ok(value) if (1..=LARGEST_EXTENT).contains(&value) => Ok(value),
        _ => Err(value_error(name, text, format!("expected a whole number from 1 to {LARGEST_EXTENT}"))),
    }
}

fn read(parameters: &Parameters) -> Result<Shape, WorkloadError> {
    if let Some(name) = parameters.keys().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(WorkloadError::UnknownParameter {
            operator: "matmul".to_owned(),
            name: name.clone(),
            known: NAMES.join(", "),
        });
    }
    let [m, n, k] =
        ["m", "n", "k"].map(|name| required(parameters, name).and_then(|text| extent(name, text)));
    let (m, n, k) = (m?, n?, k?);
    let space = u128::from(m) * u128::from(n) * u128::from(k);
    if space > LARGEST_SPACE {
        return Err(value_error("m·n·k", &space.to_string(), format!("at most {LARGEST_SPACE}")));
    }
    let dtype = required(parameters, "dtype")?;
    if dtype.parse() != Ok(DataType::F32) {
        return Err(value_error("dtype", dtype, "matmul takes f32"));
    }
    let layout = parameters.get("layout").map_or("nn", String::as_str);
    let (transpose_a, transpose_b) = match layout {
        "nn" => (false, false),
        "nt" => (false, true),
        "tn" => (true, false),
        "tt" => (true, true),
        _ => return Err(value_error("layout", layout, "expected nn, nt, tn or tt")),
    };
    let rows_and_row = [
        ("lda", if transpose_a { (k, m) } else { (m, k) }),
        ("ldb", if transpose_b { (n, k) } else { (k, n) }),
        ("ldc", (m, n)),
    ];
    let mut leading = [0; 3];
    for (slot, (name, (rows, row))) in leading.iter_mut().zip(rows_and_row) {
        *slot = match parameters.get(name) {
            None => row,
            Some(text) => match text.parse::<u64>() {
                Ok(value) if value >= row && value <= LARGEST_EXTENT => value,
                _ => return Err(value_error(name, text, format!("expected at least the row length {row}"))),
            },
        };
        let elements = u128::from(rows) * u128::from(*slot);
        if elements > LARGEST_OPERAND {
            return Err(value_error(
                name,
                &slot.to_string(),
                format!("an operand of {elements} elements is too large"),
            ));
        }
    }
    let accumulate = match parameters.get("accumulate").map_or("false", String::as_str) {
        "true" => true,
        "false" => false,
        other => return Err(value_error("accumulate", other, "expected true or false")),
    };
    let epilogue: Vec<String> = match parameters.get("epilogue").map_or("none", String::as_str) {
        "none" => Vec::new(),
        text => text.split('+').map(str::to_owned).collect(),
    };
    for (at, step) in epilogue.iter().enumerate() {
        if !["bias", "silu", "relu"].contains(&step.as_str()) || epilogue[..at].contains(step) {
            return Err(value_error(
                "epilogue",
                step,
                "expected bias, silu, relu, each at most once, joined by +",
            ));
        }
    }
    Ok(Shape { m, n, k, transpose_a, transpose_b, leading, accumulate, epilogue })
}

impl Operator for Matmul {
    fn id(&self) -> &'static str {
        "matmul"
    }

    fn summary(&self) -> &'static str {
        "matrix product C = A·B, with optional transposes, row strides, accumulation and epilogue"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        let shape = read(parameters)?;
        let mut canonical: Parameters =
            [("m", shape.m.to_string()), ("n", shape.n.to_string()), ("k", shape.k.to_string())]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
        canonical.insert("dtype".to_owned(), required(parameters, "dtype")?.to_owned());
        let dense = [
            ("lda", if shape.transpose_a { shape.m } else { shape.k }),
            ("ldb", if shape.transpose_b { shape.k } else { shape.n }),
            ("ldc", shape.n),
        ];
        for ((name, dense), given) in dense.into_iter().zip(shape.leading) {
            if given != dense {
                canonical.insert(name.to_owned(), given.to_string());
            }
        }
        if let Some(layout) = parameters.get("layout").filter(|layout| *layout != "nn") {
            canonical.insert("layout".to_owned(), layout.clone());
        }
        if shape.accumulate {
            canonical.insert("accumulate".to_owned(), "true".to_owned());
        }
        if !shape.epilogue.is_empty() {
            canonical.insert("epilogue".to_owned(), shape.epilogue.join("+"));
        }
        Ok(canonical)
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let shape = read(parameters)?;
        let [m, n, k] = [0, 1, 2].map(|axis| Affine::from(Variable(axis)));
        let axis = |name: &str, extent, role| ComputationAxis { name: name.to_owned(), extent, role };
        let matrix = |name: &str, extents: [u64; 2], indices: [&Affine; 2], leading: u64, role| Operand {
            name: name.to_owned(),
            data_type: DataType::F32,
            shape: extents.to_vec(),
            strides: vec![leading as i64, 1],
            role,
            indices: indices.map(Clone::clone).to_vec(),
        };
        let [lda, ldb, ldc] = shape.leading;
        let left = if shape.transpose_a {
            matrix("a", [shape.k, shape.m], [&k, &m], lda, Role::Input)
        } else {
            matrix("a", [shape.m, shape.k], [&m, &k], lda, Role::Input)
        };
        let right = if shape.transpose_b {
            matrix("b", [shape.n, shape.k], [&n, &k], ldb, Role::Input)
        } else {
            matrix("b", [shape.k, shape.n], [&k, &n], ldb, Role::Input)
        };
        let role = if shape.accumulate { Role::InputOutput } else { Role::Output };
        let mut operands = vec![left, right, matrix("c", [shape.m, shape.n], [&m, &n], ldc, role)];
        let mut epilogue = None;
        for step in &shape.epilogue {
            let accumulated = || Expression::Load(Access { target: ACCUMULATED, indices: Vec::new() });
            let value = epilogue.unwrap_or_else(accumulated);
            epilogue = Some(match step.as_str() {
                "bias" => {
                    let bias = TensorId(operands.len() as u32);
                    operands.push(Operand {
                        name: "bias".to_owned(),
                        data_type: DataType::F32,
                        shape: vec![shape.n],
                        strides: vec![1],
                        role: Role::Input,
                        indices: vec![n.clone()],
                    });
                    let load = Access { target: Target::Tensor(bias), indices: vec![n.clone().into()] };
                    value.binary(Binary::Add, Expression::Load(load))
                }
                "silu" => value.unary(Unary::Silu),
                _ => value.unary(Unary::Relu),
            });
        }
        Ok(Computation::Contraction(Contraction {
            axes: vec![
                axis("m", shape.m, AxisRole::Row),
                axis("n", shape.n, AxisRole::Column),
                axis("k", shape.k, AxisRole::Reduction),
            ],
            operands,
            left: 0,
            right: 1,
            output: 2,
            accumulator: DataType::F32,
            accumulate: shape.accumulate,
            epilogue,
        }))
    }

    fn reference(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        at: &[u64],
    ) -> ReferenceElement {
        let shape = read(parameters).expect("invariant: parameters are canonical");
        let (i, j) = (at[0], at[1]);
        let (mut value, mut magnitude) = (0.0, 0.0);
        if shape.accumulate {
            value = operands[2].get(&[i, j]);
            magnitude = value.abs();
        }
        for p in 0..shape.k {
            let a = operands[0].get(&if shape.transpose_a { [p, i] } else { [i, p] });
            let b = operands[1].get(&if shape.transpose_b { [j, p] } else { [p, j] });
            value += a * b;
            magnitude += (a * b).abs();
        }
        for step in &shape.epilogue {
            match step.as_str() {
                "bias" => {
                    let bias = operands[3].get(&[j]);
                    value += bias;
                    magnitude += bias.abs();
                }
                "silu" => {
                    // |silu′| ≤ 1.1; the second term covers the rounding of the function itself.
                    let sum = value;
                    value = sum / (1.0 + (-sum).exp());
                    if sum == f64::NEG_INFINITY {
                        // IEEE arithmetic: −∞ / ∞.
                        value = f64::NAN;
                    }
                    magnitude = 1.1 * magnitude + value.abs();
                }
                _ => value = if value < 0.0 { 0.0 } else { value },
            }
        }
        ReferenceElement { value, magnitude }
    }

    /// Any order of summation of k products and up to three further operations stays within
    /// `γ = (k+4)·u / (1 − (k+4)·u)` of the sum of magnitudes (Higham, Accuracy and Stability of Numerical
    /// Algorithms, 2nd ed., §3.1); a function in the epilogue adds at most 4 units more.
    fn tolerance(&self, parameters: &Parameters) -> Tolerance {
        let shape = read(parameters).expect("invariant: parameters are canonical");
        let error = (shape.k as f64 + 8.0) * DataType::F32.unit_roundoff();
        let relative = if error < 0.5 { error / (1.0 - error) } else { 1.0 };
        Tolerance { relative, absolute: (shape.k as f64 + 8.0) * f64::from(f32::MIN_POSITIVE) }
    }

    fn test_workloads(&self) -> Vec<Workload> {
        [
            "matmul:m=1,n=1,k=1,dtype=f32",
            "matmul:m=13,n=17,k=19,dtype=f32",
            "matmul:m=64,n=64,k=64,dtype=f32",
            "matmul:m=2,n=3,k=500,dtype=f32",
            "matmul:m=31,n=1,k=37,dtype=f32",
            "matmul:m=1,n=70,k=33,dtype=f32,layout=nt",
            "matmul:m=29,n=47,k=23,dtype=f32,layout=tn",
            "matmul:m=40,n=33,k=50,dtype=f32,layout=tt,accumulate=true",
            "matmul:m=19,n=50,k=21,dtype=f32,lda=30,ldb=57,ldc=64",
            "matmul:m=37,n=53,k=41,dtype=f32,epilogue=bias+silu",
            "matmul:m=16,n=24,k=8,dtype=f32,accumulate=true,epilogue=bias+relu",
        ]
        .iter()
        .map(|text| text.parse().expect("invariant: a workload of this operator"))
        .collect()
    }
}
