//! The instruction forms that kernels are made of, and how each is encoded.
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: an opcode map for each prefix, and
//! which operand goes to which field.

use iced_x86::Code;

/// How the fields of an instruction are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Opcode after optional prefixes and REX.
    Legacy,
    Vex,
    Evex,
}

/// Opcode maps: one byte, `0F`, `0F 38`, `0F 3A`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    Short = 0,
    Escape = 1,
    Escape38 = 2,
    Escape3A = 3,
}

/// What follows the addressing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    None,
    /// Bytes of an immediate, 8 at most.
    Immediate(u8),
    /// 32 bits to the target of a branch, filled in later.
    Distance,
    /// A register in the upper half of a byte.
    Register,
}

/// Which field each operand goes to, in their order; one for the tail may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::upper_case_acronyms, reason = "the names that the manuals give to operand encodings")]
pub(super) enum Fields {
    None,
    /// The low bits of the opcode.
    O,
    /// `ModRM.rm`, register or memory.
    M,
    /// `ModRM.reg`, then `ModRM.rm`.
    RM,
    MR,
    /// With `VEX.vvvv` between them.
    RVM,
    MVR,
    /// `VEX.vvvv` is the destination.
    VM,
}

use Fields::{M, MR, MVR, None as NO_FIELDS, O, RM, RVM, VM};

/// How a form is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) encoding: Encoding,
    pub(super) map: Map,
    /// The mandatory prefix by its number in VEX: none, `66`, `F3`, `F2`.
    pub(super) prefix: u8,
    pub(super) opcode: u8,
    /// `W`: 64-bit operands.
    pub(super) wide: bool,
    /// `L`: 128, 256 or 512 bits.
    pub(super) length: u8,
    /// `ModRM.reg` where no operand goes there.
    pub(super) extension: u8,
    pub(super) fields: Fields,
    pub(super) tail: Tail,
    /// Binary logarithm of what 8-bit displacements count in (EVEX).
    pub(super) scale: u8,
}

const fn legacy(opcode: u8, fields: Fields) -> Form {
    Form {
        encoding: Encoding::Legacy,
        map: Map::Short,
        prefix: 0,
        opcode,
        wide: false,
        length: 0,
        extension: 0,
        fields,
        tail: Tail::None,
        scale: 0,
    }
}

/// With 64-bit operands.
const fn wide(opcode: u8, fields: Fields) -> Form {
    Form { wide: true, ..legacy(opcode, fields) }
}

/// On ymm registers, of map `0F`.
const fn ymm(prefix: u8, opcode: u8, fields: Fields) -> Form {
    Form { encoding: Encoding::Vex, prefix, length: 1, ..legacy(opcode, fields).escape(Map::Escape) }
}

const fn xmm(prefix: u8, opcode: u8, fields: Fields) -> Form {
    Form { length: 0, ..ymm(prefix, opcode, fields) }
}

/// On zmm registers, of map `0F`, memory operands of 64 bytes.
const fn zmm(prefix: u8, opcode: u8, fields: Fields) -> Form {
    Form { encoding: Encoding::Evex, length: 2, scale: 6, ..ymm(prefix, opcode, fields) }
}

impl Form {
    /// Whether operands are a destination and two sources, and nothing else.
    pub(super) fn has_two_sources(&self) -> bool {
        self.fields == RVM && self.tail == Tail::None
    }

    const fn escape(self, map: Map) -> Self {
        Self { map, ..self }
    }

    const fn digit(self, extension: u8) -> Self {
        Self { extension, ..self }
    }

    const fn immediate(self, bytes: u8) -> Self {
        Self { tail: Tail::Immediate(bytes), ..self }
    }

    const fn branch(self) -> Self {
        Self { tail: Tail::Distance, ..self }
    }

    /// On vectors of half, of a quarter of the length.
    const fn narrowed(self, halvings: u8) -> Self {
        // Memory operands of one element stay what they are.
        let scale = if self.scale == 6 { self.scale - halvings } else { self.scale };
        Self { length: self.length - halvings, scale, ..self }
    }

    const fn scaled(self, scale: u8) -> Self {
        Self { scale, ..self }
    }
}

const P66: u8 = 1;
const PF3: u8 = 2;
const PF2: u8 = 3;

/// Every form.
pub(super) static FORMS: [(Code, Form); 194] = [
    // Moves and addresses.
    (Code::Mov_r64_rm64, wide(0x8b, RM)),
    (Code::Mov_rm64_r64, wide(0x89, MR)),
    (Code::Mov_r32_rm32, legacy(0x8b, RM)),
    (Code::Mov_rm32_r32, legacy(0x89, MR)),
    (Code::Mov_r32_imm32, legacy(0xb8, O).immediate(4)),
    (Code::Mov_r64_imm64, wide(0xb8, O).immediate(8)),
    (Code::Mov_rm32_imm32, legacy(0xc7, M).immediate(4)),
    (Code::Lea_r64_m, wide(0x8d, RM)),
    (Code::Push_r64, legacy(0x50, O)),
    (Code::Pop_r64, legacy(0x58, O)),
    (Code::Cmovs_r64_rm64, wide(0x48, RM).escape(Map::Escape)),
    (Code::Cmovl_r64_rm64, wide(0x4c, RM).escape(Map::Escape)),
    (Code::Cmovge_r64_rm64, wide(0x4d, RM).escape(Map::Escape)),
    (Code::Prefetcht0_m8, legacy(0x18, M).escape(Map::Escape).digit(1)),
    (Code::Prefetchw_m8, legacy(0x0d, M).escape(Map::Escape).digit(1)),
    // Integer arithmetic.
    (Code::Add_r64_rm64, wide(0x03, RM)),
    (Code::Add_rm64_r64, wide(0x01, MR)),
    (Code::Add_rm64_imm8, wide(0x83, M).immediate(1)),
    (Code::Add_rm64_imm32, wide(0x81, M).immediate(4)),
    (Code::Add_rm32_imm8, legacy(0x83, M).immediate(1)),
    (Code::Sub_r64_rm64, wide(0x2b, RM)),
    (Code::Sub_rm64_r64, wide(0x29, MR)),
    (Code::Sub_rm64_imm8, wide(0x83, M).digit(5).immediate(1)),
    (Code::Sub_rm64_imm32, wide(0x81, M).digit(5).immediate(4)),
    (Code::And_rm64_imm8, wide(0x83, M).digit(4).immediate(1)),
    (Code::Xor_r32_rm32, legacy(0x33, RM)),
    (Code::Cmp_r64_rm64, wide(0x3b, RM)),
    (Code::Cmp_r32_rm32, legacy(0x3b, RM)),
    (Code::Cmp_rm64_r64, wide(0x39, MR)),
    (Code::Cmp_rm64_imm8, wide(0x83, M).digit(7).immediate(1)),
    (Code::Cmp_rm64_imm32, wide(0x81, M).digit(7).immediate(4)),
    (Code::Test_rm64_r64, wide(0x85, MR)),
    (Code::Sar_rm64_imm8, wide(0xc1, M).digit(7).immediate(1)),
    (Code::Imul_r64_rm64, wide(0xaf, RM).escape(Map::Escape)),
    (Code::Imul_r64_rm64_imm32, wide(0x69, RM).immediate(4)),
    (Code::Cqo, wide(0x99, NO_FIELDS)),
    (Code::Idiv_rm64, wide(0xf7, M).digit(7)),
    (Code::Xadd_rm32_r32, legacy(0xc1, MR).escape(Map::Escape)),
    // Control.
    (Code::Retnq, legacy(0xc3, NO_FIELDS)),
    (Code::Pause, Form { prefix: PF3, ..legacy(0x90, NO_FIELDS) }),
    (Code::Ud2, legacy(0x0b, NO_FIELDS).escape(Map::Escape)),
    (Code::Jmp_rel32_64, legacy(0xe9, NO_FIELDS).branch()),
    (Code::Je_rel32_64, legacy(0x84, NO_FIELDS).escape(Map::Escape).branch()),
    (Code::Jne_rel32_64, legacy(0x85, NO_FIELDS).escape(Map::Escape).branch()),
    (Code::Jl_rel32_64, legacy(0x8c, NO_FIELDS).escape(Map::Escape).branch()),
    (Code::Jge_rel32_64, legacy(0x8d, NO_FIELDS).escape(Map::Escape).branch()),
    (Code::Jle_rel32_64, legacy(0x8e, NO_FIELDS).escape(Map::Escape).branch()),
    (Code::Jg_rel32_64, legacy(0x8f, NO_FIELDS).escape(Map::Escape).branch()),
    (Code::VEX_Vzeroupper, xmm(0, 0x77, NO_FIELDS)),
    // Opmasks.
    (Code::VEX_Kmovw_kr_km16, xmm(0, 0x90, RM)),
    (Code::VEX_Kmovw_m16_kr, xmm(0, 0x91, MR)),
    (Code::VEX_Kmovw_kr_r32, xmm(0, 0x92, RM)),
    // Parts of vectors.
    (Code::VEX_Vmovss_xmm_m32, xmm(PF3, 0x10, RM)),
    (Code::VEX_Vmovss_m32_xmm, xmm(PF3, 0x11, MR)),
    (Code::VEX_Vmovsd_xmm_m64, xmm(PF2, 0x10, RM)),
    (Code::VEX_Vmovlps_m64_xmm, xmm(0, 0x13, MR)),
    (Code::VEX_Vmovups_xmm_xmmm128, xmm(0, 0x10, RM)),
    (Code::VEX_Vmovups_xmmm128_xmm, xmm(0, 0x11, MR)),
    (Code::VEX_Vextractps_rm32_xmm_imm8, xmm(P66, 0x17, MR).escape(Map::Escape3A).immediate(1)),
    (Code::VEX_Vinsertps_xmm_xmm_xmmm32_imm8, xmm(P66, 0x21, RVM).escape(Map::Escape3A).immediate(1)),
    (Code::VEX_Vextractf128_xmmm128_ymm_imm8, ymm(P66, 0x19, MR).escape(Map::Escape3A).immediate(1)),
    (Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, ymm(P66, 0x18, RVM).escape(Map::Escape3A).immediate(1)),
    (
        Code::EVEX_Vextractf32x8_ymmm256_k1z_zmm_imm8,
        zmm(P66, 0x1b, MR).escape(Map::Escape3A).immediate(1).scaled(5),
    ),
    (Code::VEX_Vaddps_xmm_xmm_xmmm128, xmm(0, 0x58, RVM)),
    (Code::VEX_Vxorps_xmm_xmm_xmmm128, xmm(0, 0x57, RVM)),
    (Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x58, RVM).narrowed(1)),
    // Vectors of 8 lanes.
    (Code::VEX_Vmovups_ymm_ymmm256, ymm(0, 0x10, RM)),
    (Code::VEX_Vmovups_ymmm256_ymm, ymm(0, 0x11, MR)),
    (Code::VEX_Vmovaps_ymm_ymmm256, ymm(0, 0x28, RM)),
    (Code::VEX_Vbroadcastss_ymm_m32, ymm(P66, 0x18, RM).escape(Map::Escape38)),
    (Code::VEX_Vbroadcastss_ymm_xmm, ymm(P66, 0x18, RM).escape(Map::Escape38)),
    (Code::VEX_Vpbroadcastd_ymm_xmmm32, ymm(P66, 0x58, RM).escape(Map::Escape38)),
    (Code::VEX_Vmaskmovps_xmm_xmm_m128, xmm(P66, 0x2c, RVM).escape(Map::Escape38)),
    (Code::VEX_Vmaskmovps_ymm_ymm_m256, ymm(P66, 0x2c, RVM).escape(Map::Escape38)),
    (Code::VEX_Vmaskmovps_m256_ymm_ymm, ymm(P66, 0x2e, MVR).escape(Map::Escape38)),
    (
        Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
        Form { tail: Tail::Register, ..ymm(P66, 0x4a, RVM).escape(Map::Escape3A) },
    ),
    (Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, ymm(P66, 0x66, RVM)),
    (Code::VEX_Vaddps_ymm_ymm_ymmm256, ymm(0, 0x58, RVM)),
    (Code::VEX_Vsubps_ymm_ymm_ymmm256, ymm(0, 0x5c, RVM)),
    (Code::VEX_Vmulps_ymm_ymm_ymmm256, ymm(0, 0x59, RVM)),
    (Code::VEX_Vdivps_ymm_ymm_ymmm256, ymm(0, 0x5e, RVM)),
    (Code::VEX_Vmaxps_ymm_ymm_ymmm256, ymm(0, 0x5f, RVM)),
    (Code::VEX_Vminps_ymm_ymm_ymmm256, ymm(0, 0x5d, RVM)),
    (Code::VEX_Vsqrtps_ymm_ymmm256, ymm(0, 0x51, RM)),
    (Code::VEX_Vandps_ymm_ymm_ymmm256, ymm(0, 0x54, RVM)),
    (Code::VEX_Vorps_ymm_ymm_ymmm256, ymm(0, 0x56, RVM)),
    (Code::VEX_Vxorps_ymm_ymm_ymmm256, ymm(0, 0x57, RVM)),
    (Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256, ymm(P66, 0xb8, RVM).escape(Map::Escape38)),
    (Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256, ymm(P66, 0xa8, RVM).escape(Map::Escape38)),
    (Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256, ymm(P66, 0xbc, RVM).escape(Map::Escape38)),
    (Code::VEX_Vpaddd_ymm_ymm_ymmm256, ymm(P66, 0xfe, RVM)),
    (Code::VEX_Vpsubd_ymm_ymm_ymmm256, ymm(P66, 0xfa, RVM)),
    (Code::VEX_Vpslld_ymm_ymm_imm8, ymm(P66, 0x72, VM).digit(6).immediate(1)),
    (Code::VEX_Vpsrad_ymm_ymm_imm8, ymm(P66, 0x72, VM).digit(4).immediate(1)),
    (Code::VEX_Vhaddps_ymm_ymm_ymmm256, ymm(PF2, 0x7c, RVM)),
    (Code::VEX_Vunpcklps_ymm_ymm_ymmm256, ymm(0, 0x14, RVM)),
    (Code::VEX_Vunpckhps_ymm_ymm_ymmm256, ymm(0, 0x15, RVM)),
    (Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, ymm(P66, 0x14, RVM)),
    (Code::VEX_Vunpckhpd_ymm_ymm_ymmm256, ymm(P66, 0x15, RVM)),
    // Vectors of 16 lanes.
    (Code::EVEX_Vmovups_zmm_k1z_zmmm512, zmm(0, 0x10, RM)),
    (Code::EVEX_Vmovups_zmmm512_k1z_zmm, zmm(0, 0x11, MR)),
    (Code::EVEX_Vmovaps_zmm_k1z_zmmm512, zmm(0, 0x28, RM)),
    (Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, zmm(P66, 0x18, RM).escape(Map::Escape38).scaled(2)),
    (Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, zmm(P66, 0x58, RM).escape(Map::Escape38).scaled(2)),
    (Code::EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32, zmm(P66, 0x66, RVM)),
    (Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, zmm(0, 0x58, RVM)),
    (Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, zmm(0, 0x5c, RVM)),
    (Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, zmm(0, 0x59, RVM)),
    (Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, zmm(0, 0x5e, RVM)),
    (Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, zmm(0, 0x5f, RVM)),
    (Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, zmm(0, 0x5d, RVM)),
    (Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, zmm(0, 0x51, RM)),
    (Code::EVEX_Vandps_zmm_k1z_zmm_zmmm512b32, zmm(0, 0x54, RVM)),
    (Code::EVEX_Vorps_zmm_k1z_zmm_zmmm512b32, zmm(0, 0x56, RVM)),
    (Code::EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32, zmm(0, 0x57, RVM)),
    (Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er, zmm(P66, 0xb8, RVM).escape(Map::Escape38)),
    (Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er, zmm(P66, 0xa8, RVM).escape(Map::Escape38)),
    (Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er, zmm(P66, 0xbc, RVM).escape(Map::Escape38)),
    (Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, zmm(P66, 0xfe, RVM)),
    (Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, zmm(P66, 0xfa, RVM)),
    (Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, zmm(P66, 0x72, VM).digit(6).immediate(1)),
    (Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8, zmm(P66, 0x72, VM).digit(4).immediate(1)),
    // Vectors of 4 lanes, and narrow ones in the wide encoding.
    (Code::VEX_Vmovaps_xmm_xmmm128, xmm(0, 0x28, RM)),
    (Code::VEX_Vbroadcastss_xmm_m32, xmm(P66, 0x18, RM).escape(Map::Escape38)),
    (Code::VEX_Vbroadcastss_xmm_xmm, xmm(P66, 0x18, RM).escape(Map::Escape38)),
    (Code::VEX_Vpbroadcastd_xmm_xmmm32, xmm(P66, 0x58, RM).escape(Map::Escape38)),
    (Code::VEX_Vmaskmovps_xmm_xmm_m128, xmm(P66, 0x2c, RVM).escape(Map::Escape38)),
    (Code::VEX_Vmaskmovps_m128_xmm_xmm, xmm(P66, 0x2e, MVR).escape(Map::Escape38)),
    (
        Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
        Form { tail: Tail::Register, ..xmm(P66, 0x4a, RVM).escape(Map::Escape3A) },
    ),
    (Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128, xmm(P66, 0x66, RVM)),
    (Code::VEX_Vsubps_xmm_xmm_xmmm128, xmm(0, 0x5c, RVM)),
    (Code::VEX_Vmulps_xmm_xmm_xmmm128, xmm(0, 0x59, RVM)),
    (Code::VEX_Vdivps_xmm_xmm_xmmm128, xmm(0, 0x5e, RVM)),
    (Code::VEX_Vmaxps_xmm_xmm_xmmm128, xmm(0, 0x5f, RVM)),
    (Code::VEX_Vminps_xmm_xmm_xmmm128, xmm(0, 0x5d, RVM)),
    (Code::VEX_Vsqrtps_xmm_xmmm128, xmm(0, 0x51, RM)),
    (Code::VEX_Vandps_xmm_xmm_xmmm128, xmm(0, 0x54, RVM)),
    (Code::VEX_Vorps_xmm_xmm_xmmm128, xmm(0, 0x56, RVM)),
    (Code::VEX_Vfmadd231ps_xmm_xmm_xmmm128, xmm(P66, 0xb8, RVM).escape(Map::Escape38)),
    (Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128, xmm(P66, 0xa8, RVM).escape(Map::Escape38)),
    (Code::VEX_Vfnmadd231ps_xmm_xmm_xmmm128, xmm(P66, 0xbc, RVM).escape(Map::Escape38)),
    (Code::VEX_Vpaddd_xmm_xmm_xmmm128, xmm(P66, 0xfe, RVM)),
    (Code::VEX_Vpsubd_xmm_xmm_xmmm128, xmm(P66, 0xfa, RVM)),
    (Code::VEX_Vpslld_xmm_xmm_imm8, xmm(P66, 0x72, VM).digit(6).immediate(1)),
    (Code::VEX_Vpsrad_xmm_xmm_imm8, xmm(P66, 0x72, VM).digit(4).immediate(1)),
    (Code::EVEX_Vmovss_xmm_k1z_m32, zmm(PF3, 0x10, RM).narrowed(2).scaled(2)),
    (Code::EVEX_Vmovss_m32_k1_xmm, zmm(PF3, 0x11, MR).narrowed(2).scaled(2)),
    (Code::EVEX_Vmovsd_xmm_k1z_m64, Form { wide: true, ..zmm(PF2, 0x10, RM).narrowed(2).scaled(3) }),
    (Code::EVEX_Vmovlps_m64_xmm, zmm(0, 0x13, MR).narrowed(2).scaled(3)),
    (Code::EVEX_Vmovups_ymm_k1z_ymmm256, zmm(0, 0x10, RM).narrowed(1)),
    (Code::EVEX_Vmovups_ymmm256_k1z_ymm, zmm(0, 0x11, MR).narrowed(1)),
    (Code::EVEX_Vmovaps_ymm_k1z_ymmm256, zmm(0, 0x28, RM).narrowed(1)),
    (Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32, zmm(P66, 0x18, RM).escape(Map::Escape38).scaled(2).narrowed(1)),
    (Code::EVEX_Vpbroadcastd_ymm_k1z_xmmm32, zmm(P66, 0x58, RM).escape(Map::Escape38).scaled(2).narrowed(1)),
    (Code::EVEX_Vpcmpgtd_kr_k1_ymm_ymmm256b32, zmm(P66, 0x66, RVM).narrowed(1)),
    (Code::EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x5c, RVM).narrowed(1)),
    (Code::EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x59, RVM).narrowed(1)),
    (Code::EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x5e, RVM).narrowed(1)),
    (Code::EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x5f, RVM).narrowed(1)),
    (Code::EVEX_Vminps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x5d, RVM).narrowed(1)),
    (Code::EVEX_Vsqrtps_ymm_k1z_ymmm256b32, zmm(0, 0x51, RM).narrowed(1)),
    (Code::EVEX_Vandps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x54, RVM).narrowed(1)),
    (Code::EVEX_Vorps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x56, RVM).narrowed(1)),
    (Code::EVEX_Vxorps_ymm_k1z_ymm_ymmm256b32, zmm(0, 0x57, RVM).narrowed(1)),
    (Code::EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32, zmm(P66, 0xb8, RVM).escape(Map::Escape38).narrowed(1)),
    (Code::EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32, zmm(P66, 0xa8, RVM).escape(Map::Escape38).narrowed(1)),
    (Code::EVEX_Vfnmadd231ps_ymm_k1z_ymm_ymmm256b32, zmm(P66, 0xbc, RVM).escape(Map::Escape38).narrowed(1)),
    (Code::EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32, zmm(P66, 0xfe, RVM).narrowed(1)),
    (Code::EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32, zmm(P66, 0xfa, RVM).narrowed(1)),
    (Code::EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8, zmm(P66, 0x72, VM).digit(6).immediate(1).narrowed(1)),
    (Code::EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8, zmm(P66, 0x72, VM).digit(4).immediate(1).narrowed(1)),
    (Code::EVEX_Vmovups_xmm_k1z_xmmm128, zmm(0, 0x10, RM).narrowed(2)),
    (Code::EVEX_Vmovups_xmmm128_k1z_xmm, zmm(0, 0x11, MR).narrowed(2)),
    (Code::EVEX_Vmovaps_xmm_k1z_xmmm128, zmm(0, 0x28, RM).narrowed(2)),
    (Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32, zmm(P66, 0x18, RM).escape(Map::Escape38).scaled(2).narrowed(2)),
    (Code::EVEX_Vpbroadcastd_xmm_k1z_xmmm32, zmm(P66, 0x58, RM).escape(Map::Escape38).scaled(2).narrowed(2)),
    (Code::EVEX_Vpcmpgtd_kr_k1_xmm_xmmm128b32, zmm(P66, 0x66, RVM).narrowed(2)),
    (Code::EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x58, RVM).narrowed(2)),
    (Code::EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x5c, RVM).narrowed(2)),
    (Code::EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x59, RVM).narrowed(2)),
    (Code::EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x5e, RVM).narrowed(2)),
    (Code::EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x5f, RVM).narrowed(2)),
    (Code::EVEX_Vminps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x5d, RVM).narrowed(2)),
    (Code::EVEX_Vsqrtps_xmm_k1z_xmmm128b32, zmm(0, 0x51, RM).narrowed(2)),
    (Code::EVEX_Vandps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x54, RVM).narrowed(2)),
    (Code::EVEX_Vorps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x56, RVM).narrowed(2)),
    (Code::EVEX_Vxorps_xmm_k1z_xmm_xmmm128b32, zmm(0, 0x57, RVM).narrowed(2)),
    (Code::EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32, zmm(P66, 0xb8, RVM).escape(Map::Escape38).narrowed(2)),
    (Code::EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32, zmm(P66, 0xa8, RVM).escape(Map::Escape38).narrowed(2)),
    (Code::EVEX_Vfnmadd231ps_xmm_k1z_xmm_xmmm128b32, zmm(P66, 0xbc, RVM).escape(Map::Escape38).narrowed(2)),
    (Code::EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32, zmm(P66, 0xfe, RVM).narrowed(2)),
    (Code::EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32, zmm(P66, 0xfa, RVM).narrowed(2)),
    (Code::EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8, zmm(P66, 0x72, VM).digit(6).immediate(1).narrowed(2)),
    (Code::EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8, zmm(P66, 0x72, VM).digit(4).immediate(1).narrowed(2)),
];

/// Positions in [`FORMS`] by instruction, one more than it; 0 where there is no form.
static POSITIONS: [u8; most() + 1] = {
    let mut positions = [0; most() + 1];
    let mut at = 0;
    while at < FORMS.len() {
        positions[FORMS[at].0 as usize] = at as u8 + 1;
        at += 1;
    }
    positions
};

const fn most() -> usize {
    let (mut at, mut most) = (0, 0);
    while at < FORMS.len() {
        if FORMS[at].0 as usize > most {
            most = FORMS[at].0 as usize;
        }
        at += 1;
    }
    most
}

/// How an instruction is encoded; `None` when kernels have no use for it so far.
pub(super) fn form(code: Code) -> Option<&'static Form> {
    let position = POSITIONS.get(code as usize).copied().unwrap_or(0);
    FORMS.get(usize::from(position).wrapping_sub(1)).map(|(_, form)| form)
}
