//! The little kernels behind the ceilings: endless multiply-adds, and reading memory.
//!
//! Both take their repetitions as the last run-time extent (at least 1), so that one launch can last as long
//! as a measurement needs.

use iced_x86::code_asm::{
    AsmRegister64, CodeAssembler, ecx, qword_ptr, r8, r9, r10, r11, rax, rcx, rdi, rdx, rsi, xmm0,
};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use serde::{Deserialize, Serialize};
use tilewright_codegen::{Artifact, EntryPoint};

use crate::RuntimeError;

/// Passes over all accumulators in one iteration of the multiply-add loop.
const FMA_UNROLL: usize = 4;

/// Streams that a read walks at once, one in each part of the footprint.
const STREAMS: usize = 4;

/// Vectors that an iteration reads from each stream.
const READ_UNROLL: usize = 4;

/// What a worker's share of a read must be a multiple of, bytes.
pub(crate) const READ_GRANULE: usize = STREAMS * READ_UNROLL * 64;

/// Displacements in `KernelArguments`.
const OPERANDS: i32 = 0;
const EXTENTS: i32 = 8;
const WORKER: i32 = 24;

/// A width of vectors that this processor can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorIsa {
    /// 128-bit vectors; every x86-64 processor has them, but no fused multiply-add.
    Sse,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors with fused multiply-add.
    Avx512,
}

struct Encoding {
    bytes: usize,
    /// Architectural registers.
    registers: usize,
    first: Register,
    load: Code,
    broadcast: Code,
    multiply_add: Code,
}

impl VectorIsa {
    /// Those that processor and system support, narrowest first.
    pub fn available() -> Vec<Self> {
        let fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let found = [
            (Self::Sse, true),
            (Self::Avx2, fma),
            (Self::Avx512, fma && is_x86_feature_detected!("avx512f")),
        ];
        found.into_iter().filter_map(|(isa, usable)| usable.then_some(isa)).collect()
    }

    /// The widest available.
    pub fn widest() -> Self {
        Self::available().into_iter().max().unwrap_or(Self::Sse)
    }

    /// Whether it has fused multiply-add.
    pub fn has_fma(self) -> bool {
        self != Self::Sse
    }

    fn encoding(self) -> Encoding {
        match self {
            Self::Sse => Encoding {
                bytes: 16,
                registers: 16,
                first: Register::XMM0,
                load: Code::Movaps_xmm_xmmm128,
                broadcast: Code::INVALID,
                multiply_add: Code::INVALID,
            },
            Self::Avx2 => Encoding {
                bytes: 32,
                registers: 16,
                first: Register::YMM0,
                load: Code::VEX_Vmovaps_ymm_ymmm256,
                broadcast: Code::VEX_Vbroadcastss_ymm_xmm,
                multiply_add: Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
            },
            Self::Avx512 => Encoding {
                bytes: 64,
                registers: 32,
                first: Register::ZMM0,
                load: Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
                broadcast: Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
                multiply_add: Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
            },
        }
    }

    /// Multiply-adds that are in flight: all registers but the two factors.
    fn accumulators(self) -> usize {
        self.encoding().registers - 2
    }

    /// Floating-point operations of one worker in one repetition of [`fma_loop`].
    pub(crate) fn fma_flops(self) -> f64 {
        (FMA_UNROLL * self.accumulators() * (self.encoding().bytes / 4) * 2) as f64
    }
}

fn finish(mut asm: CodeAssembler, isa: VectorIsa, workers: usize) -> Result<Artifact, RuntimeError> {
    if isa.has_fma() {
        asm.vzeroupper()?;
    }
    asm.ret()?;
    Ok(Artifact {
        isa: format!("{isa:?}").to_ascii_lowercase(),
        code: asm.assemble(0)?,
        entries: vec![EntryPoint { name: "run".into(), offset: 0 }],
        workers: workers as u32,
        workspace_bytes: 0,
    })
}

/// Independent multiply-adds without memory, with ordinary values. Extents: repetitions.
///
/// The instruction set must have multiply-add.
pub(crate) fn fma_loop(isa: VectorIsa, workers: usize) -> Result<Artifact, RuntimeError> {
    let encoding = isa.encoding();
    let register = |index: usize| encoding.first + index as u32;
    let accumulators = isa.accumulators();
    let mut asm = CodeAssembler::new(64)?;
    asm.mov(rax, qword_ptr(rdi + EXTENTS))?;
    asm.mov(rax, qword_ptr(rax))?;
    // Sums grow slowly and then stay, far from infinities and denormals, which some processors slow down for.
    for (first, last, value) in [(accumulators, accumulators + 2, 1.0_f32 / 64.0), (0, accumulators, 0.5)] {
        asm.mov(ecx, value.to_bits())?;
        asm.vmovd(xmm0, ecx)?;
        // The source is the first register: it is overwritten by its own value.
        for index in first..last {
            asm.add_instruction(Instruction::with2(encoding.broadcast, register(index), Register::XMM0)?)?;
        }
    }
    let mut again = asm.create_label();
    asm.set_label(&mut again)?;
    for index in (0..FMA_UNROLL).flat_map(|_| 0..accumulators) {
        let factors = (register(accumulators), register(accumulators + 1));
        asm.add_instruction(Instruction::with3(
            encoding.multiply_add,
            register(index),
            factors.0,
            factors.1,
        )?)?;
    }
    asm.dec(rax)?;
    asm.jne(again)?;
    finish(asm, isa, workers)
}

/// Reads a share of memory for each worker. Operands: one share for each worker, aligned to 64 bytes.
/// Extents: bytes of a stream (a [`STREAMS`]th of the share), repetitions.
pub(crate) fn read_loop(isa: VectorIsa, workers: usize) -> Result<Artifact, RuntimeError> {
    let encoding = isa.encoding();
    let ends: [AsmRegister64; STREAMS] = [rsi, r9, r10, r11];
    let mut asm = CodeAssembler::new(64)?;
    asm.mov(rax, qword_ptr(rdi + WORKER))?;
    asm.mov(rdx, qword_ptr(rdi + OPERANDS))?;
    asm.mov(rsi, qword_ptr(rdx + rax * 8))?;
    asm.mov(rdx, qword_ptr(rdi + EXTENTS))?;
    asm.mov(rcx, qword_ptr(rdx))?;
    asm.mov(r8, qword_ptr(rdx + 8))?;
    // Each stream is addressed from its end by an offset that rises to zero.
    asm.add(rsi, rcx)?;
    for pair in ends.windows(2) {
        asm.lea(pair[1], qword_ptr(pair[0] + rcx))?;
    }
    asm.neg(rcx)?;
    let (mut pass, mut step) = (asm.create_label(), asm.create_label());
    asm.set_label(&mut pass)?;
    asm.mov(rax, rcx)?;
    asm.set_label(&mut step)?;
    for (index, (vector, end)) in (0..READ_UNROLL).flat_map(|v| ends.map(|end| (v, end))).enumerate() {
        let displacement = (vector * encoding.bytes) as i64;
        let source =
            MemoryOperand::with_base_index_scale_displ_size(end.into(), Register::RAX, 1, displacement, 1);
        let target = encoding.first + (index % encoding.registers) as u32;
        asm.add_instruction(Instruction::with2(encoding.load, target, source)?)?;
    }
    asm.add(rax, (READ_UNROLL * encoding.bytes) as i32)?;
    asm.jne(step)?;
    asm.dec(r8)?;
    asm.jne(pass)?;
    finish(asm, isa, workers)
}

/// Operands of [`read_loop`]: worker `w` reads `share` bytes of the memory from `w * share` on, once.
pub(crate) fn read_operands(memory: &crate::GuardedBuffer, share: usize, workers: usize) -> crate::Operands {
    debug_assert!(share * workers <= memory.len() && share.is_multiple_of(READ_GRANULE));
    let tensors = (0..workers).map(|worker| memory.as_ptr().wrapping_add(worker * share)).collect();
    crate::Operands { tensors, extents: vec![(share / STREAMS) as i64, 1] }
}
