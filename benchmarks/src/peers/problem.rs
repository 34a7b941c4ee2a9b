//! A matrix product with its operands in memory.

use crate::comparison::Shape;

/// Operands of one product: valid for the whole extent of the shape, aligned, not overlapping.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    shape: Shape,
    a: *const f32,
    b: *const f32,
    c: *mut f32,
}

impl Problem {
    /// Names three buffers as the operands of `shape`.
    ///
    /// # Safety
    /// `a`, `b` and `c` must point to `m·k`, `k·n` and `m·n` initialised floats that stay mapped as
    /// long as any copy of the problem is used; `c` must be writable and apart from the others.
    /// Nobody may write to them while a contender runs, and only one contender may run at a time.
    pub unsafe fn new(shape: Shape, a: *const f32, b: *const f32, c: *mut f32) -> Self {
        Self { shape, a, b, c }
    }

    /// The product's shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Start of A.
    pub fn a(&self) -> *const f32 {
        self.a
    }

    /// Start of B.
    pub fn b(&self) -> *const f32 {
        self.b
    }

    /// Start of C.
    pub fn c(&self) -> *mut f32 {
        self.c
    }

    /// A as stored.
    pub fn a_values(&self) -> &[f32] {
        // SAFETY: the contract of `new`.
        unsafe { std::slice::from_raw_parts(self.a, self.shape.m * self.shape.k) }
    }

    /// B as stored.
    pub fn b_values(&self) -> &[f32] {
        // SAFETY: the contract of `new`.
        unsafe { std::slice::from_raw_parts(self.b, self.shape.k * self.shape.n) }
    }

    /// C, which no contender may be writing.
    pub fn c_values(&self) -> &[f32] {
        // SAFETY: the contract of `new`; the caller runs no contender meanwhile.
        unsafe { std::slice::from_raw_parts(self.c, self.shape.m * self.shape.n) }
    }
}
