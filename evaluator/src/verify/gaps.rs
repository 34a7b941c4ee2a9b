//! Memory between the rows of an output, which belongs to somebody else.

use std::ops::Range;

use tilewright_ir::TensorLayout;

use crate::POISON;

/// Byte ranges inside the span of a tensor that no element covers.
pub(super) struct Gaps(Vec<Range<usize>>);

impl Gaps {
    pub(super) fn of(layout: &TensorLayout) -> Self {
        let (span, elements) = (layout.span(), layout.elements());
        if span == elements {
            return Self(Vec::new());
        }
        let mut covered = vec![false; span as usize];
        for flat in 0..elements {
            covered[layout.offset(&layout.unravel(flat))] = true;
        }
        let bytes = layout.data_type.block().bytes as usize;
        let mut gaps: Vec<Range<usize>> = Vec::new();
        for (at, _) in covered.iter().enumerate().filter(|(_, covered)| !**covered) {
            match gaps.last_mut() {
                Some(last) if last.end == at * bytes => last.end += bytes,
                _ => gaps.push(at * bytes..(at + 1) * bytes),
            }
        }
        Self(gaps)
    }

    /// Offset of the first byte in a gap that is not poison any more.
    pub(super) fn first_touched(&self, output: &[u8]) -> Option<usize> {
        self.0.iter().find_map(|gap| {
            let bytes = output.get(gap.clone())?;
            Some(gap.start + bytes.iter().position(|&byte| byte != POISON)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use tilewright_ir::DataType;

    use super::*;

    #[test]
    fn finds_a_store_between_rows_only() {
        let layout = TensorLayout { data_type: DataType::F32, shape: vec![3, 2], strides: vec![4, 1] };
        let gaps = Gaps::of(&layout);
        assert_eq!(gaps.0, [8..16, 24..32]);
        let mut output = vec![POISON; layout.bytes() as usize];
        assert_eq!(output.len(), 40);
        output[0..8].fill(0);
        output[32..].fill(0);
        assert_eq!(gaps.first_touched(&output), None);
        output[25] = 1;
        assert_eq!(gaps.first_touched(&output), Some(25));
    }

    #[test]
    fn a_dense_tensor_has_none() {
        let layout = TensorLayout { data_type: DataType::F32, shape: vec![3, 4], strides: vec![4, 1] };
        assert!(Gaps::of(&layout).0.is_empty());
    }
}
