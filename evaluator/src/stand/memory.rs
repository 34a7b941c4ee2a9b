//! The operands that coordinator and worker share: sets of inputs, and outputs to be checked.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_ir::computation::{Computation, Operand};
use tilewright_ir::program::Role;
use tilewright_ir::{TensorLayout, TensorView, Workload};
use tilewright_journal::EvalError;
use tilewright_runtime::{Placement, RuntimeError, SharedBuffer};

use crate::POISON;
use crate::inputs::{InputKind, fill, is_written};
use crate::verify::{Seen, SetCheck};
use crate::worker::BufferArgument;

/// One set of inputs with the output of a launch on it.
pub(super) struct StandSet {
    /// Every operand, in the order of the launch.
    buffers: Vec<SharedBuffer>,
    arguments: Vec<BufferArgument>,
    /// What each written operand holds before a launch; `None`: poison, or the decoy.
    pristine: Vec<(usize, Option<Vec<u8>>)>,
    /// Plausible values that are no answer: what the output holds before a launch that must not be told apart from
    /// others by what it finds there.
    decoy: Vec<u8>,
    /// Whether the output held the decoy before the launch.
    disguised: bool,
    output: usize,
    /// Whether the output has no gaps between rows.
    dense: bool,
    kind: InputKind,
    inputs: blake3::Hash,
    check: SetCheck,
}

/// Drawings of a set before it is given up: a sum that a function sends to zero needs a few.
const DRAWINGS: u32 = 16;

impl StandSet {
    /// Generates inputs and expected results; `None` when none of several drawings tells a right answer from a wrong
    /// one ([`SetCheck::is_golden`]).
    pub(super) fn new(
        workload: &Workload,
        computation: &Computation,
        (kind, placement): (InputKind, Placement),
        rng: &mut ChaCha8Rng,
    ) -> Result<Option<Self>, RuntimeError> {
        for _ in 0..DRAWINGS {
            let set = Self::draw(workload, computation, (kind, placement), rng)?;
            if set.check.is_golden() {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    fn draw(
        workload: &Workload,
        computation: &Computation,
        (kind, placement): (InputKind, Placement),
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, RuntimeError> {
        let output = computation.output();
        let layouts: Vec<TensorLayout> = computation.operands().iter().map(Operand::layout).collect();
        let (mut buffers, mut arguments, mut pristine) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (operand, layout)) in computation.operands().iter().zip(&layouts).enumerate() {
            let alignment = operand.data_type.block().bytes.next_power_of_two() as usize;
            let mut argument = BufferArgument {
                descriptor: -1,
                bytes: layout.bytes() as usize,
                alignment,
                placement,
                role: operand.role,
            };
            let mut buffer = SharedBuffer::create(&argument.spec())?;
            buffer.set_inheritable(false)?;
            argument.descriptor = buffer.descriptor();
            // SAFETY: no worker knows it yet.
            let bytes = unsafe { buffer.bytes_mut() };
            if operand.role != Role::Output {
                // Each operand has its own stream, so that one more operand changes none of the others.
                let mut stream = ChaCha8Rng::from_rng(rng);
                fill(kind, computation, at, bytes, &mut stream);
            }
            if is_written(operand.role) {
                pristine.push((at, (operand.role == Role::InputOutput).then(|| bytes.to_vec())));
            }
            buffers.push(buffer);
            arguments.push(argument);
        }
        let check = check(workload, computation, (kind, &buffers), rng);
        let mut decoy = vec![POISON; layouts[output].bytes() as usize];
        fill(kind, computation, output, &mut decoy, &mut ChaCha8Rng::from_rng(rng));
        let inputs = digest(&buffers, &arguments);
        let described = &computation.operands()[output];
        let dense = layouts[output].elements() * described.data_type.block().bytes == layouts[output].bytes();
        Ok(Self { buffers, arguments, pristine, decoy, disguised: false, output, dense, kind, inputs, check })
    }

    /// Replaces inputs, old values and expected results by others.
    pub(super) fn renew(&mut self, workload: &Workload, computation: &Computation, rng: &mut ChaCha8Rng) {
        for (at, operand) in computation.operands().iter().enumerate() {
            if operand.role == Role::Output {
                continue;
            }
            // SAFETY: the worker is idle whenever the coordinator runs.
            let bytes = unsafe { self.buffers[at].bytes_mut() };
            fill(self.kind, computation, at, bytes, &mut ChaCha8Rng::from_rng(rng));
            if let Some((_, Some(pristine))) = self.pristine.iter_mut().find(|(operand, _)| *operand == at) {
                pristine.copy_from_slice(bytes);
            }
        }
        self.check = check(workload, computation, (self.kind, &self.buffers), rng);
        self.inputs = digest(&self.buffers, &self.arguments);
        self.reset();
    }

    /// Whether inputs hold what the coordinator has put there.
    ///
    /// # Errors
    /// When they do not.
    pub(super) fn inputs_intact(&self) -> Result<(), EvalError> {
        if digest(&self.buffers, &self.arguments) == self.inputs {
            return Ok(());
        }
        Err(EvalError::InputModified("an input does not hold what it held before".to_owned()))
    }

    pub(super) fn arguments(&self) -> &[BufferArgument] {
        &self.arguments
    }

    pub(super) fn buffers(&self) -> &[SharedBuffer] {
        &self.buffers
    }

    pub(super) fn check(&self) -> &SetCheck {
        &self.check
    }

    /// Puts every written operand back to what it was before the first launch: an element that is not written
    /// shows as NaN.
    pub(super) fn reset(&mut self) {
        self.prepare(false);
    }

    /// The same with the decoy in the place of poison.
    pub(super) fn disguise(&mut self) {
        self.prepare(true);
    }

    fn prepare(&mut self, disguised: bool) {
        self.disguised = disguised;
        for (operand, pristine) in &self.pristine {
            // SAFETY: the worker is idle whenever the coordinator runs.
            let bytes = unsafe { self.buffers[*operand].bytes_mut() };
            match pristine {
                Some(pristine) => bytes.copy_from_slice(pristine),
                None if disguised && *operand == self.output => bytes.copy_from_slice(&self.decoy),
                None => bytes.fill(POISON),
            }
        }
    }

    /// A seed for overwriting elements of the output between timed launches, the same for both sides of a pair: a kernel
    /// that returns where the output is its last answer still must look at all of it. 0, which means none, where rows
    /// have gaps between them or old values are updated.
    pub(super) fn disturbing(&self, random: u64, pair: u32) -> u64 {
        let updated = self.pristine.iter().any(|(operand, old)| *operand == self.output && old.is_some());
        let mixed = (random ^ u64::from(pair).rotate_left(40)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        if updated || !self.dense { 0 } else { mixed }
    }

    /// What a launch has left in the output.
    pub(super) fn output(&self) -> &[u8] {
        // SAFETY: the worker is idle whenever the coordinator runs.
        unsafe { self.buffers[self.output].bytes() }
    }

    fn is_untouched(&self) -> bool {
        let bytes = self.output();
        match self.pristine.iter().find(|(operand, _)| *operand == self.output) {
            Some((_, Some(pristine))) => bytes == pristine.as_slice(),
            _ if self.disguised => bytes == self.decoy.as_slice(),
            _ => bytes.iter().all(|&byte| byte == POISON),
        }
    }

    /// Checks what a launch has left.
    pub(super) fn examine(&self) -> Result<Seen, EvalError> {
        let output = &self.buffers[self.output];
        // SAFETY: the worker is idle whenever the coordinator runs.
        let (bytes, intact) = unsafe { (output.bytes(), output.margins_intact()) };
        if !intact {
            return Err(EvalError::OutOfBounds("store beside the output".to_owned()));
        }
        self.check.check(bytes).map_err(|error| match error {
            EvalError::WrongAnswer { .. } if self.is_untouched() => {
                EvalError::StaleOutput("the launch left the output as it was".to_owned())
            }
            error => error,
        })
    }
}

/// Expected results for what the buffers hold.
fn check(
    workload: &Workload,
    computation: &Computation,
    (kind, buffers): (InputKind, &[SharedBuffer]),
    rng: &mut ChaCha8Rng,
) -> SetCheck {
    let layouts: Vec<TensorLayout> = computation.operands().iter().map(Operand::layout).collect();
    let views: Vec<TensorView<'_>> = layouts
        .iter()
        .zip(buffers)
        // SAFETY: no worker knows them yet, or it is idle since the coordinator runs.
        .map(|(layout, buffer)| TensorView { layout, bytes: unsafe { buffer.bytes() } })
        .collect();
    SetCheck::new(workload, computation, kind, &views, rng)
}

/// Digest of all operands that are only read.
fn digest(buffers: &[SharedBuffer], arguments: &[BufferArgument]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (buffer, _) in buffers.iter().zip(arguments).filter(|(_, told)| told.role == Role::Input) {
        // SAFETY: no worker knows it yet, or it is idle since the coordinator runs.
        hasher.update(unsafe { buffer.bytes() });
    }
    hasher.finalize()
}

/// Kinds of the sets in order, the one of timed launches last, and where operands lie between their guards.
///
/// Against the end, an overrun by one element faults; against the start, an underrun. `thorough` runs all
/// kinds on large workloads too, where each costs a launch as long as a sample; and the extreme ones, which some
/// processors take long over, so that nothing is claimed or kept that has not passed them.
pub(super) fn plan(computation: &Computation, thorough: bool) -> Vec<(InputKind, Placement)> {
    if let Computation::RowWise(_) = computation {
        // No set of theirs is exact.
        return vec![
            (InputKind::HeavyTailed, Placement::AgainstStart),
            (InputKind::Structured, Placement::AgainstEnd),
        ];
    }
    let mut plan =
        vec![(InputKind::Integer, Placement::AgainstEnd), (InputKind::HeavyTailed, Placement::AgainstStart)];
    if !thorough && is_large(computation) {
        plan.pop();
    }
    if thorough {
        plan.push((InputKind::Extreme, Placement::AgainstStart));
    }
    plan.push((InputKind::Structured, Placement::AgainstEnd));
    plan
}

/// Whether a launch is long compared with everything else that an evaluation does.
pub(super) fn is_large(computation: &Computation) -> bool {
    computation.operations() > LARGE_OPERATIONS
}

/// Operations from which on a launch is too long for a set of its own.
const LARGE_OPERATIONS: f64 = (1_u64 << 27) as f64;

/// Bytes of all sets, of the worker's private one, and of copies that checks keep.
pub(super) fn needed(computation: &Computation, sets: usize) -> u64 {
    let operands: u64 = computation.operands().iter().map(|operand| operand.layout().bytes()).sum();
    operands.saturating_mul(sets as u64 + 2)
}

/// Bytes of all operands of a set.
pub(super) fn footprint(arguments: &[BufferArgument]) -> u64 {
    arguments.iter().map(|argument| argument.bytes as u64).sum()
}
