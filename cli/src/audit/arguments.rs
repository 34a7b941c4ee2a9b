//! The arguments of `tilewright audit`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(crate) const EXAMPLES: &str = "Examples:
  tilewright audit
  tilewright audit --quick
  tilewright audit --recorded spaces/*.json.gz --json | jq '{aa, power}'

Takes up to 25 minutes on two cores, with --quick up to 2. The power is that of an otherwise idle machine.

Exit codes: 0 every promise holds, 1 one does not (or the audit failed), 2 wrong usage or input, 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Recordings of others whose single samples are judged too: Kernel Tuner caches, T4 results
    #[arg(long, num_args = 1.., value_name = "FILES", value_hint = ValueHint::FilePath)]
    pub(crate) recorded: Vec<PathBuf>,
    /// Fewer comparisons: what goes badly wrong shows, rare errors do not
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed of every random draw
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64), allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No notes on how far it is
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
