//! Where the elements of tensors and buffers lie.

use tilewright_ir::Program;
use tilewright_ir::affine::Affine;
use tilewright_ir::program::{Layout, Target};
use tilewright_ir::workspace::REGISTER_LEVEL;

use crate::error::SimulateError;

/// A tensor or buffer.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// In registers: no memory is touched.
    pub(super) register: bool,
    /// Bytes of an element; fractions for block types.
    pub(super) element_bytes: f64,
    /// Elements of each dimension.
    pub(super) extents: Vec<f64>,
    /// Bytes between neighbours of each dimension (inside a panel for the one that is cut).
    pub(super) strides: Vec<f64>,
    /// The dimension that is cut into panels, elements of a panel's row, bytes of a panel.
    pub(super) panel: Option<(usize, f64, f64)>,
}

impl Place {
    /// Bytes that an index moves by when dimension `d` moves by `coefficients[d]`.
    pub(super) fn advance(&self, coefficients: impl Iterator<Item = f64>) -> f64 {
        coefficients.zip(&self.strides).enumerate().fold(0.0, |sum, (dimension, (by, stride))| {
            sum + match self.panel {
                Some((cut, width, bytes)) if cut == dimension && by.abs() >= width => by / width * bytes,
                _ => by * stride,
            }
        })
    }
}

/// All places: tensors first, then buffers.
#[derive(Debug, Clone)]
pub(super) struct Places {
    tensors: usize,
    pub(super) all: Vec<Place>,
}

impl Places {
    /// `value` says what run-time lengths are taken to be.
    pub(super) fn of(program: &Program, value: impl Fn(&Affine) -> f64) -> Self {
        let tensors = program.tensors.iter().map(|tensor| {
            let block = tensor.data_type.block();
            let bytes = block.bytes as f64 / block.elements as f64;
            Place {
                register: false,
                element_bytes: bytes,
                extents: tensor.shape.iter().map(|extent| value(extent).max(1.0)).collect(),
                strides: tensor.strides.iter().map(|&stride| stride as f64 * bytes).collect(),
                panel: None,
            }
        });
        let buffers = program.buffers.iter().map(|buffer| {
            let block = buffer.data_type.block();
            let bytes = block.bytes as f64 / block.elements as f64;
            let extents: Vec<f64> = buffer.shape.iter().map(|extent| value(extent).max(1.0)).collect();
            let (strides, panel) = strides(&buffer.layout, &extents, bytes);
            let register = buffer.level == REGISTER_LEVEL;
            Place { register, element_bytes: bytes, extents, strides, panel }
        });
        Self { tensors: program.tensors.len(), all: tensors.chain(buffers).collect() }
    }

    /// Position of a target in `all`.
    pub(super) fn position(&self, target: Target) -> Result<usize, SimulateError> {
        let (position, what) = match target {
            Target::Tensor(id) => (id.0 as usize, "a tensor"),
            Target::Buffer(id) => ((id.0 as usize).saturating_add(self.tensors), "a buffer"),
        };
        let known =
            position < self.all.len() && (position < self.tensors || matches!(target, Target::Buffer(_)));
        if known { Ok(position) } else { Err(SimulateError::Dangling { what: what.to_owned() }) }
    }
}

fn strides(layout: &Layout, extents: &[f64], bytes: f64) -> (Vec<f64>, Option<(usize, f64, f64)>) {
    let mut strides = vec![bytes; extents.len()];
    match *layout {
        Layout::RowMajor | Layout::Swizzled | Layout::Padded { .. } => {
            let by = if let Layout::Padded { by } = *layout { by as f64 } else { 0.0 };
            let mut stride = bytes;
            for (at, extent) in extents.iter().enumerate().rev() {
                strides[at] = stride;
                stride *= if at + 1 == extents.len() { extent + by } else { *extent };
            }
            (strides, None)
        }
        Layout::Panels { dimension, width } => {
            let width = (width as f64).max(1.0);
            let mut stride = bytes * width;
            for (at, extent) in extents.iter().enumerate().rev().filter(|(at, _)| *at != dimension) {
                strides[at] = stride;
                stride *= extent;
            }
            (strides, Some((dimension, width, stride)))
        }
    }
}
