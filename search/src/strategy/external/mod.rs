//! A strategy outside: a program in any language that is asked and told by lines of JSON.
//!
//! The search starts no program and opens no file: whoever makes the strategy hands it the program's two
//! streams. It says
//!
//! ```json
//! {"say":"space","version":1,"genes":[{"name":"rows","ordered":true,"values":[1,2,4]}],"default":{"rows":1}}
//! {"say":"ask","count":2,"seed":7,"refused":[]}
//! {"say":"tell","trials":[{"trial":1,"parameters":{"rows":4},"time_ns":1250.0}]}
//! {"say":"tell","trials":[{"trial":2,"parameters":{"rows":2},"failure":"crashed"}]}
//! ```
//!
//! and expects one line after each `ask` and nothing otherwise:
//!
//! ```json
//! {"proposals":[{"rows":4},{"rows":2}]}
//! ```
//!
//! Answers are handed out to be recorded ([`Strategy::take_answers`]): a search is repeated from them without
//! the program, or continued with a new one that is told it all again. Only answers need to be: all that is
//! said follows from them and from the trials.

mod link;
mod protocol;

use std::collections::BTreeSet;
use std::io::{BufRead, Write};

use rand::Rng;
use tilewright_genome::{Genome, SearchSpace};
use tilewright_ir::Schedule;
use tilewright_journal::{ProposerAnswered, Trial};
use tilewright_stats::Judged;

use super::memory::Memory;
use super::{Proposal, Strategy};
use crate::state::{self, StateError};
use link::{Exchange, Link, Streams, beginning};
use protocol::{Refused, Reply, Request};

pub use link::ExternalError;
pub use protocol::Parameters;

/// Questions for one answer of the search, while proposals are refused.
const MOST_QUESTIONS: u32 = 4;

/// See the module.
#[derive(Debug)]
pub struct External {
    memory: Memory,
    link: Link,
    refused: Vec<Refused>,
    failure: Option<ExternalError>,
}

impl External {
    /// Its name as a strategy.
    pub const ID: &'static str = "external";

    /// A program that reads lines from `output` and answers on `input`.
    pub fn new(output: Box<dyn Write + Send>, input: Box<dyn BufRead + Send>) -> Self {
        Self::continued(Vec::new(), output, input)
    }

    /// A search repeated from its recorded answers, without the program; when the record ends, so does the
    /// search.
    pub fn replayed(answers: Vec<ProposerAnswered>) -> Self {
        Self::with(Link::new(answers, None))
    }

    /// A search repeated from its recorded answers that goes on with a new program, which is told all that the
    /// first one was told; the recorded answers count.
    pub fn continued(
        answers: Vec<ProposerAnswered>,
        output: Box<dyn Write + Send>,
        input: Box<dyn BufRead + Send>,
    ) -> Self {
        Self::with(Link::new(answers, Some(Streams { output, input })))
    }

    /// One whose program could not be started, for this reason: it proposes nothing.
    pub fn unavailable(reason: String) -> Self {
        Self { failure: Some(ExternalError::Stream(reason)), ..Self::replayed(Vec::new()) }
    }

    /// A saved one. A new program is told all that the first one was told before.
    ///
    /// # Errors
    /// When the bytes are no state of this strategy. A program that fails is noted in
    /// [`failure`](Strategy::failure).
    pub fn restored(
        bytes: &[u8],
        output: Box<dyn Write + Send>,
        input: Box<dyn BufRead + Send>,
    ) -> Result<Self, StateError> {
        let (memory, dialogue, refused): (Memory, Vec<Exchange>, Vec<(Parameters, String)>) =
            state::read(bytes)?;
        let mut link = Link::new(Vec::new(), Some(Streams { output, input }));
        let failure = link.catch_up(dialogue).err();
        let refused =
            refused.into_iter().map(|(parameters, reason)| Refused { parameters, reason }).collect();
        Ok(Self { memory, link, refused, failure })
    }

    fn with(link: Link) -> Self {
        Self { memory: Memory::default(), link, refused: Vec::new(), failure: None }
    }

    fn say(&mut self, request: &Request, answered: bool) -> Result<Option<String>, ExternalError> {
        let line =
            serde_json::to_string(request).map_err(|error| ExternalError::Stream(error.to_string()))?;
        self.link.exchange(line, answered)
    }

    fn introduce(&mut self, space: &SearchSpace) -> Result<(), ExternalError> {
        if self.link.dialogue().is_empty() {
            self.say(&Request::space(space), false)?;
        }
        Ok(())
    }

    /// One question and its answer.
    fn question(
        &mut self,
        space: &SearchSpace,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Parameters>, ExternalError> {
        self.introduce(space)?;
        let refused = std::mem::take(&mut self.refused);
        let line = self.say(&Request::Ask { count, seed, refused }, true)?.unwrap_or_default();
        let reply: Reply = serde_json::from_str(&line).map_err(|error| ExternalError::Malformed {
            line: beginning(&line),
            reason: error.to_string(),
        })?;
        Ok(reply.proposals)
    }

    /// The genome of a proposal, where it can be evaluated.
    fn examine(&self, space: &SearchSpace, parameters: &Parameters) -> Result<Genome, String> {
        let schedule = Schedule { parameters: parameters.clone(), ..Schedule::default() };
        let genome = space.encode(&schedule).ok_or("not a legal point of the space")?;
        if self.memory.is_new(&genome) { Ok(genome) } else { Err("proposed or told of before".to_owned()) }
    }
}

impl Strategy for External {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn ask(&mut self, space: &SearchSpace, count: usize, rng: &mut dyn Rng) -> Vec<Proposal> {
        if self.failure.is_some() {
            return Vec::new();
        }
        let mut proposals: Vec<Proposal> = Vec::with_capacity(count);
        for _ in 0..MOST_QUESTIONS {
            if proposals.len() == count {
                break;
            }
            let wanted = count - proposals.len();
            match self.question(space, wanted, rng.next_u64()) {
                Ok(answered) => {
                    for parameters in answered.into_iter().take(wanted) {
                        match self.examine(space, &parameters) {
                            Ok(genome) => {
                                self.memory.note_asked(&genome);
                                proposals.push(Proposal::random(genome));
                            }
                            Err(reason) => self.refused.push(Refused { parameters, reason }),
                        }
                    }
                }
                // What was proposed before the failure is left out: a resumed search asks for it again.
                Err(error) => {
                    self.failure = Some(error);
                    return Vec::new();
                }
            }
        }
        // A program that has nothing new to say shall not end the search.
        let mut taken: BTreeSet<Genome> = proposals.iter().map(|proposal| proposal.genome.clone()).collect();
        while proposals.len() < count {
            let Some(genome) = self.memory.unvisited(space, |genome| taken.contains(genome), rng) else {
                break;
            };
            self.memory.note_asked(&genome);
            taken.insert(genome.clone());
            proposals.push(Proposal::random(genome));
        }
        proposals
    }

    fn tell(&mut self, space: &SearchSpace, judged: &[Judged<Trial>]) {
        for judged in judged {
            self.memory.note_told(space, judged);
        }
        if self.failure.is_none() && !judged.is_empty() {
            let said = self.introduce(space).and_then(|()| self.say(&Request::tell(judged), false));
            self.failure = said.err();
        }
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        let refused: Vec<(&Parameters, &String)> =
            self.refused.iter().map(|it| (&it.parameters, &it.reason)).collect();
        state::write(&(&self.memory, self.link.dialogue(), refused))
    }

    fn take_answers(&mut self) -> Vec<ProposerAnswered> {
        self.link.take_fresh()
    }

    fn failure(&self) -> Option<String> {
        self.failure.as_ref().map(ToString::to_string)
    }
}

#[cfg(test)]
pub(super) mod tests;
