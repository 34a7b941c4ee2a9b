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

/// Whether some read of `buffer` in `nodes` covers what some write left out.
pub(super) fn observes_inactive(nodes: &[Node], buffer: u32) -> bool {
    let mut found = Accesses::default();
    visit(nodes, buffer, &mut found);
    found.reads.iter().any(|read| found.writes.iter().any(|write| !read.within(write)))
}

#[derive(Default)]
struct Accesses {
    reads: Vec<Coverage>,
    writes: Vec<Coverage>,
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
                let mut read = |place: &Place| {
                    if is_buffer(place) {
                        found.reads.push(Coverage::of(operation, place));
                    }
                };
                let written = match &operation.kind {
                    Kind::Fill { destination, .. } => destination,
                    Kind::Copy { destination, source, .. } => {
                        read(source);
                        destination
                    }
                    // The accumulator passes from lane to lane: that is no look at it.
                    Kind::Contract { accumulator, a, b } => {
                        read(a);
                        read(b);
                        accumulator
                    }
                    Kind::Map { destination, expression } | Kind::Reduce { destination, expression, .. } => {
                        expression.places(&mut read);
                        destination
                    }
                };
                if is_buffer(written) {
                    found.writes.push(Coverage::of(operation, written));
                }
            }
        }
    }
}
