use serde::{Deserialize, Serialize};
use tilewright_ir::Schedule;
use tilewright_stats::Evidence;

use crate::{
    CampaignRequest, Ceilings, ClaimBasis, Host, Judgement, KernelListing, Measurement, Subject, Trial,
    Verification, Withheld,
};

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Always the first.
    CampaignStarted(Box<CampaignStarted>),
    /// The campaign goes on after an interruption.
    CampaignResumed(CampaignResumed),
    /// A program outside answered what to try next.
    ProposerAnswered(ProposerAnswered),
    /// A trial ended.
    TrialFinished(Box<TrialFinished>),
    /// Another candidate is now the one to beat within the search; not a claim.
    IncumbentMoved(IncumbentMoved),
    /// Ceilings were measured again.
    CeilingMeasured(CeilingMeasured),
    /// A kernel was measured against itself: how often the judging errs.
    SelfComparison(Box<SelfComparison>),
    /// The winner was measured beside the default in a fresh process on fresh data.
    Confirmation(Box<Confirmation>),
    /// Stands for lines that could not be read any more when the journal was repaired.
    LinesLost(LinesLost),
    /// The campaign is over.
    CampaignEnded(CampaignEnded),
}

/// What was asked, of what, and with which tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignStarted {
    /// What was asked, the seed included.
    pub request: CampaignRequest,
    /// What is being made fast.
    pub subject: Subject,
    /// Operations and bytes of one launch.
    pub work: Work,
    /// Number of legal points of the search space; `None` where it was not counted.
    pub space_points: Option<f64>,
    /// Least median time that anybody has measured for this subject, ns; `None` where nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_known_ns: Option<f64>,
    /// The device.
    pub host: Host,
    /// What the device can do at most.
    pub ceilings: Ceilings,
    /// Name, version and commit of the tool.
    pub tool: String,
    /// The command line.
    pub command: Vec<String>,
    /// Civil date and time with offset, RFC 3339.
    pub started: String,
}

/// Operations and bytes of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Arithmetic operations that the workload's definition asks for.
    pub operations: f64,
    /// Bytes that any kernel has to read and write at least once.
    pub compulsory_bytes: u64,
}

/// The campaign goes on after an interruption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignResumed {
    /// Civil date and time with offset, RFC 3339.
    pub resumed: String,
    /// Name, version and commit of the tool that goes on.
    pub tool: String,
    /// Trials that were found in the journal.
    pub trials: u64,
}

/// An answer of a program outside that proposes candidates, recorded before what comes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposerAnswered {
    /// FNV-1a digest, 64 bits in hexadecimal, of all lines said to the program up to and including the question,
    /// each with a line end. What was said besides questions follows from the trials.
    pub said: String,
    /// The question, one line of JSON.
    pub question: String,
    /// The answer, one line.
    pub answer: String,
}

/// A trial with what a gate said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialFinished {
    /// The trial.
    pub trial: Trial,
    /// What the search's gate said; `None` where there was nothing to judge (duplicates).
    pub judgement: Option<Judgement>,
}

/// Another candidate is now the one to beat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IncumbentMoved {
    /// The new incumbent.
    pub trial: u64,
    /// The one before; `None` for the first.
    pub previous: Option<u64>,
    /// Median time of a launch when it took over, ns.
    pub median_ns: f64,
    /// Its program as text; empty where it has none.
    pub program: String,
    /// Time since the campaign's start, ns.
    pub at_ns: u64,
}

/// Ceilings measured during the campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CeilingMeasured {
    /// What was measured.
    pub ceilings: Ceilings,
    /// Time since the campaign's start, ns.
    pub at_ns: u64,
}

/// Two sides of one kernel, judged like two kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelfComparison {
    /// The kernel's trial.
    pub trial: u64,
    /// Raw pairs.
    pub evidence: Evidence,
    /// What the gate said: anything decided is an error.
    pub judgement: Judgement,
    /// Time since the campaign's start, ns.
    pub at_ns: u64,
}

/// The winner beside the default, in a fresh process on fresh data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// The kernel that the campaign proposes.
    pub winner: ConfirmedKernel,
    /// The kernel of the default schedule; the same as `winner` when nothing was judged faster.
    pub default: ConfirmedKernel,
    /// Raw pairs: incumbent is the default, candidate the winner.
    pub evidence: Evidence,
    /// What the claim gate said.
    pub judgement: Judgement,
    /// What the claim was made under; `None` in journals of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Box<ClaimBasis>>,
    /// Why a gain that the gate found is not claimed; `None` where nothing was withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// How the winner's answer was checked on the fresh data.
    pub verification: Verification,
    /// Ceilings measured around the confirmation.
    pub ceilings: Ceilings,
    /// Time since the campaign's start, ns.
    pub at_ns: u64,
}

/// One side of a confirmation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfirmedKernel {
    /// Its trial; `None` where it was never one (a default given from outside).
    pub trial: Option<u64>,
    /// Its schedule.
    pub schedule: Schedule,
    /// Times of the confirmation.
    pub measurement: Measurement,
    /// Program and machine code as text.
    pub listing: KernelListing,
}

/// Lines that are not there any more; the first that a repair took out stands for all that follow on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesLost {
    /// File beside the journal that keeps what was damaged.
    pub aside: String,
}

/// The campaign is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignEnded {
    /// Why.
    pub why: EndReason,
    /// Trial whose kernel won; `None` where nothing valid was found.
    pub winner: Option<u64>,
    /// Time since the campaign's start, ns.
    pub at_ns: u64,
}

/// Why a campaign ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The time asked for was used up.
    Time,
    /// The number of trials asked for was reached.
    Trials,
    /// It got no further for as long as was asked for.
    Plateau,
    /// The strategy had nothing more to propose.
    Exhausted,
    /// The user stopped it.
    Interrupted,
    /// It could not go on.
    Failed(String),
}
