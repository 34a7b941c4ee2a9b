//! The arguments of `tilewright campaign`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

const RUN_EXAMPLES: &str = "Examples:
  tilewright campaign run strategies.toml
  tilewright campaign run strategies.toml --out campaigns/strategies --jobs 8
  tilewright campaign run strategies.toml --json --quiet | jq '.cells[] | {strategy, seed, best_ns}'

A file for two strategies, three repetitions, on a simulated chip:
  strategies = [\"auto\", \"random\"]
  seeds = 3
  budget = { trials = 200, plateau = 80 }
  [[workload]]
  workload = \"matmul:m=64,n=64,k=64,dtype=f32\"
  [[target]]
  chip = \"amd_zen3\"

All keys: docs/campaigns.md. Killed at any moment, `tilewright campaign resume FOLDER` goes on.";

const RESUME_EXAMPLES: &str = "Examples:
  tilewright campaign resume campaigns/strategies-1
  sed -i 's/trials = 200/trials = 400/' campaigns/strategies-1/matrix.toml && tilewright campaign resume campaigns/strategies-1

Cells that ended are left alone, unless matrix.toml in the folder now gives them more to do.";

const STATUS_EXAMPLES: &str = "Examples:
  tilewright campaign status campaigns/strategies-1
  tilewright campaign status campaigns/strategies-1 --json | jq .states";

const COMPARE_EXAMPLES: &str = "Examples:
  tilewright campaign compare campaigns/strategies-1
  tilewright campaign compare campaigns/strategies-1 --baseline random --out report
  tilewright campaign compare campaigns/strategies-1 --json | jq '.strategies[] | {strategy, mean_rank, ratio}'

Writes compare.html, one page that needs nothing else, and the charts in it as compare/*.svg.";

/// What to do with a matrix of campaigns.
#[derive(Debug, Subcommand)]
pub(crate) enum CampaignCommand {
    /// Run every workload on every target with every strategy and seed, as a file asks
    #[command(after_help = RUN_EXAMPLES)]
    Run(CampaignRun),
    /// Go on where a run was stopped or killed
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(CampaignResume),
    /// How far a run is; it may still be going on
    #[command(after_help = STATUS_EXAMPLES)]
    Status(CampaignStatus),
    /// Compare the strategies over all cells that ended: numbers, charts, a page
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CampaignCompare),
}

#[derive(Debug, Args)]
pub(crate) struct CampaignRun {
    /// What to run, in TOML (docs/campaigns.md)
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Folder of the results [default: campaigns/FILE-NUMBER]
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignResume {
    /// Folder of the results
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) how: How,
}

/// How cells are run.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// Simulated and recorded cells at a time; measured ones always run alone [default: one a processor]
    #[arg(long, value_name = "CELLS", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Registry whose heuristics advise [default: as for `tune`]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) registry: Option<PathBuf>,
    /// Begin without advice from the registry's heuristics; a run that has begun goes on with what advised it
    #[arg(long)]
    pub(crate) no_heuristics: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress line, no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignStatus {
    /// Folder of the results
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignCompare {
    /// Folder of the results
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Where to write the page and the charts [default: the folder of the results]
    #[arg(long, value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Strategy that the others are compared with [default: the file's, else random, else the first]
    #[arg(long, value_name = "STRATEGY")]
    pub(crate) baseline: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
