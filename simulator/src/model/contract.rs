//! Register-blocked multiply-adds.
//!
//! A tile is an outer product: one side's vectors (or repeated elements) are held in the registers that the
//! sums leave, in as many rounds as that takes, and the other side is streamed past once each round.
//! Van Zee, van de Geijn, BLIS (2015); Low et al., Analytical Modeling Is Enough for High-Performance BLIS (2016).

use tilewright_ir::program::Broadcast;

use super::machine::Machine;
use super::shape::{Form, Lanes, Shape};
use super::work::Work;

/// The work of one execution.
pub(super) fn work(
    shape: &Shape,
    into: &Form,
    [a, b]: [&Form; 2],
    broadcast: Broadcast,
    machine: &Machine,
) -> Work {
    let multiply_adds = shape.vectors(|_| true);
    let mut work = Work {
        multiply_adds,
        operations: multiply_adds,
        flops: 2.0 * multiply_adds * shape.lanes,
        latency: machine.multiply_add_latency + machine.load_latency,
        ..Work::default()
    };
    let sums = into.count(shape).max(1.0);
    work.chain = machine.multiply_add_latency * (multiply_adds / sums);
    // What a side names for one point of the axes that both sides share.
    let shared = shape.vectors(|axis| a.depends[axis] && b.depends[axis]);
    let (left, right) = (a.count(shape) / shared, b.count(shape) / shared);
    let room = (machine.vector_registers - sums - 1.0).max(1.0);
    let rounds = |held: f64| (held / room).ceil().max(1.0);
    let elements = |factor: &Form| broadcast == Broadcast::Memory && factor.lanes(shape) == Lanes::Same;
    let hold_left = match (elements(a), elements(b)) {
        (true, false) => false,
        (false, true) => true,
        _ => left + rounds(left) * right < right + rounds(right) * left,
    };
    let (held, streamed, held_count, streamed_count) =
        if hold_left { (a, b, left, right) } else { (b, a, right, left) };
    let rounds = rounds(held_count);
    load(&mut work, held, shape, shared * held_count, false, machine);
    // An element that is used once comes with its multiply-add, where the instruction set can.
    let once = elements(streamed) || held_count / rounds <= 1.0;
    let times = if elements(streamed) { held_count } else { rounds };
    load(&mut work, streamed, shape, shared * times * streamed_count, once, machine);
    work
}

fn load(work: &mut Work, factor: &Form, shape: &Shape, count: f64, once: bool, machine: &Machine) {
    if factor.register {
        return;
    }
    let masked = shape.partial().masked();
    match factor.lanes(shape) {
        Lanes::Same => {
            work.loads += count;
            work.operations += if once && machine.embedded_broadcast { 0.0 } else { count };
        }
        Lanes::Next => {
            // A short vector is read under a mask, which is loaded too.
            work.loads += count * (1.0 + factor.crossing + masked);
            work.operations += count * (masked + if once { 0.0 } else { 1.0 });
        }
        Lanes::Apart => {
            work.loads += count * shape.lanes;
            work.shuffles += count * shape.lanes / 2.0;
            work.vectors += count * shape.lanes;
            work.operations += count * shape.lanes;
        }
    }
}
