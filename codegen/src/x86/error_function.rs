//! Vector code of `erf`.

use super::emitter::Emitter;
use crate::error::CompileError;

const SIGN: u32 = 0x8000_0000;
/// Below this, the polynomial in x² is accurate; from here on, `1 − exp(−|x|·Q(|x|))`.
const SMALL: f32 = 0.927_734_4;
/// `erf x ≈ x + x·P(x²)` for |x| ≤ [`SMALL`], highest power first (N. Juffa's minimax fit).
const NEAR: [f32; 6] =
    [-5.967_617e-4, 4.991_194_2e-3, -2.676_813_5e-2, 1.128_199_3e-1, -3.761_253_3e-1, 1.283_791_7e-1];
/// `log(1 − erf t) ≈ −t + t·Q(t)` for larger t, highest power first (same source).
const FAR: [f32; 7] = [
    -1.728_534_7e-5,
    3.831_971_3e-4,
    -3.883_964_4e-3,
    2.425_462_2e-2,
    -1.067_778_8e-1,
    -6.348_467e-1,
    -1.287_175_1e-1,
];
/// From here on, erf rounds to 1.
const LARGEST: f32 = 4.0;

impl Emitter<'_> {
    /// `destination ← erf x`, which may be the same register. Takes five temporaries.
    pub(super) fn error_function(&mut self, destination: u8, x: u8) -> Result<(), CompileError> {
        let registers = self.pool.take_all(3)?;
        let [far, near, other] = [registers[0], registers[1], registers[2]];
        let (magnitude, sign) = (self.constant_bits(!SIGN), self.constant_bits(SIGN));
        self.vector_op_memory(self.set.and, other, x, magnitude);
        // The second source, `other`, is the result when it is NaN.
        self.load_value(far, LARGEST);
        self.vector_op(self.set.minimum, other, far, other);
        self.polynomial(far, other, &FAR);
        self.vector_op(self.set.multiply, far, far, other);
        self.vector_op(self.set.subtract, far, far, other);
        self.exponential(far, far)?;
        self.load_value(near, 1.0);
        self.vector_op(self.set.subtract, far, near, far);
        self.vector_op_memory(self.set.and, near, x, sign);
        self.vector_op(self.set.inclusive_or, far, far, near);

        self.vector_op(self.set.multiply, other, x, x);
        self.polynomial(near, other, &NEAR);
        self.vector_op(self.set.multiply_add_factor, near, x, x);

        // Magnitudes compare like integers, NaN above all numbers.
        self.vector_op_memory(self.set.and, other, x, magnitude);
        self.select_greater(other, SMALL.to_bits(), near, far);
        self.move_vector(destination, near);
        self.pool.give_all(&registers);
        Ok(())
    }
}
