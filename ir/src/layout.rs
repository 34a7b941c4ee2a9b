//! Where the elements of a buffer lie.

use serde::{Deserialize, Serialize};

/// Order of elements inside a buffer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Last dimension contiguous.
    RowMajor,
    /// `dimension` is cut into panels of `width`; panels follow one another, inside a panel the other
    /// dimensions run in order, and the `width` elements of the panel are contiguous.
    Panels {
        /// Dimension that is cut.
        dimension: usize,
        /// Elements of a panel's row.
        width: u64,
    },
    /// Row-major with `by` unused elements after each row.
    Padded {
        /// Unused elements.
        by: u64,
    },
    /// Row-major with 16-byte groups of a row exchanged by the row number (exclusive or) against bank conflicts.
    Swizzled,
}

impl Layout {
    /// Offset of an element, in elements, and the number of elements that the whole buffer takes, for
    /// indices `at` in a buffer of `shape` (all fixed). `element_bytes` matters to a swizzle only.
    pub fn offset(&self, at: &[i64], shape: &[u64], element_bytes: u64) -> u64 {
        let row_major = |at: &mut dyn Iterator<Item = (u64, u64)>| at.fold(0, |sum, (i, n)| sum * n + i);
        match *self {
            Self::RowMajor => row_major(&mut at.iter().map(|&i| i as u64).zip(shape.iter().copied())),
            Self::Panels { dimension, width } => {
                let (panel, lane) = (at[dimension] as u64 / width, at[dimension] as u64 % width);
                let rest = || at.iter().map(|&i| i as u64).zip(shape.iter().copied()).enumerate();
                let inner = rest().filter(|(d, _)| *d != dimension).fold(0, |sum, (_, (i, n))| sum * n + i);
                let inner_count: u64 = rest().filter(|(d, _)| *d != dimension).map(|(_, (_, n))| n).product();
                (panel * inner_count + inner) * width + lane
            }
            Self::Padded { by } => {
                let last = shape.len() - 1;
                row_major(
                    &mut at
                        .iter()
                        .map(|&i| i as u64)
                        .zip(shape.iter().copied())
                        .enumerate()
                        .map(|(d, (i, n))| (i, if d == last { n + by } else { n })),
                )
            }
            Self::Swizzled => {
                let group = (16 / element_bytes).max(1);
                let columns = *shape.last().unwrap_or(&1);
                let linear = row_major(&mut at.iter().map(|&i| i as u64).zip(shape.iter().copied()));
                let (row, column) = (linear / columns, linear % columns);
                // Exchanging within the largest power of two that divides the whole groups keeps it one to one.
                let groups = columns / group;
                let mask = if groups == 0 { 0 } else { (groups & groups.wrapping_neg()).min(8) - 1 };
                let from = column / group;
                let to = if from < groups { (from ^ (row & mask)) * group + column % group } else { column };
                row * columns + to
            }
        }
    }

    /// Elements that a buffer of `shape` (all fixed) takes, padding included.
    pub fn elements(&self, shape: &[u64]) -> u64 {
        match *self {
            Self::RowMajor | Self::Swizzled => shape.iter().product(),
            Self::Panels { dimension, width } => shape
                .iter()
                .enumerate()
                .map(|(d, &n)| if d == dimension { n.div_ceil(width) * width } else { n })
                .product(),
            Self::Padded { by } => {
                let last = shape.len().saturating_sub(1);
                shape.iter().enumerate().map(|(d, &n)| if d == last { n + by } else { n }).product()
            }
        }
    }
}
