//! Inputs that expose kernels which do part of the work.
//!
//! | set | values | exposes |
//! |---|---|---|
//! | `integer` | small integers, so that every sum is exact in any order | any missing or doubled term: results must be equal bit for bit |
//! | `heavy_tailed` | reals of both signs, about 1 in 30 up to a thousand times larger | narrow arithmetic, lost large terms |
//! | `structured` | reals that depend on each index in its own way, with a little noise | swapped, shifted or repeated indices |
//! | `extreme` | zeros, subnormal and large numbers, infinities, NaN (`inputs/extreme.rs`) | flushed numbers, lost or invented NaN and infinities |
//!
//! Whether a set tells a right answer from zeros, from a mean and so on is checked when it is made (`verify/`).

mod extreme;

use rand::{Rng, RngExt};
use tilewright_ir::computation::{Computation, Contraction, Operand};
use tilewright_ir::expression::{Expression, Unary};
use tilewright_ir::program::Role;
use tilewright_ir::{DataType, write_element};

use extreme::Extremes;

/// Greatest magnitude of an exact integer result. Below 2²³, so that adding 1.5·2²³ in f32 tells whether
/// a value is an integer.
pub(crate) const EXACT_LIMIT: f64 = (1_u64 << 22) as f64;

/// Greatest old value or added operand of an integer set.
const ADDED: f64 = 255.0;

/// Magnitudes of heavy tails reach 2 to this.
const OCTAVES: f32 = 10.0;
/// The same where exponentials follow, which would leave nothing of most elements.
const ROW_OCTAVES: f32 = 4.0;

/// Sums from here on pass through SiLU unchanged: 1 + exp(−x) is 1, in f64 too.
const IDENTITY: f64 = 64.0;

/// Kind of a set of inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputKind {
    /// Exact small integers.
    Integer,
    /// Reals with heavy tails.
    HeavyTailed,
    /// Reals that depend on their indices.
    Structured,
    /// Values at the edges of floating-point arithmetic.
    Extreme,
}

impl InputKind {
    /// Name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::HeavyTailed => "heavy_tailed",
            Self::Structured => "structured",
            Self::Extreme => "extreme",
        }
    }

    /// Whether results must be equal bit for bit.
    pub fn is_exact(self) -> bool {
        self == Self::Integer
    }
}

/// Writes values to every element of an operand; the gaps between rows are left alone.
pub(crate) fn fill(
    kind: InputKind,
    computation: &Computation,
    operand: usize,
    bytes: &mut [u8],
    rng: &mut dyn Rng,
) {
    let described = &computation.operands()[operand];
    let layout = described.layout();
    let mut values = Values::new(kind, computation, operand, rng);
    let Some((&row, outer)) = layout.shape.split_last() else {
        return;
    };
    let rows: u64 = outer.iter().product();
    let mut at = vec![0; layout.shape.len()];
    for _ in 0..rows {
        let start = layout.offset(&at);
        let stride = layout.strides.last().copied().unwrap_or(1);
        for column in 0..row {
            let offset = (start as i64 + column as i64 * stride) as usize;
            write_element(described.data_type, bytes, offset, values.next(&at, column, rng));
        }
        for (index, &extent) in at.iter_mut().zip(outer).rev() {
            *index += 1;
            if *index < extent {
                break;
            }
            *index = 0;
        }
    }
}

/// Draws the values of one operand.
enum Values {
    Integer {
        low: i32,
        high: i32,
        /// Dimension along which only each `every`-th index, from `phase` on, is not zero: keeps sums exact
        /// where the reduction is very long.
        sparse: Option<(usize, u64, u64)>,
    },
    HeavyTailed {
        /// Binary logarithm of the largest magnitude.
        octaves: f32,
    },
    Structured {
        /// Step and start of each dimension's own sawtooth.
        waves: Vec<(f64, f64)>,
    },
    Extreme(Extremes),
}

impl Values {
    fn new(kind: InputKind, computation: &Computation, operand: usize, rng: &mut dyn Rng) -> Self {
        match (kind, computation) {
            (InputKind::Integer, Computation::Contraction(contraction)) => {
                integers(contraction, operand, rng)
            }
            (InputKind::Extreme, Computation::Contraction(contraction)) => {
                Self::Extreme(Extremes::new(contraction, operand, rng))
            }
            (InputKind::Integer, Computation::RowWise(_)) => Self::Integer { low: -8, high: 8, sparse: None },
            (InputKind::HeavyTailed | InputKind::Extreme, Computation::RowWise(_)) => {
                Self::HeavyTailed { octaves: ROW_OCTAVES }
            }
            (InputKind::HeavyTailed, Computation::Contraction(_)) => Self::HeavyTailed { octaves: OCTAVES },
            (InputKind::Structured, _) => {
                let waves = computation.operands()[operand].shape.iter().enumerate();
                Self::Structured {
                    waves: waves
                        .map(|(d, _)| (rng.random_range(0.3..0.7) + d as f64 * 0.011, rng.random()))
                        .collect(),
                }
            }
        }
    }

    fn next(&mut self, at: &[u64], last: u64, rng: &mut dyn Rng) -> f64 {
        match self {
            Self::Integer { low, high, sparse } => {
                if let Some((dimension, every, phase)) = *sparse {
                    let index = if dimension + 1 == at.len() { last } else { at[dimension] };
                    if index % every != phase {
                        return 0.0;
                    }
                }
                f64::from(rng.random_range(*low..=*high))
            }
            Self::HeavyTailed { octaves } => {
                let value = f64::from(rng.random_range(-1.0_f32..1.0));
                let tail: f32 = rng.random();
                // A high power makes large exponents rare: above 5 in one draw of 24.
                value * f64::from(*octaves * tail.powi(16)).exp2()
            }
            Self::Structured { waves } => {
                let noise = f64::from(rng.random_range(-0.125_f32..0.125));
                let indices = at[..at.len() - 1].iter().chain([&last]);
                let sawtooth = |(&index, &(step, start)): (&u64, &(f64, f64))| {
                    (index as f64 * step + start).fract() - 0.5
                };
                // Weights differ, so that exchanging two indices changes the value.
                let weighted = indices.zip(waves.iter()).enumerate();
                noise + weighted.map(|(d, wave)| (d + 1) as f64 * sawtooth(wave)).sum::<f64>()
            }
            Self::Extreme(extremes) => extremes.next(at, last, rng),
        }
    }
}

/// Ranges under which every partial sum, old values and added operands included, is an exact integer; and
/// where the epilogue has functions, all results are so large that these are the identity.
fn integers(contraction: &Contraction, operand: usize, rng: &mut dyn Rng) -> Values {
    let terms = contraction.axes.last().map_or(1, |axis| axis.extent);
    let factor = operand == contraction.left || operand == contraction.right;
    let positive = contraction.epilogue.as_ref().is_some_and(has_function);
    if !factor {
        return Values::Integer {
            low: if positive { 0 } else { -(ADDED as i32) },
            high: ADDED as i32,
            sparse: None,
        };
    }
    let room = EXACT_LIMIT - 4.0 * ADDED;
    let every = (terms as f64 / room).ceil().max(1.0) as u64;
    let active = terms.div_ceil(every) as f64;
    let high = (room / active).sqrt().min(largest(contraction)).max(1.0) as i32;
    let low = if positive { (IDENTITY / active).sqrt().ceil().max(1.0) as i32 } else { -high };
    let reduction = contraction.axes.len() - 1;
    let dimension = contraction.operands[operand].dimension_of(reduction);
    let sparse = dimension.filter(|_| every > 1 && operand == contraction.left);
    let sparse = sparse.map(|dimension| (dimension, every, rng.random_range(0..every)));
    Values::Integer { low: low.min(high), high, sparse }
}

/// Largest integer up to which the types of both factors hold all.
fn largest(contraction: &Contraction) -> f64 {
    let of = |operand: &Operand| -> f64 {
        match operand.data_type {
            DataType::Int8 => 127.0,
            DataType::Uint8 => 255.0,
            DataType::Bf16 => 256.0,
            _ => 2047.0,
        }
    };
    of(&contraction.operands[contraction.left]).min(of(&contraction.operands[contraction.right]))
}

/// Whether an epilogue is more than additions.
fn has_function(expression: &Expression) -> bool {
    match expression {
        Expression::Unary(Unary::Negate, value) => has_function(value),
        Expression::Unary(..) | Expression::Choose { .. } | Expression::Random { .. } => true,
        Expression::Binary(_, first, second) => has_function(first) || has_function(second),
        Expression::Constant(_) | Expression::Load(_) | Expression::Position(_) => false,
    }
}

/// Whether launches write to an operand of this role.
pub(crate) fn is_written(role: Role) -> bool {
    role != Role::Input
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use tilewright_ir::{TensorView, Workload};

    use super::*;

    fn operands(text: &str, kind: InputKind) -> (Workload, Computation, Vec<Vec<u8>>) {
        let workload: Workload = text.parse().unwrap();
        let computation = workload.operator().describe(workload.parameters()).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let contents = computation.operands().iter().enumerate().map(|(at, operand)| {
            let mut bytes = vec![crate::POISON; operand.layout().bytes() as usize];
            fill(kind, &computation, at, &mut bytes, &mut rng);
            bytes
        });
        let contents = contents.collect();
        (workload, computation, contents)
    }

    #[test]
    fn integer_sets_stay_exact_and_pass_through_the_epilogue() {
        for text in [
            "matmul:m=3,n=5,k=1,dtype=f32,epilogue=bias+silu",
            "matmul:m=3,n=5,k=7,dtype=f32,accumulate=true,epilogue=bias+relu",
            "matmul:m=2,n=3,k=50000,dtype=f32",
            "matmul:m=1,n=1,k=10000000,dtype=f32",
        ] {
            let (workload, computation, contents) = operands(text, InputKind::Integer);
            let layouts: Vec<_> = computation.operands().iter().map(Operand::layout).collect();
            let views: Vec<_> =
                layouts.iter().zip(&contents).map(|(layout, bytes)| TensorView { layout, bytes }).collect();
            let reference = workload.operator().reference(workload.parameters(), &views, &[0, 0]);
            assert!(reference.magnitude <= 2.2 * EXACT_LIMIT, "{text}: {}", reference.magnitude);
            assert_eq!(reference.value.fract(), 0.0, "{text}");
            assert!(!text.contains("epilogue") || reference.value >= IDENTITY, "{text}: {}", reference.value);
        }
    }

    #[test]
    fn gaps_are_left_alone_and_elements_are_finite() {
        for kind in [InputKind::Integer, InputKind::HeavyTailed, InputKind::Structured] {
            let (_, computation, contents) = operands("matmul:m=4,n=3,k=5,dtype=f32,lda=8", kind);
            let layout = computation.operands()[0].layout();
            let view = TensorView { layout: &layout, bytes: &contents[0] };
            for (row, column) in (0..4).flat_map(|row| (0..5).map(move |column| (row, column))) {
                assert!(view.get(&[row, column]).is_finite());
            }
            assert!(contents[0][5 * 4..8 * 4].iter().all(|&byte| byte == crate::POISON));
        }
    }

    // U011
    #[test]
    fn structured_values_differ_between_neighbours() {
        let (_, computation, contents) = operands("matmul:m=8,n=8,k=8,dtype=f32", InputKind::Structured);
        let layout = computation.operands()[0].layout();
        let view = TensorView { layout: &layout, bytes: &contents[0] };
        for index in 0..7 {
            assert_ne!(view.get(&[index, 0]), view.get(&[index + 1, 0]));
            assert_ne!(view.get(&[index, index + 1]), view.get(&[index + 1, index]));
        }
    }
}
