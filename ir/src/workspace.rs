//! Where the buffers of a CPU program lie in its workspace: one rule for simulator, code generators and launches.

use crate::affine::Affine;
use crate::program::{Buffer, Lifetime, Program};

/// Place of one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Bytes from the start of the workspace to worker 0's instance.
    pub offset: u64,
    /// Bytes from one worker's instance to the next one's; 0 when all share one.
    pub worker_stride: u64,
    /// Bytes of one instance, guard space for whole-vector reads included.
    pub bytes: u64,
}

/// Places of all buffers that are not in registers, and the bytes of the whole workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceLayout {
    /// By buffer number; `None` for buffers in registers.
    pub placements: Vec<Option<Placement>>,
    /// Bytes in all.
    pub bytes: u64,
}

/// Memory level of buffers that live in vector registers.
pub const REGISTER_LEVEL: &str = "register";

/// Bytes readable behind the last element of every buffer, so that its last vector may be read whole.
const SLACK: u64 = 64;
const PAGE: u64 = 4096;
const LINE: u64 = 64;

/// Extents of a buffer when all are fixed.
pub fn fixed_shape(buffer: &Buffer) -> Option<Vec<u64>> {
    buffer
        .shape
        .iter()
        .map(|extent| Affine::as_constant(extent).and_then(|n| u64::try_from(n).ok()))
        .collect()
}

/// Bytes of one instance of a buffer of fixed shape, all stages, without slack.
pub fn buffer_bytes(buffer: &Buffer) -> Option<u64> {
    let elements = buffer.layout.elements(&fixed_shape(buffer)?);
    Some(buffer.data_type.bytes(elements) * u64::from(buffer.stages.max(1)))
}

/// Places every buffer; persistent ones first, so that their place does not depend on the others.
///
/// Buffers of a page or more start on a page, plus a different number of lines each, so that they do not
/// compete for the same cache sets. `None` when a buffer's extent is not fixed.
pub fn workspace_layout(program: &Program) -> Option<WorkspaceLayout> {
    let workers = program.workers();
    let mut placements = vec![None; program.buffers.len()];
    let mut end: u64 = 0;
    let order = |lifetime| {
        let buffers = program.buffers.iter().enumerate();
        buffers.filter(move |(_, buffer)| buffer.lifetime == lifetime && buffer.level != REGISTER_LEVEL)
    };
    for (at, buffer) in
        order(Lifetime::Persistent).chain(order(Lifetime::Workspace)).chain(order(Lifetime::Scope))
    {
        let bytes = buffer_bytes(buffer)? + SLACK;
        let (alignment, skew) = if bytes >= PAGE { (PAGE, (at as u64 % 16) * 2 * LINE) } else { (LINE, 0) };
        let offset = end.div_ceil(alignment) * alignment + skew;
        let private = buffer.owner.is_some();
        let worker_stride = if private { (bytes + skew).div_ceil(alignment) * alignment } else { 0 };
        placements[at] = Some(Placement { offset, worker_stride, bytes });
        end = offset + bytes + worker_stride * (workers - 1);
    }
    Some(WorkspaceLayout { placements, bytes: end.div_ceil(PAGE) * PAGE })
}
