use serde::{Deserialize, Serialize};
use tilewright_stats::PairedTimes;
use tilewright_stats::course::Drift;

/// What a claim was made under: fixed before its comparison began, and seen while it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimBasis {
    /// The incumbent beside itself, just before: what margin and length of samples follow from. Anything that
    /// a gate decides on these pairs is an error.
    pub self_comparison: PairedTimes,
    /// Standard deviation of its log-ratios, 1.4826 · MAD.
    pub spread: f64,
    /// Relative effect that the claim must exceed: two standard errors of the median log-ratio of 60 such
    /// pairs, at least 1 %.
    pub margin: f64,
    /// Wealth that the sequential test must reach.
    pub threshold: f64,
    /// Wealth that it reached, where it stopped.
    pub e_value: f64,
    /// Pairs until then.
    pub pairs: u64,
    /// Launches of one sample of the incumbent and of the candidate.
    pub launches: [u32; 2],
    /// What the machine did during the sequential test.
    pub sequential: Conditions,
    /// What it did during the confirmation.
    pub confirmation: Conditions,
}

impl ClaimBasis {
    /// Whether either half holds samples of a disturbed machine.
    pub fn is_tainted(&self) -> bool {
        self.sequential.tainted || self.confirmation.tainted
    }
}

/// What the machine did while pairs were measured, as the system counts it; `None` where it does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// Pairs that were measured again because the machine was disturbed.
    pub repeated: u64,
    /// Whether pairs of a disturbed machine had to be kept: what follows from them is not published.
    pub tainted: bool,
    /// Time that the pairs took, those measured again included, ns.
    pub elapsed_ns: u64,
    /// Time that the hypervisor gave to somebody else, ns.
    pub steal_ns: Option<u64>,
    /// Processor time of other processes, ns.
    pub others_ns: Option<u64>,
    /// Time for which the kernel's threads waited for a processor, ns.
    pub waited_ns: Option<u64>,
    /// Times that one was made to give up its processor.
    pub involuntary_switches: Option<u64>,
    /// Times that one moved to another processor.
    pub migrations: Option<u64>,
    /// Clock before and after, MHz.
    pub clock_mhz: Option<[f64; 2]>,
    /// Temperature before and after, °C.
    pub celsius: Option<[f64; 2]>,
    /// How the incumbent's times moved meanwhile.
    pub drift: Option<Drift>,
}

/// Why a gain that the gate found is not claimed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withheld {
    /// Pairs of a disturbed machine had to be kept.
    Tainted,
    /// Kernels were told from themselves more often than the gates allow for.
    Canaries {
        /// Comparisons of a kernel with itself.
        comparisons: u64,
        /// Those in which it was judged faster.
        false_wins: u64,
        /// The e-value against the nominal rate.
        e_value: f64,
    },
}

impl std::fmt::Display for Withheld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tainted => f.write_str("the machine was too busy for a claim"),
            Self::Canaries { comparisons, false_wins, e_value } => write!(
                f,
                "claims have stopped: in {false_wins} of {comparisons} comparisons a kernel was judged faster than \
                 itself (e-value {e_value:.0} against the rate allowed for)"
            ),
        }
    }
}
