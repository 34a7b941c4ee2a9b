//! What the vector instructions of an instruction set are called.

use iced_x86::{Code, Register};

/// How single lanes are switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaskStyle {
    /// By the sign bits of a vector register (`vmaskmovps`).
    Vector {
        /// Masked load.
        load: Code,
        /// Masked store.
        store: Code,
        /// Selection between two registers.
        blend: Code,
    },
    /// By an opmask register, on every instruction.
    Opmask,
}

/// Instructions on vectors of f32 of one width. Two-operand forms are (destination, source), three-operand forms
/// (destination, first, second); the last source may be memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorSet {
    /// Name of the instruction set.
    pub(crate) id: &'static str,
    /// Bytes of a register.
    pub(crate) bytes: usize,
    /// Number of registers.
    pub(crate) registers: u32,
    /// Register 0.
    pub(crate) first: Register,
    /// Masked loads and stores.
    pub(crate) masks: MaskStyle,
    /// Whether a memory source may be one element for all lanes.
    pub(crate) embedded_broadcast: bool,
    /// Unaligned load.
    pub(crate) load: Code,
    /// Unaligned store.
    pub(crate) store: Code,
    /// Register to register.
    pub(crate) copy: Code,
    /// One element in memory to all lanes.
    pub(crate) broadcast: Code,
    /// Lane 0 of an xmm register to all lanes.
    pub(crate) broadcast_lane: Code,
    /// One 32-bit integer in memory to all lanes.
    pub(crate) broadcast_integer: Code,
    /// Signed 32-bit comparison `first > second` into a mask.
    pub(crate) greater: Code,
    pub(crate) add: Code,
    pub(crate) subtract: Code,
    pub(crate) multiply: Code,
    pub(crate) divide: Code,
    /// The second source when either is NaN.
    pub(crate) maximum: Code,
    /// The second source when either is NaN.
    pub(crate) minimum: Code,
    pub(crate) square_root: Code,
    pub(crate) and: Code,
    pub(crate) inclusive_or: Code,
    pub(crate) exclusive_or: Code,
    /// `destination + first·second`.
    pub(crate) multiply_add: Code,
    /// `destination·first + second`.
    pub(crate) multiply_add_factor: Code,
    /// `destination − first·second`.
    pub(crate) multiply_subtract: Code,
    pub(crate) add_integer: Code,
    pub(crate) subtract_integer: Code,
    /// By an immediate.
    pub(crate) shift_left: Code,
    /// By an immediate, sign kept.
    pub(crate) shift_right: Code,
    /// One element, and two, between memory and the low lanes of an xmm register; a load clears the others.
    pub(crate) few: FewLanes,
    /// The same registers at half the width.
    pub(crate) narrower: Option<&'static VectorSet>,
}

/// Loads and stores of one and of two elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FewLanes {
    pub(crate) load_one: Code,
    pub(crate) load_two: Code,
    pub(crate) store_one: Code,
    pub(crate) store_two: Code,
}

impl VectorSet {
    /// f32 elements of a register.
    pub(crate) fn lanes(&self) -> usize {
        self.bytes / 4
    }

    /// The narrowest set whose vectors hold so many lanes. A narrow instruction takes a fraction of the load,
    /// store and multiply-add slots that one of full width takes where a core's data paths are narrower than its
    /// registers (Agner Fog, The microarchitecture of Intel, AMD and VIA CPUs, Zen 4).
    pub(crate) fn narrowest(&self, lanes: usize) -> &Self {
        match self.narrower {
            Some(narrower) if lanes <= narrower.lanes() => narrower.narrowest(lanes),
            _ => self,
        }
    }

    /// Vector register by number.
    pub(super) fn register(&self, number: u8) -> Register {
        self.first + u32::from(number)
    }
}

/// The xmm part of a vector register.
pub(super) fn xmm(number: u8) -> Register {
    Register::XMM0 + u32::from(number)
}

/// The ymm part of a vector register.
pub(super) fn ymm(number: u8) -> Register {
    Register::YMM0 + u32::from(number)
}
