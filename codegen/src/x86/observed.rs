//! Whether anything looks at the lanes of a register buffer that a partial write leaves out.
//!
//! Register tiles of a contraction are written and read over the same range throughout: what inactive lanes
//! hold is never seen, and writes need no masks. Where a later read covers more than a write (a sum over all
//! lanes after a last, shorter step), writes must keep the other lanes.

use super::tree::{Kind, Linear, Node, Operation, Place};

/// Lanes that an access covers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Coverage {
    /// 0: one lane alone.
    extent: u64,
    limits: Vec<Linear>,
}

impl Coverage {
    /// Of a buffer's elements in one operation.
    fn of(operation: &Operation, place: &Place) -> Self {
        let rows = operation.axes.iter().enumerate().filter(|(axis, _)| Some(*axis) != operation.vector);
        let mut limits: Vec<Linear> = rows
            .filter(|(axis, _)| place.depends_on(*axis))
            .flat_map(|(_, axis)| axis.limits.clone())
            .collect();
        match operation.vector.filter(|&axis| place.depends_on(axis)) {
            Some(axis) => {
                limits.extend(&operation.axes[axis].limits);
                Self { extent: operation.axes[axis].extent, limits }
            }
            None => Self { extent: 0, limits },
        }
    }

    fn within(&self, other: &Self) -> bool {
        self.extent <= other.extent && other.limits.iter().all(|limit| self.limits.contains(limit))
    }
}

/// Whose partial writes are seen.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Observed {
    /// Of fills, copies, maps and reductions.
    pub(super) writes: bool,
    /// Of contractions.
    pub(super) sums: bool,
}

/// Looks whether some read of `buffer` in `nodes` covers what some write left out.
pub(super) fn observed(nodes: &[Node], buffer: u32) -> Observed {
    let mut found = Accesses::default();
    visit(nodes, buffer, &mut found);
    let seen =
        |writes: &[Coverage]| found.reads.iter().any(|read| writes.iter().any(|write| !read.within(write)));
    Observed { writes: seen(&found.writes), sums: seen(&found.sums) }
}

#[derive(Default)]
struct Accesses {
    reads: Vec<Coverage>,
    writes: Vec<Coverage>,
    sums: Vec<Coverage>,
}

fn visit(nodes: &[Node], buffer: u32, found: &mut Accesses) {
    for node in nodes {
        match node {
            // Declared again: what follows is another tile.
            Node::Buffer(id) if *id == buffer => return,
            Node::Buffer(_) | Node::Barrier => {}
            Node::Loop(repeated) => visit(&repeated.body, buffer, found),
            Node::When { then, otherwise, .. } => {
                visit(then, buffer, found);
                visit(otherwise, buffer, found);
            }
            Node::Operation(operation) => {
                let is_buffer = |place: &Place| matches!(place, Place::Register(at) if at.buffer == buffer);
                let reads = &mut found.reads;
                let mut read = |place: &Place| {
                    if is_buffer(place) {
                        reads.push(Coverage::of(operation, place));
                    }
                };
                let (written, into) = match &operation.kind {
                    Kind::Prefetch { .. } => continue,
                    Kind::Fill { destination, .. } => (destination, &mut found.writes),
                    Kind::Copy { destination, source, .. } => {
                        read(source);
                        (destination, &mut found.writes)
                    }
                    // The accumulator passes from lane to lane: that is no look at it.
                    Kind::Contract { accumulator, a, b, .. } => {
                        read(a);
                        read(b);
                        (accumulator, &mut found.sums)
                    }
                    Kind::Map { destination, expression } | Kind::Reduce { destination, expression, .. } => {
                        expression.places(&mut read);
                        (destination, &mut found.writes)
                    }
                };
                if is_buffer(written) {
                    let mut coverage = Coverage::of(operation, written);
                    if let (Kind::Contract { a, b, .. }, Some(axis)) = (&operation.kind, operation.vector)
                        && a.depends_on(axis)
                        && b.depends_on(axis)
                    {
                        // Zeros are added to the lanes left out.
                        coverage.extent = u64::MAX;
                        coverage.limits.retain(|limit| !operation.axes[axis].limits.contains(limit));
                    }
                    into.push(coverage);
                }
            }
        }
    }
}
