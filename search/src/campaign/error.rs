use tilewright_journal::Event;

/// Why a sink did not take an event.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes the events of a campaign: a journal, a progress line, a test.
pub trait Sink {
    /// Takes one event; when it returns, the event is safe.
    ///
    /// # Errors
    /// When the event could not be kept: the campaign stops.
    fn record(&mut self, event: &Event) -> Result<(), SinkError>;
}

impl<F: FnMut(&Event) -> Result<(), SinkError>> Sink for F {
    fn record(&mut self, event: &Event) -> Result<(), SinkError> {
        self(event)
    }
}

/// Why a campaign cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// An event could not be kept, for instance on a full disk.
    #[error("event could not be recorded: {0}")]
    Sink(SinkError),
    /// The recorded trials are not those of this campaign: another seed, strategy, space or version.
    #[error("recorded trial {index} does not belong to this campaign: {problem}")]
    Diverged {
        /// Number of the trial.
        index: u64,
        /// What differs.
        problem: String,
    },
    /// The strategy failed while the recorded trials were proposed again: nothing new happened.
    #[error("{0}; nothing of the campaign is lost, resume it once this is mended")]
    Strategy(String),
    /// The runner gave more answers than it was asked for.
    #[error("{answers} evaluations of {tasks} candidates")]
    Answers {
        /// Evaluations that came back.
        answers: usize,
        /// Candidates that were handed over.
        tasks: usize,
    },
}
