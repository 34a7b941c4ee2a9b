//! Rotary position embedding: pairs of each head's elements turned by an angle of their position.
//!
//! Half-split pairs, as in GPT-NeoX, Llama and Qwen: element `i` with `i + dim/2` (Su et al., *Enhanced Transformer with Rotary Position Embedding*, 2021). The
//! angles' cosines and sines are operands, tokens × dim/2. Example: `rope:tokens=512,heads=16,dim=128,dtype=f32`.

use super::fields::{Fields, LARGEST_OPERAND, value_error};
use super::row::{minus, operand, plus, times, tolerance, workloads};
use crate::affine::{Affine, Variable};
use crate::computation::{AxisRole, Computation, ComputationAxis};
use crate::data_type::DataType;
use crate::operator::{Operator, ReferenceElement, Tolerance};
use crate::program::Role;
use crate::row_wise::{RowWise, Stage, Store, element};
use crate::tensor::TensorView;
use crate::workload::{Parameters, Workload, WorkloadError};

/// The operator.
pub(crate) struct Rope;

const NAMES: [&str; 4] = ["tokens", "heads", "dim", "dtype"];

fn shape(parameters: &Parameters) -> Result<[u64; 3], WorkloadError> {
    let fields = Fields::new("rope", &NAMES, parameters)?;
    fields.data_type(&[DataType::F32])?;
    let [tokens, heads, dim] = [fields.extent("tokens")?, fields.extent("heads")?, fields.extent("dim")?];
    if dim % 2 == 1 {
        return Err(value_error("dim", &dim.to_string(), "expected an even number"));
    }
    let elements = u128::from(tokens) * u128::from(heads) * u128::from(dim);
    if elements > LARGEST_OPERAND {
        let most = format!("at most {LARGEST_OPERAND}");
        return Err(value_error("tokens·heads·dim", &elements.to_string(), most));
    }
    Ok([tokens, heads, dim])
}

impl Operator for Rope {
    fn id(&self) -> &'static str {
        "rope"
    }

    fn summary(&self) -> &'static str {
        "rotary position embedding, half-split, with cosines and sines given"
    }

    fn parameter_names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn canonical(&self, parameters: &Parameters) -> Result<Parameters, WorkloadError> {
        shape(parameters)?;
        Ok(parameters.clone())
    }

    fn describe(&self, parameters: &Parameters) -> Result<Computation, WorkloadError> {
        let [tokens, heads, dim] = shape(parameters)?;
        let half = dim / 2;
        let axis = |name: &str, extent, role| ComputationAxis { name: name.to_owned(), extent, role };
        let [token, head, column] = [0, 1, 2].map(Variable);
        let all = |name, role| operand(name, &[tokens, heads, dim], &[token, head, column], role);
        let table = |name| operand(name, &[tokens, half], &[token, column], Role::Input);
        let first = |of: usize| element(of, [Affine::from(token), head.into(), column.into()]);
        let second = |of: usize| element(of, [Affine::from(token), head.into(), column + half as i64]);
        let cosine = || element(1, [token, column]).load();
        let sine = || element(2, [token, column]).load();
        Ok(Computation::RowWise(RowWise {
            axes: vec![
                axis("token", tokens, AxisRole::Row),
                axis("head", heads, AxisRole::Row),
                axis("column", half, AxisRole::Column),
            ],
            operands: vec![all("x", Role::Input), table("cos"), table("sin"), all("y", Role::Output)],
            output: 3,
            stages: vec![
                Stage::Column(minus(times(first(0).load(), cosine()), times(second(0).load(), sine()))),
                Stage::Column(plus(times(second(0).load(), cosine()), times(first(0).load(), sine()))),
            ],
            stores: vec![Store { stage: 0, place: first(3) }, Store { stage: 1, place: second(3) }],
        }))
    }

    fn reference(
        &self,
        parameters: &Parameters,
        operands: &[TensorView<'_>],
        at: &[u64],
    ) -> ReferenceElement {
        let [_, _, dim] = shape(parameters).expect("invariant: parameters are canonical");
        let half = dim / 2;
        let pair = at[2] % half;
        let x = |column| operands[0].get(&[at[0], at[1], column]);
        let (cosine, sine) = (operands[1].get(&[at[0], pair]), operands[2].get(&[at[0], pair]));
        let (kept, turned) = if at[2] < half {
            (x(pair) * cosine, -x(pair + half) * sine)
        } else {
            (x(pair + half) * cosine, x(pair) * sine)
        };
        ReferenceElement { value: kept + turned, magnitude: kept.abs() + turned.abs() }
    }

    fn tolerance(&self, _: &Parameters) -> Tolerance {
        tolerance(4)
    }

    fn test_workloads(&self) -> Vec<Workload> {
        workloads(&[
            "rope:tokens=1,heads=1,dim=2,dtype=f32",
            "rope:tokens=3,heads=5,dim=64,dtype=f32",
            "rope:tokens=7,heads=2,dim=30,dtype=f32",
        ])
    }
}
