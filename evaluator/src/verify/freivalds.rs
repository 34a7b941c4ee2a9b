//! Checking a whole product in quadratic time.
//!
//! For C = A·B (+ old C + added operands) of exact integers and a random vector r with entries drawn from
//! [0, 2²⁰), compares C·r with A·(B·r) + (old C + added)·r, all in exact integer arithmetic. If any element
//! of C is wrong, its row differs by a vector d ≠ 0, and d·r = 0 for at most one of the 2²⁰ values of an
//! entry where d is not zero, the others being given. So a wrong C passes with probability at most 2⁻²⁰.
//! r stays in the coordinator, so a kernel cannot depend on it.
//!
//! R. Freivalds, Probabilistic machines can use less running time, IFIP 1977.

use rand::{Rng, RngExt};
use tilewright_ir::affine::{Index, Variable};
use tilewright_ir::computation::{ACCUMULATED, Contraction, Operand};
use tilewright_ir::expression::{Binary, Expression, Unary};
use tilewright_ir::program::Target;
use tilewright_ir::{DataType, TensorView, read_element};

use crate::inputs::EXACT_LIMIT;

/// Bound on the probability that a wrong output passes.
pub(super) const MISS_PROBABILITY: f64 = 1.0 / RANGE as f64;

const RANGE: u32 = 1 << 20;
/// Elements whose products with entries of r are summed in f64: 2²²·2²⁰·2⁸ stays below 2⁵³.
const CHUNK: usize = 256;
/// Elements that are worked on at once.
const LANES: usize = 8;
/// Adding and subtracting it in f32 rounds to an integer, for magnitudes up to 2²².
const ROUNDER: f32 = 12_582_912.0;

/// Offset of an element as `base + row·i + column·j + reduction·p`, elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Address {
    base: i64,
    row: i64,
    column: i64,
    reduction: i64,
}

/// The vector, and the product that a right output gives.
pub(super) struct Freivalds {
    data_type: DataType,
    address: Address,
    columns: usize,
    vector: Vec<f64>,
    expected: Vec<i128>,
}

/// A product that is wrong.
pub(super) struct Miss {
    pub(super) found: f64,
    pub(super) wanted: f64,
}

impl Address {
    fn of(operand: &Operand, variables: [u32; 3]) -> Self {
        let constant = operand.indices.iter().zip(&operand.strides);
        let along = |axis: u32| operand.stride_of(axis as usize);
        Self {
            base: constant.map(|(index, stride)| index.constant() * stride).sum(),
            row: along(variables[0]),
            column: along(variables[1]),
            reduction: along(variables[2]),
        }
    }

    fn at(self, row: usize, column: usize, reduction: usize) -> usize {
        let Self { base, row: i, column: j, reduction: p } = self;
        (base + row as i64 * i + column as i64 * j + reduction as i64 * p) as usize
    }
}

impl Freivalds {
    /// Prepares the product; `None` when the epilogue is not the identity and additions on exact inputs.
    pub(super) fn new(
        contraction: &Contraction,
        operands: &[TensorView<'_>],
        rng: &mut dyn Rng,
    ) -> Option<Self> {
        let [rows, columns, terms]: [u64; 3] =
            contraction.axes.iter().map(|axis| axis.extent).collect::<Vec<_>>().try_into().ok()?;
        let mut added = Vec::new();
        if let Some(epilogue) = &contraction.epilogue {
            collect_added(epilogue, contraction, &mut added)?;
        }
        let vector: Vec<i64> = (0..columns).map(|_| i64::from(rng.random_range(0..RANGE))).collect();
        let view = |operand: usize| {
            let address = Address::of(&contraction.operands[operand], [0, 1, 2]);
            let TensorView { layout, bytes } = operands[operand];
            move |row, column, reduction| {
                i128::from(read_element(layout.data_type, bytes, address.at(row, column, reduction)) as i64)
            }
        };
        let (left, right, output) =
            (view(contraction.left), view(contraction.right), view(contraction.output));
        let weight = |column: usize| i128::from(vector[column]);
        let mut inner = vec![0_i128; terms as usize];
        for (reduction, sum) in inner.iter_mut().enumerate() {
            *sum = (0..vector.len()).map(|column| right(0, column, reduction) * weight(column)).sum();
        }
        let mut expected = Vec::with_capacity(rows as usize);
        for row in 0..rows as usize {
            let mut sum: i128 = inner.iter().enumerate().map(|(p, inner)| left(row, 0, p) * inner).sum();
            if contraction.accumulate {
                sum += (0..vector.len()).map(|column| output(row, column, 0) * weight(column)).sum::<i128>();
            }
            for &operand in &added {
                let value = view(operand);
                sum += (0..vector.len()).map(|column| value(row, column, 0) * weight(column)).sum::<i128>();
            }
            expected.push(sum);
        }
        let written = &contraction.operands[contraction.output];
        Some(Self {
            data_type: written.data_type,
            address: Address::of(written, [0, 1, 2]),
            columns: vector.len(),
            vector: vector.into_iter().map(|entry| entry as f64).collect(),
            expected,
        })
    }

    /// Compares the product of an output.
    pub(super) fn check(&self, output: &[u8]) -> Result<(), Miss> {
        for (row, &wanted) in self.expected.iter().enumerate() {
            let found = if self.data_type == DataType::F32 && self.address.column == 1 {
                let start = self.address.at(row, 0, 0) * 4;
                output.get(start..start + 4 * self.columns).and_then(|row| dense_product(row, &self.vector))
            } else {
                self.strided_product(row, output)
            };
            if found != Some(wanted) {
                let found = found.map_or(f64::NAN, |found| found as f64);
                return Err(Miss { found, wanted: wanted as f64 });
            }
        }
        Ok(())
    }

    /// `None` when an element is not an exact integer.
    fn strided_product(&self, row: usize, output: &[u8]) -> Option<i128> {
        let mut sum = 0;
        for (column, &weight) in self.vector.iter().enumerate() {
            let value = read_element(self.data_type, output, self.address.at(row, column, 0));
            if value.fract() != 0.0 || value.abs() > EXACT_LIMIT {
                return None;
            }
            sum += i128::from(value as i64) * i128::from(weight as i64);
        }
        Some(sum)
    }
}

/// Product of a row of f32 with the vector; `None` when an element is not an exact integer.
///
/// Written so that the compiler makes vector instructions of it: this runs over every output in full.
fn dense_product(row: &[u8], vector: &[f64]) -> Option<i128> {
    let row = row.as_chunks::<4>().0;
    let mut sum = 0_i128;
    for (row, vector) in row.chunks(CHUNK).zip(vector.chunks(CHUNK)) {
        let (row, row_rest) = row.as_chunks::<LANES>();
        let (vector, vector_rest) = vector.as_chunks::<LANES>();
        let mut sums = [0.0_f64; LANES];
        let mut strange = [0_u32; LANES];
        let mut add = |lane: usize, raw: [u8; 4], weight: f64| {
            let value = f32::from_ne_bytes(raw);
            let exact = (value + ROUNDER) - ROUNDER == value && value.abs() <= EXACT_LIMIT as f32;
            strange[lane] |= u32::from(!exact);
            sums[lane] += f64::from(value) * weight;
        };
        for (values, weights) in row.iter().zip(vector) {
            for lane in 0..LANES {
                add(lane, values[lane], weights[lane]);
            }
        }
        for (lane, (&value, &weight)) in row_rest.iter().zip(vector_rest).enumerate() {
            add(lane, value, weight);
        }
        if strange != [0; LANES] {
            return None;
        }
        // Every partial sum is an integer below 2⁵³.
        sum += i128::from(sums.iter().sum::<f64>() as i64);
    }
    Some(sum)
}

/// Operands that are added to the sum. Functions count as the identity, which they are on integer inputs;
/// `None` for anything else.
fn collect_added(expression: &Expression, contraction: &Contraction, added: &mut Vec<usize>) -> Option<()> {
    match expression {
        Expression::Load(access) if access.target == ACCUMULATED => Some(()),
        Expression::Load(access) => {
            let Target::Tensor(tensor) = access.target else { return None };
            let operand = tensor.0 as usize;
            let described = contraction.operands.get(operand)?;
            // Read at the operand's own place, or the addresses above would be another's.
            let own = described.indices.iter().cloned().map(Index::from).collect::<Vec<_>>();
            let reduced = described.indices.iter().any(|index| index.coefficient(Variable(2)) != 0);
            (access.indices == own && !reduced).then(|| added.push(operand))
        }
        Expression::Unary(Unary::Silu | Unary::Relu, value) => collect_added(value, contraction, added),
        Expression::Binary(Binary::Add, first, second) => {
            collect_added(first, contraction, added)?;
            collect_added(second, contraction, added)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn the_product_is_exact_at_the_largest_values() {
        let columns = 1003;
        let vector = vec![f64::from(RANGE - 1); columns];
        let values = vec![EXACT_LIMIT as f32; columns];
        let exact = columns as i128 * (1 << 22) * i128::from(RANGE - 1);
        assert_eq!(dense_product(&row(&values), &vector), Some(exact));
        let negative = vec![-EXACT_LIMIT as f32; columns];
        assert_eq!(dense_product(&row(&negative), &vector), Some(-exact));
    }

    #[test]
    fn what_is_no_exact_integer_is_refused() {
        let vector = vec![0.0; 20];
        for strange in [f32::NAN, f32::INFINITY, 0.5, 1e-30, 4_194_303.5, 8_388_608.0, -1e20] {
            for at in [0, 13, 19] {
                let mut values = vec![1.0; 20];
                values[at] = strange;
                assert_eq!(dense_product(&row(&values), &vector), None, "{strange} at {at}");
            }
        }
    }
}
