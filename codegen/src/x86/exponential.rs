//! Vector code of `exp` and `tanh`.

use iced_x86::{Code, Register};

use super::emitter::Emitter;
use super::operand::{Masking, Operand};
use super::vector::MaskStyle;
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
    [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5, 1.0, 1.0];

/// `tanh x ≈ x + x³·P(x²)` for |x| below [`TANH_SMALL`], highest power first (Cephes `tanhf`).
const TANH: [f32; 5] = [-5.704_988_7e-3, 2.063_908_8e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1];
/// From here on, `1 − 2 / (exp 2|x| + 1)` loses no bits.
const TANH_SMALL: f32 = 0.625;
const SIGN: u32 = 0x8000_0000;

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

    /// `destination ← tanh x`, which may be the same register. Takes five temporaries.
    pub(super) fn hyperbolic_tangent(&mut self, destination: u8, x: u8) -> Result<(), CompileError> {
        let registers = self.pool.take_all(3)?;
        let [large, small, other] = [registers[0], registers[1], registers[2]];
        let (magnitude, sign) = (self.constant_bits(!SIGN), self.constant_bits(SIGN));
        let one = self.constant_bits(1.0_f32.to_bits());
        self.vector_op_memory(self.set.and, large, x, magnitude);
        self.vector_op(self.set.add, large, large, large);
        self.exponential(large, large)?;
        self.vector_op_memory(self.set.add, large, large, one);
        self.load_value(small, 2.0);
        self.vector_op(self.set.divide, large, small, large);
        self.load_value(small, 1.0);
        self.vector_op(self.set.subtract, large, small, large);
        self.vector_op_memory(self.set.and, small, x, sign);
        self.vector_op(self.set.inclusive_or, large, large, small);

        self.vector_op(self.set.multiply, other, x, x);
        self.polynomial(small, other, &TANH);
        self.vector_op(self.set.multiply, small, small, other);
        self.vector_op(self.set.multiply_add_factor, small, x, x);

        // Magnitudes compare like integers, NaN above all numbers.
        self.vector_op_memory(self.set.and, other, x, magnitude);
        self.select_greater(other, TANH_SMALL.to_bits(), small, large);
        self.move_vector(destination, small);
        self.pool.give_all(&registers);
        Ok(())
    }

    /// `destination ← source` in the lanes where `integer > bound`; `integer` is lost.
    pub(super) fn select_greater(&mut self, integer: u8, bound: u32, destination: u8, source: u8) {
        let bound = self.constant_bits(bound);
        let [integer, destination, source] =
            [integer, destination, source].map(|number| self.set.register(number));
        match self.set.masks {
            MaskStyle::Vector { blend, .. } => {
                self.emit(self.set.greater, &[integer.into(), integer.into(), bound.into()]);
                let operands = [destination, destination, source, integer].map(Operand::from);
                self.emit(blend, &operands);
            }
            MaskStyle::Opmask => {
                self.emit(self.set.greater, &[Register::K1.into(), integer.into(), bound.into()]);
                let operands = [destination.into(), source.into()];
                self.asm.emit_masked(self.set.copy, &operands, Masking::Merge(Register::K1));
            }
        }
    }

    /// Horner's scheme, highest power first.
    pub(super) fn polynomial(&mut self, destination: u8, x: u8, coefficients: &[f32]) {
        self.load_value(destination, coefficients[0]);
        for coefficient in &coefficients[1..] {
            let coefficient = self.constant_bits(coefficient.to_bits());
            self.vector_op_memory(self.set.multiply_add_factor, destination, x, coefficient);
        }
    }

    pub(super) fn shift(&mut self, code: Code, destination: u8, source: u8, bits: u8) {
        let operands = [
            self.set.register(destination).into(),
            self.set.register(source).into(),
            Operand::Immediate(bits.into()),
        ];
        self.emit(code, &operands);
    }
}
