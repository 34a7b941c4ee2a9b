//! Vector code of `exp` and `tanh`.

use super::emitter::Emitter;
use crate::error::CompileError;

/// Above this, `exp` overflows also after scaling in two steps.
const GREATEST: f32 = 89.0;
/// Below this, `exp` rounds to 0.
const LEAST: f32 = -104.0;
/// 1.5·2²³: adding it rounds to an integer, which then stands in the low bits.
const ROUNDING: f32 = 12_582_912.0;
/// ln 2 in two parts, the first one exact when multiplied with an exponent (Cody & Waite).
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// `exp r` for |r| ≤ ln 2 / 2, highest power first (Cephes `expf`, S. Moshier; relative error 2⁻²⁴·⁵).
const EXPONENTIAL: [f32; 8] =
    [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.000_000_1e-1, 1.0, 1.0];

/// `tanh x ≈ x·P(x²) / Q(x²)` for |x| ≤ 7.9 (Eigen, `generic_fast_tanh_float`), highest power first.
const TANH_NUMERATOR: [f32; 7] = [
    -2.760_768_5e-16,
    2.000_187_9e-13,
    -8.604_672e-11,
    5.122_297_1e-8,
    1.485_722_4e-5,
    6.372_619_3e-4,
    4.893_524_6e-3,
];
const TANH_DENOMINATOR: [f32; 4] = [1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_6e-3, 4.893_525e-3];
/// Beyond this, `tanh` rounds to ±1 in f32.
const TANH_GREATEST: f32 = 7.905_311;

impl Emitter<'_> {
    /// `destination ← exp x`, which may be the same register. NaN stays NaN, overflow gives infinity,
    /// underflow is gradual. Takes two temporaries.
    pub(super) fn exponential(&mut self, destination: u8, x: u8) -> Result<(), CompileError> {
        let (n, r) = (self.pool.take()?, self.pool.take()?);
        // The second source is the result when it is NaN.
        self.load_value(n, GREATEST);
        self.vector_op(self.set.minimum, n, n, x);
        self.load_value(r, LEAST);
        self.vector_op(self.set.maximum, r, r, n);
        // n = round(x / ln 2), in the low bits of `n`; r = x − n·ln 2.
        self.load_value(n, ROUNDING);
        let scale = self.constant_bits(std::f32::consts::LOG2_E.to_bits());
        self.vector_op_memory(self.set.multiply_add, n, r, scale);
        let rounding = self.constant_bits(ROUNDING.to_bits());
        self.vector_op_memory(self.set.subtract, destination, n, rounding);
        for part in LN_2 {
            let part = self.constant_bits(part.to_bits());
            self.vector_op_memory(self.set.multiply_subtract, r, destination, part);
        }
        self.polynomial(destination, r, &EXPONENTIAL);
        // 2ⁿ = 2^⌊n/2⌋ · 2^(n − ⌊n/2⌋): neither leaves the range of exponents.
        self.vector_op_memory(self.set.subtract_integer, n, n, rounding);
        self.shift(self.set.shift_right, r, n, 1);
        self.vector_op(self.set.subtract_integer, n, n, r);
        let one = self.constant_bits(1.0_f32.to_bits());
        for half in [n, r] {
            self.shift(self.set.shift_left, half, half, 23);
            self.vector_op_memory(self.set.add_integer, half, half, one);
            self.vector_op(self.set.multiply, destination, destination, half);
        }
        self.pool.give_all(&[n, r]);
        Ok(())
    }

    /// `destination ← tanh x`, which may be the same register. Takes three temporaries.
    pub(super) fn hyperbolic_tangent(&mut self, destination: u8, x: u8) -> Result<(), CompileError> {
        let registers = self.pool.take_all(3)?;
        let [clamped, square, sum] = [registers[0], registers[1], registers[2]];
        self.load_value(clamped, TANH_GREATEST);
        self.vector_op(self.set.minimum, clamped, clamped, x);
        self.load_value(sum, -TANH_GREATEST);
        self.vector_op(self.set.maximum, clamped, sum, clamped);
        self.vector_op(self.set.multiply, square, clamped, clamped);
        self.polynomial(sum, square, &TANH_NUMERATOR);
        self.vector_op(self.set.multiply, clamped, clamped, sum);
        self.polynomial(sum, square, &TANH_DENOMINATOR);
        self.vector_op(self.set.divide, destination, clamped, sum);
        self.pool.give_all(&registers);
        Ok(())
    }

    /// Horner's scheme, highest power first.
    fn polynomial(&mut self, destination: u8, x: u8, coefficients: &[f32]) {
        self.load_value(destination, coefficients[0]);
        for coefficient in &coefficients[1..] {
            let coefficient = self.constant_bits(coefficient.to_bits());
            self.vector_op_memory(self.set.multiply_add_factor, destination, x, coefficient);
        }
    }

    fn shift(&mut self, code: iced_x86::Code, destination: u8, source: u8, bits: u8) {
        let operands = [
            self.set.register(destination).into(),
            self.set.register(source).into(),
            super::encoder::Operand::Byte(bits),
        ];
        self.emit(code, &operands);
    }
}
