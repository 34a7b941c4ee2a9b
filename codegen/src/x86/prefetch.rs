//! Which lines the prefetch hints of a program mean.

use iced_x86::Code;
use tilewright_ir::program::{Access, Axis, Operation as Work, Prefetch, Statement};

use super::emitter::Emitter;
use super::points::{Point, points};
use super::prepare::Preparer;
use super::tree::{Kind, Linear, MemoryPlace, Operation, Place, PrefetchNode};
use crate::error::CompileError;

/// Bytes of a cache line.
const LINE: i64 = 64;

impl Preparer<'_> {
    /// Where the hints of a loop lead: one place for each line that an iteration reads from the target.
    pub(super) fn prefetches(
        &mut self,
        hints: &[Prefetch],
        body: &[Statement],
        step: i64,
    ) -> Result<Vec<PrefetchNode>, CompileError> {
        let mut nodes = Vec::new();
        for hint in hints {
            for statement in body {
                let Statement::Instruction(instruction) = statement else { continue };
                let read: &[&Access] = match &instruction.operation {
                    Work::Contract { a, b, .. } => &[a, b],
                    Work::Copy { source, .. } => &[source],
                    _ => continue,
                };
                for access in read.iter().filter(|access| access.target == hint.target) {
                    let Place::Memory(place) = self.place(access, &instruction.axes)? else { continue };
                    let Some(class) = place.address.class else { continue };
                    let Some(innermost) = self.loops.last() else { continue };
                    let advance = self.classes[class].terms.coefficient(innermost.variable) * step;
                    let extents =
                        std::array::from_fn(|axis| instruction.axes.get(axis).map_or(1, |axis| axis.extent));
                    nodes.extend(lines(&place, &extents).into_iter().map(|address| PrefetchNode {
                        address,
                        advance,
                        distance: i64::from(hint.distance),
                    }));
                }
            }
        }
        Ok(nodes)
    }

    /// A hint that stands by itself. Limits that bind at run time are left out: a line too many does no harm.
    pub(super) fn hint(
        &mut self,
        axes: &[Axis],
        place: &Access,
        write: bool,
    ) -> Result<Option<Operation>, CompileError> {
        let Place::Memory(place) = self.place(place, axes)? else { return Ok(None) };
        let extents = std::array::from_fn(|axis| axes.get(axis).map_or(1, |axis| axis.extent));
        let kind = Kind::Prefetch { lines: lines(&place, &extents), write };
        Ok(Some(Operation { axes: Vec::new(), vector: None, once: false, kind }))
    }
}

impl Emitter<'_> {
    /// Asks for lines.
    pub(super) fn prefetch_lines(&mut self, lines: &[Linear], write: bool) -> Result<(), CompileError> {
        let code = if write { Code::Prefetchw_m8 } else { Code::Prefetcht0_m8 };
        for line in lines {
            let memory = self.memory(*line, 0)?;
            self.emit(code, &[memory.into()]);
        }
        Ok(())
    }
}

/// The first address of each line that the points of a place touch.
fn lines(place: &MemoryPlace, extents: &Point) -> Vec<Linear> {
    let extents: Point =
        std::array::from_fn(
            |axis| {
                if extents[axis] > 1 && place.depends_on(axis) { extents[axis] } else { 1 }
            },
        );
    let mut offsets: Vec<i64> = points(&extents).iter().map(|point| place.offset(point)).collect();
    offsets.sort_unstable();
    let mut covered = i64::MIN;
    offsets.retain(|&offset| {
        let first = offset >= covered;
        if first {
            covered = offset + LINE;
        }
        first
    });
    let constant = place.address.constant;
    offsets
        .into_iter()
        .map(|offset| Linear { class: place.address.class, constant: constant + offset })
        .collect()
}
