//! Islands: several small populations evolve apart, each in its own way, and now and then the best of one
//! migrates to the next.
//!
//! Whitley, Rana & Heckendorn 1999, "The island model genetic algorithm: on separability, population size and
//! convergence".

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::genetic::{child, ranked};
use super::memory::{Observation, by_score};
use super::pending::Pending;
use super::searcher::{Context, Method};

/// Members of an island.
const MEMBERS: usize = 8;
/// Share of children that begin with a crossover, and probability of one more mutation, on each island: from
/// one that mostly steps to one that mostly mixes.
const ISLANDS: [(f64, f64); 4] = [(0.2, 0.1), (0.5, 0.3), (0.8, 0.3), (0.9, 0.6)];
/// Judged points between migrations.
const MIGRATION: usize = 40;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Islands {
    /// Members of each island, the fastest first.
    members: [Vec<Observation>; ISLANDS.len()],
    /// The island that made a proposal.
    origins: Pending<usize>,
    next: usize,
    since_migration: usize,
}

impl Islands {
    /// The best of each island joins the next one.
    fn migrate(&mut self) {
        let best: Vec<Option<Observation>> =
            self.members.iter().map(|members| members.first().cloned()).collect();
        for (at, migrant) in best.into_iter().enumerate() {
            if let Some(migrant) = migrant {
                settle(&mut self.members[(at + 1) % ISLANDS.len()], migrant);
            }
        }
    }
}

impl Method for Islands {
    const ID: &'static str = "islands";
    const SUMMARY: &'static str = "four populations with migration";
    const DESIGN: usize = ISLANDS.len() * MEMBERS / 2;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        self.next = (self.next + 1) % ISLANDS.len();
        let members = &self.members[self.next];
        if members.is_empty() {
            return None;
        }
        let parents = [ranked(members, rng), ranked(members, rng)];
        let (cross, more) = ISLANDS[self.next];
        let genome = child(context, parents, cross, more, rng)?;
        self.origins.note(genome.clone(), self.next);
        Some(Proposal::child(genome, "island", parents[0].trial))
    }

    fn learn(&mut self, _context: Context<'_>, observation: &Observation) {
        // Points from elsewhere are dealt out in turn.
        let island =
            self.origins.take(&observation.genome).unwrap_or(observation.trial as usize % ISLANDS.len());
        settle(&mut self.members[island], observation.clone());
        self.since_migration += 1;
        if self.since_migration >= MIGRATION {
            self.since_migration = 0;
            self.migrate();
        }
    }
}

/// Takes a point in, instead of the slowest member where the island is full.
fn settle(members: &mut Vec<Observation>, newcomer: Observation) {
    if members.iter().any(|member| member.genome == newcomer.genome) {
        return;
    }
    let place = members.partition_point(|member| by_score(member.score, newcomer.score).is_le());
    members.insert(place, newcomer);
    members.truncate(MEMBERS);
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::strategy::axes::Axes;
    use crate::strategy::memory::Memory;
    use crate::synthetic;

    // U137, U138
    #[test]
    fn every_island_proposes_and_the_best_of_each_migrates_to_the_next() {
        let space = synthetic::space();
        let (axes, memory) = (Axes::of(&space), Memory::default());
        let context = Context { space: &space, memory: &memory, axes: &axes };
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut islands = Islands::default();
        let mut proposed = [0; ISLANDS.len()];
        let mut best = [f64::INFINITY; ISLANDS.len()];
        for trial in 0..MIGRATION as u64 - 1 {
            // The first points are designed, and dealt out in turn.
            let proposal = (trial >= Islands::DESIGN as u64).then(|| islands.propose(context, &mut rng));
            let child = proposal.flatten().map(|proposal| proposal.genome);
            let island = if child.is_some() { islands.next } else { trial as usize % ISLANDS.len() };
            proposed[island] += usize::from(child.is_some());
            let genome = child.unwrap_or_else(|| space.sample(&mut rng));
            let score = 1.0 / (trial as f64 + 1.0);
            best[island] = best[island].min(score);
            islands.learn(context, &Observation { genome, trial, score: Some(score) });
        }
        assert!(proposed.iter().all(|&count| count >= 5), "{proposed:?}");
        let first = |islands: &Islands, at: usize| islands.members[at].first().cloned().unwrap();
        let before: Vec<Observation> = (0..ISLANDS.len()).map(|at| first(&islands, at)).collect();
        let last = Observation { genome: space.sample(&mut rng), trial: 39, score: None };
        islands.learn(context, &last);
        assert_eq!(islands.since_migration, 0, "the interval is over");
        for (at, migrant) in before.iter().enumerate() {
            let next = &islands.members[(at + 1) % ISLANDS.len()];
            assert!(next.iter().any(|member| member.genome == migrant.genome), "from island {at}");
        }
    }
}
