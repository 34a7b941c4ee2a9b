//! Rounds in which every contender has one turn, in random order.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::protocol::{Answer, Request};
use super::session::{Session, Start};
use super::{Cell, Outcome, Report, Row, Shape, SharedBuffers, Versus, median, paired_ratio, verify};
use crate::peers::{Entry, Role, Search};

/// A sample lasts at least this, so that the clock's grain and the pipe do not show.
const SAMPLE_SECONDS: f64 = 400e-6;
/// Pools that spin after a batch have stopped by then.
const GAP: Duration = Duration::from_millis(2);
/// Kept rounds: enough for an interval, and no more than sharpen it.
const ROUNDS: std::ops::RangeInclusive<usize> = 7..=300;

/// What to compare and how.
pub struct Plan {
    /// The shapes, in order.
    pub shapes: Vec<Shape>,
    /// Numbers of threads, in order.
    pub threads: Vec<usize>,
    /// The contenders.
    pub contenders: Vec<&'static Entry>,
    /// Seconds of rounds a shape and number of threads; a slow shape takes what its fewest rounds take.
    pub seconds_per_shape: f64,
    /// Seed of operands and order.
    pub seed: u64,
    /// The contender that others are set beside; by default Tilewright, without it the best peer.
    pub reference: Option<String>,
    /// Where libraries are.
    pub search: Search,
    /// Tilewright's registry.
    pub registry: Option<PathBuf>,
    /// This program, which serves each contender in a process of its own.
    pub executable: PathBuf,
}

/// A contender in the parent: its process, or why there is none.
struct Opened {
    entry: &'static Entry,
    session: Result<Session, Box<Outcome>>,
}

/// A contender that takes part in the rounds of one row.
struct Runner {
    index: usize,
    kernel: String,
    flops: f64,
    launches: u64,
    one: f64,
    seconds: Vec<f64>,
}

/// Measures everything in the plan and reports each finished row to `progress`.
///
/// # Errors
/// When the shared buffers cannot be made; what goes wrong with a contender is in its cell.
pub fn compare(plan: &Plan, mut progress: impl FnMut(&Row)) -> Result<Report> {
    let mut buffers = SharedBuffers::create(&plan.shapes).context("creating the shared buffers")?;
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut rows = Vec::new();
    for &threads in &plan.threads {
        let start = Start {
            executable: &plan.executable,
            search: &plan.search,
            registry: plan.registry.as_deref(),
            buffers: buffers.descriptor(),
            threads,
        };
        let open = |entry: &&'static Entry| Opened {
            entry,
            session: Session::start(entry, &start)
                .map_err(|absent| Box::new(Outcome::Absent { why: absent.why, remedy: absent.remedy })),
        };
        let mut opened: Vec<Opened> = plan.contenders.iter().map(open).collect();
        for &shape in &plan.shapes {
            let row = measure_row(plan, shape, threads, &mut opened, &mut buffers, &mut rng)?;
            progress(&row);
            rows.push(row);
        }
    }
    Ok(Report { processor: processor(), seed: plan.seed, rows })
}

fn measure_row(
    plan: &Plan,
    shape: Shape,
    threads: usize,
    opened: &mut [Opened],
    buffers: &mut SharedBuffers,
    rng: &mut ChaCha8Rng,
) -> Result<Row> {
    buffers.fill(shape, plan.seed)?;
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    let mut runners = Vec::new();
    for (index, contender) in opened.iter_mut().enumerate() {
        outcomes.push(match get_ready(contender, index, shape, buffers, plan.seed)? {
            Ok(runner) => {
                runners.push(runner);
                None
            }
            Err(outcome) => Some(*outcome),
        });
        sleep(GAP);
    }
    let round: f64 = runners
        .iter()
        .map(|runner| runner.one * runner.launches as f64 * 1.3 + GAP.as_secs_f64())
        .sum::<f64>()
        .max(1e-3);
    let rounds = ((plan.seconds_per_shape / round) as usize).clamp(*ROUNDS.start(), *ROUNDS.end());
    let mut order: Vec<usize> = (0..runners.len()).collect();
    for _ in 0..=rounds {
        order.shuffle(rng);
        for &position in &order {
            let runner = &mut runners[position];
            if outcomes[runner.index].is_none() {
                match ask(&mut opened[runner.index], &Request::Run(runner.launches)) {
                    Ok(Answer::Ran(seconds)) => runner.seconds.push(seconds),
                    Ok(other) => outcomes[runner.index] = Some(*unexpected(&other)),
                    Err(broken) => outcomes[runner.index] = Some(*broken),
                }
                sleep(GAP);
            }
        }
    }
    for runner in runners {
        let outcome = &mut outcomes[runner.index];
        if outcome.is_none() {
            *outcome = Some(measured(runner));
        }
    }
    let cells = opened.iter().zip(outcomes).map(|(contender, outcome)| Cell {
        contender: contender.entry.name.to_owned(),
        outcome: outcome.unwrap_or_else(|| Outcome::Broken("no sample".to_owned())),
    });
    let mut row = Row {
        shape,
        workload: shape.to_string(),
        threads,
        rounds,
        cells: cells.collect(),
        best_peer: None,
        subject_over_best: None,
    };
    let entries: Vec<&Entry> = opened.iter().map(|contender| contender.entry).collect();
    relate(&mut row, &entries, plan.reference.as_deref());
    Ok(row)
}

/// Prepares a contender, checks its result and finds its number of launches.
fn get_ready(
    contender: &mut Opened,
    index: usize,
    shape: Shape,
    buffers: &mut SharedBuffers,
    seed: u64,
) -> Result<Result<Runner, Box<Outcome>>> {
    buffers.spoil_result(shape)?;
    let (kernel, flops) = match ask(contender, &Request::Prepare(shape)) {
        Ok(Answer::Prepared { kernel, flops, writes_result }) => {
            if writes_result && let Err(wrong) = verify(&buffers.problem(shape)?, seed) {
                return Ok(Err(Box::new(Outcome::Wrong(format!("{kernel}: {wrong}")))));
            }
            (kernel, flops)
        }
        Ok(Answer::Unsupported(why)) => return Ok(Err(Box::new(Outcome::Unsupported(why)))),
        Ok(other) => return Ok(Err(unexpected(&other))),
        Err(outcome) => return Ok(Err(outcome)),
    };
    Ok(match ask(contender, &Request::Calibrate(SAMPLE_SECONDS)) {
        Ok(Answer::Calibrated { launches, seconds }) => {
            Ok(Runner { index, kernel, flops, launches, one: seconds, seconds: Vec::new() })
        }
        Ok(other) => Err(unexpected(&other)),
        Err(outcome) => Err(outcome),
    })
}

/// Asks a contender; one whose process broke stays broken.
fn ask(contender: &mut Opened, request: &Request) -> Result<Answer, Box<Outcome>> {
    match &mut contender.session {
        Ok(session) => session.ask(request).map_err(|why| {
            let outcome = Box::new(Outcome::Broken(why));
            contender.session = Err(outcome.clone());
            outcome
        }),
        Err(outcome) => Err(outcome.clone()),
    }
}

fn unexpected(answer: &Answer) -> Box<Outcome> {
    Box::new(Outcome::Broken(format!("it answered {answer:?}")))
}

fn measured(runner: Runner) -> Outcome {
    // The first round finds caches and clocks as preparing left them.
    let seconds = runner.seconds.get(1..).unwrap_or_default().to_vec();
    match median(&seconds) {
        Some(median) => Outcome::Measured {
            kernel: runner.kernel,
            launches: runner.launches,
            gflops: runner.flops / median / 1e9,
            seconds,
            median,
            percent_of_ceiling: None,
            versus: None,
        },
        None => Outcome::Broken("no sample".to_owned()),
    }
}

/// Fills what sets contenders beside each other.
fn relate(row: &mut Row, entries: &[&Entry], reference: Option<&str>) {
    let speed = |row: &Row, name: &str| match &row.cell(name)?.outcome {
        Outcome::Measured { gflops, .. } => Some(*gflops),
        _ => None,
    };
    let of_role = |role: Role| entries.iter().filter(move |entry| entry.role == role).map(|entry| entry.name);
    let ceiling = of_role(Role::Ceiling).find_map(|name| speed(row, name));
    let best = of_role(Role::Peer)
        .filter_map(|name| Some((name, speed(row, name)?)))
        .max_by(|one, other| one.1.total_cmp(&other.1))
        .map(|(name, _)| name);
    let subject = of_role(Role::Subject).find(|name| row.seconds(name).is_some());
    let between = |row: &Row, name: &str, other: &str| paired_ratio(row.seconds(name)?, row.seconds(other)?);
    row.best_peer = best.map(str::to_owned);
    row.subject_over_best = subject.zip(best).and_then(|(subject, best)| between(row, subject, best));
    let reference = reference.or(subject).or(best).map(str::to_owned);
    for entry in entries {
        let ratio = reference.as_deref().and_then(|reference| between(row, entry.name, reference));
        let cell = row.cells.iter_mut().find(|cell| cell.contender == entry.name);
        if let Some(Cell { outcome: Outcome::Measured { gflops, percent_of_ceiling, versus, .. }, .. }) = cell
        {
            *percent_of_ceiling = ceiling.map(|ceiling| 100.0 * *gflops / ceiling);
            // The ceiling's launches are not products: a ratio of times would mean nothing.
            if entry.role != Role::Ceiling {
                *versus = reference.clone().zip(ratio).map(|(reference, ratio)| Versus { reference, ratio });
            }
        }
    }
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|line| line.starts_with("model name"));
    let name = model.and_then(|line| line.split_once(':')).map_or("unknown", |(_, name)| name.trim());
    name.to_owned()
}
