//! Contents of operands, and of buffers that outlive a call.

use std::collections::BTreeMap;

use super::block::{BLOCK, decode_block, encode_block, round_block};
use super::error::InterpretError;
use crate::tensor::{TensorLayout, read_element, round_to, write_element};

/// An operand by value: every element of its span as f64, gaps between rows included.
///
/// Each value is one that the element type can hold (int64: up to 2⁵³). Elements of a block type lie in
/// blocks of 32 consecutive elements of the span.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorData {
    layout: TensorLayout,
    values: Vec<f64>,
}

impl TensorData {
    /// Zeros everywhere.
    ///
    /// # Errors
    /// When a stride is negative, or rows of a block type do not consist of whole blocks.
    pub fn zeros(layout: TensorLayout) -> Result<Self, InterpretError> {
        if layout.shape.len() != layout.strides.len() || layout.strides.iter().any(|&stride| stride < 0) {
            return Err(InterpretError::Call {
                name: "layout".to_owned(),
                found: format!("shape {:?}, strides {:?}", layout.shape, layout.strides),
                wanted: "one stride of at least 0 for each dimension".to_owned(),
            });
        }
        let block = layout.data_type.block().elements;
        let whole = |(&stride, &extent): (&i64, &u64)| {
            (stride as u64).is_multiple_of(block) || (stride == 1 && extent.is_multiple_of(block))
        };
        if !layout.strides.iter().zip(&layout.shape).all(whole) {
            return Err(InterpretError::Call {
                name: "layout".to_owned(),
                found: format!("shape {:?}, strides {:?}", layout.shape, layout.strides),
                wanted: format!("rows of whole {} blocks", layout.data_type),
            });
        }
        let values = vec![0.0; layout.span() as usize];
        Ok(Self { layout, values })
    }

    /// Each element by its index, rounded to the type; gaps are zero.
    ///
    /// # Errors
    /// As for [`TensorData::zeros`].
    pub fn from_fn(
        layout: TensorLayout,
        mut value: impl FnMut(&[u64]) -> f64,
    ) -> Result<Self, InterpretError> {
        let mut data = Self::zeros(layout)?;
        for flat in 0..data.layout.elements() {
            let at = data.layout.unravel(flat);
            let offset = data.layout.offset(&at);
            data.values[offset] = round_to(data.layout.data_type, value(&at));
        }
        if data.layout.data_type.block().elements > 1 {
            let data_type = data.layout.data_type;
            data.values.chunks_mut(BLOCK).for_each(|block| round_block(data_type, block));
        }
        Ok(data)
    }

    /// The content of memory: the bytes of the whole span.
    ///
    /// # Errors
    /// As for [`TensorData::zeros`], and when the number of bytes is not [`TensorLayout::bytes`].
    pub fn from_bytes(layout: TensorLayout, bytes: &[u8]) -> Result<Self, InterpretError> {
        if bytes.len() as u64 != layout.bytes() {
            return Err(InterpretError::Call {
                name: "bytes".to_owned(),
                found: bytes.len().to_string(),
                wanted: layout.bytes().to_string(),
            });
        }
        let mut data = Self::zeros(layout)?;
        let data_type = data.layout.data_type;
        let block = data_type.block();
        if block.elements > 1 {
            let blocks = bytes.chunks_exact(block.bytes as usize);
            for (values, bytes) in data.values.chunks_mut(BLOCK).zip(blocks) {
                values.copy_from_slice(&decode_block(data_type, bytes)[..values.len()]);
            }
        } else {
            for (offset, value) in data.values.iter_mut().enumerate() {
                *value = read_element(data_type, bytes, offset);
            }
        }
        Ok(data)
    }

    /// The bytes that memory would hold.
    pub fn to_bytes(&self) -> Vec<u8> {
        let data_type = self.layout.data_type;
        if data_type.block().elements > 1 {
            return self.values.chunks(BLOCK).flat_map(|block| encode_block(data_type, block)).collect();
        }
        let mut bytes = vec![0; self.layout.bytes() as usize];
        for (offset, &value) in self.values.iter().enumerate() {
            write_element(data_type, &mut bytes, offset, value);
        }
        bytes
    }

    /// Where the elements lie.
    pub fn layout(&self) -> &TensorLayout {
        &self.layout
    }

    /// One element.
    ///
    /// # Panics
    /// When `at` lies outside the tensor.
    pub fn get(&self, at: &[u64]) -> f64 {
        assert!(at.len() == self.layout.shape.len() && at.iter().zip(&self.layout.shape).all(|(i, n)| i < n));
        self.values[self.layout.offset(at)]
    }

    /// All elements, in row-major order of their indices.
    pub fn elements(&self) -> Vec<f64> {
        (0..self.layout.elements())
            .map(|flat| self.values[self.layout.offset(&self.layout.unravel(flat))])
            .collect()
    }

    /// The span, gaps included.
    pub(super) fn span(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn span_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }
}

/// Contents of persistent workspaces between calls, by buffer name and owning instance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PersistentStore {
    /// Elements in the order of the buffer's layout; `None`: never written.
    pub(super) buffers: BTreeMap<(String, Vec<u32>), Vec<Option<f64>>>,
}

impl PersistentStore {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self::default()
    }
}
