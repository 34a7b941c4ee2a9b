//! Time from work and traffic, leaf by leaf.
//!
//! Inside the core the slowest resource counts. Data that a stream brings in advance costs bandwidth and runs
//! beside the core's work. A line that is not foreseen costs what is left of its latency when the
//! out-of-order window is used up, shared by the lines that one window asks for (Little's law; Karkhanis
//! and Smith, A First-Order Superscalar Processor Model, 2004).

use std::collections::BTreeMap;

use super::constants::{
    EXPOSED_START, LOOP_OPERATIONS, OVERLAP, PREFETCH_WARM_UP_LINES, SOFTWARE_PREFETCH_LEAVES,
};
use super::machine::Machine;
use super::nest::{Leaf, Nest, Reference, unforeseen_end};
use super::traffic::Drawn;
use crate::chip::{Chip, MOST_STORES};
use crate::prediction::{LevelTraffic, Prediction, Resource, ResourceTime};

/// Joins everything to a prediction.
pub(super) fn combine(nest: &Nest, drawn: &[Drawn], machine: &Machine, chip: &Chip) -> Prediction {
    let mut sum = Sum { machine, nest, drawn, cycles: 0.0, operations: 0.0, times: BTreeMap::new() };
    for leaf in &nest.leaves {
        sum.leaf(leaf);
    }
    let ends = nest.loop_ends * machine.misprediction_cycles;
    let overhead = ends + nest.loop_operations * LOOP_OPERATIONS / machine.dispatch_per_cycle;
    sum.spend(Resource::Overhead, overhead);
    sum.spend(Resource::Barrier, nest.barriers * machine.barrier_cycles);
    let Sum { cycles, operations, times, .. } = sum;
    let traffic = machine
        .supplies
        .iter()
        .enumerate()
        .map(|(store, supply)| {
            let line = machine.stores[store].line;
            let total = |of: fn(&Drawn) -> &[f64; MOST_STORES]| drawn.iter().map(|d| of(d)[store]).sum::<f64>();
            LevelTraffic {
                level: supply.level.clone(),
                read_bytes: total(|drawn| &drawn.lines) * line,
                written_bytes: total(|drawn| &drawn.written) * line,
            }
        })
        .collect();
    let resources: Vec<ResourceTime> = times
        .into_iter()
        .map(|(resource, (busy_cycles, bound_cycles))| ResourceTime { resource, busy_cycles, bound_cycles })
        .collect();
    let bottleneck = resources
        .iter()
        .max_by(|one, other| one.bound_cycles.total_cmp(&other.bound_cycles))
        .map_or_else(|| Resource::Overhead.to_string(), |time| time.resource.to_string());
    Prediction {
        time_ns: cycles / machine.clock_ghz,
        cycles,
        operations,
        resources,
        traffic,
        bottleneck,
        illustrative: chip.has_assumed(),
    }
}

struct Sum<'a> {
    machine: &'a Machine,
    nest: &'a Nest,
    drawn: &'a [Drawn],
    cycles: f64,
    operations: f64,
    /// Busy and binding cycles.
    times: BTreeMap<Resource, (f64, f64)>,
}

impl Sum<'_> {
    /// Adds time that nothing overlaps.
    fn spend(&mut self, resource: Resource, cycles: f64) {
        if cycles > 0.0 {
            let time = self.times.entry(resource).or_default();
            time.0 += cycles;
            time.1 += cycles;
            self.cycles += cycles;
        }
    }

    fn busy(&mut self, resource: &Resource, cycles: f64) {
        if cycles > 0.0 {
            self.times.entry(resource.clone()).or_default().0 += cycles;
        }
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let machine = self.machine;
        let (trips, unroll) = leaf.repeated.map_or((1.0, 1.0), |repeated| (repeated.trips, repeated.unroll));
        let iterations = leaf.executions * trips;
        if iterations <= 0.0 {
            return;
        }
        let scalar = if leaf.repeated.is_some() { LOOP_OPERATIONS } else { 0.0 };
        let mut slowest = (Resource::FrontEnd, 0.0);
        for (resource, cycles) in leaf.work.cycles(machine, scalar, unroll) {
            if leaf.repeated.is_none() && resource == Resource::Dependency {
                continue;
            }
            self.busy(&resource, cycles * iterations);
            if cycles > slowest.1 {
                slowest = (resource, cycles);
            }
        }
        self.operations += leaf.work.flops * iterations;
        let core = slowest.1 * iterations;
        let data = self.data(leaf, core, iterations);
        let mut binding = (slowest.0, core);
        let mut joined = (core + data.stall).powf(OVERLAP);
        let supplies = data.supplies.iter().zip(&machine.supplies);
        let levels = supplies.map(|(cycles, supply)| (Resource::Level(supply.level.clone()), *cycles));
        for (resource, cycles) in levels.chain([(Resource::Translation, data.translation)]) {
            self.busy(&resource, cycles);
            joined += cycles.powf(OVERLAP);
            if cycles > binding.1 {
                binding = (resource, cycles);
            }
        }
        if data.stall > binding.1 {
            binding = (Resource::Level(data.stalls_for), data.stall);
        }
        let cycles = joined.powf(1.0 / OVERLAP);
        self.times.entry(binding.0).or_default().1 += cycles;
        self.cycles += cycles;
        self.spend(Resource::Dependency, leaf.work.forwards * iterations * machine.forwarding_failure_cycles);
        if leaf.repeated.is_some() {
            let missed = unforeseen_end(trips / unroll);
            let start = EXPOSED_START * leaf.work.latency + missed * machine.misprediction_cycles;
            self.spend(Resource::Overhead, leaf.executions * start);
        }
    }

    /// Cycles for the data of a leaf, beside `core` cycles of work.
    fn data(&self, leaf: &Leaf, core: f64, iterations: f64) -> Data {
        let machine = self.machine;
        let mut data = Data {
            supplies: vec![0.0; machine.caches],
            stall: 0.0,
            stalls_for: String::new(),
            translation: 0.0,
        };
        let references = leaf.references.0..leaf.references.1;
        let mut unforeseen = [0.0; MOST_STORES];
        for at in references {
            let (reference, drawn) = (&self.nest.references[at], &self.drawn[at]);
            let share = self.unforeseen(leaf, reference);
            for (store, supply) in machine.supplies.iter().enumerate() {
                data.supplies[store] += (drawn.lines[store] + drawn.written[store]) * supply.cycles_per_line;
                unforeseen[store] += drawn.lines[store] * share;
            }
            for (at, cycles) in machine.translation_cycles.iter().enumerate() {
                data.translation += drawn.lines[machine.caches + at] * cycles;
            }
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
                data.stalls_for.clone_from(&supply.level);
            }
            data.stall += stall;
        }
        data
    }

    /// Share of a reference's lines that neither hardware nor software brings in advance.
    fn unforeseen(&self, leaf: &Leaf, reference: &Reference) -> f64 {
        // Stores wait in their own queue.
        if reference.writes {
            return 0.0;
        }
        let place = &self.nest.places.all[reference.region.place];
        let mut region = reference.region.clone();
        if let Some(repeated) = leaf.repeated {
            region.over_loop(repeated.depth, repeated.trips);
        }
        let lines = region.runs(place).run / self.machine.stores[0].line;
        let share = (PREFETCH_WARM_UP_LINES / lines.max(1.0)).min(1.0);
        if reference.prefetched { share * SOFTWARE_PREFETCH_LEAVES } else { share }
    }
}

struct Data {
    /// Cycles that each level beyond the first is busy.
    supplies: Vec<f64>,
    /// Cycles that the core waits for lines that were not foreseen.
    stall: f64,
    stalls_for: String,
    translation: f64,
}
