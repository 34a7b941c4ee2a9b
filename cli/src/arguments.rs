//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tilewright_ir::{CacheState, Workload};
use tilewright_journal::seconds;

use crate::campaign::CampaignCommand;
use crate::judge::{JUDGE_EXAMPLES, Judge};

const EXIT_CODES: &str =
    "Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 nothing valid found, 130 interrupted.";

/// Finds fast compute kernels by search, proves them correct, measures them, and keeps them.
#[derive(Debug, Parser)]
#[command(name = "tilewright", version, max_term_width = 110, after_help = EXIT_CODES, subcommand_required = true,
    arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What this machine is, and what it can do at most
    #[command(
        after_help = "Examples:\n  tilewright devices\n  tilewright devices --json | jq .ceilings\n  tilewright devices --refresh"
    )]
    Devices(Devices),
    /// What can be tuned: operators with their parameters, types and instruction sets
    #[command(
        after_help = "Examples:\n  tilewright operators\n  tilewright operators --json | jq '.operators[].id'"
    )]
    Operators(Operators),
    /// Search for the fastest kernel of a workload
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(Box<Tune>),
    /// Run a matrix of workloads, targets, strategies and seeds, and compare
    #[command(
        subcommand,
        after_help = "Examples:\n  tilewright campaign run strategies.toml\n  tilewright campaign resume campaigns/strategies-1"
    )]
    Campaign(CampaignCommand),
    /// Make a campaign's HTML page and charts, from its journal alone
    #[command(after_help = "Example:\n  tilewright report campaigns/first")]
    Report(Report),
    /// Write a campaign or a recording in a form that other tools read
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Look at, check and exchange kept kernels
    #[command(
        subcommand,
        after_help = "Examples:\n  tilewright registry list\n  tilewright registry verify\n  tilewright registry export kernels.jsonl"
    )]
    Registry(RegistryCommand),
    /// Learn from campaigns and recordings, look at and exchange what was learned
    #[command(subcommand, after_help = HEURISTICS_EXAMPLES)]
    Heuristics(HeuristicsCommand),
    /// Check the files of campaigns and registries, and set damaged parts aside
    #[command(after_help = crate::fsck::EXAMPLES)]
    Fsck(crate::fsck::Fsck),
    /// Compute with the kept kernel of a workload, on .npy files
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// Verify and measure a kernel of your own beside the kept one
    #[command(after_help = JUDGE_EXAMPLES)]
    Judge(Judge),
    /// Score search strategies on spaces that others have measured
    #[command(after_help = SCORE_EXAMPLES)]
    Score(Score),
    /// See on this machine how far claims can be trusted
    #[command(after_help = crate::audit::EXAMPLES)]
    Audit(crate::audit::Audit),
    /// Print a shell's completion script
    #[command(
        after_help = "Example:\n  tilewright completions bash > ~/.local/share/bash-completion/completions/tilewright"
    )]
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of all commands or of one, in roff
    #[command(
        after_help = "Examples:\n  tilewright manual | man -l -\n  tilewright manual tune | man -l -\n  tilewright manual campaign run > tilewright-campaign-run.1"
    )]
    Manual {
        /// The command, e.g. `tune` or `campaign run`
        command: Vec<String>,
    },
}

const TUNE_EXAMPLES: &str = "Examples:
  tilewright tune matmul:m=1024,n=1024,k=1024,dtype=f32 --threads 2 --time 60s --out campaigns/first
  tilewright tune matmul:m=128,n=3072,k=1024,dtype=f32,layout=nt,epilogue=bias+silu --trials 500 --json
  tilewright tune matmul:m=64,n=64,k=64,dtype=f32 --resume --out campaigns/small
  tilewright tune matmul:m=64,n=64,k=64,dtype=f32 --strategy external --proposer 'python3 docs/proposer.py'

Workloads: matmul:m=…,n=…,k=…,dtype=f32 and optionally layout=nn|nt|tn|tt, lda=, ldb=, ldc= (row distances,
elements), accumulate=true, epilogue=bias+silu (bias, silu, relu). The others: tilewright operators.

Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 nothing valid found, 130 interrupted (best so far kept).";

const RUN_EXAMPLES: &str = "Examples:
  tilewright run matmul:m=1024,n=1024,k=1024,dtype=f32 --a a.npy --b b.npy --out c.npy
  tilewright run matmul:m=8,n=64,k=32,dtype=f32,epilogue=bias+silu --a a.npy --b b.npy --input bias=bias.npy --out c.npy";

const EXPORT_EXAMPLES: &str = "Examples:
  tilewright export campaigns/first --t4 first.json --csv first.csv
  tilewright export campaigns/first --parquet first.parquet --optuna-journal first.log
  tilewright export campaigns/first --cache first-cache.json
  tilewright export convolution-A100.json.gz --t4 convolution-A100.t4.json";

const SCORE_EXAMPLES: &str = "Examples:
  tilewright score spaces/*.json.gz
  tilewright score convolution-A100.json.gz --strategy evolution --runs 100 --json
  tilewright score cache.json --problem convolution.t1.json --charts charts
  tilewright score conv-A100.json --warm-from conv-A4000.json conv-W6600.json
  tilewright score cache.json --strategy external,evolution --proposer 'python3 docs/proposer.py'

Files: Kernel Tuner caches and T4 results (.json, .json.gz), T1 problem descriptions, campaigns (folder or
journal.jsonl).";

#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Measure again even if this machine has been measured before
    #[arg(long)]
    pub(crate) refresh: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Operators {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// State of the caches before a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cache {
    /// Launches follow one another on the same operands
    Warm,
    /// Operands are evicted before each launch
    Cold,
}

impl From<Cache> for CacheState {
    fn from(cache: Cache) -> Self {
        match cache {
            Cache::Warm => Self::Warm,
            Cache::Cold => Self::Cold,
        }
    }
}

/// A program that proposes candidates.
#[derive(Debug, Args)]
pub(crate) struct ProposerArguments {
    /// Command of a program that proposes candidates, asked and told by lines of JSON (docs/proposers.md)
    #[arg(long, value_name = "COMMAND")]
    pub(crate) proposer: Option<String>,
    /// How long it may take for one answer, e.g. 90s, 5m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) proposer_timeout: f64,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Tune {
    /// What to tune, e.g. matmul:m=512,n=512,k=512,dtype=f32
    #[arg(value_parser = workload)]
    pub(crate) workload: Workload,
    /// Worker threads of the kernel
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) threads: u32,
    /// Whether operands are in cache before a launch [default: warm]
    #[arg(long, value_enum)]
    pub(crate) cache: Option<Cache>,
    /// Time to search, e.g. 90s, 5m (60s when neither this nor --trials is given)
    #[arg(long, value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) time: Option<f64>,
    /// Number of candidates to evaluate
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) trials: Option<u64>,
    /// End once so many candidates in a row bring less than 1 %
    #[arg(long, value_name = "TRIALS", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) plateau: Option<u64>,
    /// Seed of every random draw [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Search strategy; `external` is a program of your own, see --proposer [default: auto]
    #[arg(long)]
    pub(crate) strategy: Option<String>,
    #[command(flatten)]
    pub(crate) proposer: ProposerArguments,
    /// Instruction set of the kernels [default: the widest of this processor]
    #[arg(long)]
    pub(crate) isa: Option<String>,
    /// Folder of the campaign [default: campaigns/WORKLOAD-tTHREADS-NUMBER]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the campaign in --out
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Registry to publish to
    #[arg(long, value_name = "DIR")]
    pub(crate) registry: Option<PathBuf>,
    /// Take no advice from the registry's heuristics (`tilewright heuristics`)
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
pub(crate) struct Report {
    /// Folder of a campaign
    pub(crate) campaign: PathBuf,
    /// Where to write the page and the charts [default: the campaign's folder]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object that names the files
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").required(true).multiple(true).args(["t4", "cache", "csv", "parquet", "optuna_journal"]))]
pub(crate) struct Export {
    /// A campaign (folder or journal.jsonl), a Kernel Tuner cache or T4 results
    pub(crate) source: PathBuf,
    /// Write T4 results
    #[arg(long, value_name = "FILE")]
    pub(crate) t4: Option<PathBuf>,
    /// Write a Kernel Tuner cache
    #[arg(long, value_name = "FILE")]
    pub(crate) cache: Option<PathBuf>,
    /// Write a table with one line a trial; campaigns only
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the same table as Parquet; campaigns only
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write a study for Optuna's journal storage and its dashboard; campaigns only
    #[arg(long, value_name = "FILE")]
    pub(crate) optuna_journal: Option<PathBuf>,
    /// Print one JSON object that names the files
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RegistryPlace {
    /// The registry's folder
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) registry: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

const HEURISTICS_EXAMPLES: &str = "Examples:
  tilewright heuristics train campaigns/first campaigns/second
  tilewright heuristics train convolution-A100.json.gz
  tilewright heuristics show
  tilewright heuristics export learned.jsonl";

#[derive(Debug, Subcommand)]
pub(crate) enum HeuristicsCommand {
    /// Learn from campaigns and recordings, one heuristic each, and keep what was learned
    Train {
        /// Folders of campaigns, and recordings that `score` reads
        #[arg(required = true)]
        sources: Vec<PathBuf>,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// All heuristics in force, or all of one
    Show {
        /// Its identifier, or the beginning of it
        id: Option<String>,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// Write all heuristics in force to one file
    Export {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// Keep the heuristics of a file, each in place of the one of its subject
    Import {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        place: RegistryPlace,
    },
}

impl HeuristicsCommand {
    pub(crate) fn place(&self) -> &RegistryPlace {
        match self {
            Self::Train { place, .. }
            | Self::Show { place, .. }
            | Self::Export { place, .. }
            | Self::Import { place, .. } => place,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Every record: standing, speed, workload and threads
    List {
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// All of one record
    Show {
        /// Its identifier, or the beginning of it
        id: String,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// Check hashes and the audit log, and verify and measure every kernel of this machine again
    Verify {
        /// Only hashes and the audit log
        #[arg(long)]
        hashes_only: bool,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// Use a record no more: the one before it for its workload is in force again
    Retract {
        /// Its identifier, or the beginning of it
        id: String,
        /// Why, for the audit log
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// Write all records to one file
    Export {
        /// The file
        file: PathBuf,
        /// Leave out folders and versions of the machine that the records were made on (docs/provenance.md)
        #[arg(long)]
        anonymous: bool,
        #[command(flatten)]
        place: RegistryPlace,
    },
    /// Add the records of a file; they are used once `registry verify` has verified them here
    Import {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        place: RegistryPlace,
    },
}

impl RegistryCommand {
    pub(crate) fn place(&self) -> &RegistryPlace {
        match self {
            Self::List { place }
            | Self::Show { place, .. }
            | Self::Verify { place, .. }
            | Self::Retract { place, .. }
            | Self::Export { place, .. }
            | Self::Import { place, .. } => place,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What to compute
    #[arg(value_parser = workload)]
    pub(crate) workload: Workload,
    /// An operand: NAME=FILE.npy
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file)]
    pub(crate) input: Vec<(String, PathBuf)>,
    /// Short for --input a=FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) a: Option<PathBuf>,
    /// Short for --input b=FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) b: Option<PathBuf>,
    /// Where the result goes
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Worker threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) threads: u32,
    /// The registry's folder
    #[arg(long, value_name = "DIR")]
    pub(crate) registry: Option<PathBuf>,
    /// Print one JSON object that says which kernel ran
    #[arg(long)]
    pub(crate) json: bool,
    /// No notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// Recordings to score on, and descriptions that restrict them
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Strategies, by name (`external` is a program of your own, see --proposer); random search is always among
    /// them [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,
    #[command(flatten)]
    pub(crate) proposer: ProposerArguments,
    /// Runs of each strategy on each space
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=100_000), allow_negative_numbers = true)]
    pub(crate) runs: u32,
    /// Seed of every random draw
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// A T1 problem description; restricts the recordings that have its parameters
    #[arg(long, value_name = "FILE")]
    pub(crate) problem: Vec<PathBuf>,
    /// Recordings of related spaces that strategies are advised from; one of a space's own kernel and device
    /// never advises on it
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) warm_from: Vec<PathBuf>,
    /// Where to write charts
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// Write a table with one line a run, as Parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

pub(crate) fn workload(text: &str) -> Result<Workload, String> {
    text.parse::<Workload>().map_err(|error| error.to_string())
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("expected NAME=FILE, e.g. bias=bias.npy".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
