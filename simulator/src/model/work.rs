//! What an instruction asks of a core, in units of the core's resources.

use super::machine::Machine;
use crate::prediction::Resource;

/// Resources of the core, in the order of [`Work::cycles`].
pub(super) const CORE: [Resource; 6] = [
    Resource::MultiplyAdd,
    Resource::Vector,
    Resource::Load,
    Resource::Store,
    Resource::FrontEnd,
    Resource::Dependency,
];
/// Position of dependency latency among them.
pub(super) const DEPENDENCY: usize = 5;

/// Operations of one kind each; full vectors unless said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    /// Multiply-adds.
    pub(super) multiply_adds: f64,
    /// Other vector operations.
    pub(super) vectors: f64,
    /// Those of them that move lanes.
    pub(super) shuffles: f64,
    /// Divisions and square roots.
    pub(super) divisions: f64,
    /// Loads of vectors or elements, those across two lines counted twice.
    pub(super) loads: f64,
    /// Stores, likewise.
    pub(super) stores: f64,
    /// Stores that leave lanes out.
    pub(super) masked_stores: f64,
    /// Everything that the front end delivers.
    pub(super) operations: f64,
    /// Scalar operations once for each execution: limits that are looked at, addresses.
    pub(super) entry: f64,
    /// Cycles until results can be used again by the next iteration.
    pub(super) chain: f64,
    /// Cycles from the first operand to the last result, when nothing else is in the way.
    pub(super) latency: f64,
    /// Loads that wait until narrower stores have left the store queue.
    pub(super) forwards: f64,
    /// Floating-point operations.
    pub(super) flops: f64,
}

impl Work {
    pub(super) fn add(&mut self, other: &Self, times: f64) {
        self.multiply_adds += other.multiply_adds * times;
        self.vectors += other.vectors * times;
        self.shuffles += other.shuffles * times;
        self.divisions += other.divisions * times;
        self.loads += other.loads * times;
        self.stores += other.stores * times;
        self.masked_stores += other.masked_stores * times;
        self.operations += other.operations * times;
        self.entry += other.entry;
        self.chain += other.chain * times;
        self.latency += other.latency * times;
        self.forwards += other.forwards * times;
        self.flops += other.flops * times;
    }

    /// Cycles that each resource of the core is busy.
    pub(super) fn cycles(&self, machine: &Machine, loop_operations: f64, unroll: f64) -> [f64; CORE.len()] {
        let vectors = (self.vectors + self.multiply_adds) / machine.operations_per_cycle;
        let vectors = vectors.max(self.shuffles / machine.shuffles_per_cycle);
        let vectors = vectors.max(self.divisions * machine.divide_cycles);
        let operations = self.operations + loop_operations / unroll;
        let decoded = if self.operations * unroll + loop_operations > machine.decoded_operations {
            machine.decode_per_cycle
        } else {
            machine.dispatch_per_cycle
        };
        [
            self.multiply_adds / machine.multiply_adds_per_cycle,
            vectors,
            self.loads / machine.loads_per_cycle,
            self.stores / machine.stores_per_cycle + self.masked_stores * machine.masked_store_cycles,
            operations / decoded,
            self.chain,
        ]
    }
}
