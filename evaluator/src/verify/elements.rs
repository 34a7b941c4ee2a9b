//! Comparing elements one by one with the operator's reference.

use tilewright_ir::{DataType, TensorLayout, TensorView, Workload, read_element};

use super::Seen;

/// Expected elements with their bounds.
pub(super) struct ElementCheck {
    /// Row-major numbers of the elements.
    flat: Vec<u64>,
    offsets: Vec<usize>,
    values: Vec<f64>,
    /// One over the allowed error.
    sharpness: Vec<f64>,
}

/// The worst element of a wrong answer.
pub(super) struct Miss {
    pub(super) flat: u64,
    pub(super) found: f64,
    pub(super) wanted: f64,
    pub(super) error: f64,
    pub(super) bound: f64,
}

/// Sharpness of an exact comparison: any difference of two numbers of the types in use exceeds 1 by far.
const EXACT: f64 = 1e300;

impl ElementCheck {
    /// Computes the reference of these elements.
    pub(super) fn new(
        workload: &Workload,
        operands: &[TensorView<'_>],
        layout: &TensorLayout,
        flat: &[u64],
        exact: bool,
    ) -> Self {
        let (operator, parameters) = (workload.operator(), workload.parameters());
        let tolerance = operator.tolerance(parameters);
        let mut check =
            Self { flat: flat.to_vec(), offsets: Vec::new(), values: Vec::new(), sharpness: Vec::new() };
        for &flat in flat {
            let at = layout.unravel(flat);
            let reference = operator.reference(parameters, operands, &at);
            let bound = tolerance.relative * reference.magnitude + tolerance.absolute;
            check.offsets.push(layout.offset(&at));
            check.values.push(reference.value);
            check.sharpness.push(if exact { EXACT } else { 1.0 / bound });
        }
        check
    }

    /// Compares all.
    pub(super) fn check(&self, layout: &TensorLayout, output: &[u8]) -> Result<Seen, Miss> {
        let (found, element_bytes) = (layout.data_type, layout.data_type.block().bytes as usize);
        let read = |offset: usize| match found {
            // The common type without the match for each element.
            DataType::F32 => match output.get(offset * element_bytes..).and_then(<[u8]>::first_chunk) {
                Some(raw) => f64::from(f32::from_ne_bytes(*raw)),
                None => f64::NAN,
            },
            other => read_element(other, output, offset),
        };
        let (mut worst, mut fits) = (0.0_f64, true);
        for ((&offset, &value), &sharpness) in self.offsets.iter().zip(&self.values).zip(&self.sharpness) {
            let error = (read(offset) - value).abs() * sharpness;
            // NaN compares false.
            fits &= error <= 1.0;
            worst = worst.max(error);
        }
        if fits {
            return Ok(Seen { worst, elements: self.offsets.len() as u64 });
        }
        Err(self.worst(read))
    }

    fn worst(&self, read: impl Fn(usize) -> f64) -> Miss {
        // NaN counts as worst of all.
        let scaled = |index: usize| {
            let error = (read(self.offsets[index]) - self.values[index]).abs() * self.sharpness[index];
            if error.is_nan() { f64::INFINITY } else { error }
        };
        let worst = (0..self.offsets.len()).max_by(|&a, &b| scaled(a).total_cmp(&scaled(b)).then(b.cmp(&a)));
        let index = worst.unwrap_or(0);
        let (found, wanted) = (read(self.offsets[index]), self.values[index]);
        let bound = if self.sharpness[index] >= EXACT { 0.0 } else { 1.0 / self.sharpness[index] };
        Miss { flat: self.flat[index], found, wanted, error: (found - wanted).abs(), bound }
    }
}
