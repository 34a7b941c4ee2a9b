use serde::{Deserialize, Serialize};
use tilewright_genome::Genome;

/// A genome that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) genome: Genome,
    /// Logarithm of its time over the first trial's; lower is faster.
    pub(super) score: f64,
    pub(super) trial: u64,
}

/// The best different genomes so far, fastest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Population {
    members: Vec<Member>,
}

/// Genes in which two genomes differ.
fn distance(first: &Genome, second: &Genome) -> usize {
    first.0.iter().zip(&second.0).filter(|(first, second)| first != second).count()
}

impl Population {
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Takes a member in: instead of one that differs in at most one gene, if it is faster than that one
    /// (so that variants of one genome do not crowd out the rest), else instead of the slowest.
    pub(super) fn insert(&mut self, member: Member, capacity: usize) {
        let twin = self.members.iter().position(|other| distance(&other.genome, &member.genome) <= 1);
        if let Some(twin) = twin {
            if self.members[twin].score <= member.score {
                return;
            }
            self.members.remove(twin);
        }
        let place = self.members.partition_point(|other| other.score <= member.score);
        self.members.insert(place, member);
        self.members.truncate(capacity);
    }

    /// Mean share of genes in which two members next to each other differ, from 0 to 1.
    pub(super) fn diversity(&self) -> f64 {
        let pairs = self.members.windows(2).map(|pair| {
            let genes = pair[0].genome.0.len().max(1);
            distance(&pair[0].genome, &pair[1].genome) as f64 / genes as f64
        });
        pairs.sum::<f64>() / self.members.len().saturating_sub(1).max(1) as f64
    }

    /// Place of a trial among the members, 0 for the fastest and 1 for the slowest or one that is gone.
    pub(super) fn rank(&self, trial: Option<u64>) -> f64 {
        let place = self.members.iter().position(|member| Some(member.trial) == trial);
        place.map_or(1.0, |place| place as f64 / self.members.len().saturating_sub(1).max(1) as f64)
    }

    /// Forgets all but the fastest.
    pub(super) fn keep(&mut self, elites: usize) {
        self.members.truncate(elites);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(genome: &[u16], score: f64) -> Member {
        Member { genome: Genome(genome.into()), score, trial: 0 }
    }

    #[test]
    fn near_twins_keep_one_place_and_the_slowest_leaves() {
        let mut population = Population::default();
        population.insert(member(&[1, 1, 1], 0.0), 2);
        population.insert(member(&[1, 1, 2], 0.5), 2);
        assert_eq!(population.members().len(), 1);
        population.insert(member(&[1, 1, 3], -0.5), 2);
        assert_eq!(population.members(), [member(&[1, 1, 3], -0.5)]);
        population.insert(member(&[5, 5, 5], 0.3), 2);
        population.insert(member(&[7, 7, 7], 0.1), 2);
        assert_eq!(population.members(), [member(&[1, 1, 3], -0.5), member(&[7, 7, 7], 0.1)]);
    }
}
