//! The box of elements that an access touches while some loops run, and how many lines, pages and sets it is.

use super::counter::MOST_LOOPS;
use super::machine::Store;
use super::place::Place;

/// Most dimensions of a tensor or buffer.
pub(super) const MOST_DIMENSIONS: usize = 6;

/// Least and greatest index of one dimension, at counter 0 of all enclosing loops, and how they move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) by: [f64; MOST_LOOPS],
}

/// A box in one place.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// Position among the places.
    pub(super) place: usize,
    pub(super) spans: Vec<Span>,
}

/// Bytes of memory that belong together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Footprint {
    /// Lines or pages.
    pub(super) lines: f64,
    /// Lines that would press as hard on a cache without conflicts.
    pub(super) pressure: f64,
}

/// A box as runs of bytes: rows of `run` contiguous bytes, repeated by outer strides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runs {
    /// Contiguous bytes.
    pub(super) run: f64,
    /// Outer repetitions: how many, bytes apart; by rising stride.
    outer: [(f64, f64); MOST_DIMENSIONS + 1],
    outer_count: usize,
}

impl Region {
    /// Adds what the loop of this depth walks over.
    pub(super) fn over_loop(&mut self, depth: usize, trips: f64) {
        for span in &mut self.spans {
            let reach = span.by[depth] * (trips - 1.0).max(0.0);
            if reach < 0.0 {
                span.low += reach;
            } else {
                span.high += reach;
            }
            span.by[depth] = 0.0;
        }
    }

    /// Whether it moves with the loop of this depth.
    pub(super) fn moves(&self, depth: usize) -> bool {
        self.spans.iter().any(|span| span.by[depth] != 0.0)
    }

    /// Grows to hold another box of the same place; whether it had to grow.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut grown = false;
        for (span, other) in self.spans.iter_mut().zip(&other.spans) {
            grown |= other.low < span.low || other.high > span.high;
            span.low = span.low.min(other.low);
            span.high = span.high.max(other.high);
        }
        grown
    }

    /// The box as runs of bytes.
    pub(super) fn runs(&self, place: &Place) -> Runs {
        let mut parts = [(1.0, 0.0); MOST_DIMENSIONS + 1];
        let mut count = 0;
        let mut push = |repeats: f64, stride: f64| {
            if repeats > 1.0 && count < parts.len() {
                parts[count] = (repeats, stride.abs());
                count += 1;
            }
        };
        for (dimension, span) in self.spans.iter().enumerate() {
            let extent = (span.high - span.low + 1.0).clamp(1.0, place.extents[dimension].max(1.0));
            match place.panel {
                Some((cut, width, bytes)) if cut == dimension => {
                    push(extent.min(width), place.element_bytes);
                    push((extent / width).ceil(), bytes);
                }
                _ => push(extent, place.strides[dimension]),
            }
        }
        let parts = &mut parts[..count];
        parts.sort_unstable_by(|one, other| one.1.total_cmp(&other.1));
        let mut runs =
            Runs { run: place.element_bytes, outer: [(1.0, 0.0); MOST_DIMENSIONS + 1], outer_count: 0 };
        for &(repeats, stride) in parts.iter() {
            if runs.outer_count == 0 && stride <= runs.run {
                runs.run += stride * (repeats - 1.0);
            } else {
                runs.outer[runs.outer_count] = (repeats, stride);
                runs.outer_count += 1;
            }
        }
        runs
    }
}

impl Runs {
    fn outer(&self) -> &[(f64, f64)] {
        &self.outer[..self.outer_count]
    }

    /// Bytes from the first to behind the last.
    fn span(&self) -> f64 {
        self.outer().iter().fold(self.run, |sum, (repeats, stride)| sum + stride * (repeats - 1.0))
    }

    /// Lines (or pages) of a store, and how hard they press on its sets.
    pub(super) fn footprint(&self, store: &Store) -> Footprint {
        let rows: f64 = self.outer().iter().map(|(repeats, _)| repeats).product();
        let aligned = self.outer().iter().all(|(_, stride)| stride % store.line == 0.0);
        // A row at a random place begins inside a line.
        let row_lines =
            if aligned { (self.run / store.line).ceil() } else { (self.run + store.line - 4.0) / store.line };
        let lines = (rows * row_lines).min((self.span() / store.line).ceil() + 1.0).max(1.0);
        let Some((sets, ways)) = store.sets else { return Footprint { lines, pressure: lines } };
        if self.outer_count == 0 || lines <= ways {
            return Footprint { lines, pressure: lines };
        }
        let period = sets * store.line;
        let reached = self.outer().iter().fold(row_lines, |reached, (repeats, stride)| {
            reached.min(sets) * clusters(*repeats, *stride, reached * store.line, period)
        });
        Footprint { lines, pressure: lines * (sets / reached.clamp(1.0, sets)).max(1.0) }
    }
}

/// Most clusters of rows that are looked at.
const MOST_CLUSTERS: u32 = 32;

/// How many times the sets of one row are reached by rows a stride apart, where sets come again after `period`
/// bytes.
///
/// Every `q`-th row may lie almost a multiple of the period further on; then rows form `q` clusters, each of which
/// grows by the small distance that is left.
fn clusters(repeats: f64, stride: f64, row: f64, period: f64) -> f64 {
    let mut least = repeats;
    for q in 1..=MOST_CLUSTERS {
        let q = f64::from(q);
        if q >= least {
            break;
        }
        let step = (q * stride) % period;
        let step = step.min(period - step);
        least = least.min(q * (1.0 + (repeats / q - 1.0) * step / row));
    }
    least.max(1.0)
}

/// Euclid's algorithm, and the common power of two at once where the second is one; the second when the first
/// is 0.
pub(super) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    if b.is_power_of_two() {
        return if a == 0 { b } else { b.min(1 << a.trailing_zeros()) };
    }
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}
