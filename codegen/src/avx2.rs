//! AVX2 with FMA: 16 registers of 8 lanes, masked loads and stores by vector masks.
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; AMD64 Architecture Programmer's
//! Manual, volume 4.

use iced_x86::{Code, Register};
use tilewright_ir::{Limits, Program};

use crate::artifact::Artifact;
use crate::error::CompileError;
use crate::isa::{CacheSizes, Isa, cpu_limits};
use crate::x86::{self, FewLanes, MaskStyle, VectorSet};

/// The instruction set.
pub(crate) struct Avx2;

const VECTORS: VectorSet = VectorSet {
    id: "avx2",
    bytes: 32,
    registers: 16,
    first: Register::YMM0,
    masks: MaskStyle::Vector {
        load: Code::VEX_Vmaskmovps_ymm_ymm_m256,
        store: Code::VEX_Vmaskmovps_m256_ymm_ymm,
        blend: Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
    },
    embedded_broadcast: false,
    load: Code::VEX_Vmovups_ymm_ymmm256,
    store: Code::VEX_Vmovups_ymmm256_ymm,
    copy: Code::VEX_Vmovaps_ymm_ymmm256,
    broadcast: Code::VEX_Vbroadcastss_ymm_m32,
    broadcast_lane: Code::VEX_Vbroadcastss_ymm_xmm,
    broadcast_integer: Code::VEX_Vpbroadcastd_ymm_xmmm32,
    greater: Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
    add: Code::VEX_Vaddps_ymm_ymm_ymmm256,
    subtract: Code::VEX_Vsubps_ymm_ymm_ymmm256,
    multiply: Code::VEX_Vmulps_ymm_ymm_ymmm256,
    divide: Code::VEX_Vdivps_ymm_ymm_ymmm256,
    maximum: Code::VEX_Vmaxps_ymm_ymm_ymmm256,
    minimum: Code::VEX_Vminps_ymm_ymm_ymmm256,
    square_root: Code::VEX_Vsqrtps_ymm_ymmm256,
    and: Code::VEX_Vandps_ymm_ymm_ymmm256,
    inclusive_or: Code::VEX_Vorps_ymm_ymm_ymmm256,
    exclusive_or: Code::VEX_Vxorps_ymm_ymm_ymmm256,
    multiply_add: Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
    multiply_add_factor: Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
    multiply_subtract: Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
    add_integer: Code::VEX_Vpaddd_ymm_ymm_ymmm256,
    subtract_integer: Code::VEX_Vpsubd_ymm_ymm_ymmm256,
    shift_left: Code::VEX_Vpslld_ymm_ymm_imm8,
    shift_right: Code::VEX_Vpsrad_ymm_ymm_imm8,
    few: FEW,
    narrower: Some(&HALVES),
};

const HALVES: VectorSet = VectorSet {
    id: "avx2",
    bytes: 16,
    registers: 16,
    first: Register::XMM0,
    masks: MaskStyle::Vector {
        load: Code::VEX_Vmaskmovps_xmm_xmm_m128,
        store: Code::VEX_Vmaskmovps_m128_xmm_xmm,
        blend: Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
    },
    embedded_broadcast: false,
    load: Code::VEX_Vmovups_xmm_xmmm128,
    store: Code::VEX_Vmovups_xmmm128_xmm,
    copy: Code::VEX_Vmovaps_xmm_xmmm128,
    broadcast: Code::VEX_Vbroadcastss_xmm_m32,
    broadcast_lane: Code::VEX_Vbroadcastss_xmm_xmm,
    broadcast_integer: Code::VEX_Vpbroadcastd_xmm_xmmm32,
    greater: Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128,
    add: Code::VEX_Vaddps_xmm_xmm_xmmm128,
    subtract: Code::VEX_Vsubps_xmm_xmm_xmmm128,
    multiply: Code::VEX_Vmulps_xmm_xmm_xmmm128,
    divide: Code::VEX_Vdivps_xmm_xmm_xmmm128,
    maximum: Code::VEX_Vmaxps_xmm_xmm_xmmm128,
    minimum: Code::VEX_Vminps_xmm_xmm_xmmm128,
    square_root: Code::VEX_Vsqrtps_xmm_xmmm128,
    and: Code::VEX_Vandps_xmm_xmm_xmmm128,
    inclusive_or: Code::VEX_Vorps_xmm_xmm_xmmm128,
    exclusive_or: Code::VEX_Vxorps_xmm_xmm_xmmm128,
    multiply_add: Code::VEX_Vfmadd231ps_xmm_xmm_xmmm128,
    multiply_add_factor: Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128,
    multiply_subtract: Code::VEX_Vfnmadd231ps_xmm_xmm_xmmm128,
    add_integer: Code::VEX_Vpaddd_xmm_xmm_xmmm128,
    subtract_integer: Code::VEX_Vpsubd_xmm_xmm_xmmm128,
    shift_left: Code::VEX_Vpslld_xmm_xmm_imm8,
    shift_right: Code::VEX_Vpsrad_xmm_xmm_imm8,
    few: FEW,
    narrower: None,
};

const FEW: FewLanes = FewLanes {
    load_one: Code::VEX_Vmovss_xmm_m32,
    load_two: Code::VEX_Vmovsd_xmm_m64,
    store_one: Code::VEX_Vmovss_m32_xmm,
    store_two: Code::VEX_Vmovlps_m64_xmm,
};

impl Isa for Avx2 {
    fn id(&self) -> &'static str {
        VECTORS.id
    }

    fn available(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
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
