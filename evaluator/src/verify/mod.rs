//! Deciding whether a kernel computes what its workload says, from what it left in memory.
//!
//! Expected results exist only in the coordinator. A small output is compared element by element with the
//! operator's reference on every set of inputs. A large one is compared whole on the exact integers by a
//! random product after Freivalds, and on a sample of elements with real values. Whatever lies between rows
//! must be untouched, and an element that was not written shows as NaN, of a bit pattern that no arithmetic makes.
//!
//! A set of inputs is *golden* only if its reference differs from zeros, and from its own mean, by many times the
//! allowed error ([`SetCheck::is_golden`]); another is refused, since wrong answers would pass on it.

mod elements;
mod freivalds;
mod gaps;
#[cfg(test)]
mod golden_tests;

use rand::{Rng, RngExt};
use tilewright_ir::computation::Computation;
use tilewright_ir::{TensorLayout, TensorView, Tolerance, Workload};
use tilewright_journal::{Drift, EvalError, Verification};

use crate::inputs::InputKind;
use elements::ElementCheck;
use freivalds::Freivalds;
use gaps::Gaps;

/// Most multiply-adds of a full reference, which takes some nanoseconds for each.
const FULL_TERMS: u64 = 1 << 21;
/// Most elements of a full reference.
const FULL_ELEMENTS: u64 = 1 << 15;
/// The same where a row's elements have most of their reference in common.
const FULL_ROW_ELEMENTS: u64 = 1 << 18;
/// Most and fewest elements of a sample.
const SAMPLE: std::ops::RangeInclusive<u64> = 16..=256;

/// Least difference of a golden reference from zeros and from its mean, in allowed errors of the element where it is
/// largest.
const CLARITY: f64 = 16.0;

/// What one output must hold after a launch on one set of inputs.
pub(crate) struct SetCheck {
    kind: InputKind,
    name: String,
    layout: TensorLayout,
    elements: ElementCheck,
    whole: Option<Freivalds>,
    gaps: Gaps,
    complete: bool,
}

/// What a check has seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// Largest error over its bound: at most 1.
    pub(crate) worst: f64,
    /// Elements compared one by one.
    pub(crate) elements: u64,
    /// Largest error in units in the last place of the right value.
    pub(crate) max_ulps: f64,
    /// Error of all elements in the 2-norm, as a share of the reference's.
    pub(crate) relative_error: f64,
}

impl SetCheck {
    /// Prepares the check; `operands` are all operands before a launch.
    pub(crate) fn new(
        workload: &Workload,
        computation: &Computation,
        kind: InputKind,
        operands: &[TensorView<'_>],
        rng: &mut dyn Rng,
    ) -> Self {
        let output = &computation.operands()[computation.output()];
        let layout = output.layout();
        let (flat, complete) = checked_elements(computation, &layout, rng);
        let (exact, whole) = match computation {
            Computation::Contraction(contraction) => {
                let exact = kind.is_exact();
                let whole = (exact && !complete).then(|| Freivalds::new(contraction, operands, rng));
                (exact, whole.flatten())
            }
            Computation::RowWise(_) => (false, None),
        };
        Self {
            kind,
            name: output.name.clone(),
            elements: ElementCheck::new(workload, operands, &layout, &flat, exact),
            whole,
            gaps: Gaps::of(&layout),
            layout,
            complete,
        }
    }

    /// Whether zeros, a mean or another constant are refused on this set by a wide margin.
    pub(crate) fn is_golden(&self) -> bool {
        self.elements.clarity() >= CLARITY
    }

    /// Checks what a launch has left in the output.
    ///
    /// # Errors
    /// The wrong answer, or the store between rows.
    pub(crate) fn check(&self, output: &[u8]) -> Result<Seen, EvalError> {
        let wrong = |at: Vec<u64>, found, wanted, max_error, tolerance| EvalError::WrongAnswer {
            tensor: self.name.clone(),
            at,
            found,
            wanted,
            max_error,
            tolerance,
        };
        if let Some(offset) = self.gaps.first_touched(output) {
            let name = &self.name;
            return Err(EvalError::OutOfBounds(format!(
                "store between the rows of `{name}`, at byte {offset}"
            )));
        }
        let seen = self.elements.check(&self.layout, output).map_err(|miss| {
            let at = miss.flat.map_or_else(Vec::new, |flat| self.layout.unravel(flat));
            wrong(at, miss.found, miss.wanted, miss.error, miss.bound)
        })?;
        if let Some(whole) = &self.whole {
            whole.check(output).map_err(|miss| {
                let difference = (miss.found - miss.wanted).abs();
                wrong(Vec::new(), miss.found, miss.wanted, difference, 0.0)
            })?;
        }
        Ok(seen)
    }
}

/// Sums up what all sets have shown.
pub(crate) fn evidence<'a>(
    checks: impl Iterator<Item = &'a SetCheck> + Clone,
    seen: &[Seen],
    tolerance: &Tolerance,
) -> Verification {
    let relative = tolerance.relative;
    let largest = |of: fn(&Seen) -> f64| seen.iter().map(of).fold(0.0, f64::max);
    let complete = checks.clone().all(|check| check.complete);
    let product = checks.clone().any(|check| check.whole.is_some());
    let method = match (complete, product) {
        (true, _) => "full",
        (false, true) => "freivalds+sampled",
        (false, false) => "sampled",
    };
    let miss_probability = match (complete, product) {
        (true, _) => 0.0,
        (false, true) => freivalds::MISS_PROBABILITY,
        // Nothing bounds it: the wrong elements may be any that were not sampled.
        (false, false) => 1.0,
    };
    Verification {
        method: method.to_owned(),
        inputs: checks.map(|check| check.kind.name().to_owned()).collect(),
        elements: seen.iter().map(|seen| seen.elements).sum(),
        max_error: relative * largest(|seen| seen.worst),
        tolerance: relative,
        miss_probability,
        drift: Some(Drift {
            max_ulps: largest(|seen| seen.max_ulps),
            relative_error: largest(|seen| seen.relative_error),
            limit: tolerance.drift,
        }),
    }
}

/// Elements that are compared one by one, and whether these are all.
fn checked_elements(computation: &Computation, layout: &TensorLayout, rng: &mut dyn Rng) -> (Vec<u64>, bool) {
    let elements = layout.elements();
    match computation {
        Computation::Contraction(_) => {
            let terms = computation.operations() as u64 / 2;
            if terms <= FULL_TERMS && elements <= FULL_ELEMENTS {
                return ((0..elements).collect(), true);
            }
            let per_element = (terms / elements.max(1)).max(1);
            let count = (FULL_TERMS / per_element).clamp(*SAMPLE.start(), *SAMPLE.end());
            (sample(layout, count, rng), false)
        }
        // A row's reference costs about as much as the row.
        Computation::RowWise(_) => {
            let row = layout.shape.last().copied().unwrap_or(1).max(1);
            let rows = elements / row;
            if elements <= FULL_ROW_ELEMENTS || rows < 3 {
                return ((0..elements).collect(), true);
            }
            let count = (FULL_ROW_ELEMENTS / row).max(3);
            let mut chosen: Vec<u64> = (2..count).map(|_| rng.random_range(0..rows)).collect();
            chosen.extend([0, rows - 1]);
            chosen.sort_unstable();
            chosen.dedup();
            (chosen.into_iter().flat_map(|at| at * row..(at + 1) * row).collect(), false)
        }
    }
}

/// The corners, and random others.
fn sample(layout: &TensorLayout, count: u64, rng: &mut dyn Rng) -> Vec<u64> {
    let elements = layout.elements();
    let row = layout.shape.last().copied().unwrap_or(1);
    let corners = [0, row - 1, elements - row, elements - 1];
    let mut chosen: Vec<u64> = corners.into_iter().collect();
    chosen.extend((0..count).map(|_| rng.random_range(0..elements)));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
