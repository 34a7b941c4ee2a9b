//! Vector code of `log`.

use super::emitter::Emitter;
use crate::error::CompileError;

/// √½: mantissas are taken between this and its double, so that their logarithms are small.
const ROOT_HALF: u32 = 0x3f35_04f3;
/// 2²⁵: makes subnormal numbers normal.
const SCALE: f32 = 33_554_432.0;
const SCALE_EXPONENT: f32 = 25.0;
/// 1.5·2²³: its low bits hold an integer that is added to them.
const ROUNDING: f32 = 12_582_912.0;
const GREATEST_SUBNORMAL: u32 = 0x007f_ffff;
const GREATEST_FINITE: u32 = 0x7f7f_ffff;
/// ln 2 in two parts, the first one exact when multiplied with an exponent (Cody & Waite).
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// `log(1+f) ≈ f − f²/2 + f³·P(f)` for √½ ≤ 1+f < √2, highest power first (Cephes `logf`, S. Moshier).
const LOGARITHM: [f32; 9] = [
    7.037_683_6e-2,
    -1.151_461e-1,
    1.167_699_9e-1,
    -1.242_014_1e-1,
    1.424_932_3e-1,
    -1.666_805_8e-1,
    2.000_071_5e-1,
    -2.499_999_4e-1,
    3.333_333e-1,
];

impl Emitter<'_> {
    /// `destination ← log x`, which may be the same register. −∞ at 0, NaN below; subnormal numbers count. Takes
    /// five temporaries.
    pub(super) fn logarithm(&mut self, destination: u8, x: u8) -> Result<(), CompileError> {
        let registers = self.pool.take_all(4)?;
        let [source, exponent, m, y] = [registers[0], registers[1], registers[2], registers[3]];
        self.move_vector(source, x);
        // m = x, or 2²⁵·x where that is subnormal; y = what the exponent is then too large by.
        let scale = self.constant_bits(SCALE.to_bits());
        self.vector_op_memory(self.set.multiply, m, source, scale);
        self.load_value(y, SCALE_EXPONENT);
        let zero = self.pool.take()?;
        self.zero(zero);
        for (into, from) in [(m, source), (y, zero)] {
            self.move_vector(exponent, source);
            self.select_greater(exponent, GREATEST_SUBNORMAL, into, from);
        }
        self.pool.give(zero);
        // m = 2ᵉ·(1+f): e in the integer bits, then as a number.
        let root_half = self.constant_bits(ROOT_HALF);
        self.vector_op_memory(self.set.subtract_integer, exponent, m, root_half);
        self.shift(self.set.shift_right, exponent, exponent, 23);
        self.shift(self.set.shift_left, destination, exponent, 23);
        self.vector_op(self.set.subtract_integer, m, m, destination);
        let rounding = self.constant_bits(ROUNDING.to_bits());
        self.vector_op_memory(self.set.add_integer, exponent, exponent, rounding);
        self.vector_op_memory(self.set.subtract, exponent, exponent, rounding);
        self.vector_op(self.set.subtract, exponent, exponent, y);
        // f, its polynomial, and e·ln 2 in two parts, the small one first.
        let one = self.constant_bits(1.0_f32.to_bits());
        self.vector_op_memory(self.set.subtract, m, m, one);
        self.polynomial(y, m, &LOGARITHM);
        self.vector_op(self.set.multiply, destination, m, m);
        self.vector_op(self.set.multiply, y, y, destination);
        self.vector_op(self.set.multiply, y, y, m);
        let small = self.constant_bits(LN_2[1].to_bits());
        self.vector_op_memory(self.set.multiply_add, y, exponent, small);
        let half = self.constant_bits(0.5_f32.to_bits());
        self.vector_op_memory(self.set.multiply_subtract, y, destination, half);
        self.vector_op(self.set.add, y, y, m);
        let large = self.constant_bits(LN_2[0].to_bits());
        self.vector_op_memory(self.set.multiply_add, y, exponent, large);
        // Infinity and NaN stay what they are; −1/√x² is −∞ at 0 and NaN below.
        self.move_vector(exponent, source);
        self.select_greater(exponent, GREATEST_FINITE, y, source);
        let root = [self.set.register(m).into(), self.set.register(source).into()];
        self.emit(self.set.square_root, &root);
        self.vector_op(self.set.multiply, m, m, m);
        self.load_value(exponent, -1.0);
        self.vector_op(self.set.divide, destination, exponent, m);
        self.select_greater(source, 0, destination, y);
        self.pool.give_all(&registers);
        Ok(())
    }
}
