//! Comparing elements one by one with the operator's reference.

use tilewright_ir::{DataType, TensorLayout, TensorView, Workload, read_element};

use super::Seen;
use crate::POISON;

/// Expected elements with their bounds.
pub(super) struct ElementCheck {
    /// Row-major numbers of the elements with a bound.
    flat: Vec<u64>,
    offsets: Vec<usize>,
    values: Vec<f64>,
    /// One over the allowed error.
    sharpness: Vec<f64>,
    /// One over the unit in the last place of the value.
    per_ulp: Vec<f64>,
    /// Sum of the squares of the values.
    norm_square: f64,
    /// Elements that must be exactly this: NaN, infinities, and what a function makes of an infinity.
    certain: Vec<Certain>,
    /// Largest relative error of the whole.
    drift: f64,
}

/// An element without a bound on its error.
struct Certain {
    flat: u64,
    offset: usize,
    value: f64,
}

/// The worst element of a wrong answer; without one, the whole is too far off.
pub(super) struct Miss {
    pub(super) flat: Option<u64>,
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
        let mut check = Self {
            flat: Vec::new(),
            offsets: Vec::new(),
            values: Vec::new(),
            sharpness: Vec::new(),
            per_ulp: Vec::new(),
            norm_square: 0.0,
            certain: Vec::new(),
            drift: tolerance.drift,
        };
        for &flat in flat {
            let at = layout.unravel(flat);
            let reference = operator.reference(parameters, operands, &at);
            let (offset, value) = (layout.offset(&at), reference.value);
            let bound = tolerance.relative * reference.magnitude + tolerance.absolute;
            if !value.is_finite() || !bound.is_finite() {
                check.certain.push(Certain { flat, offset, value });
                continue;
            }
            check.flat.push(flat);
            check.offsets.push(offset);
            check.values.push(value);
            check.sharpness.push(if exact { EXACT } else { 1.0 / bound });
            check.per_ulp.push(1.0 / unit_in_the_last_place(layout.data_type, value));
            check.norm_square += value * value;
        }
        check
    }

    /// How clearly the values differ from zeros and from their own mean, in bounds: the larger of all elements, and
    /// the smaller of the two.
    pub(super) fn clarity(&self) -> f64 {
        let largest = |from: f64| {
            let pairs = self.values.iter().zip(&self.sharpness);
            pairs.map(|(value, sharpness)| (value - from).abs() * sharpness).fold(0.0, f64::max)
        };
        let zeros = largest(0.0);
        // A single element is its own mean.
        if self.values.len() < 2 {
            return zeros;
        }
        zeros.min(largest(self.values.iter().sum::<f64>() / self.values.len() as f64))
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
        let mut fits = true;
        let (mut worst, mut max_ulps, mut error_square) = (0.0_f64, 0.0_f64, 0.0_f64);
        let bounds = self.sharpness.iter().zip(&self.per_ulp);
        for ((&offset, &value), (&sharpness, &per_ulp)) in self.offsets.iter().zip(&self.values).zip(bounds) {
            let difference = (read(offset) - value).abs();
            let error = difference * sharpness;
            // NaN compares false.
            fits &= error <= 1.0;
            worst = worst.max(error);
            max_ulps = max_ulps.max(difference * per_ulp);
            error_square += difference * difference;
        }
        if !fits {
            return Err(self.worst(read));
        }
        for certain in &self.certain {
            let wanted = certain.value;
            let start = certain.offset * element_bytes;
            let raw = output.get(start..start + element_bytes).unwrap_or_default();
            let written = raw.iter().any(|&byte| byte != POISON);
            let found = read(certain.offset);
            if !written || !(found == wanted || (found.is_nan() && wanted.is_nan())) {
                let flat = Some(certain.flat);
                return Err(Miss { flat, found, wanted, error: (found - wanted).abs(), bound: 0.0 });
            }
        }
        let relative_error = if error_square == 0.0 { 0.0 } else { (error_square / self.norm_square).sqrt() };
        if relative_error > self.drift {
            let (error, bound) = (relative_error, self.drift);
            return Err(Miss { flat: None, found: error_square.sqrt(), wanted: 0.0, error, bound });
        }
        let elements = (self.offsets.len() + self.certain.len()) as u64;
        Ok(Seen { worst, elements, max_ulps, relative_error })
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
        Miss { flat: Some(self.flat[index]), found, wanted, error: (found - wanted).abs(), bound }
    }
}

/// Distance of the numbers of a type around `value`; of the smallest normal ones below the normal range.
fn unit_in_the_last_place(data_type: DataType, value: f64) -> f64 {
    let roundoff = data_type.unit_roundoff();
    if roundoff == 0.0 {
        return 1.0;
    }
    let smallest = match data_type {
        DataType::F64 => f64::MIN_POSITIVE,
        DataType::F16 => 2.0_f64.powi(-14),
        _ => f64::from(f32::MIN_POSITIVE),
    };
    2.0 * roundoff * value.abs().max(smallest).log2().floor().exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_the_last_place_are_distances_of_neighbours() {
        for value in [1.0_f32, 1.5, 1.999_999_9, 2.0, 3e30, -7e-12, f32::MIN_POSITIVE] {
            let distance = f64::from(f32::from_bits(value.abs().to_bits() + 1)) - f64::from(value.abs());
            assert_eq!(unit_in_the_last_place(DataType::F32, value.into()), distance, "{value}");
        }
        let least = f64::from(f32::from_bits(1));
        assert_eq!(unit_in_the_last_place(DataType::F32, 0.0), least);
        assert_eq!(unit_in_the_last_place(DataType::Int32, 17.0), 1.0);
    }
}
