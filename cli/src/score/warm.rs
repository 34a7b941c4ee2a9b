//! Advice from other recordings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use tilewright_journal::Subject;
use tilewright_search::score::{Contestant, ScoredSpace, judged};
use tilewright_search::{Advised, Advisor, Heuristic};

use super::{YARDSTICK, files};

/// What was learned from other recordings, mapped into each space that is scored.
#[derive(Debug, Default)]
pub(super) struct Advice {
    by_space: BTreeMap<String, Vec<Advisor>>,
}

impl Advice {
    /// What the files teach of the spaces. A recording never advises itself: those of a space's own kernel and
    /// device are left aside.
    pub(super) fn learn(from: &[PathBuf], spaces: &[ScoredSpace]) -> Result<Arc<Self>> {
        if from.is_empty() {
            return Ok(Arc::default());
        }
        let sources = files::spaces(from, &[])?;
        let heuristics: Vec<Option<Heuristic>> =
            sources.par_iter().map(|source| Heuristic::learn(source.subject(), &judged(source))).collect();
        let of_space = |space: &ScoredSpace| {
            let own = |source: &ScoredSpace| match (&**space.subject(), &**source.subject()) {
                (Subject::Recorded(here), Subject::Recorded(there)) => here.is_same_source(there),
                _ => false,
            };
            let others = sources.iter().zip(&heuristics).filter(|(source, _)| !own(source));
            let advisors =
                others.filter_map(|(_, heuristic)| Advisor::of(heuristic.as_ref()?, space.space()));
            (space.name().to_owned(), advisors.collect())
        };
        Ok(Arc::new(Self { by_space: spaces.par_iter().map(of_space).collect() }))
    }

    /// Whether there is advice on any space.
    pub(super) fn is_some(&self) -> bool {
        self.by_space.values().any(|advisors| !advisors.is_empty())
    }

    /// Spaces that nothing advises on although other recordings were given.
    pub(super) fn without(&self) -> impl Iterator<Item = &str> {
        self.by_space.iter().filter(|(_, advisors)| advisors.is_empty()).map(|(space, _)| space.as_str())
    }

    /// Names of what advises on each space.
    pub(super) fn origins(&self) -> BTreeMap<&str, Vec<&str>> {
        let of = self.by_space.iter();
        of.map(|(space, of)| (space.as_str(), of.iter().map(Advisor::origin).collect())).collect()
    }

    /// A contestant that is given the advice; the yardstick is not.
    pub(super) fn warm(self: &Arc<Self>, contestant: Contestant) -> Contestant {
        if self.by_space.is_empty() || contestant.name == YARDSTICK {
            return contestant;
        }
        let Contestant { name, create } = contestant;
        let advice = Arc::clone(self);
        let create = move |space: &ScoredSpace, run: u32| -> Box<dyn tilewright_search::Strategy> {
            let advisors = advice.by_space.get(space.name()).cloned().unwrap_or_default();
            Box::new(Advised::new(create(space, run), advisors, Some(space.evaluations())))
        };
        Contestant { name, create: Box::new(create) }
    }
}
