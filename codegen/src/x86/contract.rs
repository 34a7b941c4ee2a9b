//! `contract`: the register-blocked micro-kernel.
//!
//! The two factors of a tile form an outer product. One side is *held*: its vectors (or broadcast elements)
//! are loaded into registers, in groups that fit. The other side is *streamed*: each element is loaded once
//! for each group and multiplied with all that is held. The side is chosen that needs fewer loads. (Goto & van de
//! Geijn, Anatomy of High-Performance Matrix Multiplication, §6; the arrangement is that of BLIS kernels.)

use tilewright_ir::program::Broadcast;

use super::emitter::Emitter;
use super::lanes::Lanes;
use super::operand::Memory;
use super::points::{Point, plus, points_along};
use super::tree::{ELEMENT_BYTES, Operation, Place};
use crate::error::{CompileError, unsupported};

/// One vector or one broadcast element of a factor.
struct Factor {
    /// Along the axes of its side; other axes are 0.
    point: Point,
    /// Set when its lanes run along the vector axis; broadcast otherwise.
    lanes: Option<Lanes>,
}

/// One side of the outer product.
struct Side<'a> {
    place: &'a Place,
    factors: Vec<Factor>,
    /// Whether inactive lanes must be 0 because the accumulator keeps them.
    exact: bool,
    /// Axes with a limit, that of the lanes left out.
    limited: Vec<usize>,
    /// Whether all factors behind an inactive one are inactive too.
    ordered: bool,
    /// Whether its elements are read by each multiply-add.
    from_memory: bool,
}

/// Which factors an axis appears in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AxisKind {
    Left,
    Right,
    Both,
    Reduced,
}

impl Emitter<'_> {
    /// `accumulator ← accumulator + a·b`.
    pub(super) fn contract(
        &mut self,
        operation: &Operation,
        accumulator: &Place,
        [a, b]: [&Place; 2],
        broadcast: Broadcast,
    ) -> Result<(), CompileError> {
        let Place::Register(target) = accumulator else {
            return unsupported("a contraction that accumulates in memory");
        };
        if broadcast == Broadcast::Memory && !self.set.embedded_broadcast {
            return unsupported("a multiply-add that reads one element for all lanes");
        }
        let kinds: Vec<AxisKind> = (0..operation.axes.len())
            .map(|axis| match (target.depends_on(axis), a.depends_on(axis), b.depends_on(axis)) {
                (false, _, _) => AxisKind::Reduced,
                (true, true, false) => AxisKind::Left,
                (true, false, true) => AxisKind::Right,
                (true, _, _) => AxisKind::Both,
            })
            .collect();
        if operation.vector.is_some_and(|axis| kinds[axis] == AxisKind::Reduced) {
            return unsupported("a contraction that sums over lanes");
        }
        let limited = operation.axes.iter().zip(&kinds).enumerate().any(|(at, (axis, kind))| {
            let partial =
                Some(at) == operation.vector && !axis.extent.is_multiple_of(self.set.lanes() as u64);
            matches!(kind, AxisKind::Left | AxisKind::Right) && (partial || self.limit(axis).is_some())
        });
        if limited && self.observed[target.buffer as usize].sums {
            return unsupported("a partial contraction into lanes that are read whole");
        }
        let extents = operation.extents();
        let along = |kind: AxisKind| {
            points_along(&extents, |axis| kinds[axis] == kind && operation.vector != Some(axis))
        };
        let shared = operation.vector.is_none_or(|axis| kinds[axis] == AxisKind::Both);
        let vectors = self.vectors(operation);
        // Vectors of an axis of both factors are independent products.
        let (outer_vectors, inner_vectors): (Vec<Option<Lanes>>, &[Lanes]) =
            if shared { (vectors.iter().copied().map(Some).collect(), &[]) } else { (vec![None], &vectors) };
        let (left, right, both) = (along(AxisKind::Left), along(AxisKind::Right), along(AxisKind::Both));
        let common_axes: Vec<usize> = (0..operation.axes.len())
            .filter(|&axis| {
                matches!(kinds[axis], AxisKind::Reduced | AxisKind::Both) && operation.vector != Some(axis)
            })
            .collect();
        for reduced in along(AxisKind::Reduced) {
            for common in &both {
                let skip = self.asm.label();
                self.guard_axes(operation, &common_axes, &reduced, skip);
                self.guard_axes(operation, &common_axes, common, skip);
                for outer in &outer_vectors {
                    let side = |place, rows: &[Point], kind: AxisKind| {
                        let own = operation.vector.is_some_and(|axis| kinds[axis] == kind);
                        let fixed = plus(&reduced, common);
                        let lanes = if own { inner_vectors } else { &[] };
                        self.side(operation, place, &kinds, kind, rows, &fixed, lanes, *outer)
                    };
                    let (mut left, mut right) =
                        (side(a, &left, AxisKind::Left), side(b, &right, AxisKind::Right));
                    for side in [&mut left, &mut right] {
                        let elements = side.factors.iter().all(|factor| factor.lanes.is_none());
                        side.from_memory = broadcast == Broadcast::Memory && elements;
                    }
                    self.outer_product(operation, accumulator, &left, &right)?;
                }
                self.asm.bind(skip);
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one closure's body")]
    fn side<'p>(
        &self,
        operation: &Operation,
        place: &'p Place,
        kinds: &[AxisKind],
        kind: AxisKind,
        rows: &[Point],
        fixed: &Point,
        own_lanes: &[Lanes],
        outer: Option<Lanes>,
    ) -> Side<'p> {
        let width = self.set.lanes();
        let mut factors = Vec::with_capacity(rows.len() * own_lanes.len().max(1));
        for row in rows {
            let point = plus(row, fixed);
            match outer {
                Some(lanes) => {
                    let point = operation.at_vector(&point, &lanes, width);
                    factors.push(Factor { point, lanes: Some(lanes) });
                }
                None if own_lanes.is_empty() => factors.push(Factor { point, lanes: None }),
                None => factors.extend(own_lanes.iter().map(|lanes| Factor {
                    point: operation.at_vector(&point, lanes, width),
                    lanes: Some(*lanes),
                })),
            }
        }
        let own: Vec<usize> =
            (0..kinds.len()).filter(|&axis| kinds[axis] == kind && operation.vector != Some(axis)).collect();
        let limited: Vec<usize> =
            own.iter().copied().filter(|&axis| self.limit(&operation.axes[axis]).is_some()).collect();
        let ordered = limited.len() == 1 && limited.first() == own.first();
        let exact = outer.is_some() && operation.vector.is_some();
        Side { place, factors, exact, limited, ordered, from_memory: false }
    }

    fn outer_product(
        &mut self,
        operation: &Operation,
        accumulator: &Place,
        left: &Side<'_>,
        right: &Side<'_>,
    ) -> Result<(), CompileError> {
        let Place::Register(target) = accumulator else { return Ok(()) };
        let free = self.pool.available() as usize;
        if free == 0 {
            return Err(CompileError::Registers { needed: 2, available: 0 });
        }
        let room = free.saturating_sub(1).max(1);
        let loads = |held: &Side<'_>, streamed: &Side<'_>| {
            held.factors.len() + held.factors.len().div_ceil(room) * streamed.factors.len()
        };
        let hold_left = match (left.from_memory, right.from_memory) {
            (true, false) => false,
            (false, true) => true,
            _ => loads(left, right) < loads(right, left),
        };
        let (held, streamed) = if hold_left { (left, right) } else { (right, left) };
        for group in held.factors.chunks(room) {
            let registers = self.pool.take_all(group.len())?;
            // Broadcast elements are as wide as the widest vector that they are multiplied with. Where inactive
            // lanes of the accumulator are kept, all of them take part.
            let vectors = group.iter().chain(&streamed.factors).filter_map(|factor| factor.lanes);
            let widest = vectors.max_by_key(|lanes| (lanes.limit.is_some(), lanes.count));
            let width = |lanes: Option<Lanes>| lanes.or(widest).filter(|_| !held.exact && !streamed.exact);
            let mut sources = Vec::with_capacity(group.len());
            for (factor, &register) in group.iter().zip(&registers) {
                let skip = self.asm.label();
                self.guard_axes(operation, &held.limited, &factor.point, skip);
                self.narrow(width(factor.lanes));
                sources.push(self.load_factor(operation, held, factor, register)?);
                self.asm.bind(skip);
            }
            let end = self.asm.label();
            let spare = if self.pool.available() > 0 { Some(self.pool.take()?) } else { None };
            for factor in &streamed.factors {
                let next = self.asm.label();
                let skip = if streamed.ordered { end } else { next };
                self.guard_axes(operation, &streamed.limited, &factor.point, skip);
                self.narrow(width(factor.lanes));
                let direct = self.direct(operation, streamed, factor, group.len() == 1, spare.is_none())?;
                let register = match (&direct, spare) {
                    (Some(_), _) => 0,
                    (None, Some(spare)) => self.load_factor(operation, streamed, factor, spare)?,
                    (None, None) => return Err(CompileError::Registers { needed: 2, available: 1 }),
                };
                for (held_factor, &source) in group.iter().zip(&sources) {
                    // Axes of the two sides are disjoint, those of both and reduced ones are equal.
                    let point: Point =
                        std::array::from_fn(|axis| factor.point[axis].max(held_factor.point[axis]));
                    let sum = self.vector_register(target, &point)?;
                    self.narrow(width(factor.lanes.or(held_factor.lanes)));
                    match direct {
                        Some(memory) => self.vector_op_memory(self.set.multiply_add, sum, source, memory),
                        None => self.vector_op(self.set.multiply_add, sum, source, register),
                    }
                }
                self.asm.bind(next);
            }
            self.asm.bind(end);
            self.widen();
            if let Some(spare) = spare {
                self.pool.give(spare);
            }
            self.pool.give_all(&registers);
        }
        Ok(())
    }

    /// Branches to the label when a point lies beyond a limit of the axes.
    fn guard_axes(
        &mut self,
        operation: &Operation,
        axes: &[usize],
        point: &Point,
        label: super::assembler::Label,
    ) {
        for &axis in axes {
            if let Some(limit) = self.limit(&operation.axes[axis]) {
                self.branch_if_inactive(limit, point[axis], label);
            }
        }
    }

    /// The memory operand of a streamed factor that needs no register of its own.
    fn direct(
        &mut self,
        operation: &Operation,
        side: &Side<'_>,
        factor: &Factor,
        once: bool,
        forced: bool,
    ) -> Result<Option<Memory>, CompileError> {
        let Place::Memory(place) = side.place else { return Ok(None) };
        if !once && !forced && !side.from_memory {
            return Ok(None);
        }
        let offset = place.offset(&factor.point);
        match &factor.lanes {
            None if self.set.embedded_broadcast => Ok(Some(self.memory(place.address, offset)?.repeated())),
            Some(lanes)
                if operation.lane_stride(place, &factor.point, lanes) == Some(ELEMENT_BYTES)
                    && (lanes.limit.is_none() && lanes.count == self.set.lanes()
                        || place.room && !side.exact) =>
            {
                Ok(Some(self.memory(place.address, offset)?))
            }
            _ => Ok(None),
        }
    }

    /// Loads a factor; returns the register that it is in.
    fn load_factor(
        &mut self,
        operation: &Operation,
        side: &Side<'_>,
        factor: &Factor,
        register: u8,
    ) -> Result<u8, CompileError> {
        match (side.place, &factor.lanes) {
            (Place::Memory(place), Some(lanes)) => {
                self.load_place(operation, register, place, &factor.point, lanes, side.exact)?;
                Ok(register)
            }
            (Place::Memory(place), None) => {
                let memory = self.memory(place.address, place.offset(&factor.point))?;
                self.emit(self.set.broadcast, &[self.set.register(register).into(), memory.into()]);
                Ok(register)
            }
            (Place::Register(place), Some(_)) => self.vector_register(place, &factor.point),
            (Place::Register(place), None) => {
                let source = self.vector_register(place, &factor.point)?;
                self.broadcast_register(register, source);
                Ok(register)
            }
        }
    }
}
