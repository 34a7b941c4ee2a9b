//! Collects encoded instructions, and resolves labels and constants.
//!
//! Branches and constants that lie ahead get their distance when the code is finished. Code that was emitted
//! can be emitted again with other displacements, which copies its bytes.

use std::collections::BTreeMap;

use iced_x86::Code as Instruction;

use super::code::Code;
use super::encoder::{Parts, append_address, encode, scale};
use super::form::{Form, form};
use super::operand::{Anchor, Masking, Memory, Operand};
use super::tree::ClassId;
use crate::error::CompileError;

/// A place in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u32);

/// A read-only constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constant {
    /// Aligned to their number.
    Bytes(Vec<u8>),
    /// So many copies of a 32-bit value.
    Repeated { copies: usize, bits: u32 },
}

impl Constant {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Repeated { copies, bits } => bits.to_le_bytes().repeat(*copies),
        }
    }
}

const UNBOUND: u64 = u64::MAX;

const LOCK: u64 = 0xf0;

/// A 32-bit distance that is filled in when the code is finished.
#[derive(Debug, Clone, Copy)]
struct Distance {
    /// Where it stands.
    at: usize,
    /// Where it counts from.
    from: usize,
    to: Label,
}

/// Code under construction.
pub(super) struct Assembler {
    code: Code,
    labels: Vec<u64>,
    distances: Vec<Distance>,
    constants: BTreeMap<Constant, Label>,
    failure: Option<CompileError>,
    recording: Option<Recording>,
}

/// A piece of code that is to be emitted again with other displacements.
#[derive(Debug, Default)]
pub(super) struct Recording {
    start: usize,
    end: usize,
    addresses: Vec<Recorded>,
    /// Whether there was a branch, which cannot be repeated.
    branches: bool,
}

/// An address in a recording that is not always the same.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    /// Where its `ModRM` stands.
    start: usize,
    displacement: i32,
    /// Binary logarithm of what 8-bit displacements count in.
    scale: u8,
    anchor: Anchor,
    /// Where its displacement ends.
    end: usize,
    /// Where its instruction ends.
    next: usize,
}

impl Assembler {
    pub(super) fn new() -> Self {
        Self {
            code: Code::new(),
            labels: Vec::new(),
            distances: Vec::new(),
            constants: BTreeMap::new(),
            failure: None,
            recording: None,
        }
    }

    /// Bytes emitted so far.
    pub(super) fn position(&self) -> u64 {
        self.code.len() as u64
    }

    /// A place that is not known yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label is here.
    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.position();
    }

    /// A label that is here.
    pub(super) fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, code: Instruction, operands: &[Operand]) {
        self.emit_masked(code, operands, Masking::None);
    }

    /// Appends an instruction that writes only some lanes.
    pub(super) fn emit_masked(&mut self, code: Instruction, operands: &[Operand], masking: Masking) {
        let parts = form(code).and_then(|form| Some((form, Parts::of(form, operands, masking)?)));
        let Some((form, parts)) = parts else {
            let message = format!("{code:?} of {operands:?}");
            self.failure.get_or_insert(CompileError::Encoding { message });
            return;
        };
        self.append(form, &parts);
    }

    /// Appends an instruction with a destination and two sources in vector registers, given by number; memory
    /// takes the place of the last one.
    pub(super) fn emit_vectors(&mut self, code: Instruction, registers: [u8; 3], memory: Option<Memory>) {
        let Some(form) = form(code).filter(|form| form.has_two_sources()) else {
            self.failure.get_or_insert(CompileError::Encoding { message: format!("{code:?} of vectors") });
            return;
        };
        let [register, vector, last] = registers.map(u32::from);
        let base = memory.map_or(last, |memory| memory.base.number() as u32);
        let memory = memory.as_ref();
        self.append(form, &Parts { register, vector, base, memory, masking: Masking::None, tail: 0 });
    }

    fn append(&mut self, form: &Form, parts: &Parts<'_>) {
        let place = encode(&mut self.code, form, parts);
        let Some(memory) = parts.memory else { return };
        let bytes = memory.displacement;
        let Ok(displacement) = i32::try_from(bytes) else {
            self.failure.get_or_insert(CompileError::Displacement { bytes });
            return;
        };
        if let Anchor::Constant(to) = memory.anchor {
            self.distances.push(Distance { at: place.end - 4, from: self.code.len(), to });
        }
        if let Some(recording) = &mut self.recording
            && memory.anchor != Anchor::None
        {
            recording.addresses.push(Recorded {
                start: place.start,
                displacement,
                scale: scale(form, memory),
                anchor: memory.anchor,
                end: place.end,
                next: self.code.len(),
            });
        }
    }

    /// Starts to record what is emitted.
    pub(super) fn record(&mut self) {
        self.recording = Some(Recording { start: self.code.len(), ..Recording::default() });
    }

    /// What was emitted since, when it can be repeated.
    pub(super) fn recorded(&mut self) -> Option<Recording> {
        let recording = self.recording.take().filter(|recording| !recording.branches)?;
        Some(Recording { end: self.code.len(), ..recording })
    }

    /// Emits a recording again, addresses moved by `shift` of their class.
    pub(super) fn repeat(&mut self, recording: &Recording, shift: impl Fn(ClassId) -> i64) {
        let mut done = recording.start;
        for recorded in &recording.addresses {
            match recorded.anchor {
                Anchor::None => {}
                Anchor::Constant(to) => {
                    let moved = self.code.len() - done;
                    let (at, from) = (recorded.end - 4 + moved, recorded.next + moved);
                    self.distances.push(Distance { at, from, to });
                }
                Anchor::Class(class) => {
                    let bytes = i64::from(recorded.displacement) + shift(class);
                    let Ok(displacement) = i32::try_from(bytes) else {
                        self.failure.get_or_insert(CompileError::Displacement { bytes });
                        return;
                    };
                    self.code.repeat(done..recorded.start);
                    let fields = self.code.byte(recorded.start) & 0x3f;
                    append_address(&mut self.code, fields, displacement, recorded.scale);
                    done = recorded.end;
                }
            }
        }
        self.code.repeat(done..recording.end);
    }

    /// Appends an instruction with a lock prefix.
    pub(super) fn emit_locked(&mut self, code: Instruction, operands: &[Operand]) {
        self.code.append(LOCK, 1);
        self.emit(code, operands);
    }

    /// Appends a branch with a 32-bit distance.
    pub(super) fn branch(&mut self, code: Instruction, to: Label) {
        if let Some(recording) = &mut self.recording {
            recording.branches = true;
        }
        self.emit(code, &[]);
        let from = self.code.len();
        self.distances.push(Distance { at: from.saturating_sub(4), from, to });
    }

    /// A read-only constant, kept once.
    pub(super) fn constant(&mut self, constant: Constant) -> Memory {
        let known = self.constants.get(&constant).copied();
        let label = known.unwrap_or_else(|| {
            let label = self.label();
            self.constants.insert(constant, label);
            label
        });
        Memory::constant(label)
    }

    /// Fills up to a multiple of `alignment` with the long no-operations of AMD's and Intel's manuals.
    pub(super) fn align(&mut self, alignment: usize) {
        const NOPS: [&[u8]; 9] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let mut missing = self.code.len().next_multiple_of(alignment) - self.code.len();
        while missing > 0 {
            let length = missing.min(NOPS.len());
            self.code.extend(NOPS[length - 1]);
            missing -= length;
        }
    }

    /// The code, an undefined instruction, and the constants.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, CompileError> {
        self.emit(Instruction::Ud2, &[]);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut code = self.code.finish();
        // Widest first, so that all are aligned without gaps.
        let mut constants: Vec<(Vec<u8>, Label)> =
            self.constants.iter().map(|(constant, label)| (constant.bytes(), *label)).collect();
        constants.sort_by_key(|(bytes, _)| std::cmp::Reverse(bytes.len()));
        for (bytes, label) in constants {
            code.resize(code.len().next_multiple_of(bytes.len().next_power_of_two()), 0);
            self.labels[label.0 as usize] = code.len() as u64;
            code.extend_from_slice(&bytes);
        }
        for &Distance { at, from, to } in &self.distances {
            let to = self.labels[to.0 as usize];
            debug_assert_ne!(to, UNBOUND, "a label was never bound");
            let distance = to.wrapping_sub(from as u64) as i64 as i32;
            code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(code)
    }
}
