//! AVX-512 (F, VL, DQ, BW): 32 registers of 16 lanes, opmasks, embedded broadcasts.
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

use iced_x86::{Code, Register};
use tilewright_ir::{Limits, Program};

use crate::artifact::Artifact;
use crate::error::CompileError;
use crate::isa::{CacheSizes, Isa, cpu_limits};
use crate::x86::{self, FewLanes, MaskStyle, VectorSet};

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
    few: FEW,
    narrower: Some(&HALVES),
};

const HALVES: VectorSet = VectorSet {
    id: "avx512",
    bytes: 32,
    registers: 32,
    first: Register::YMM0,
    masks: MaskStyle::Opmask,
    embedded_broadcast: true,
    load: Code::EVEX_Vmovups_ymm_k1z_ymmm256,
    store: Code::EVEX_Vmovups_ymmm256_k1z_ymm,
    copy: Code::EVEX_Vmovaps_ymm_k1z_ymmm256,
    broadcast: Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
    broadcast_lane: Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
    broadcast_integer: Code::EVEX_Vpbroadcastd_ymm_k1z_xmmm32,
    greater: Code::EVEX_Vpcmpgtd_kr_k1_ymm_ymmm256b32,
    add: Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32,
    subtract: Code::EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32,
    multiply: Code::EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32,
    divide: Code::EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32,
    maximum: Code::EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32,
    minimum: Code::EVEX_Vminps_ymm_k1z_ymm_ymmm256b32,
    square_root: Code::EVEX_Vsqrtps_ymm_k1z_ymmm256b32,
    and: Code::EVEX_Vandps_ymm_k1z_ymm_ymmm256b32,
    inclusive_or: Code::EVEX_Vorps_ymm_k1z_ymm_ymmm256b32,
    exclusive_or: Code::EVEX_Vxorps_ymm_k1z_ymm_ymmm256b32,
    multiply_add: Code::EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32,
    multiply_add_factor: Code::EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32,
    multiply_subtract: Code::EVEX_Vfnmadd231ps_ymm_k1z_ymm_ymmm256b32,
    add_integer: Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32,
    subtract_integer: Code::EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32,
    shift_left: Code::EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8,
    shift_right: Code::EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8,
    few: FEW,
    narrower: Some(&QUARTERS),
};

const QUARTERS: VectorSet = VectorSet {
    id: "avx512",
    bytes: 16,
    registers: 32,
    first: Register::XMM0,
    masks: MaskStyle::Opmask,
    embedded_broadcast: true,
    load: Code::EVEX_Vmovups_xmm_k1z_xmmm128,
    store: Code::EVEX_Vmovups_xmmm128_k1z_xmm,
    copy: Code::EVEX_Vmovaps_xmm_k1z_xmmm128,
    broadcast: Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32,
    broadcast_lane: Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32,
    broadcast_integer: Code::EVEX_Vpbroadcastd_xmm_k1z_xmmm32,
    greater: Code::EVEX_Vpcmpgtd_kr_k1_xmm_xmmm128b32,
    add: Code::EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32,
    subtract: Code::EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32,
    multiply: Code::EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32,
    divide: Code::EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32,
    maximum: Code::EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32,
    minimum: Code::EVEX_Vminps_xmm_k1z_xmm_xmmm128b32,
    square_root: Code::EVEX_Vsqrtps_xmm_k1z_xmmm128b32,
    and: Code::EVEX_Vandps_xmm_k1z_xmm_xmmm128b32,
    inclusive_or: Code::EVEX_Vorps_xmm_k1z_xmm_xmmm128b32,
    exclusive_or: Code::EVEX_Vxorps_xmm_k1z_xmm_xmmm128b32,
    multiply_add: Code::EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32,
    multiply_add_factor: Code::EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32,
    multiply_subtract: Code::EVEX_Vfnmadd231ps_xmm_k1z_xmm_xmmm128b32,
    add_integer: Code::EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32,
    subtract_integer: Code::EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32,
    shift_left: Code::EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8,
    shift_right: Code::EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8,
    few: FEW,
    narrower: None,
};

const FEW: FewLanes = FewLanes {
    load_one: Code::EVEX_Vmovss_xmm_k1z_m32,
    load_two: Code::EVEX_Vmovsd_xmm_k1z_m64,
    store_one: Code::EVEX_Vmovss_m32_k1_xmm,
    store_two: Code::EVEX_Vmovlps_m64_xmm,
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
        cpu_limits(&VECTORS, workers, caches)
    }

    fn compile(&self, program: &Program) -> Result<Artifact, CompileError> {
        x86::compile(program, &VECTORS)
    }
}
