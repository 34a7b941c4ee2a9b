//! Tile instructions: what each asks of the core, and which memory it touches.

use tilewright_ir::expression::Expression;
use tilewright_ir::program::{Access, Axis, Instruction, Operation, Prefetch};

use super::constants::LIMIT_OPERATIONS;
use super::contract;
use super::counter::{MOST_LOOPS, mean_of_least};
use super::expression::cost_of;
use super::nest::{Reader, Reference};
use super::region::{MOST_DIMENSIONS, Region, Span, greatest_common_divisor};
use super::shape::{AxisShape, Form, Lanes, MOST_AXES, Shape};
use super::work::Work;
use crate::error::SimulateError;

impl Reader<'_> {
    /// Adds the references of an instruction and returns its work.
    pub(super) fn instruction(
        &mut self,
        instruction: &Instruction,
        prefetch: &[Prefetch],
    ) -> Result<Work, SimulateError> {
        let bytes = self.accumulator_bytes(instruction)?;
        let shape = self.shape(instruction, (self.machine.vector_bytes / bytes).max(1.0))?;
        let axes = &instruction.axes;
        let mut work = match &instruction.operation {
            Operation::Fill { destination, .. } => {
                let to = self.access(destination, axes, &shape, true, &[])?;
                let count = to.count(&shape);
                let mut work = Work { operations: count, ..Work::default() };
                self.store(&mut work, &to, &shape, count);
                work
            }
            Operation::Copy { destination, source, .. } => {
                let from = self.access(source, axes, &shape, false, prefetch)?;
                let to = self.access(destination, axes, &shape, true, &[])?;
                self.copy(&shape, &from, &to)
            }
            Operation::Contract { accumulator, a, b, broadcast } => {
                let into = self.access(accumulator, axes, &shape, true, &[])?;
                let a = self.access(a, axes, &shape, false, prefetch)?;
                let b = self.access(b, axes, &shape, false, prefetch)?;
                let mut work = contract::work(&shape, &into, [&a, &b], *broadcast, self.machine);
                if !into.register {
                    let count = into.count(&shape);
                    self.load(&mut work, &into, &shape, count);
                    self.store(&mut work, &into, &shape, count);
                    // Through memory a sum takes a store and a load more.
                    work.chain += self.machine.load_latency;
                }
                work
            }
            Operation::Map { destination, expression } => {
                let mut work = self.element_wise(expression, axes, &shape)?;
                let to = self.access(destination, axes, &shape, true, &[])?;
                self.store(&mut work, &to, &shape, to.count(&shape));
                work
            }
            Operation::Reduce { destination, expression, .. }
            | Operation::Scan { destination, expression, .. } => {
                let mut work = self.element_wise(expression, axes, &shape)?;
                let to = self.access(destination, axes, &shape, true, &[])?;
                self.reduce(&mut work, &to, &shape);
                work
            }
            Operation::Select { values, positions, source, count, .. } => {
                let mut work = self.element_wise(source, axes, &shape)?;
                self.access(values, axes, &shape, true, &[])?;
                self.access(positions, axes, &shape, true, &[])?;
                // An insertion into a sorted list for each point.
                let points = shape.points();
                work.operations += points * (3.0 + (*count as f64).log2().max(0.0));
                work.stores += *count as f64 * 2.0;
                work
            }
            Operation::Prefetch { place, .. } => {
                self.nest.places.position(place.target)?;
                let lines = shape.vectors(|_| true)
                    * (self.machine.vector_bytes / self.machine.stores[0].line).min(1.0);
                Work { loads: lines, operations: lines, ..Work::default() }
            }
            Operation::Collective { destination, source, .. } => {
                let from = self.access(source, axes, &shape, false, &[])?;
                let to = self.access(destination, axes, &shape, true, &[])?;
                self.nest.barriers += 1.0;
                self.copy(&shape, &from, &to)
            }
        };
        let guarded = shape.axes().iter().filter(|axis| axis.cut > 0.0 && !axis.vector);
        work.operations += guarded.map(|axis| 2.0 * axis.active * axis.cut).sum::<f64>();
        let limits = axes.iter().filter(|axis| !axis.limit.is_empty()).count() as f64;
        work.entry += limits * LIMIT_OPERATIONS;
        Ok(work)
    }

    /// Bytes of the elements that lanes hold: those of the destination.
    fn accumulator_bytes(&self, instruction: &Instruction) -> Result<f64, SimulateError> {
        let access = match &instruction.operation {
            Operation::Fill { destination, .. }
            | Operation::Copy { destination, .. }
            | Operation::Map { destination, .. }
            | Operation::Reduce { destination, .. }
            | Operation::Scan { destination, .. }
            | Operation::Collective { destination, .. } => destination,
            Operation::Contract { accumulator, .. } => accumulator,
            Operation::Prefetch { place, .. } => place,
            Operation::Select { values, .. } => values,
        };
        let place = self.nest.places.position(access.target)?;
        Ok(self.nest.places.all[place].element_bytes.max(0.25))
    }

    fn shape(&self, instruction: &Instruction, lanes: f64) -> Result<Shape, SimulateError> {
        let found = instruction.axes.len();
        if found > MOST_AXES {
            return Err(SimulateError::TooLarge { what: "axes of an instruction", found, most: MOST_AXES });
        }
        let none = AxisShape { active: 1.0, extent: 1.0, cut: 0.0, vector: false };
        let mut shape = Shape { axes: [none; MOST_AXES], count: found, lanes };
        for (axis, shape) in instruction.axes.iter().zip(&mut shape.axes) {
            let extent = axis.extent as f64;
            let (mut active, mut cut) = (extent, 0.0);
            if !axis.limit.is_empty() {
                let limits = axis.limit.iter().map(|limit| self.index(limit));
                let limits = limits.collect::<Result<Vec<_>, _>>()?;
                active = mean_of_least(&limits, &self.trips, |limit| limit.clamp(0.0, extent));
                cut = mean_of_least(&limits, &self.trips, |limit| f64::from(limit < extent));
            }
            *shape = AxisShape { active, extent, cut, vector: instruction.vector == Some(axis.variable) };
        }
        Ok(shape)
    }

    /// Reads an access, and notes it as a reference when it touches memory.
    fn access(
        &mut self,
        access: &Access,
        axes: &[Axis],
        shape: &Shape,
        writes: bool,
        prefetch: &[Prefetch],
    ) -> Result<Form, SimulateError> {
        let position = self.nest.places.position(access.target)?;
        let found = access.indices.len();
        if found > MOST_DIMENSIONS {
            return Err(SimulateError::TooLarge { what: "dimensions", found, most: MOST_DIMENSIONS });
        }
        if found != self.nest.places.all[position].extents.len() {
            return Err(SimulateError::Dangling { what: "a dimension".to_owned() });
        }
        let mut spans = Vec::with_capacity(found);
        for index in &access.indices {
            let linear = self.index(index)?;
            let mut span = Span { low: linear.constant, high: linear.constant, by: linear.by };
            for (axis, shape) in axes.iter().zip(shape.axes()) {
                let reach = index.affine.coefficient(axis.variable) as f64 * (shape.active - 1.0).max(0.0);
                if reach < 0.0 { span.low += reach } else { span.high += reach }
            }
            if let Some(lookup) = &index.lookup {
                let half = (lookup.range.1 as f64 - lookup.range.0 as f64) * lookup.scale.abs() as f64 / 2.0;
                span.low -= half;
                span.high += half;
            }
            spans.push(span);
        }
        let place = &self.nest.places.all[position];
        let mut form = Form {
            place: position,
            register: place.register,
            depends: [false; MOST_AXES],
            bytes: [0.0; MOST_AXES],
            element_bytes: place.element_bytes,
            crossing: 0.0,
        };
        for (at, axis) in axes.iter().enumerate() {
            let by = access.indices.iter().map(|index| index.affine.coefficient(axis.variable) as f64);
            form.depends[at] = by.clone().any(|by| by != 0.0);
            form.bytes[at] = place.advance(by);
        }
        if !place.register {
            let vector = self.machine.vector_bytes;
            let mut common = vector as u64;
            let mut moved = |bytes: f64| {
                common = greatest_common_divisor(bytes.abs() as u64, common);
            };
            for depth in 0..MOST_LOOPS.min(self.trips.len()) {
                moved(place.advance(spans.iter().map(|span| span.by[depth])));
            }
            for (axis, bytes) in shape.axes().iter().zip(form.bytes) {
                moved(if axis.vector { bytes * shape.lanes } else { bytes });
            }
            moved(place.advance(spans.iter().map(|span| span.low)));
            let line = self.machine.stores[0].line;
            if form.lanes(shape) == Lanes::Next {
                form.crossing = ((vector - common as f64).max(0.0) / line).min(1.0);
            }
            let prefetched = prefetch.iter().any(|hint| hint.target == access.target);
            let region = Region { place: position, spans };
            self.nest.references.push(Reference { writes, region, prefetched });
        }
        Ok(form)
    }

    fn element_wise(
        &mut self,
        expression: &Expression,
        axes: &[Axis],
        shape: &Shape,
    ) -> Result<Work, SimulateError> {
        let count = shape.vectors(|_| true);
        let own = cost_of(expression);
        let mut work = Work {
            vectors: own.operations * count,
            divisions: own.divisions * count,
            operations: own.operations * count,
            latency: own.latency,
            flops: own.operations * shape.points(),
            ..Work::default()
        };
        let mut loads = Vec::new();
        expression.loads(&mut |access| loads.push(access));
        for access in loads {
            let from = self.access(access, axes, shape, false, &[])?;
            self.load(&mut work, &from, shape, from.count(shape));
        }
        Ok(work)
    }

    /// Combines vectors, then the lanes of what is left.
    fn reduce(&mut self, work: &mut Work, to: &Form, shape: &Shape) {
        let results = to.count(shape);
        let combined = (shape.vectors(|_| true) - results).max(0.0);
        work.vectors += combined;
        work.operations += combined;
        let over_lanes = shape.vector_axis().is_some_and(|axis| !to.depends[axis]);
        let steps = if over_lanes { shape.lanes.log2() } else { 0.0 };
        work.shuffles += results * steps;
        work.vectors += 2.0 * results * steps;
        work.operations += 2.0 * results * steps;
        work.latency += 4.0 * steps;
        self.store(work, to, shape, results);
    }
}
