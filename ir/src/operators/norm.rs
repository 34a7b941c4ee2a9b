//! Rows scaled to a common size: `rms_norm` and `layer_norm`.
//!
//! `y = x / √(mean(x²) + eps) · weight`, x = a (+ residual); and `y = (x − mean x) / √(var x + eps) · weight + bias`.
//! Examples: `rms_norm:rows=512,cols=1024,dtype=f32`, `rms_norm:rows=1,cols=1024,dtype=f32,residual=true`,
//! `layer_norm:rows=128,cols=768,dtype=f32,eps=1e-6`.

use super::fields::Fields;
use super::row::{
    COLUMN, ROW, at, matrix_of, minus, operand, over, over_matrix, plus, shared, times, tolerance, workloads,
};
use crate::computation::Computation;
use crate::expression::{Expression, Unary};
use crate::operator::{Operator, ReferenceElement, Tolerance};
use crate::program::{Combine, Role};
use crate::row_wise::{Stage, stage};
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// By the root of the mean square.
pub(crate) struct RmsNorm;
/// By the standard deviation, the mean taken off before.
pub(crate) struct LayerNorm;

const RMS_NAMES: [&str; 5] = ["rows", "cols", "dtype", "eps", "residual"];
const LAYER_NAMES: [&str; 4] = ["rows", "cols", "dtype", "eps"];
/// Added to the mean square where nothing else is said: what `torch.nn.LayerNorm` and most models with `rms_norm` use.
const EPSILON: f32 = 1e-5;

fn settings(fields: &Fields<'_>) -> Result<([u64; 2], f32), WorkloadError> {
    Ok((matrix_of(fields)?, fields.positive("eps", EPSILON)?))
}

fn epsilon_default(epsilon: f32) -> (&'static str, String) {
    ("eps", format!("{epsilon:e}"))
}

/// `1 / √(of / columns + epsilon)`.
fn scale(of: Expression, columns: u64, epsilon: f32) -> Expression {
    let mean = over(of, Expression::constant(columns as f64));
    plus(mean, Expression::constant(f64::from(epsilon))).unary(Unary::ReciprocalSquareRoot)
}

/// What the elements of a row of `rms_norm` have in common.
struct RmsRow {
    row: u64,
    with_residual: bool,
    /// Mean square and epsilon.
    mean: f64,
    /// What adding the residual rounds off, weighed by each x, relative to the mean square.
    amplified: f64,
}

impl RmsRow {
    fn of(parameters: &Parameters, operands: &[TensorView<'_>], row: u64) -> Self {
        let fields =
            Fields::new("rms_norm", &RMS_NAMES, parameters).expect("invariant: canonical parameters");
        let ([_, columns], epsilon) = settings(&fields).expect("invariant: canonical parameters");
        let with_residual = fields.flag("residual").expect("invariant: canonical parameters");
        let mut common = Self { row, with_residual, mean: 0.0, amplified: 0.0 };
        let (mut square, mut spread) = (0.0, 0.0);
        for column in 0..columns {
            let (x, size) = common.parts(operands, column);
            square += x * x;
            spread += x.abs() * size;
        }
        common.mean = square / columns as f64 + f64::from(epsilon);
        common.amplified = spread / columns as f64 / common.mean;
        common
    }

    /// The element that is scaled, and the magnitude of what was added.
    fn parts(&self, operands: &[TensorView<'_>], column: u64) -> (f64, f64) {
        let x = operands[0].get(&[self.row, column]);
        let residual = if self.with_residual { operands[2].get(&[self.row, column]) } else { 0.0 };
        (x + residual, x.abs() + residual.abs())
    }

    fn element(&self, operands: &[TensorView<'_>], column: u64) -> ReferenceElement {
        let (x, size) = self.parts(operands, column);
        let factor = operands[1].get(&[column]) / self.mean.sqrt();
        ReferenceElement { value: x * factor, magnitude: (size + x.abs() * self.amplified) * factor.abs() }
    }
}

/// What the elements of a row of `layer_norm` have in common.
struct LayerRow {
    mean: f64,
    /// Mean magnitude: what the mean's error is relative to.
    size: f64,
    /// Variance and epsilon.
    variance: f64,
    /// The same error in the variance, relative to it.
    spread: f64,
}

impl LayerRow {
    fn of(parameters: &Parameters, operands: &[TensorView<'_>], row: u64) -> Self {
        let fields =
            Fields::new("layer_norm", &LAYER_NAMES, parameters).expect("invariant: canonical parameters");
        let ([_, columns], epsilon) = settings(&fields).expect("invariant: canonical parameters");
        let count = columns as f64;
        let values = || (0..columns).map(|column| operands[0].get(&[row, column]));
        let mean = values().sum::<f64>() / count;
        let size = values().map(f64::abs).sum::<f64>() / count;
        let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / count + f64::from(epsilon);
        let spread = values().map(|x| (x - mean).abs() * (x.abs() + size)).sum::<f64>() / count / variance;
        Self { mean, size, variance, spread }
    }

    fn element(&self, operands: &[TensorView<'_>], at: &[u64]) -> ReferenceElement {
        let x = operands[0].get(at);
        let (weight, bias) = (operands[1].get(&at[1..]), operands[2].get(&at[1..]));
        let (centred, factor) = (x - self.mean, weight / self.variance.sqrt());
        ReferenceElement {
            value: centred * factor + bias,
            magnitude: (x.abs() + self.size + centred.abs() * self.spread) * factor.abs() + bias.abs(),
        }
    }
}

impl Operator for RmsNorm {
    fn id(&self) -> &'static str {
        "rms_norm"
    }

    fn summary(&self) -> &'static str {
        "rows divided by the root of their mean square, with weights and optionally a residual added before"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &RMS_NAMES
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        let fields = Fields::new(self.id(), &RMS_NAMES, parameters)?;
        let (_, epsilon) = settings(&fields)?;
        fields.flag("residual")?;
        let mut canonical = fields.canonical(&[("residual", "false".to_owned())]);
        canonical_epsilon(&mut canonical, epsilon);
        Ok(canonical)
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let fields = Fields::new(self.id(), &RMS_NAMES, parameters)?;
        let (shape, epsilon) = settings(&fields)?;
        let matrix = |name, role| operand(name, &shape, &[ROW, COLUMN], role);
        let weight = operand("weight", &shape[1..], &[COLUMN], Role::Input);
        let output = matrix("y", Role::Output);
        let norm = |x: &Expression, square: usize| {
            [
                Stage::Reduction(Combine::Sum, times(x.clone(), x.clone())),
                Stage::Row(scale(stage(square), shape[1], epsilon)),
                Stage::Column(times(times(x.clone(), stage(square + 1)), shared(1))),
            ]
        };
        if fields.flag("residual")? {
            let operands = vec![matrix("x", Role::Input), weight, matrix("residual", Role::Input), output];
            let mut stages = vec![Stage::Column(plus(at(0), at(2)))];
            stages.extend(norm(&stage(0), 1));
            return Ok(over_matrix(shape, operands, stages));
        }
        let operands = vec![matrix("x", Role::Input), weight, output];
        Ok(over_matrix(shape, operands, norm(&at(0), 0).to_vec()))
    }

    fn reference(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        at: &[u64],
    ) -> ReferenceElement {
        RmsRow::of(parameters, operands, at[0]).element(operands, at[1])
    }

    fn reference_row(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        outer: &[u64],
        length: u64,
    ) -> Vec<ReferenceElement> {
        let row = RmsRow::of(parameters, operands, outer[0]);
        (0..length).map(|column| row.element(operands, column)).collect()
    }

    fn tolerance(&self, parameters: &Parameters) -> Tolerance {
        let columns = Fields::new(self.id(), &RMS_NAMES, parameters).and_then(|fields| fields.extent("cols"));
        tolerance(columns.expect("invariant: parameters are canonical") + 16)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "rms_norm:rows=1,cols=1,dtype=f32",
            "rms_norm:rows=3,cols=45,dtype=f32",
            "rms_norm:rows=7,cols=128,dtype=f32,residual=true",
            "rms_norm:rows=2,cols=260,dtype=f32,eps=1e-6",
            "rms_norm:rows=40,cols=31,dtype=f32,residual=true",
        ])
    }
}

/// Writes the number in one way, and leaves the usual one out.
fn canonical_epsilon(canonical: &mut Parameters, epsilon: f32) {
    let (name, text) = epsilon_default(epsilon);
    if epsilon.to_bits() == EPSILON.to_bits() {
        canonical.remove(name);
    } else {
        canonical.insert(name.to_owned(), text);
    }
}

impl Operator for LayerNorm {
    fn id(&self) -> &'static str {
        "layer_norm"
    }

    fn summary(&self) -> &'static str {
        "rows less their mean, divided by their standard deviation, with weights and bias"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &LAYER_NAMES
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        let fields = Fields::new(self.id(), &LAYER_NAMES, parameters)?;
        let (_, epsilon) = settings(&fields)?;
        let mut canonical = fields.canonical(&[]);
        canonical_epsilon(&mut canonical, epsilon);
        Ok(canonical)
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let (shape, epsilon) = settings(&Fields::new(self.id(), &LAYER_NAMES, parameters)?)?;
        let matrix = |name, role| operand(name, &shape, &[ROW, COLUMN], role);
        let vector = |name| operand(name, &shape[1..], &[COLUMN], Role::Input);
        let operands =
            vec![matrix("x", Role::Input), vector("weight"), vector("bias"), matrix("y", Role::Output)];
        let stages = vec![
            Stage::Reduction(Combine::Sum, at(0)),
            Stage::Row(over(stage(0), Expression::constant(shape[1] as f64))),
            Stage::Column(minus(at(0), stage(1))),
            Stage::Reduction(Combine::Sum, times(stage(2), stage(2))),
            Stage::Row(scale(stage(3), shape[1], epsilon)),
            Stage::Column(plus(times(times(stage(2), stage(4)), shared(1)), shared(2))),
        ];
        Ok(over_matrix(shape, operands, stages))
    }

    fn reference(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        at: &[u64],
    ) -> ReferenceElement {
        LayerRow::of(parameters, operands, at[0]).element(operands, at)
    }

    fn reference_row(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        outer: &[u64],
        length: u64,
    ) -> Vec<ReferenceElement> {
        let row = LayerRow::of(parameters, operands, outer[0]);
        (0..length).map(|column| row.element(operands, &[outer[0], column])).collect()
    }

    fn tolerance(&self, parameters: &Parameters) -> Tolerance {
        let columns =
            Fields::new(self.id(), &LAYER_NAMES, parameters).and_then(|fields| fields.extent("cols"));
        tolerance(2 * columns.expect("invariant: parameters are canonical") + 16)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "layer_norm:rows=2,cols=3,dtype=f32",
            "layer_norm:rows=5,cols=77,dtype=f32",
            "layer_norm:rows=9,cols=256,dtype=f32",
        ])
    }
}
