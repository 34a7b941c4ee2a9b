//! What a campaign leaves behind: the records of trials and campaigns, and the files that hold them.
//!
//! A campaign is a folder:
//!
//! | file | holds | module |
//! |---|---|---|
//! | `campaign.toml` | what was asked | [`CampaignRequest`] |
//! | `journal.jsonl` | what happened, one checksummed line an event, only ever appended to | [`JournalWriter`], [`Journal`] |
//! | `checkpoint.bin` | the search's state, replaced as a whole | [`checkpoint`] |
//!
//! A [`Matrix`] asks for many campaigns at once; each is a folder of its own inside that of the matrix.
//!
//! Everything that is reported is made from the journal alone. The other two can be lost: the request is
//! repeated in the journal's first event, and a checkpoint saves work, not results.
#![forbid(unsafe_code)]

mod campaign;
pub mod checkpoint;
mod claim;
mod damage;
mod error;
mod event;
mod extended_float;
mod finite;
mod frame;
#[cfg(test)]
mod fuzz;
mod host;
mod matrix;
mod measurement;
mod outcome;
mod reader;
mod repair;
mod requested;
mod seconds;
mod set_aside;
mod subject;
mod trial;
mod writer;

pub use campaign::{CAMPAIGN_VERSION, CampaignRequest, Plateau, RequestError};
pub use claim::{ClaimBasis, Conditions, Withheld};
pub use damage::{Damage, DamageCause};
pub use error::JournalError;
pub use event::{
    CampaignEnded, CampaignResumed, CampaignStarted, CeilingMeasured, Confirmation, ConfirmedKernel,
    EndReason, Event, IncumbentMoved, LinesLost, ProposerAnswered, SelfComparison, TrialFinished, Work,
};
pub use frame::JOURNAL_VERSION;
pub use host::{Bandwidth, Cache, Ceilings, Host};
pub use matrix::{
    CELLS_FOLDER, Cell, Known, MATRIX_FILE, MATRIX_VERSION, MOST_CELLS, Matrix, MatrixBudget, MatrixError,
    MatrixHeuristics, MatrixTarget, MatrixWorkload, Objective, Source,
};
pub use measurement::{Drift, KernelListing, Measurement, Verification};
pub use outcome::{EvalError, Outcome};
pub use reader::{Entry, Journal, JournalReader};
pub use repair::{Repair, repair};
pub use requested::Requested;
pub use seconds::seconds;
pub use set_aside::{SetAside, set_aside};
pub use subject::{Candidate, RecordedSpace, Subject};
pub use trial::{Fidelity, Judgement, Provenance, Trial};
pub use writer::{JournalWriter, Medium};

/// File name of the journal inside a campaign's folder.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// File name of the request inside a campaign's folder.
pub const CAMPAIGN_FILE: &str = "campaign.toml";
/// File name of the checkpoint inside a campaign's folder.
pub const CHECKPOINT_FILE: &str = "checkpoint.bin";
