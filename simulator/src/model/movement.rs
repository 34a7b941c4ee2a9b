//! Loads, stores and copies of vectors: whole, short, masked, repeated, gathered and transposed.

use super::nest::Reader;
use super::region::greatest_common_divisor;
use super::shape::{Form, Lanes, Shape};
use super::work::Work;

impl Reader<'_> {
    /// Loads `count` vectors of a form that lies in memory.
    pub(super) fn load(&mut self, work: &mut Work, form: &Form, shape: &Shape, count: f64) {
        if form.register {
            return;
        }
        match form.lanes(shape) {
            Lanes::Same => work.loads += count,
            Lanes::Next => {
                work.loads += count * (1.0 + form.crossing);
                // Several small stores cannot be forwarded to one load.
                work.forwards += f64::from(self.narrow[form.place]);
            }
            Lanes::Apart => gather(work, shape, count),
        }
        work.operations += count;
        work.latency = work.latency.max(self.machine.load_latency);
    }

    /// Stores `count` vectors of a form that lies in memory.
    pub(super) fn store(&mut self, work: &mut Work, form: &Form, shape: &Shape, count: f64) {
        if form.register {
            return;
        }
        let partial = shape.partial();
        let next = form.lanes(shape) == Lanes::Next;
        self.narrow[form.place] = (!next || partial.pieces > 1.0) && self.waits_in_queue(form.place);
        match form.lanes(shape) {
            Lanes::Same => work.stores += count,
            Lanes::Next => {
                // A known short vector is stored in pieces, one of unknown length under a mask.
                work.stores += count * (1.0 - partial.cut) * (1.0 + form.crossing + partial.extra());
                work.operations += count * 1.5 * partial.extra();
                work.masked_stores += count * partial.cut;
            }
            Lanes::Apart => {
                work.stores += count * shape.lanes;
                work.operations += count * shape.lanes;
                work.shuffles += count * shape.lanes / 2.0;
                work.vectors += count * shape.lanes / 2.0;
            }
        }
        work.operations += count;
    }

    /// Whether a buffer is so small that what was written to it may still wait in the store queue.
    fn waits_in_queue(&self, place: usize) -> bool {
        let buffer = &self.nest.places.all[place];
        let tensor = place < self.program.tensors.len();
        let bytes = buffer.extents.iter().product::<f64>() * buffer.element_bytes;
        !tensor && bytes <= 16.0 * self.machine.vector_bytes
    }

    pub(super) fn copy(&mut self, shape: &Shape, from: &Form, to: &Form) -> Work {
        let mut work = Work::default();
        let count = to.count(shape).max(from.count(shape));
        if from.register || to.register {
            self.load(&mut work, from, shape, count);
            self.store(&mut work, to, shape, count);
            return work;
        }
        if from.lanes(shape) == Lanes::Apart && to.lanes(shape) == Lanes::Next {
            return self.transpose(shape, from, to);
        }
        self.load(&mut work, from, shape, count);
        self.store(&mut work, to, shape, count);
        work
    }

    /// A copy whose source is contiguous along another axis than its destination: quarters of rows are loaded,
    /// blocks of 4×4 are turned by two shuffles a vector, and vectors are stored, in pieces where they are short.
    fn transpose(&self, shape: &Shape, from: &Form, to: &Form) -> Work {
        let mut work = Work::default();
        let along = (0..shape.axes().len())
            .find(|&axis| from.bytes[axis] == from.element_bytes && !shape.axes()[axis].vector);
        let whole = along.is_some_and(|axis| shape.axes()[axis].cut == 0.0);
        let (count, points) = (to.count(shape), shape.points());
        if !whole {
            // Element by element, with a comparison each.
            work.loads += points;
            work.stores += points;
            work.operations += 4.0 * points;
            return work;
        }
        let blocks = (points / 4.0).max(count);
        work.loads += blocks * (1.0 + crossing(from, shape, self.machine.stores[0].line) / 2.0);
        work.shuffles += 2.0 * count + blocks / 2.0;
        work.vectors += 2.0 * count + blocks / 2.0;
        work.operations += 2.0 * count + blocks;
        let extra = shape.partial().extra();
        work.stores += count * (1.0 + to.crossing + extra);
        work.operations += count * (1.0 + 1.5 * extra);
        work
    }
}

/// Elements one by one.
fn gather(work: &mut Work, shape: &Shape, count: f64) {
    work.loads += count * shape.lanes;
    work.shuffles += count * shape.lanes / 2.0;
    work.vectors += count * shape.lanes;
    work.operations += count * shape.lanes * 1.5;
}

/// Share of vectors along the contiguous axis that lie in two lines, when rows are not aligned.
fn crossing(from: &Form, shape: &Shape, line: f64) -> f64 {
    let vector = shape.lanes * from.element_bytes;
    let common = (0..shape.axes().len())
        .filter(|&axis| from.bytes[axis] != from.element_bytes)
        .fold(vector as u64, |common, axis| greatest_common_divisor(from.bytes[axis].abs() as u64, common));
    ((vector - common as f64).max(0.0) / line).min(1.0)
}
