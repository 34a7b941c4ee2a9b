//! What a policy chooses among: changes of one gene.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use tilewright_genome::mutation::with;
use tilewright_genome::{Gene, Genome, Sampling, SearchSpace, Values, Wish};

/// Ways to change a gene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EditKind {
    /// An ordered gene to the next open value.
    Step,
    /// An ordered gene to about twice or half its number.
    Scale,
    /// To another value drawn from the gene's own distribution.
    Jump,
    /// To the value that another good parent has.
    Copy,
    /// Drawn anew, and with it about a quarter of the other genes.
    Redraw,
}

impl EditKind {
    pub(crate) const COUNT: usize = 5;

    /// Place in lists by kind.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Name of the operator in records.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Scale => "scale",
            Self::Jump => "jump",
            Self::Copy => "copy",
            Self::Redraw => "redraw",
        }
    }
}

/// One change of one genome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub(crate) gene: usize,
    pub(crate) kind: EditKind,
    /// Index of the value that is wished for; for a redraw, the one that it has.
    pub(crate) target: u16,
}

impl Edit {
    /// Whether it leads up (1) or down (−1) a list of ordered values; 0 for choices and redraws.
    pub(crate) fn direction(&self, gene: &Gene, here: u16) -> f64 {
        if !gene.is_ordered() || self.target == here {
            return 0.0;
        }
        if self.target > here { 1.0 } else { -1.0 }
    }

    /// The genome after it; `None` where there is no legal one that differs in this gene.
    pub(crate) fn apply(&self, space: &SearchSpace, genome: &Genome, rng: &mut dyn Rng) -> Option<Genome> {
        let here = genome.0[self.gene];
        if self.kind == EditKind::Redraw {
            return redraw(space, genome, self.gene, rng);
        }
        let open = space.open_values(genome, self.gene);
        let index = nearest_open(&open, here, self.target, space.genes()[self.gene].is_ordered())?;
        with(space, genome, self.gene, index, rng).filter(|changed| changed.0[self.gene] != here)
    }
}

/// All edits of a legal genome: those of each gene that has an effect and a choice. Jumps lead to one value
/// drawn at random, copies to the values of `donor`.
pub(crate) fn edits(
    space: &SearchSpace,
    genome: &Genome,
    donor: Option<&Genome>,
    rng: &mut dyn Rng,
) -> Vec<Edit> {
    let Ok(meanings) = space.meanings(genome) else { return Vec::new() };
    let mut edits = Vec::new();
    for (at, gene) in space.genes().iter().enumerate() {
        let last = (gene.values.len() - 1) as u16;
        if meanings[at].is_none() || last == 0 {
            continue;
        }
        let here = genome.0[at].min(last);
        let mut add = |kind, target| edits.push(Edit { gene: at, kind, target });
        if gene.is_ordered() {
            let neighbours = [here.checked_sub(1), Some(here + 1).filter(|&index| index <= last)];
            neighbours.into_iter().flatten().for_each(|target| add(EditKind::Step, target));
            scaled(gene, here).for_each(|target| add(EditKind::Scale, target));
        }
        let jump = draw(gene, rng);
        if jump != here {
            add(EditKind::Jump, jump);
        }
        if let Some(&other) = donor.and_then(|donor| donor.0.get(at))
            && other != here
        {
            add(EditKind::Copy, other.min(last));
        }
        add(EditKind::Redraw, here);
    }
    edits
}

/// Values at about half and twice the number, where they are more than one step away.
fn scaled(gene: &Gene, here: u16) -> impl Iterator<Item = u16> {
    let found = match &gene.values {
        Values::Categorical(_) => [None, None],
        Values::Ordered(values) => {
            let now = values[usize::from(here)];
            let place = |wanted: u64| {
                let place = values.partition_point(|&value| value < wanted).min(values.len() - 1) as u16;
                (place.abs_diff(here) > 1).then_some(place)
            };
            [place(now / 2), place(now.saturating_mul(2))]
        }
    };
    found.into_iter().flatten()
}

/// A value by the gene's own distribution, whether open or not.
fn draw(gene: &Gene, rng: &mut dyn Rng) -> u16 {
    let count = gene.values.len();
    match gene.sampling {
        Sampling::Uniform => rng.random_range(0..count) as u16,
        Sampling::Logarithmic { last } => {
            if rng.random::<f64>() < last {
                return (count - 1) as u16;
            }
            let place = (rng.random::<f64>() * (count as f64 + 1.0).ln()).exp() as usize;
            (place.max(1) - 1).min(count - 1) as u16
        }
    }
}

/// The open index that a wish means: of ordered values the first at `target` or beyond, seen from `here`, else
/// the last before it.
fn nearest_open(open: &[u16], here: u16, target: u16, ordered: bool) -> Option<u16> {
    if !ordered {
        return open.iter().copied().find(|&index| index == target);
    }
    let beyond = open.partition_point(|&index| index < target);
    if target > here {
        let before = open[..beyond].iter().rev().copied().find(|&index| index > here);
        open.get(beyond).copied().or(before)
    } else {
        let at = open.get(beyond).copied().filter(|&index| index == target);
        let below = open[..beyond].last().copied();
        at.or(below).or_else(|| open[beyond..].iter().copied().find(|&index| index < here))
    }
}

fn redraw(space: &SearchSpace, genome: &Genome, gene: usize, rng: &mut dyn Rng) -> Option<Genome> {
    let meanings = space.meanings(genome).ok()?;
    let wishes: Vec<Wish> = meanings
        .into_iter()
        .enumerate()
        .map(|(at, meaning)| match meaning {
            Some(meaning) if at != gene && !rng.random_ratio(1, 4) => Wish::Near(meaning),
            _ => Wish::Free,
        })
        .collect();
    space.complete(&wishes, rng).filter(|changed| changed != genome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn wishes_find_the_nearest_open_value_in_their_direction() {
        let open = [0, 2, 5, 9];
        for (here, target, found) in
            [(2, 3, Some(5)), (2, 1, Some(0)), (5, 8, Some(9)), (9, 10, None), (0, 0, None), (5, 3, Some(2))]
        {
            let found = found.filter(|&index| index != here);
            let wish = nearest_open(&open, here, target, true).filter(|&index| index != here);
            assert_eq!(wish, found, "{here} to {target}");
        }
        assert_eq!(nearest_open(&open, 2, 3, false), None);
        assert_eq!(nearest_open(&open, 2, 5, false), Some(5));
    }

    #[test]
    fn every_edit_of_any_genome_gives_legal_ones_that_differ_and_goes_where_it_says() {
        let space = synthetic::space();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut applied = [0; EditKind::COUNT];
        for _ in 0..100 {
            let (genome, donor) = (space.sample(&mut rng), space.sample(&mut rng));
            for edit in edits(&space, &genome, Some(&donor), &mut rng) {
                let Some(changed) = edit.apply(&space, &genome, &mut rng) else { continue };
                assert!(space.decode(&changed).is_ok());
                assert_ne!(changed, genome);
                let (here, there) = (genome.0[edit.gene], changed.0[edit.gene]);
                let direction = edit.direction(&space.genes()[edit.gene], here);
                assert!(
                    direction * (f64::from(there) - f64::from(here)) >= 0.0,
                    "{edit:?}: {here} to {there}"
                );
                applied[edit.kind.index()] += 1;
            }
        }
        assert!(applied.iter().all(|&count| count > 100), "{applied:?}");
    }
}
