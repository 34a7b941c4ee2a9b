//! What a worker is told when it is started, as one text argument.

use std::fmt::Write as _;
use std::os::fd::RawFd;

use tilewright_ir::program::Role;
use tilewright_runtime::{BufferSpec, Placement};

use crate::POISON;

/// First argument of a worker process.
pub(crate) const WORKER_ARGUMENT: &str = "--tilewright-worker-process";

/// One shared operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferArgument {
    pub(crate) descriptor: RawFd,
    pub(crate) bytes: usize,
    pub(crate) alignment: usize,
    pub(crate) placement: Placement,
    pub(crate) role: Role,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerArguments {
    /// Process that waits for the answers.
    pub(crate) parent: u32,
    /// Workers of the pool.
    pub(crate) threads: usize,
    /// Most bytes of address space.
    pub(crate) address_space: u64,
    /// Descriptor of the results area.
    pub(crate) results: RawFd,
    /// Descriptor of the code area.
    pub(crate) code: RawFd,
    /// Sets of inputs; the last one is what timed launches run on.
    pub(crate) sets: Vec<Vec<BufferArgument>>,
}

impl BufferArgument {
    pub(crate) fn spec(&self) -> BufferSpec {
        let mut spec = BufferSpec::new(self.bytes, self.placement).aligned(self.alignment);
        spec.poison = POISON;
        spec
    }
}

impl WorkerArguments {
    /// Every descriptor that is passed.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        let operands = self.sets.iter().flatten().map(|buffer| buffer.descriptor);
        operands.chain([self.results, self.code]).collect()
    }

    /// `parent;threads;address space;results;code;set;set…` with the buffers of a set as
    /// `descriptor:bytes:alignment:placement:role,…`.
    pub(crate) fn format(&self) -> String {
        let Self { parent, threads, address_space, results, code, sets } = self;
        let mut text = format!("{parent};{threads};{address_space};{results};{code}");
        for set in sets {
            text.push(';');
            for (at, buffer) in set.iter().enumerate() {
                let placement = if buffer.placement == Placement::AgainstStart { "start" } else { "end" };
                let role = match buffer.role {
                    Role::Input => "input",
                    Role::Output => "output",
                    Role::InputOutput => "update",
                };
                let separator = if at == 0 { "" } else { "," };
                let BufferArgument { descriptor, bytes, alignment, .. } = buffer;
                // Writing to a string cannot fail.
                let _ = write!(text, "{separator}{descriptor}:{bytes}:{alignment}:{placement}:{role}");
            }
        }
        text
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let mut next = || parts.next();
        Some(Self {
            parent: next()?.parse().ok()?,
            threads: next()?.parse().ok()?,
            address_space: next()?.parse().ok()?,
            results: next()?.parse().ok()?,
            code: next()?.parse().ok()?,
            sets: parts.map(|set| set.split(',').map(buffer).collect()).collect::<Option<Vec<Vec<_>>>>()?,
        })
    }
}

fn buffer(text: &str) -> Option<BufferArgument> {
    let mut parts = text.split(':');
    Some(BufferArgument {
        descriptor: parts.next()?.parse().ok()?,
        bytes: parts.next()?.parse().ok()?,
        alignment: parts.next()?.parse().ok()?,
        placement: match parts.next()? {
            "start" => Placement::AgainstStart,
            "end" => Placement::AgainstEnd,
            _ => return None,
        },
        role: match parts.next()? {
            "input" => Role::Input,
            "output" => Role::Output,
            "update" => Role::InputOutput,
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let buffer = |descriptor, placement, role| BufferArgument {
            descriptor,
            bytes: 1000,
            alignment: 4,
            placement,
            role,
        };
        let arguments = WorkerArguments {
            parent: 1,
            threads: 2,
            address_space: 3,
            results: 4,
            code: 5,
            sets: vec![
                vec![
                    buffer(6, Placement::AgainstEnd, Role::Input),
                    buffer(7, Placement::AgainstEnd, Role::Output),
                ],
                vec![buffer(8, Placement::AgainstStart, Role::InputOutput)],
            ],
        };
        assert_eq!(WorkerArguments::parse(&arguments.format()), Some(arguments));
        for bad in ["", "1;2", "1;2;3;4;5;x", "1;2;3;4;5;1:2:3:end:nothing"] {
            assert_eq!(WorkerArguments::parse(bad), None, "{bad}");
        }
    }
}
