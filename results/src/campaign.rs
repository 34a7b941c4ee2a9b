use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tilewright_journal::{
    CampaignEnded, CampaignResumed, CampaignStarted, CeilingMeasured, Ceilings, Confirmation, Damage, Event,
    Fidelity, IncumbentMoved, JOURNAL_FILE, Journal, SelfComparison, Trial, TrialFinished,
};

use crate::ReportError;

/// The events of a journal by kind, each in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// What was asked, of what, with which tool.
    pub started: CampaignStarted,
    /// When it went on after interruptions.
    pub resumed: Vec<CampaignResumed>,
    /// All trials.
    pub trials: Vec<TrialFinished>,
    /// Every incumbent of the search.
    pub moves: Vec<IncumbentMoved>,
    /// Ceilings measured again.
    pub ceilings: Vec<CeilingMeasured>,
    /// Kernels measured against themselves.
    pub comparisons: Vec<SelfComparison>,
    /// The last confirmation of the winner, if it came to one.
    pub confirmation: Option<Confirmation>,
    /// How it ended; `None` for one that was killed or still runs.
    pub ended: Option<CampaignEnded>,
    /// Lines of the journal that could not be read.
    pub damage: Vec<Damage>,
    /// Lines that could not be read any more when the journal was repaired.
    pub lost_lines: u64,
}

impl Campaign {
    /// Reads the journal of a campaign's folder.
    ///
    /// # Errors
    /// When the journal cannot be read, a later version wrote it, or its first event is lost.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let path = folder.join(JOURNAL_FILE);
        let journal = Journal::read(&path)?;
        let damaged = journal.damage.len();
        Self::collect(journal).ok_or(ReportError::NoStart { path, damaged })
    }

    /// Sorts the events of a journal; `None` if it does not say what was started.
    pub fn collect(journal: Journal) -> Option<Self> {
        let mut started = None;
        let mut campaign = Self {
            started: journal.entries.iter().find_map(|entry| match &entry.event {
                Event::CampaignStarted(started) => Some((**started).clone()),
                _ => None,
            })?,
            resumed: Vec::new(),
            trials: Vec::new(),
            moves: Vec::new(),
            ceilings: Vec::new(),
            comparisons: Vec::new(),
            confirmation: None,
            ended: None,
            damage: journal.damage,
            lost_lines: 0,
        };
        for entry in journal.entries {
            match entry.event {
                Event::CampaignStarted(first) => started = started.or(Some(first)),
                Event::CampaignResumed(resumed) => {
                    // It ended once and was then continued.
                    campaign.ended = None;
                    campaign.resumed.push(resumed);
                }
                // How a candidate was thought of; the trial itself names the proposer.
                Event::ProposerAnswered(_) => {}
                Event::LinesLost(_) => campaign.lost_lines += 1,
                Event::TrialFinished(finished) => campaign.trials.push(*finished),
                Event::IncumbentMoved(moved) => campaign.moves.push(moved),
                Event::CeilingMeasured(measured) => campaign.ceilings.push(measured),
                Event::SelfComparison(comparison) => campaign.comparisons.push(*comparison),
                Event::Confirmation(confirmation) => campaign.confirmation = Some(*confirmation),
                Event::CampaignEnded(ended) => campaign.ended = Some(ended),
            }
        }
        Some(campaign)
    }

    /// The ceilings to compare with: of the confirmation, else the last measured.
    pub fn current_ceilings(&self) -> &Ceilings {
        match (&self.confirmation, self.ceilings.last()) {
            (Some(confirmation), _) => &confirmation.ceilings,
            (None, Some(measured)) => &measured.ceilings,
            (None, None) => &self.started.ceilings,
        }
    }

    /// Number of trials of each outcome, by its name.
    pub fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        let mut outcomes = BTreeMap::new();
        for finished in &self.trials {
            *outcomes.entry(finished.trial.outcome_kind()).or_insert(0) += 1;
        }
        outcomes
    }

    /// Distinct programs that were verified and timed.
    pub fn evaluations(&self) -> u64 {
        let programs: BTreeSet<_> = self.evaluated().map(|trial| &trial.program_hash).collect();
        programs.len() as u64
    }

    /// Trials that were verified and timed, in order.
    pub fn evaluated(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().map(|finished| &finished.trial).filter(|trial| trial.is_evaluation())
    }

    /// Trials measured whole, or replayed: those whose times can be compared, with their median in ns.
    pub fn timed(&self) -> impl Iterator<Item = (&Trial, f64)> {
        self.evaluated()
            .filter(|trial| trial.provenance.fidelity != Fidelity::Screened)
            .filter_map(|trial| Some((trial, trial.outcome.as_ref().ok()?.median_ns)))
            .filter(|(_, median_ns)| *median_ns > 0.0)
    }

    /// Time from the start to the last event, interruptions left out, ns.
    pub fn duration_ns(&self) -> u64 {
        let ended = self.ended.iter().map(|ended| ended.at_ns);
        let trials = self.trials.iter().map(|finished| finished.trial.at_ns);
        let confirmed = self.confirmation.iter().map(|confirmation| confirmation.at_ns);
        ended.chain(trials).chain(confirmed).max().unwrap_or(0)
    }

    /// Time from the start to the last trial, ns: what the search itself took.
    pub fn search_ns(&self) -> u64 {
        self.trials.iter().map(|finished| finished.trial.at_ns).max().unwrap_or(0)
    }

    /// 10⁹ operations a second of a launch that takes `median_ns`.
    pub fn gflops(&self, median_ns: f64) -> f64 {
        self.started.work.operations / median_ns
    }
}
