//! The operands of a worker: shared sets that are only verified on, and a private set for timed launches.

use tilewright_ir::program::Role;
use tilewright_runtime::{
    Access, BufferSpec, Eviction, GuardedBuffer, Operands, Placement, RuntimeError, SharedBuffer,
};

use super::arguments::BufferArgument;
use crate::POISON;

/// A set that the coordinator fills and checks.
pub(super) struct SharedSet {
    pub(super) buffers: Vec<SharedBuffer>,
    pub(super) operands: Operands,
}

/// The set of timed launches: private memory that lies as a user's does, so that what is measured is what ships.
/// Operands of a huge page and more ask for huge pages, as those of `tilewright run` do, and as NumPy does for
/// its large arrays.
pub(super) struct TimedSet {
    pub(super) operands: Operands,
    pub(super) eviction: Eviction,
    /// Every operand, in the order of the launch.
    buffers: Vec<GuardedBuffer>,
    outputs: Vec<TimedOutput>,
}

struct TimedOutput {
    operand: usize,
    /// What the operand is to hold before a checked launch, as the coordinator says, and where it looks for what the
    /// launch has left.
    kept: SharedBuffer,
    /// What an updated operand holds before its launches.
    pristine: Option<Vec<u8>>,
}

impl SharedSet {
    /// # Safety
    /// As [`SharedBuffer::inherit`], for every descriptor.
    pub(super) unsafe fn inherit(arguments: &[BufferArgument]) -> Result<Self, RuntimeError> {
        let map = |argument: &BufferArgument| {
            let access = if argument.role == Role::Input { Access::ReadOnly } else { Access::ReadWrite };
            // SAFETY: passed on to the caller.
            unsafe { SharedBuffer::inherit(argument.descriptor, &argument.spec(), access) }
        };
        let buffers = arguments.iter().map(map).collect::<Result<Vec<_>, _>>()?;
        let operands =
            Operands { tensors: buffers.iter().map(SharedBuffer::as_ptr).collect(), extents: vec![] };
        Ok(Self { buffers, operands })
    }
}

impl TimedSet {
    /// Copies a shared set; inputs become read-only.
    pub(super) fn of(shared: SharedSet, arguments: &[BufferArgument]) -> Result<Self, RuntimeError> {
        let (mut buffers, mut outputs) = (Vec::new(), Vec::new());
        for (operand, (source, argument)) in shared.buffers.into_iter().zip(arguments).enumerate() {
            // Not against the guard page: a masked vector that reaches into it is right, but costs an assist
            // that a user's operands, with mapped memory behind them, never pay.
            let mut spec = BufferSpec::new(argument.bytes, Placement::AgainstStart).huge();
            spec.poison = POISON;
            let mut buffer = GuardedBuffer::new(&spec)?;
            // SAFETY: the coordinator waits for this process to answer.
            let content = unsafe { source.bytes() };
            if let Some(target) = buffer.bytes_mut() {
                target.copy_from_slice(content);
            }
            if argument.role == Role::Input {
                buffer.set_access(Access::ReadOnly)?;
            } else {
                let pristine = (argument.role == Role::InputOutput).then(|| content.to_vec());
                outputs.push(TimedOutput { operand, kept: source, pristine });
            }
            buffers.push(buffer);
        }
        let operands =
            Operands { tensors: buffers.iter().map(GuardedBuffer::as_ptr).collect(), extents: vec![] };
        let regions = buffers.iter().map(|buffer| (buffer.as_ptr().cast_const(), buffer.len())).collect();
        Ok(Self { operands, eviction: Eviction::flush(regions), buffers, outputs })
    }

    /// Address and bytes of the output.
    pub(super) fn output(&self) -> Option<(*mut u8, usize)> {
        let buffer = &self.buffers[self.outputs.first()?.operand];
        Some((buffer.as_ptr(), buffer.len()))
    }

    /// Start and end of the pages of inputs, which stay as they are.
    pub(super) fn inputs(&self) -> Vec<[u64; 2]> {
        let written: Vec<usize> = self.outputs.iter().map(|output| output.operand).collect();
        let inputs = self.buffers.iter().enumerate().filter(|(operand, _)| !written.contains(operand));
        inputs.map(|(_, buffer)| buffer.pages()).collect()
    }

    /// Address and bytes of every operand.
    pub(super) fn regions(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buffers.iter().map(|buffer| (buffer.as_ptr() as u64, buffer.len() as u64))
    }

    /// Whether old values of an operand take part in a launch.
    pub(super) fn updates(&self) -> bool {
        self.outputs.iter().any(|output| output.pristine.is_some())
    }

    /// Puts outputs to what they are to hold before a checked launch. A kernel cannot know it beforehand: what is no
    /// old value is whatever the coordinator has put into the shared buffer.
    pub(super) fn restore(&mut self) {
        for output in &self.outputs {
            let Some(target) = self.buffers[output.operand].bytes_mut() else { continue };
            match &output.pristine {
                Some(pristine) => target.copy_from_slice(pristine),
                // SAFETY: the coordinator waits for this process to answer.
                None => target.copy_from_slice(unsafe { output.kept.bytes() }),
            }
        }
    }

    /// Keeps what the last launch has left for the coordinator.
    pub(super) fn keep(&mut self) {
        for output in &mut self.outputs {
            // SAFETY: the coordinator waits for this process to answer.
            unsafe { output.kept.bytes_mut() }.copy_from_slice(self.buffers[output.operand].bytes());
        }
    }

    /// Whether the bytes around the operands are as they were.
    pub(super) fn margins_intact(&self) -> bool {
        self.buffers.iter().all(GuardedBuffer::margins_intact)
    }
}
