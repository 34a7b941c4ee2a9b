//! AVX-512 (F, VL, DQ, BW): 32 registers of 16 lanes, opmasks, embedded broadcasts.
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

use iced_x86::{Code, Register};
use tilewright_ir::{Limits, Program};

use crate::artifact::Artifact;
use crate::error::CompileError;
use crate::isa::{CacheSizes, Isa, cpu_limits};
use crate::x86::{self, MaskStyle, VectorSet};

/// The instruction set.
pub(crate) struct Avx512;

const VECTORS: VectorSet = VectorSet {
    id: "avx512",
    bytes: 64,
    registers: 32,
    first: Register::ZMM0,
    masks: MaskStyle::Opmask,
    embedded_broadcast: true,
    load: Code::EVEX_Vmovups_zmm_k1z_zmmm512,
    store: Code::EVEX_Vmovups_zmmm512_k1z_zmm,
    copy: Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
    broadcast: Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
    broadcast_lane: Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
    broadcast_integer: Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
    greater: Code::EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32,
    add: Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
    subtract: Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
    multiply: Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
    divide: Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
    maximum: Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
    minimum: Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
    square_root: Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
    and: Code::EVEX_Vandps_zmm_k1z_zmm_zmmm512b32,
    inclusive_or: Code::EVEX_Vorps_zmm_k1z_zmm_zmmm512b32,
    exclusive_or: Code::EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32,
    multiply_add: Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    multiply_add_factor: Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
    multiply_subtract: Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
    add_integer: Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
    subtract_integer: Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
    shift_left: Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
    shift_right: Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
};

impl Isa for Avx512 {
    fn id(&self) -> &'static str {
        VECTORS.id
    }

    fn available(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512vl")
                && std::arch::is_x86_feature_detected!("avx512dq")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("fma")
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }

    fn limits(&self, workers: u32, caches: &CacheSizes) -> Limits {
        cpu_limits(VECTORS.id, VECTORS.bytes as u64, VECTORS.registers, workers, caches)
    }

    fn compile(&self, program: &Program) -> Result<Artifact, CompileError> {
        x86::compile(program, &VECTORS)
    }
}
