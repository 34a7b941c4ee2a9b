//! Control of false claims over a registry's life: every test of a claim is written down, those that ended
//! without one too, since trying often is what makes false claims likely.

use serde::{Deserialize, Serialize};
use tilewright_ir::WorkloadKey;
use tilewright_stats::false_discovery::OnlineClaims;
use tilewright_stats::{ConfirmedClaim, Level};

use crate::audit::Log;
use crate::{Action, Registry, RegistryError};

/// Share of all claims ever made here that may be expected to be false.
const FALSE_DISCOVERY_RATE: Level = Level::FIVE_PERCENT;

/// A test of a claim that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimTest {
    /// Key of what was compared, as text.
    pub key: String,
    /// The e-value that the sequential test reached, rounded down.
    pub e_value: u64,
    /// The e-value that it had to reach, rounded up; fixed before the test.
    pub threshold: u64,
    /// Whether the gain was claimed: found, confirmed, and not withheld.
    pub claimed: bool,
}

impl ClaimTest {
    /// A test with these e-values.
    pub fn new(key: &WorkloadKey, e_value: f64, threshold: f64, claimed: bool) -> Self {
        Self { key: key.to_string(), e_value: e_value as u64, threshold: threshold.ceil() as u64, claimed }
    }
}

impl Registry {
    /// The level that the next claim is tested at: that of every claim, or what false discovery control over all
    /// tests of this registry leaves, where that is stricter.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub fn claim_level(&self) -> Result<Level, RegistryError> {
        let left = claims(&self.log()?).next_level();
        Ok(ConfirmedClaim::at_least(ConfirmedClaim::DEFAULT.margin(), left).level())
    }

    /// Tests of claims so far.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub fn claim_tests(&self) -> Result<Vec<ClaimTest>, RegistryError> {
        Ok(tests(&self.log()?).cloned().collect())
    }

    /// Writes a test down; `at` is the civil time of doing so, RFC 3339.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn note_claim_test(&self, test: ClaimTest, at: &str) -> Result<(), RegistryError> {
        self.locked(|_, _| Ok(((), vec![Action::Tested(test)])), at)
    }
}

fn tests(log: &Log) -> impl Iterator<Item = &ClaimTest> {
    log.entries().filter_map(|entry| match &entry.action {
        Action::Tested(test) => Some(test),
        _ => None,
    })
}

fn claims(log: &Log) -> OnlineClaims {
    let mut claims = OnlineClaims::new(FALSE_DISCOVERY_RATE);
    tests(log).for_each(|test| claims.note(test.claimed));
    claims
}
