//! Views of operands in memory, for references, checks and the interpreter.

use crate::data_type::DataType;

/// Where the elements of an operand lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorLayout {
    /// Element type.
    pub data_type: DataType,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// Distance of neighbours along each dimension, elements.
    pub strides: Vec<i64>,
}

impl TensorLayout {
    /// Number of elements that have an index.
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Elements from the first to behind the last in memory, gaps between rows included.
    pub fn span(&self) -> u64 {
        if self.elements() == 0 {
            return 0;
        }
        1 + self
            .shape
            .iter()
            .zip(&self.strides)
            .map(|(&n, &stride)| (n - 1) * stride.unsigned_abs())
            .sum::<u64>()
    }

    /// Bytes of the span.
    pub fn bytes(&self) -> u64 {
        self.data_type.bytes(self.span())
    }

    /// Offset of an element, elements.
    pub fn offset(&self, at: &[u64]) -> usize {
        at.iter().zip(&self.strides).map(|(&i, &stride)| i as i64 * stride).sum::<i64>() as usize
    }

    /// Index of the `flat`-th element in row-major order of indices.
    pub fn unravel(&self, mut flat: u64) -> Vec<u64> {
        let mut at = vec![0; self.shape.len()];
        for (index, &extent) in at.iter_mut().zip(&self.shape).rev() {
            *index = flat % extent;
            flat /= extent;
        }
        at
    }
}

/// An operand that can be read.
#[derive(Debug, Clone, Copy)]
pub struct TensorView<'a> {
    /// Where its elements lie.
    pub layout: &'a TensorLayout,
    /// At least [`TensorLayout::bytes`] bytes, in the machine's byte order.
    pub bytes: &'a [u8],
}

impl TensorView<'_> {
    /// One element, converted exactly; plain types only.
    ///
    /// # Panics
    /// When `at` lies outside the tensor, or the type is a block type (whose elements have no address).
    pub fn get(&self, at: &[u64]) -> f64 {
        debug_assert!(at.iter().zip(&self.layout.shape).all(|(i, n)| i < n), "index {at:?} outside");
        read_element(self.layout.data_type, self.bytes, self.layout.offset(at))
    }
}

/// Reads element `offset` of a plain type.
///
/// # Panics
/// When `bytes` is too short or the type is a block type.
pub fn read_element(data_type: DataType, bytes: &[u8], offset: usize) -> f64 {
    macro_rules! read {
        ($type:ty) => {{
            let size = size_of::<$type>();
            let mut raw = [0; size_of::<$type>()];
            raw.copy_from_slice(&bytes[offset * size..(offset + 1) * size]);
            <$type>::from_ne_bytes(raw)
        }};
    }
    match data_type {
        DataType::F64 => read!(f64),
        DataType::F32 => f64::from(read!(f32)),
        DataType::Bf16 => f64::from(f32::from_bits(u32::from(read!(u16)) << 16)),
        DataType::Int8 => f64::from(read!(i8)),
        DataType::Uint8 => f64::from(read!(u8)),
        DataType::Int32 => f64::from(read!(i32)),
        DataType::Int64 => read!(i64) as f64,
        DataType::F16 => half_to_f64(read!(u16)),
        DataType::Q8_0 | DataType::Q4_0 | DataType::MxInt8 => {
            unreachable!("elements of a block type have no address of their own")
        }
    }
}

/// Writes element `offset` of a plain type, rounded to it (nearest even; integers saturate).
///
/// # Panics
/// When `bytes` is too short or the type is a block type.
pub fn write_element(data_type: DataType, bytes: &mut [u8], offset: usize, value: f64) {
    macro_rules! write {
        ($value:expr) => {{
            let raw = $value.to_ne_bytes();
            bytes[offset * raw.len()..(offset + 1) * raw.len()].copy_from_slice(&raw);
        }};
    }
    match data_type {
        DataType::F64 => write!(value),
        DataType::F32 => write!(value as f32),
        DataType::Bf16 => write!(f32_to_bf16(value as f32)),
        DataType::Int8 => write!(value.round_ties_even() as i8),
        DataType::Uint8 => write!(value.round_ties_even() as u8),
        DataType::Int32 => write!(value.round_ties_even() as i32),
        DataType::Int64 => write!(value.round_ties_even() as i64),
        DataType::F16 => write!(f64_to_half(value)),
        DataType::Q8_0 | DataType::Q4_0 | DataType::MxInt8 => {
            unreachable!("elements of a block type have no address of their own")
        }
    }
}

/// The value that storing in a plain type keeps; block types are rounded a block at a time elsewhere.
pub fn round_to(data_type: DataType, value: f64) -> f64 {
    match data_type {
        DataType::F32 => f64::from(value as f32),
        DataType::F64 | DataType::Q8_0 | DataType::Q4_0 | DataType::MxInt8 => value,
        _ => {
            let mut raw = [0; 8];
            write_element(data_type, &mut raw, 0, value);
            read_element(data_type, &raw, 0)
        }
    }
}

fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16
}

fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

/// Rounds once, to nearest even, straight from f64.
fn f64_to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    if value.is_nan() {
        return sign | 0x7e00;
    }
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Numbers of one binade are multiples of its spacing; below 2^-14 the spacing no longer shrinks.
    let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(-14);
    let units = (magnitude * 2_f64.powi(10 - exponent)).round_ties_even() as u16;
    sign | if exponent == -14 && units < 1024 { units } else { units + (((exponent + 14) as u16) << 10) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_through_f64() {
        for bits in 0..=u16::MAX {
            let value = half_to_f64(bits);
            if value.is_nan() {
                assert!(half_to_f64(f64_to_half(value)).is_nan());
            } else {
                assert_eq!(f64_to_half(value), bits, "{value}");
            }
        }
    }

    #[test]
    fn halves_round_to_nearest_even() {
        assert_eq!(round_to(DataType::F16, 2049.0), 2048.0);
        assert_eq!(round_to(DataType::F16, 2051.0), 2052.0);
        assert_eq!(round_to(DataType::F16, 1e6), f64::INFINITY);
        assert_eq!(round_to(DataType::Bf16, 1.0 + 1.0 / 256.0), 1.0);
        assert_eq!(round_to(DataType::Int8, 200.0), 127.0);
    }
}
