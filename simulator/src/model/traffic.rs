//! How many lines each reference draws through each cache, from reuse distances.
//!
//! From the innermost loop outwards: one execution of a loop draws either what its iterations draw one by
//! one, or only the lines that all of them touch together, when what one iteration touches (the distance
//! between two uses) fits the cache; between the two, a smooth share. In a body of several statements the
//! first one that touches a place draws its lines, and later ones draw what does not survive in between.
//! Translation buffers are caches of pages.

use tilewright_ir::CacheState;

use super::constants::CAPACITY_SHARPNESS;
use super::machine::Machine;
use super::nest::{Leaf, Nest, Node};
use super::region::{Footprint, Region};
use crate::chip::MOST_STORES;

/// Lines of one reference in one launch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Drawn {
    /// Misses of each store.
    pub(super) lines: [f64; MOST_STORES],
    /// Lines written back from each store because of this reference.
    pub(super) written: [f64; MOST_STORES],
}

/// Traffic of every reference of the nest.
pub(super) fn analyse(nest: &Nest, machine: &Machine, cache: CacheState) -> Vec<Drawn> {
    let drawn = vec![Drawn::default(); nest.references.len()];
    let mut analysis = Analysis { nest, machine, drawn };
    let whole = analysis.body(&nest.body);
    if cache == CacheState::Warm {
        // The launch before touched the same.
        for (group, survives) in whole.groups.iter().zip(analysis.survival(&whole.groups, 1.0)) {
            let lost = survives.map(|share| 1.0 - share);
            analysis.scale(whole.references, group.region.place, &lost, &lost);
        }
    }
    analysis.drawn
}

/// What a part of the nest touches in one execution: one box a place, and its references.
#[derive(Debug, Clone)]
struct Touched {
    groups: Vec<Group>,
    references: (usize, usize),
}

#[derive(Debug, Clone)]
struct Group {
    region: Region,
    footprint: [Footprint; MOST_STORES],
}

type PerStore = [f64; MOST_STORES];

struct Analysis<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    /// For one execution of the part that was looked at last.
    drawn: Vec<Drawn>,
}

impl Analysis<'_> {
    fn body(&mut self, nodes: &[Node]) -> Touched {
        let parts = nodes.iter().map(|node| self.node(node)).collect();
        // While the last statement's stores wait, the out-of-order window already loads for the next iterations.
        let operations: f64 = nodes.iter().map(|node| self.operations(node)).sum();
        self.together(parts, 1.0 + self.machine.reorder_entries / operations.max(1.0))
    }

    /// Operations of the leaves of one body; what holds further loops is longer than any window.
    fn operations(&self, node: &Node) -> f64 {
        match node {
            Node::Leaf(leaf) => {
                let leaf = &self.nest.leaves[*leaf];
                leaf.work.operations * leaf.repeated.map_or(1.0, |repeated| repeated.trips)
            }
            Node::When { .. } => 0.0,
            Node::Loop { .. } => f64::INFINITY,
        }
    }

    fn node(&mut self, node: &Node) -> Touched {
        match node {
            Node::Leaf(leaf) => self.leaf(&self.nest.leaves[*leaf]),
            Node::Loop { depth, trips, body } => {
                let inside = self.body(body);
                self.repeat(inside, *depth, *trips)
            }
            Node::When { share, then, otherwise } => {
                let (then, otherwise) = (self.body(then), self.body(otherwise));
                self.weigh(then.references, *share);
                self.weigh(otherwise.references, 1.0 - share);
                self.joined(&[then, otherwise])
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf) -> Touched {
        let nest = self.nest;
        let parts = (leaf.references.0..leaf.references.1).map(|at| {
            let reference = &nest.references[at];
            let footprint = self.footprint(&reference.region);
            let group = Group { region: reference.region.clone(), footprint };
            for store in 0..self.machine.stores.len() {
                let lines = group.footprint[store].lines;
                self.drawn[at].lines[store] = lines;
                self.drawn[at].written[store] = if reference.writes { lines } else { 0.0 };
            }
            Touched { groups: vec![group], references: (at, at + 1) }
        });
        let parts = parts.collect();
        let mut touched = self.together(parts, 1.0);
        touched.references = leaf.references;
        match leaf.repeated {
            Some(repeated) => self.repeat(touched, repeated.depth, repeated.trips),
            None => touched,
        }
    }

    fn footprint(&self, region: &Region) -> [Footprint; MOST_STORES] {
        let runs = region.runs(&self.nest.places.all[region.place]);
        let mut footprint = [Footprint::default(); MOST_STORES];
        for (footprint, store) in footprint.iter_mut().zip(&self.machine.stores) {
            *footprint = runs.footprint(store);
        }
        footprint
    }

    /// For each group, the share of its lines that are still in each store when everything here was touched once,
    /// and the group itself `ahead` times.
    fn survival(&self, groups: &[Group], ahead: f64) -> Vec<PerStore> {
        let mut total = [0.0; MOST_STORES];
        for group in groups {
            for (total, footprint) in total.iter_mut().zip(&group.footprint) {
                *total += footprint.lines;
            }
        }
        groups
            .iter()
            .map(|group| {
                let mut share = [1.0; MOST_STORES];
                for (at, store) in self.machine.stores.iter().enumerate() {
                    let own = group.footprint[at];
                    let distance = (total[at] - own.lines + own.pressure * ahead) * store.line;
                    share[at] = 1.0 / (1.0 + (distance / store.bytes).powi(CAPACITY_SHARPNESS));
                }
                share
            })
            .collect()
    }

    /// Several executions of the same part.
    fn repeat(&mut self, inside: Touched, depth: usize, trips: f64) -> Touched {
        let survival = self.survival(&inside.groups, 1.0);
        let mut groups = Vec::with_capacity(inside.groups.len());
        for (mut group, survives) in inside.groups.into_iter().zip(survival) {
            if group.region.moves(depth) {
                group.region.over_loop(depth, trips);
                group.footprint = self.footprint(&group.region);
            }
            let sums = self.sums(inside.references, group.region.place);
            let factor = |sums: &PerStore| {
                let mut factors = [trips; MOST_STORES];
                for at in 0..self.machine.stores.len() {
                    let separate = trips * sums[at];
                    if separate > 0.0 {
                        let at_least = group.footprint[at].lines.min(separate);
                        let drawn = survives[at] * at_least + (1.0 - survives[at]) * separate;
                        factors[at] = drawn / sums[at];
                    }
                }
                factors
            };
            let (lines, written) = (factor(&sums.lines), factor(&sums.written));
            self.scale(inside.references, group.region.place, &lines, &written);
            groups.push(group);
        }
        Touched { groups, references: inside.references }
    }

    /// Parts that are done one after another, in so many executions at once.
    fn together(&mut self, mut parts: Vec<Touched>, ahead: f64) -> Touched {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let joined = self.joined(&parts);
        let survival = self.survival(&joined.groups, ahead);
        for (group, survives) in joined.groups.iter().zip(survival) {
            let place = group.region.place;
            let touching = |part: &&Touched| part.groups.iter().any(|group| group.region.place == place);
            let mut touching = parts.iter().filter(touching);
            let (Some(first), Some(second)) = (touching.next(), touching.next()) else { continue };
            let later = (second.references.0, joined.references.1);
            let (first, rest) = (self.sums(first.references, place).lines, self.sums(later, place).lines);
            let mut factors = [1.0; MOST_STORES];
            for at in 0..self.machine.stores.len() {
                let separate = first[at] + rest[at];
                let at_least = group.footprint[at].lines.min(separate);
                let drawn = survives[at] * at_least + (1.0 - survives[at]) * separate;
                if rest[at] > 0.0 {
                    factors[at] = ((drawn - first[at]) / rest[at]).clamp(0.0, 1.0);
                }
            }
            self.scale(later, place, &factors, &[1.0; MOST_STORES]);
        }
        joined
    }

    /// One box a place for all parts.
    fn joined(&self, parts: &[Touched]) -> Touched {
        let mut groups: Vec<Group> = Vec::new();
        for group in parts.iter().flat_map(|part| &part.groups) {
            match groups.iter().position(|known| known.region.place == group.region.place) {
                Some(at) => {
                    if groups[at].region.join(&group.region) {
                        groups[at].footprint = self.footprint(&groups[at].region);
                    }
                }
                None => groups.push(group.clone()),
            }
        }
        // An empty part is nowhere.
        let parts = || parts.iter().map(|part| part.references).filter(|(start, end)| start < end);
        let start = parts().map(|references| references.0).min().unwrap_or(0);
        let end = parts().map(|references| references.1).max().unwrap_or(start);
        Touched { groups, references: (start, end) }
    }

    /// Lines that all references to a place draw together.
    fn sums(&self, references: (usize, usize), place: usize) -> Drawn {
        let mut sum = Drawn::default();
        for at in references.0..references.1 {
            if self.nest.references[at].region.place == place {
                for store in 0..self.machine.stores.len() {
                    sum.lines[store] += self.drawn[at].lines[store];
                    sum.written[store] += self.drawn[at].written[store];
                }
            }
        }
        sum
    }

    fn scale(&mut self, references: (usize, usize), place: usize, lines: &PerStore, written: &PerStore) {
        for at in references.0..references.1 {
            if self.nest.references[at].region.place == place {
                for store in 0..self.machine.stores.len() {
                    self.drawn[at].lines[store] *= lines[store];
                    self.drawn[at].written[store] *= written[store];
                }
            }
        }
    }

    fn weigh(&mut self, references: (usize, usize), share: f64) {
        for drawn in &mut self.drawn[references.0..references.1] {
            for store in 0..self.machine.stores.len() {
                drawn.lines[store] *= share;
                drawn.written[store] *= share;
            }
        }
    }
}
