//! What a policy sees of an edit: numbers that mean the same in any space, whatever its genes are called and
//! however many there are.

use tilewright_genome::{Genome, SearchSpace};

use super::edit::{Edit, EditKind};
use super::experience::Experience;
use crate::bandit::SearchContext;

/// Features of where the search stands; the constant 1 comes last.
pub(super) const STATE: usize = 7;
/// Features of an edit, those of the state (without the constant) first.
pub(super) const FEATURES: usize = STATE - 1 + 9 + EditKind::COUNT + 7;

/// Names of the features, in their order: what is stored beside weights, so that those of another version are
/// not mistaken for these.
pub(super) const NAMES: [&str; FEATURES] = [
    "search: spent",
    "search: stagnation",
    "search: diversity",
    "search: rank of the parent",
    "search: failures",
    "search: recent success",
    "gene: ordered",
    "gene: two values",
    "gene: number of values",
    "gene: position",
    "gene: near an end",
    "gene: share of good parents with this value",
    "gene: credit",
    "gene: effect",
    "gene: tries",
    "edit: step",
    "edit: scale",
    "edit: jump",
    "edit: copy",
    "edit: redraw",
    "edit: direction",
    "edit: direction that helped",
    "edit: distance",
    "edit: share of good parents with the new value",
    "edit: new value faster than this one",
    "edit: new value known",
    "edit: credit of its kind",
];

/// Bits of the number of values at which a gene counts as long.
const LONG: f64 = 8.0;
/// Standard deviations at which a difference is cut off.
const FAR: f64 = 3.0;
/// Tries at which a gene, and results at which a value, counts as half known.
const HALF_KNOWN: f64 = 4.0;
/// Credits are small; by this factor they are as large as the other features.
const CREDIT_SCALE: f64 = 4.0;

/// Where a search stands and what it has seen, when an edit of `genome` is chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) space: &'a SearchSpace,
    /// The parent.
    pub(crate) genome: &'a Genome,
    /// Good parents, this one among them.
    pub(crate) parents: &'a [&'a Genome],
    /// One of them to copy from.
    pub(crate) donor: Option<&'a Genome>,
    pub(crate) context: SearchContext,
}

/// Features of the state.
pub(super) fn state(context: &SearchContext, experience: &Experience) -> [f64; STATE] {
    let [one, spent, stagnation, diversity, rank, failures] = context.features();
    [spent, stagnation, diversity, rank, failures, CREDIT_SCALE * experience.success(), one]
}

/// Features of an edit; `state` is that of the same moment.
pub(super) fn edit(
    view: &View<'_>,
    experience: &Experience,
    state: &[f64; STATE],
    edit: &Edit,
) -> [f64; FEATURES] {
    let gene = &view.space.genes()[edit.gene];
    let (count, here) = (gene.values.len(), view.genome.0[edit.gene]);
    let place = |index: u16| f64::from(index) / (count.max(2) - 1) as f64;
    let ordered = f64::from(u8::from(gene.is_ordered()));
    let share = |index: u16| {
        let alike = view.parents.iter().filter(|parent| parent.0[edit.gene] == index).count();
        alike as f64 / view.parents.len().max(1) as f64
    };
    let known = |count: f64| count / (count + HALF_KNOWN);
    let record = experience.gene(edit.gene);
    let position = ordered * (2.0 * place(here) - 1.0);
    let direction = edit.direction(gene, here);
    let drawn = edit.kind == EditKind::Redraw;
    let (slower, results) = experience.value(edit.gene, edit.target);
    let gain = experience.value(edit.gene, here).0 - slower;
    let mut kinds = [0.0; EditKind::COUNT];
    kinds[edit.kind.index()] = 1.0;
    let of_gene = [
        ordered,
        f64::from(u8::from(count == 2)),
        (count as f64).log2() / LONG,
        position,
        position * position,
        share(here),
        CREDIT_SCALE * record.credit,
        CREDIT_SCALE * record.effect,
        known(record.tries),
    ];
    let of_edit = [
        direction,
        direction * record.heading,
        ordered * (place(edit.target) - place(here)).abs(),
        if drawn { 0.0 } else { share(edit.target) },
        if drawn { 0.0 } else { gain.clamp(-FAR, FAR) },
        if drawn { 0.0 } else { known(results) },
        CREDIT_SCALE * experience.kind(edit.kind),
    ];
    let mut features = [0.0; FEATURES];
    let all = state[..STATE - 1].iter().chain(&of_gene).chain(&kinds).chain(&of_edit);
    features.iter_mut().zip(all).for_each(|(feature, &value)| *feature = value);
    features
}
