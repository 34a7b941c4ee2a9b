//! Generated code means the same to two decoders by different people, one of which also wrote the encoder that ours is
//! compared with: a mistake that is shared with it would show here.

mod random;
mod support;

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random::{random_schedule, random_workload};
use support::{CACHES, program};
use tilewright_codegen::isas;
use tilewright_fuzz::Fuzz;
use tilewright_ir::Workload;
use yaxpeax_arch::{AddressBase as _, LengthedInstruction as _};
use yaxpeax_x86::long_mode::{InstDecoder, Instruction as Other, Operand};

/// The text of an instruction without what is a matter of taste.
fn plain(text: &str) -> String {
    let mut text = text.to_lowercase();
    for taste in [
        "ptr", "zmmword", "ymmword", "xmmword", "mmword", "qword", "dword", "word", "byte", "m32bcst",
        "m64bcst",
    ] {
        text = text.replace(taste, " ");
    }
    text.retain(|letter| !letter.is_whitespace());
    text = text.replace("*1]", "]");
    text
}

fn formatter() -> IntelFormatter {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_add_leading_zero_to_hex_numbers(false);
    options.set_rip_relative_addresses(true);
    options.set_signed_immediate_operands(true);
    options.set_show_useless_prefixes(false);
    formatter
}

/// Distance of a branch from its own end, as both see it.
fn branch(one: &Instruction, other: &Other) -> Option<(i64, Option<i64>)> {
    (one.op0_kind() == OpKind::NearBranch64).then(|| {
        let here = one.near_branch64().wrapping_sub(one.next_ip()) as i64;
        let there = match other.operand(0) {
            Operand::ImmediateI8 { imm } => Some(imm.into()),
            Operand::ImmediateI32 { imm } => Some(imm.into()),
            _ => None,
        };
        (here, there)
    })
}

/// Compares what both make of this code, up to the constants; the mnemonics that came up.
fn compare(code: &[u8]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut formatter = formatter();
    let mut text = String::new();
    for one in &mut Decoder::with_ip(64, code, 0, DecoderOptions::NONE) {
        if one.mnemonic() == Mnemonic::Ud2 {
            break;
        }
        let bytes = &code[one.ip() as usize..one.next_ip() as usize];
        // The other decoder does not know moves between mask registers and memory, nor EVEX shifts.
        let unknown = matches!(
            one.mnemonic(),
            Mnemonic::Kmovb
                | Mnemonic::Kmovw
                | Mnemonic::Kmovd
                | Mnemonic::Kmovq
                | Mnemonic::Vpslld
                | Mnemonic::Vpsrld
        );
        let other = match InstDecoder::default().decode_slice(bytes) {
            Err(_) if unknown => continue,
            other => other.unwrap_or_else(|error| panic!("{error} in {bytes:02x?}")),
        };
        let length = 0_u64.wrapping_offset(other.len()).to_linear();
        text.clear();
        formatter.format(&one, &mut text);
        assert_eq!(length, bytes.len(), "{text}: {bytes:02x?}");
        if let Some((here, there)) = branch(&one, &other) {
            assert_eq!(Some(here), there, "{text}: {bytes:02x?}");
            assert_eq!(condition(&text), condition(&other.to_string()), "{bytes:02x?}");
        } else if matches!(one.mnemonic(), Mnemonic::Pause | Mnemonic::Nop) {
            // Doing nothing has several names.
            assert!(other.to_string().contains("nop") || other.to_string().contains("xchg"), "{other}");
        } else {
            assert_eq!(plain(&text), plain(&other.to_string()), "{bytes:02x?}");
        }
        seen.insert(format!("{:?}", one.mnemonic()));
    }
    seen
}

/// Names of conditions that mean the same.
const SAME: [(&str, &str); 10] = [
    ("jne", "jnz"),
    ("je", "jz"),
    ("jae", "jnb"),
    ("jnae", "jb"),
    ("jge", "jnl"),
    ("jnge", "jl"),
    ("jg", "jnle"),
    ("jle", "jng"),
    ("ja", "jnbe"),
    ("jbe", "jna"),
];

/// The first word: which branch it is, by one of its names.
fn condition(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    SAME.iter().find(|(_, other)| *other == word).map_or(word, |(name, _)| name).to_owned()
}

#[test]
fn fuzzed_schedules_give_code_that_two_decoders_read_alike() {
    // An input is the seed of a workload, a schedule and an instruction set.
    let seen = std::cell::RefCell::new(BTreeSet::new());
    Fuzz::new(env!("CARGO_MANIFEST_DIR"), "decoders").seed([1; 8]).seed(*b"schedule").run(|bytes| {
        let mut seed = [0; 32];
        seed.iter_mut().zip(bytes).for_each(|(seed, byte)| *seed = *byte);
        let mut rng = ChaCha8Rng::from_seed(seed);
        let isa = isas()[rng.random_range(0..isas().len())];
        let limits = isa.limits(rng.random_range(1..4), &CACHES);
        let workload: Workload = random_workload(&mut rng).parse().expect("a workload");
        let extent = |name: &str| workload.parameters()[name].parse::<u64>().expect("a number");
        let schedule = random_schedule(&mut rng, [extent("m"), extent("n"), extent("k")], &limits);
        let Ok(program) = program(&workload, &schedule, &limits) else { return };
        let Ok(artifact) = isa.compile(&program) else { return };
        seen.borrow_mut().extend(compare(&artifact.code));
    });
    let seen = seen.into_inner();
    assert!(seen.len() > 40, "{} kinds of instructions: {seen:?}", seen.len());
}
