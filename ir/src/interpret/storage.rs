//! Elements of tensors and buffers, by index.

use super::error::InterpretError;
use super::order::Cell;
use super::plan::invalid;
use crate::data_type::DataType;
use crate::program::{Buffer, Layout};

/// Most dimensions of a tensor or buffer: indices are kept in fixed arrays.
pub(super) const MOST_DIMENSIONS: usize = 8;

/// Where an element lies.
pub(super) enum Place {
    /// At the sum of index times stride.
    Strided,
    /// Where the layout says.
    Layout(Layout),
}

/// One tensor, or one instance of a buffer.
pub(super) struct Storage {
    /// Tensor number, or the number of tensors plus the buffer's number.
    pub(super) slot: usize,
    pub(super) data_type: DataType,
    pub(super) shape: Vec<u64>,
    /// Distance of neighbours along each dimension; along the cut dimension of panels: inside a panel.
    pub(super) strides: Vec<i64>,
    pub(super) place: Place,
    /// Whether instances of a resource have one each.
    pub(super) owned: bool,
    pub(super) cells: Vec<Cell>,
}

impl Storage {
    /// A buffer's memory, nothing written in it.
    pub(super) fn buffer(
        slot: usize,
        data_type: DataType,
        shape: Vec<u64>,
        layout: Layout,
        owned: bool,
    ) -> Self {
        let extents: Vec<u64> = match layout {
            Layout::RowMajor | Layout::Swizzled => shape.clone(),
            Layout::Padded { by } => {
                let last = shape.len().saturating_sub(1);
                shape.iter().enumerate().map(|(d, &n)| if d == last { n + by } else { n }).collect()
            }
            Layout::Panels { dimension, .. } => {
                shape.iter().enumerate().map(|(d, &n)| if d == dimension { 1 } else { n }).collect()
            }
        };
        let (innermost, cut) = match layout {
            Layout::Panels { dimension, width } => (width as i64, Some(dimension)),
            _ => (1, None),
        };
        let mut strides = vec![innermost; shape.len()];
        for dimension in (1..shape.len()).rev() {
            strides[dimension - 1] = strides[dimension] * extents[dimension] as i64;
        }
        if let Some(cut) = cut {
            strides[cut] = 1;
        }
        let cells = vec![Cell::unwritten(); layout.elements(&shape) as usize];
        Self { slot, data_type, shape, strides, place: Place::Layout(layout), owned, cells }
    }

    /// Whether the indices lie inside.
    pub(super) fn contains(&self, indices: &[i64]) -> bool {
        indices.iter().zip(&self.shape).all(|(&index, &extent)| index >= 0 && (index as u64) < extent)
    }

    /// Position in `cells` of indices that lie inside.
    pub(super) fn offset(&self, indices: &[i64]) -> usize {
        match &self.place {
            Place::Strided => {
                indices.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum::<i64>() as usize
            }
            Place::Layout(layout) => {
                layout.offset(indices, &self.shape, self.data_type.block().bytes) as usize
            }
        }
    }

    /// Whether, over indices from `low` to `high` (inclusive, all inside), the offset is linear with
    /// [`Storage::strides`].
    pub(super) fn is_linear(&self, low: &[i64], high: &[i64]) -> bool {
        match self.place {
            Place::Strided | Place::Layout(Layout::RowMajor | Layout::Padded { .. }) => true,
            Place::Layout(Layout::Panels { dimension, width }) => {
                low[dimension] / width as i64 == high[dimension] / width as i64
            }
            Place::Layout(Layout::Swizzled) => false,
        }
    }
}

/// Refuses a layout that is not one to one on its shape.
///
/// # Errors
/// [`InterpretError::Invalid`] with the reason.
pub(super) fn check_layout(buffer: &Buffer, shape: &[u64]) -> Result<(), InterpretError> {
    let name = &buffer.name;
    match buffer.layout {
        Layout::Panels { dimension, width } if dimension >= shape.len() || width == 0 => {
            invalid(format!("{name} has panels of {width} along dimension {dimension} of {}", shape.len()))
        }
        Layout::Padded { .. } | Layout::Swizzled if shape.is_empty() => {
            invalid(format!("{name} has no rows to pad or to swizzle"))
        }
        Layout::RowMajor | Layout::Panels { .. } | Layout::Padded { .. } | Layout::Swizzled => Ok(()),
    }
}
