//! Block types: what quantising keeps, and the bytes of a block.
//!
//! `Q8_0` and `Q4_0` follow the reference quantisers of GGUF (ggml-quants.c: `quantize_row_q8_0_ref`,
//! `quantize_row_q4_0_ref`), single precision included. MXINT8 follows OCP Microscaling Formats 1.0: an e8m0
//! scale `2^⌊log₂ max|x|⌋` and elements `q·2⁻⁶`, q rounded to nearest even and kept within ±127.

use crate::data_type::DataType;
use crate::tensor::round_to;

/// Elements of a block of every block type there is.
pub(super) const BLOCK: usize = 32;

/// A block before dequantisation.
struct Quantised {
    /// Scale in the form that is stored: an f16 for `Q8_0` and `Q4_0`, the exponent for MXINT8.
    scale: f64,
    /// Integers of the elements.
    integers: [i8; BLOCK],
}

/// Rounds up to [`BLOCK`] values to what a block keeps of them; missing ones count as 0.
pub(super) fn round_block(data_type: DataType, values: &mut [f64]) {
    let quantised = quantise(data_type, values);
    for (value, integer) in values.iter_mut().zip(quantised.integers) {
        *value = dequantise(data_type, quantised.scale, integer);
    }
}

/// Bytes of one block.
pub(super) fn encode_block(data_type: DataType, values: &[f64]) -> Vec<u8> {
    let Quantised { scale, integers } = quantise(data_type, values);
    let mut bytes = Vec::with_capacity(34);
    match data_type {
        DataType::MxInt8 if scale.is_nan() => bytes.push(255),
        DataType::MxInt8 => bytes.push((scale + 127.0) as u8),
        _ => {
            let mut raw = [0; 2];
            crate::tensor::write_element(DataType::F16, &mut raw, 0, scale);
            bytes.extend(raw);
        }
    }
    if data_type == DataType::Q4_0 {
        let nibble = |integer: i8| (integer + 8) as u8;
        bytes.extend((0..BLOCK / 2).map(|at| nibble(integers[at]) | nibble(integers[at + BLOCK / 2]) << 4));
    } else {
        bytes.extend(integers.map(|integer| integer as u8));
    }
    bytes
}

/// Values of one block of [`DataType::block`]`.bytes` bytes.
pub(super) fn decode_block(data_type: DataType, bytes: &[u8]) -> [f64; BLOCK] {
    let scale = match data_type {
        DataType::MxInt8 if bytes[0] == 255 => f64::NAN,
        DataType::MxInt8 => f64::from(bytes[0]) - 127.0,
        _ => crate::tensor::read_element(DataType::F16, bytes, 0),
    };
    std::array::from_fn(|at| {
        let integer = match data_type {
            DataType::Q4_0 if at < BLOCK / 2 => (bytes[2 + at] & 15) as i8 - 8,
            DataType::Q4_0 => (bytes[2 + at - BLOCK / 2] >> 4) as i8 - 8,
            DataType::MxInt8 => bytes[1 + at] as i8,
            _ => bytes[2 + at] as i8,
        };
        dequantise(data_type, scale, integer)
    })
}

fn dequantise(data_type: DataType, scale: f64, integer: i8) -> f64 {
    match data_type {
        DataType::MxInt8 => f64::from(integer) * (scale - 6.0).exp2(),
        _ => f64::from(integer) * scale,
    }
}

fn quantise(data_type: DataType, values: &[f64]) -> Quantised {
    let mut integers = [0; BLOCK];
    // The first of the largest magnitudes, with its sign.
    let extreme = values
        .iter()
        .fold(0_f64, |most, &value| if value.is_nan() || value.abs() > most.abs() { value } else { most });
    if data_type == DataType::MxInt8 {
        if !extreme.is_finite() {
            return Quantised { scale: f64::NAN, integers };
        }
        let exponent = if extreme == 0.0 { -127.0 } else { floor_log2(extreme.abs()).clamp(-127.0, 127.0) };
        for (integer, &value) in integers.iter_mut().zip(values) {
            *integer = (value * (6.0 - exponent).exp2()).round_ties_even().clamp(-127.0, 127.0) as i8;
        }
        return Quantised { scale: exponent, integers };
    }
    let extreme = extreme as f32;
    let scale = if data_type == DataType::Q4_0 { extreme / -8.0 } else { extreme.abs() / 127.0 };
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    for (integer, &value) in integers.iter_mut().zip(values) {
        let scaled = value as f32 * inverse;
        *integer = match data_type {
            DataType::Q4_0 => ((scaled + 8.5) as i8).min(15) - 8,
            _ => scaled.round() as i8,
        };
    }
    Quantised { scale: round_to(DataType::F16, f64::from(scale)), integers }
}

/// Exponent of a positive, finite number; exact, unlike a logarithm.
fn floor_log2(value: f64) -> f64 {
    let exponent = (value.to_bits() >> 52) as i32 - 1023;
    // Below the normal range of f64 every scale is clamped anyway.
    f64::from(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [DataType; 3] = [DataType::Q8_0, DataType::Q4_0, DataType::MxInt8];

    fn samples() -> [f64; BLOCK] {
        std::array::from_fn(|at| f64::from((at as f32 * 0.37 - 5.1) * if at % 3 == 0 { 0.5 } else { 1.0 }))
    }

    #[test]
    fn bytes_of_a_block_hold_what_rounding_keeps() {
        for data_type in TYPES {
            let bytes = encode_block(data_type, &samples());
            assert_eq!(bytes.len() as u64, data_type.block().bytes);
            let mut rounded = samples();
            round_block(data_type, &mut rounded);
            assert_eq!(decode_block(data_type, &bytes), rounded, "{data_type}");
        }
    }

    #[test]
    fn rounding_stays_within_half_a_step_of_the_scale() {
        for (data_type, steps) in [(DataType::Q8_0, 127.0), (DataType::Q4_0, 8.0), (DataType::MxInt8, 64.0)] {
            let mut rounded = samples();
            round_block(data_type, &mut rounded);
            let most = samples().iter().fold(0_f64, |most, value| most.max(value.abs()));
            for (kept, value) in rounded.iter().zip(samples()) {
                // Half a step, the rounding of the f16 scale, and the clipped end of Q4_0 (15 of 16 steps).
                let clipped = if data_type == DataType::Q4_0 { 0.5 } else { 0.0 };
                let bound = most * ((0.5 + clipped) / steps + 1.0 / 1024.0);
                assert!((kept - value).abs() <= bound, "{data_type}: {value} became {kept}");
            }
        }
    }

    #[test]
    fn powers_of_two_survive_microscaling() {
        let mut values = [1.0, -0.5, 0.25, 1.984_375, -1.984_375];
        round_block(DataType::MxInt8, &mut values);
        assert_eq!(values, [1.0, -0.5, 0.25, 1.984_375, -1.984_375]);
    }
}
