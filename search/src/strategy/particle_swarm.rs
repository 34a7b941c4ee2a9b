//! Particle swarm: each particle is drawn towards the best place it has seen and the best that any has seen.
//!
//! Kennedy & Eberhart 1995, "Particle swarm optimization"; constants that make it converge from Clerc &
//! Kennedy 2002, "The particle swarm: explosion, stability, and convergence". A choice without an order is
//! taken from one of those places instead, or kept.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::memory::Observation;
use super::neighbours::freshened;
use super::pending::Pending;
use super::searcher::{Context, Method};

/// Particles, and points of the initial design.
const PARTICLES: usize = 16;
/// Share of its velocity that a particle keeps.
const INERTIA: f64 = 0.7298;
/// Weight of each of the two places.
const PULL: f64 = 1.496_18;
/// Highest speed in a dimension, in lengths of it a move.
const FASTEST: f64 = 0.5;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Particle {
    position: Vec<f64>,
    velocity: Vec<f64>,
    best: Observation,
}

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ParticleSwarm {
    particles: Vec<Particle>,
    /// Which particle made a proposal.
    moves: Pending<usize>,
    next: usize,
}

impl Method for ParticleSwarm {
    const ID: &'static str = "particle-swarm";
    const SUMMARY: &'static str = "particle swarm";
    const DESIGN: usize = PARTICLES;

    fn propose(&mut self, context: Context<'_>, rng: &mut dyn Rng) -> Option<Proposal> {
        let count = self.particles.len();
        if count == 0 {
            return None;
        }
        self.next = (self.next + 1) % count;
        let leader = context.memory.best().map(|best| context.axes.position(&best.genome));
        let particle = &mut self.particles[self.next];
        let own = context.axes.position(&particle.best.genome);
        let leader = leader.unwrap_or_else(|| own.clone());
        for (at, axis) in context.axes.iter().enumerate() {
            let here = particle.position[at];
            if axis.ordered {
                let pull = |place: f64, draw: f64| PULL * draw * (place - here);
                let velocity = INERTIA * particle.velocity[at]
                    + pull(own[at], rng.random())
                    + pull(leader[at], rng.random());
                particle.velocity[at] = velocity.clamp(-FASTEST, FASTEST);
                particle.position[at] = (here + particle.velocity[at]).clamp(0.0, 1.0);
            } else {
                particle.position[at] = [here, own[at], leader[at]][rng.random_range(0..3)];
            }
        }
        let genome = context.axes.genome(context.space, &particle.position, rng)?;
        let genome = freshened(context, genome, rng)?;
        self.moves.note(genome.clone(), self.next);
        Some(Proposal::child(genome, "move", self.particles[self.next].best.trial))
    }

    fn learn(&mut self, context: Context<'_>, observation: &Observation) {
        if let Some(at) = self.moves.take(&observation.genome) {
            let particle = &mut self.particles[at];
            if !particle.best.beats(observation) {
                particle.best = observation.clone();
            }
        } else if self.particles.len() < PARTICLES {
            let position = context.axes.position(&observation.genome);
            let velocity = vec![0.0; position.len()];
            self.particles.push(Particle { position, velocity, best: observation.clone() });
        }
    }
}
