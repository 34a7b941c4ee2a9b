//! Campaigns: from a seed and a budget to a confirmed winner, as a state machine.

mod answers;
mod canaries;
mod confirm;
mod driver;
mod error;
mod judge;
mod machine;
mod proposals;
mod recorded;
mod records;
mod settings;

#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod tests;

pub use driver::CampaignResult;
pub use error::{CampaignError, Sink, SinkError};
pub(crate) use judge::judge;
pub use machine::{Campaign, CampaignParts, Step};
pub use settings::{Budget, CampaignSettings};
