//! Time from work and traffic, leaf by leaf.
//!
//! Inside the core the slowest resource counts. Data that a stream brings in advance costs bandwidth and runs
//! beside the core's work. A line that is not foreseen costs what is left of its latency when the
//! out-of-order window is used up, shared by the lines that one window asks for (Little's law; Karkhanis
//! and Smith, A First-Order Superscalar Processor Model, 2004).

use super::constants::{
    EXPOSED_START, LOOP_OPERATIONS, OVERLAP, PREFETCH_WARM_UP_LINES, SOFTWARE_PREFETCH_LEAVES, STORE_WAIT,
};
use super::machine::Machine;
use super::nest::{Leaf, Nest, Reference, unforeseen_end};
use super::traffic::Drawn;
use super::work::{CORE, DEPENDENCY};
use crate::chip::{Chip, MOST_STORES};
use crate::prediction::{LevelTraffic, Prediction, Resource, ResourceTime};

/// Numbers of resources: those of the core first, then these, then one for each supplying level.
const OVERHEAD: usize = CORE.len();
const TRANSLATION: usize = OVERHEAD + 1;
const BARRIER: usize = TRANSLATION + 1;
const LEVEL: usize = BARRIER + 1;

/// Joins everything to a prediction.
pub(super) fn combine(nest: &Nest, drawn: &[Drawn], machine: &Machine, chip: &Chip) -> Prediction {
    let none = [(0.0, 0.0); LEVEL + MOST_STORES];
    let mut sum = Sum { machine, nest, drawn, cycles: 0.0, operations: 0.0, times: none };
    for leaf in &nest.leaves {
        sum.leaf(leaf);
    }
    let ends = nest.loop_ends * machine.misprediction_cycles;
    let overhead = ends + nest.loop_operations * LOOP_OPERATIONS / machine.dispatch_per_cycle;
    sum.spend(OVERHEAD, overhead);
    sum.spend(BARRIER, nest.barriers * machine.barrier_cycles);
    let Sum { cycles, operations, times, .. } = sum;
    let numbered = times.iter().enumerate().filter(|(_, time)| time.0 > 0.0);
    let mut resources: Vec<ResourceTime> = numbered
        .map(|(number, &(busy_cycles, bound_cycles))| ResourceTime {
            resource: resource(number, machine),
            busy_cycles,
            bound_cycles,
        })
        .collect();
    resources.sort_by(|one, other| one.resource.cmp(&other.resource));
    let bottleneck = resources
        .iter()
        .max_by(|one, other| one.bound_cycles.total_cmp(&other.bound_cycles))
        .map_or_else(|| Resource::Overhead.to_string(), |time| time.resource.to_string());
    Prediction {
        time_ns: cycles / machine.clock_ghz,
        cycles,
        operations,
        resources,
        traffic: traffic(drawn, machine),
        bottleneck,
        illustrative: chip.has_assumed(),
    }
}

fn resource(number: usize, machine: &Machine) -> Resource {
    match number {
        OVERHEAD => Resource::Overhead,
        TRANSLATION => Resource::Translation,
        BARRIER => Resource::Barrier,
        core if core < CORE.len() => CORE[core].clone(),
        level => Resource::Level(machine.supplies[level - LEVEL].level.clone()),
    }
}

fn traffic(drawn: &[Drawn], machine: &Machine) -> Vec<LevelTraffic> {
    let mut traffic = Vec::with_capacity(machine.caches);
    for (store, supply) in machine.supplies.iter().enumerate() {
        let line = machine.stores[store].line;
        traffic.push(LevelTraffic {
            level: supply.level.clone(),
            read_bytes: drawn.iter().map(|drawn| drawn.lines[store]).sum::<f64>() * line,
            written_bytes: drawn.iter().map(|drawn| drawn.written[store]).sum::<f64>() * line,
        });
    }
    traffic
}

struct Sum<'a> {
    machine: &'a Machine,
    nest: &'a Nest,
    drawn: &'a [Drawn],
    cycles: f64,
    operations: f64,
    /// Busy and binding cycles by number of the resource.
    times: [(f64, f64); LEVEL + MOST_STORES],
}

impl Sum<'_> {
    /// Adds time that nothing overlaps.
    fn spend(&mut self, resource: usize, cycles: f64) {
        self.times[resource].0 += cycles;
        self.times[resource].1 += cycles;
        self.cycles += cycles;
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let machine = self.machine;
        let (trips, unroll) = leaf.repeated.map_or((1.0, 1.0), |repeated| (repeated.trips, repeated.unroll));
        let iterations = leaf.executions * trips;
        if iterations <= 0.0 {
            return;
        }
        let scalar = if leaf.repeated.is_some() { LOOP_OPERATIONS } else { 0.0 };
        // Executions that the out-of-order window holds at once: their chains run side by side.
        let together = 1.0 + machine.reorder_entries / (trips * leaf.work.operations).max(1.0);
        let mut slowest = (0, 0.0);
        for (resource, mut cycles) in leaf.work.cycles(machine, scalar, unroll).into_iter().enumerate() {
            if resource == DEPENDENCY {
                cycles /= together;
                // A chain binds only where the same sums come again.
                if leaf.repeated.is_none() {
                    continue;
                }
            }
            self.times[resource].0 += cycles * iterations;
            if cycles > slowest.1 {
                slowest = (resource, cycles);
            }
        }
        self.operations += leaf.work.flops * iterations;
        let core = slowest.1 * iterations;
        let data = self.data(leaf, core, iterations);
        let mut binding = (slowest.0, core);
        let mut joined = (core + data.stall).powf(OVERLAP);
        let levels = data.supplies.iter().take(machine.caches).enumerate();
        let levels = levels.map(|(store, &cycles)| (LEVEL + store, cycles));
        let waits = [(TRANSLATION, data.translation), (LEVEL, data.stores)];
        for (resource, cycles) in levels.chain(waits) {
            self.times[resource].0 += cycles;
            joined += cycles.powf(OVERLAP);
            if cycles > binding.1 {
                binding = (resource, cycles);
            }
        }
        if data.stall > binding.1 {
            binding = (LEVEL + data.stalls_for, data.stall);
        }
        let cycles = joined.powf(1.0 / OVERLAP);
        self.times[binding.0].1 += cycles;
        self.cycles += cycles;
        self.spend(DEPENDENCY, leaf.work.forwards * iterations * machine.forwarding_failure_cycles);
        self.spend(OVERHEAD, leaf.executions * leaf.work.entry / machine.dispatch_per_cycle);
        if leaf.repeated.is_some() {
            let missed = unforeseen_end(trips / unroll);
            let start = EXPOSED_START * leaf.work.latency / together + missed * machine.misprediction_cycles;
            self.spend(OVERHEAD, leaf.executions * start);
        }
    }

    /// Cycles for the data of a leaf, beside `core` cycles of work.
    fn data(&self, leaf: &Leaf, core: f64, iterations: f64) -> Data {
        let machine = self.machine;
        let mut data =
            Data { supplies: [0.0; MOST_STORES], stores: 0.0, stall: 0.0, stalls_for: 0, translation: 0.0 };
        let references = leaf.references.0..leaf.references.1;
        let mut unforeseen = [0.0; MOST_STORES];
        let (mut read, mut written) = ([0.0_f64; MOST_STORES], [0.0_f64; MOST_STORES]);
        for at in references {
            let (reference, drawn) = (&self.nest.references[at], &self.drawn[at]);
            let share = self.unforeseen(leaf, reference);
            for (store, supply) in machine.supplies.iter().enumerate() {
                read[store] += drawn.lines[store];
                written[store] += drawn.written[store];
                if reference.writes {
                    // Stores leave their queue in order: the lines that they wait for come one by one.
                    let further = if store + 1 < machine.caches { drawn.lines[store + 1] } else { 0.0 };
                    let here = (drawn.lines[store] - further).max(0.0);
                    data.stores += here * share * supply.latency * STORE_WAIT;
                } else {
                    unforeseen[store] += drawn.lines[store] * share;
                }
            }
            for (at, cycles) in machine.translation_cycles.iter().enumerate() {
                data.translation += drawn.lines[machine.caches + at] * cycles;
            }
        }
        for (store, supply) in machine.supplies.iter().enumerate() {
            // Lines are written back on a path of their own.
            data.supplies[store] = read[store].max(written[store]) * supply.cycles_per_line;
        }
        let operations = (leaf.work.operations * iterations).max(1.0);
        // Cycles that the out-of-order window covers while it waits.
        let window = machine.reorder_entries * (core / operations);
        let together =
            (unforeseen[0] / operations * machine.reorder_entries).clamp(1.0, machine.outstanding_lines);
        let mut most = 0.0;
        for (store, supply) in machine.supplies.iter().enumerate() {
            // Those that go on to the next level are counted there.
            let further = if store + 1 < machine.caches { unforeseen[store + 1] } else { 0.0 };
            let here = (unforeseen[store] - further).max(0.0);
            let stall = here * (supply.latency - window).max(0.0) / together;
            if stall > most {
                most = stall;
                data.stalls_for = store;
            }
            data.stall += stall;
        }
        data
    }

    /// Share of a reference's lines that neither hardware nor software brings in advance.
    fn unforeseen(&self, leaf: &Leaf, reference: &Reference) -> f64 {
        let place = &self.nest.places.all[reference.region.place];
        let mut region = reference.region.clone();
        if let Some(repeated) = leaf.repeated {
            region.over_loop(repeated.depth, repeated.trips);
        }
        // A stream may go on from one execution to the next.
        if let Some((depth, trips)) = leaf.around {
            region.over_loop(depth, trips);
        }
        let lines = region.runs(place).run / self.machine.stores[0].line;
        let share = (PREFETCH_WARM_UP_LINES / lines.max(1.0)).min(1.0);
        if reference.prefetched { share * SOFTWARE_PREFETCH_LEAVES } else { share }
    }
}

struct Data {
    /// Cycles that each level beyond the first is busy.
    supplies: [f64; MOST_STORES],
    /// Cycles that stores wait for their lines.
    stores: f64,
    /// Cycles that the core waits for lines that were not foreseen.
    stall: f64,
    /// Number of the level that it waits for most.
    stalls_for: usize,
    translation: f64,
}
