//! Readable form of generated code, for reports and for people who debug it.

use std::collections::BTreeMap;
use std::fmt::Write;

use iced_x86::{Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind};

use crate::artifact::Artifact;

/// The instructions of an artifact in Intel syntax, one a line with its offset; entry points and targets of
/// branches are labelled, constants behind the last instruction are left out.
pub fn disassemble(artifact: &Artifact) -> String {
    // An undefined instruction stands between the code and its constants.
    let instructions: Vec<Instruction> = Decoder::with_ip(64, &artifact.code, 0, DecoderOptions::NONE)
        .iter()
        .take_while(|instruction| instruction.code() != Code::Ud2)
        .collect();
    let mut labels: BTreeMap<u64, String> =
        artifact.entries.iter().map(|entry| (entry.offset, format!("entry_{}", entry.name))).collect();
    let mut targets: Vec<u64> = instructions
        .iter()
        .filter(|instruction| instruction.op0_kind() == OpKind::NearBranch64)
        .map(Instruction::near_branch_target)
        .collect();
    targets.sort_unstable();
    targets.dedup();
    for (number, target) in targets.into_iter().enumerate() {
        labels.entry(target).or_insert_with(|| format!("l{number}"));
    }
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_rip_relative_addresses(false);
    let mut text = String::new();
    let mut line = String::new();
    for instruction in &instructions {
        if let Some(label) = labels.get(&instruction.ip()) {
            let _ = writeln!(text, "{label}:");
        }
        line.clear();
        let branch = (instruction.op0_kind() == OpKind::NearBranch64)
            .then(|| labels.get(&instruction.near_branch_target()))
            .flatten();
        if let Some(label) = branch {
            formatter.format_mnemonic(instruction, &mut line);
            let _ = write!(line, " {label}");
        } else {
            formatter.format(instruction, &mut line);
        }
        let _ = writeln!(text, "{:6x}  {line}", instruction.ip());
    }
    text
}
