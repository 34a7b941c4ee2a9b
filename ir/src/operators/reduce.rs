//! One value of each row: sum, mean, greatest or least.
//!
//! Example: `reduce:rows=512,cols=1024,dtype=f32,op=max`.

use super::fields::Fields;
use super::row::{COLUMN, ROW, at, matrix_of, operand, over, over_matrix, tolerance, workloads};
use crate::computation::Computation;
use crate::expression::Expression;
use crate::operator::{Operator, ReferenceElement, Tolerance};
use crate::program::{Combine, Role};
use crate::row_wise::{Stage, stage};
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// The operator.
pub(crate) struct Reduce;

const NAMES: [&str; 4] = ["rows", "cols", "dtype", "op"];
const OPERATIONS: [&str; 4] = ["sum", "mean", "max", "min"];

fn read(parameters: &Parameters) -> Result<([u64; 2], &'static str), WorkloadError> {
    let fields = Fields::new("reduce", &NAMES, parameters)?;
    Ok((matrix_of(&fields)?, fields.choice("op", &OPERATIONS)?))
}

impl Operator for Reduce {
    fn id(&self) -> &'static str {
        "reduce"
    }

    fn summary(&self) -> &'static str {
        "sum, mean, greatest or least of each row"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        read(parameters)?;
        Ok(Fields::new(self.id(), &NAMES, parameters)?.canonical(&[("op", OPERATIONS[0].to_owned())]))
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let (shape, operation) = read(parameters)?;
        let combine = match operation {
            "max" => Combine::Maximum,
            "min" => Combine::Minimum,
            _ => Combine::Sum,
        };
        let mut stages = vec![Stage::Reduction(combine, at(0))];
        if operation == "mean" {
            stages.push(Stage::Row(over(stage(0), Expression::constant(shape[1] as f64))));
        }
        let operands = vec![
            operand("x", &shape, &[ROW, COLUMN], Role::Input),
            operand("y", &shape[..1], &[ROW], Role::Output),
        ];
        Ok(over_matrix(shape, operands, stages))
    }

    fn reference(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        at: &[u64],
    ) -> ReferenceElement {
        let ([_, columns], operation) = read(parameters).expect("invariant: parameters are canonical");
        let row = || (0..columns).map(|column| operands[0].get(&[at[0], column]));
        if matches!(operation, "max" | "min") {
            let better = |found: f64, best: f64| if operation == "max" { found > best } else { found < best };
            let worst = if operation == "max" { f64::NEG_INFINITY } else { f64::INFINITY };
            let extreme =
                row().fold(
                    worst,
                    |best, x| {
                        if best.is_nan() || (!x.is_nan() && !better(x, best)) { best } else { x }
                    },
                );
            return ReferenceElement { value: extreme, magnitude: 0.0 };
        }
        let divisor = if operation == "mean" { columns as f64 } else { 1.0 };
        ReferenceElement {
            value: row().sum::<f64>() / divisor,
            magnitude: row().map(f64::abs).sum::<f64>() / divisor,
        }
    }

    fn tolerance(&self, parameters: &Parameters) -> Tolerance {
        let ([_, columns], _) = read(parameters).expect("invariant: parameters are canonical");
        tolerance(columns + 4)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "reduce:rows=1,cols=1,dtype=f32",
            "reduce:rows=5,cols=37,dtype=f32,op=max",
            "reduce:rows=3,cols=130,dtype=f32,op=min",
            "reduce:rows=4,cols=1000,dtype=f32,op=mean",
            "reduce:rows=17,cols=64,dtype=f32",
        ])
    }
}
