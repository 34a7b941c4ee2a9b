//! Draws about a quarter of the genes anew: the coarse end of the search, which leaves a valley that no
//! single change leaves.

use rand::{Rng, RngExt};

use super::{Mutation, keep};
use crate::genome::Genome;
use crate::space::{SearchSpace, Wish};

/// See the module.
#[derive(Debug)]
pub struct ResampleSeveral;

/// Attempts before there is nothing to do.
const MOST_ATTEMPTS: u32 = 8;

impl Mutation for ResampleSeveral {
    fn id(&self) -> &'static str {
        "resample_several"
    }

    fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let wishes = keep(space, genome)?;
        (0..MOST_ATTEMPTS).find_map(|_| {
            let mut wishes = wishes.clone();
            for wish in &mut wishes {
                if rng.random_ratio(1, 4) {
                    *wish = Wish::Free;
                }
            }
            space.complete(&wishes, rng).filter(|changed| changed != genome)
        })
    }
}
