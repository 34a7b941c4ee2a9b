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
    /// What each written operand holds before a launch; `None`: poison.
    pristine: Vec<(usize, Option<Vec<u8>>)>,
    output: usize,
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
        let views: Vec<TensorView<'_>> = layouts
            .iter()
            .zip(&buffers)
            // SAFETY: no worker knows them yet.
            .map(|(layout, buffer)| TensorView { layout, bytes: unsafe { buffer.bytes() } })
            .collect();
        let check = SetCheck::new(workload, computation, kind, &views, rng);
        Ok(Self { buffers, arguments, pristine, output: computation.output(), check })
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

    /// Puts every written operand back to what it was before the first launch.
    pub(super) fn reset(&mut self) {
        for (operand, pristine) in &self.pristine {
            // SAFETY: the worker is idle whenever the coordinator runs.
            let bytes = unsafe { self.buffers[*operand].bytes_mut() };
            match pristine {
                Some(pristine) => bytes.copy_from_slice(pristine),
                None => bytes.fill(POISON),
            }
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
        self.check.check(bytes)
    }
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
