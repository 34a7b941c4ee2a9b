//! Functions of each element by itself: `silu`, `silu_mul`, `gelu`.
//!
//! `silu_mul` is `silu(gate) · up`; `gelu` is `x·Φ(x)`, by the error function or by tanh. Examples:
//! `silu_mul:rows=128,cols=3072,dtype=f32`, `gelu:rows=128,cols=3072,dtype=f32,form=tanh`.

use super::fields::Fields;
use super::row::{
    COLUMN, MATRIX, ROW, at, matrix_of, operand, over_matrix, plus, times, tolerance, workloads,
};
use crate::computation::Computation;
use crate::expression::{Expression, Unary};
use crate::interpret::error_function;
use crate::operator::{Operator, ReferenceElement, Tolerance};
use crate::program::Role;
use crate::row_wise::Stage;
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// `x / (1 + exp(−x))`.
pub(crate) struct Silu;
/// The gated unit of Llama's and Qwen's feed-forward layers.
pub(crate) struct SiluMul;
/// The Gaussian error linear unit (Hendrycks & Gimpel, 2016).
pub(crate) struct Gelu;

const GELU_NAMES: [&str; 4] = ["rows", "cols", "dtype", "form"];
const FORMS: [&str; 2] = ["erf", "tanh"];
/// √(2/π), and the factor of the cube, of the form by tanh.
const TANH_FORM: [f64; 2] = [0.797_884_560_802_865_4, 0.044_715];

/// `x / (1 + exp(−x))` as IEEE arithmetic has it.
fn silu(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { f64::NAN } else { x / (1.0 + (-x).exp()) }
}

fn element_wise(shape: [u64; 2], inputs: &[&str], value: Expression) -> Computation {
    let matrix = |name: &str, role| operand(name, &shape, &[ROW, COLUMN], role);
    let operands = inputs.iter().map(|name| matrix(name, Role::Input)).chain([matrix("y", Role::Output)]);
    over_matrix(shape, operands.collect(), vec![Stage::Column(value)])
}

impl Operator for Silu {
    fn id(&self) -> &'static str {
        "silu"
    }

    fn summary(&self) -> &'static str {
        "x / (1 + exp(−x)) of each element"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &MATRIX
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        self.describe(parameters)?;
        Ok(parameters.clone())
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let shape = matrix_of(&Fields::new(self.id(), &MATRIX, parameters)?)?;
        Ok(element_wise(shape, &["x"], at(0).unary(Unary::Silu)))
    }

    fn reference(&self, _: &Parameters, operands: &[TensorView<'_>], at: &[u64]) -> ReferenceElement {
        let value = silu(operands[0].get(at));
        ReferenceElement { value, magnitude: value.abs() }
    }

    fn tolerance(&self, _: &Parameters) -> Tolerance {
        far_below_zero(tolerance(8))
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&["silu:rows=1,cols=1,dtype=f32", "silu:rows=5,cols=37,dtype=f32"])
    }
}

/// Below −87 the power overflows and the result is 0, where the exact one is at most 1.5e-36.
fn far_below_zero(tolerance: Tolerance) -> Tolerance {
    Tolerance { absolute: tolerance.absolute.max(1e-35), ..tolerance }
}

impl Operator for SiluMul {
    fn id(&self) -> &'static str {
        "silu_mul"
    }

    fn summary(&self) -> &'static str {
        "silu(gate) · up of each element"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &MATRIX
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        self.describe(parameters)?;
        Ok(parameters.clone())
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let shape = matrix_of(&Fields::new(self.id(), &MATRIX, parameters)?)?;
        Ok(element_wise(shape, &["gate", "up"], times(at(0).unary(Unary::Silu), at(1))))
    }

    fn reference(&self, _: &Parameters, operands: &[TensorView<'_>], at: &[u64]) -> ReferenceElement {
        let (gate, up) = (silu(operands[0].get(at)), operands[1].get(at));
        // The gate's own bound far below 0, carried by the other factor.
        ReferenceElement { value: gate * up, magnitude: (gate * up).abs() + 1e-29 * up.abs() }
    }

    fn tolerance(&self, _: &Parameters) -> Tolerance {
        far_below_zero(tolerance(9))
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "silu_mul:rows=1,cols=3,dtype=f32",
            "silu_mul:rows=4,cols=64,dtype=f32",
            "silu_mul:rows=3,cols=101,dtype=f32",
        ])
    }
}

impl Operator for Gelu {
    fn id(&self) -> &'static str {
        "gelu"
    }

    fn summary(&self) -> &'static str {
        "x·Φ(x) of each element, by the error function or by tanh"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &GELU_NAMES
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        self.describe(parameters)?;
        let fields = Fields::new(self.id(), &GELU_NAMES, parameters)?;
        Ok(fields.canonical(&[("form", FORMS[0].to_owned())]))
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let fields = Fields::new(self.id(), &GELU_NAMES, parameters)?;
        let shape = matrix_of(&fields)?;
        let constant = Expression::constant;
        let inner = if fields.choice("form", &FORMS)? == "tanh" {
            let square = times(at(0), at(0));
            let factor = plus(times(square, constant(TANH_FORM[0] * TANH_FORM[1])), constant(TANH_FORM[0]));
            times(at(0), factor).unary(Unary::HyperbolicTangent)
        } else {
            times(at(0), constant(std::f64::consts::FRAC_1_SQRT_2)).unary(Unary::ErrorFunction)
        };
        let value = times(times(at(0), constant(0.5)), plus(inner, constant(1.0)));
        Ok(element_wise(shape, &["x"], value))
    }

    /// Below 0 the sum of 1 and a value near −1 keeps an error relative to 1, which x multiplies.
    fn reference(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        at: &[u64],
    ) -> ReferenceElement {
        let x = operands[0].get(at);
        let inner = if parameters.contains_key("form") {
            (TANH_FORM[0] * (x + TANH_FORM[1] * x.powi(3))).tanh()
        } else {
            error_function(x * std::f64::consts::FRAC_1_SQRT_2)
        };
        ReferenceElement { value: 0.5 * x * (1.0 + inner), magnitude: x.abs() }
    }

    fn tolerance(&self, _: &Parameters) -> Tolerance {
        tolerance(12)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "gelu:rows=2,cols=33,dtype=f32,form=tanh",
            "gelu:rows=3,cols=50,dtype=f32",
            "gelu:rows=1,cols=515,dtype=f32,form=tanh",
        ])
    }
}
