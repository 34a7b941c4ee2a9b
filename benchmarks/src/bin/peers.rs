//! The command line of the comparison with other libraries.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's output")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Parser, Subcommand};
use tilewright_benchmarks::comparison::{
    Plan, Row, ServeOptions, Shape, compare, render, serve, standard_shapes,
};
use tilewright_benchmarks::peers::{CONTENDERS, Entry, Role, Search, find};

/// Measures Tilewright's registered kernels beside other libraries, on the same buffers, in turns.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    comparison: Comparison,
}

const EXAMPLES: &str = "\
Examples:
  peers                                              the standard table, on one and two threads
  peers --list                                       which peers there are, and which are installed
  peers matmul:m=512,n=512,k=512,dtype=f32 --threads 1
  peers matmul:m=8,n=4096,k=1024,layout=nt --only openblas,aocl --ratios
  peers --registry campaigns/registry --json > peers.json

Install the libraries with benchmarks/install-peers.sh. Nothing else should run meanwhile.
Exit status: 0 when the table was made, 2 when it could not be.";

#[derive(Subcommand)]
enum Command {
    /// Serves one contender to the comparison, which starts this itself.
    #[command(hide = true)]
    Serve(Serve),
}

#[derive(Args)]
struct Comparison {
    /// Shapes as workload texts; without any, the standard table.
    shapes: Vec<Shape>,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Seconds of turns for each shape and number of threads.
    #[arg(long, default_value_t = 3.0, value_name = "SECONDS")]
    seconds_per_shape: f64,
    /// Only these peers; the ceiling and Tilewright always take part.
    #[arg(long, value_delimiter = ',', value_name = "PEER")]
    only: Vec<String>,
    /// The registry that Tilewright's kernels come from.
    #[arg(long, value_name = "DIR")]
    registry: Option<PathBuf>,
    /// A folder to search for the peers' libraries before all others.
    #[arg(long, value_name = "DIR")]
    peer_dir: Option<PathBuf>,
    /// The contender that ratios are taken to [default: tilewright, without it the best peer].
    #[arg(long, value_name = "PEER")]
    reference: Option<String>,
    /// Print ratios to the reference with their intervals too.
    #[arg(long)]
    ratios: bool,
    /// Seed of the operands and of the order of turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print everything measured as JSON.
    #[arg(long)]
    json: bool,
    /// List the contenders and where their libraries were found, and stop.
    #[arg(long)]
    list: bool,
}

#[derive(Args)]
struct Serve {
    #[arg(long)]
    contender: String,
    #[arg(long)]
    threads: usize,
    #[arg(long)]
    library: Option<PathBuf>,
    #[arg(long)]
    registry: Option<PathBuf>,
    #[arg(long)]
    buffers: i32,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Some(Command::Serve(options)) => serve_one(options),
        None => run(cli.comparison),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn serve_one(options: Serve) -> Result<()> {
    let Serve { contender, threads, library, registry, buffers } = options;
    serve(&ServeOptions { contender, threads, library, registry, buffers }).context("serving a contender")
}

fn run(options: Comparison) -> Result<()> {
    let search = Search { peer_dir: options.peer_dir };
    if options.list {
        list(&search);
        return Ok(());
    }
    let available = std::thread::available_parallelism().context("asking for the processors")?.get();
    for &threads in &options.threads {
        ensure!(
            (1..=available).contains(&threads),
            "--threads {threads}: this process may use 1 to {available}"
        );
    }
    ensure!(options.seconds_per_shape > 0.0, "--seconds-per-shape must be positive");
    let plan = Plan {
        shapes: if options.shapes.is_empty() { standard_shapes() } else { options.shapes },
        threads: options.threads,
        contenders: contenders(&options.only, options.reference.as_deref())?,
        seconds_per_shape: options.seconds_per_shape,
        seed: options.seed,
        reference: options.reference,
        search,
        registry: options.registry,
        executable: std::env::current_exe().context("finding this program")?,
    };
    let total = plan.shapes.len() * plan.threads.len();
    let mut done = 0;
    let report = compare(&plan, |row: &Row| {
        done += 1;
        eprintln!("[{done}/{total}] {} on {}: {} rounds", row.shape.short(), row.threads, row.rounds);
    })?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", render(&report, options.ratios));
    }
    Ok(())
}

/// The contenders that take part: all, or the ceiling, Tilewright and those named.
fn contenders(only: &[String], reference: Option<&str>) -> Result<Vec<&'static Entry>> {
    for name in only.iter().map(String::as_str).chain(reference) {
        if find(name).is_none() {
            let names: Vec<&str> = CONTENDERS.iter().map(|entry| entry.name).collect();
            bail!("no contender `{name}`; there are {}", names.join(", "));
        }
    }
    let takes_part = |entry: &&Entry| {
        let named = only.iter().any(|name| name == entry.name) || reference == Some(entry.name);
        only.is_empty() || named || matches!(entry.role, Role::Ceiling | Role::Subject)
    };
    Ok(CONTENDERS.iter().filter(takes_part).collect())
}

fn list(search: &Search) {
    for entry in CONTENDERS {
        let place = match entry.library.map(|file| search.find(file)) {
            None => "built in".to_owned(),
            Some(Ok(path)) => path.display().to_string(),
            Some(Err(absent)) => absent.to_string(),
        };
        println!("{:<15} {}\n{:15} {place}", entry.name, entry.about, "");
    }
}
