//! How many evaluations a second, and how much of the time inside kernels: random legal schedules of a
//! workload, each beside the best one so far.
//!
//! `cargo run --release -p tilewright-evaluator --example throughput -- [workload] [seconds] [threads]`
#![expect(clippy::print_stdout, reason = "a program for people")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tilewright_evaluator::{DeviceRunner, DeviceSettings, Runner, Task, device_limits, run_if_worker};
use tilewright_genome::SearchSpace;
use tilewright_ir::{CacheState, Limits, Schedule, Workload, WorkloadKey, default_schedule, legalise, lower};
use tilewright_journal::{Candidate, Subject};
use tilewright_runtime::{Clock, HostFacts};
use tilewright_stats::{Decision, Gate, Racing};

fn main() -> Result<(), Box<dyn Error>> {
    run_if_worker();
    let mut arguments = std::env::args().skip(1);
    let text = arguments.next().unwrap_or_else(|| "matmul:m=64,n=64,k=64,dtype=f32".to_owned());
    let seconds: f64 = arguments.next().map_or(Ok(5.0), |text| text.parse())?;
    let threads: u32 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let workload: Workload = text.parse()?;
    let host = HostFacts::detect();
    let key = WorkloadKey { workload, target: host.fingerprint(), threads, cache: CacheState::Warm };
    let settings = DeviceSettings::detect(1)?;
    let limits = device_limits(settings.isa, threads, &host);
    let subject = Arc::new(Subject::Workload(key.clone()));
    let mut setup = Clock::start();
    let mut runner = DeviceRunner::new(key.clone(), settings)?;
    println!("set up in {:.1} ms", setup.nanoseconds() as f64 / 1e6);
    let space = SearchSpace::of(&key.workload, &limits)?;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let default = task(&subject, &key.workload, &default_schedule(&key.workload, &limits), &limits, 0)?;
    let first = runner.run(None, std::slice::from_ref(&default));
    let default_ns = first.evaluations[0].outcome.as_ref().map(|measurement| measurement.median_ns);
    println!("default: {default_ns:?} ns, {} ms", first.evaluations[0].elapsed_ns / 1_000_000);
    let (mut incumbent, mut outcomes) = (default.clone(), BTreeMap::<String, u32>::new());
    let mut lowering_ns = 0;
    let mut pairs = BTreeMap::<usize, u32>::new();
    setup = Clock::start();
    let mut seed = 0;
    while (setup.nanoseconds() as f64) < seconds * 1e9 {
        seed += 1;
        let start = setup.nanoseconds();
        let schedule = space.decode(&space.sample(&mut rng));
        let proposed = schedule.map_err(|illegal| illegal.to_string()).and_then(|schedule| {
            task(&subject, &key.workload, &schedule, &limits, seed).map_err(|illegal| illegal.to_string())
        });
        lowering_ns += setup.nanoseconds() - start;
        let Ok(proposed) = proposed else {
            *outcomes.entry("illegal".to_owned()).or_default() += 1;
            continue;
        };
        let report = runner.run(Some(&incumbent), std::slice::from_ref(&proposed));
        let evaluation = &report.evaluations[0];
        match &evaluation.outcome {
            Ok(measurement) => {
                *outcomes.entry("ok".to_owned()).or_default() += 1;
                if let tilewright_stats::Evidence::Pairs { candidate, .. } = &evaluation.evidence {
                    *pairs.entry(candidate.len()).or_default() += 1;
                }
                if Racing::DEFAULT.judge(&evaluation.evidence).kind == Decision::Faster {
                    let operations =
                        key.workload.operator().describe(key.workload.parameters())?.operations();
                    println!("{:8.2} GFLOP/s after {seed}", operations / measurement.median_ns);
                    incumbent = proposed;
                }
            }
            Err(error) => {
                if !outcomes.contains_key(error.kind()) {
                    println!(
                        "{error} (reproduced: {:?}): {:?}",
                        evaluation.evidence, proposed.candidate.schedule
                    );
                }
                *outcomes.entry(error.kind().to_owned()).or_default() += 1;
            }
        }
    }
    let wall_ns = setup.nanoseconds() as f64;
    let statistics = runner.statistics();
    let per_trial = |nanoseconds: u64| nanoseconds as f64 / 1e3 / statistics.trials as f64;
    println!("outcomes {outcomes:?}, pairs {pairs:?}");
    println!(
        "{:.0} evaluations/s in all, {:.0} in the runner",
        f64::from(outcomes.get("ok").copied().unwrap_or(0)) * 1e9 / wall_ns,
        statistics.evaluations_per_second()
    );
    println!(
        "a trial, µs: lowering {:.0}, code {:.0} (median {:.0}), waiting {:.0} (kernels {:.0}), checking {:.0}, all {:.0}",
        lowering_ns as f64 / 1e3 / statistics.trials as f64,
        per_trial(statistics.codegen_ns),
        statistics.codegen_median_ns() as f64 / 1e3,
        per_trial(statistics.stand.waiting_ns),
        per_trial(statistics.stand.kernel_ns),
        per_trial(statistics.stand.checking_ns),
        wall_ns / 1e3 / statistics.trials as f64,
    );
    println!("{:.1} % of the time inside kernels", 1e2 * statistics.kernel_fraction());
    println!("{} workers started", statistics.stand.workers);
    self_comparisons(&mut runner, &default);
    let confirmed = runner.confirm(&incumbent, &default)?;
    if let Some(confirmed) = confirmed {
        let verdict = confirmed.gate.judge(&confirmed.evidence);
        println!("confirmed in {} ms: {verdict:?}", confirmed.elapsed_ns / 1_000_000);
        println!("winner {:?}", confirmed.winner.measurement);
        println!("ceilings {:?}", confirmed.ceilings);
        println!("claim {:?}", confirmed.claim);
    }
    Ok(())
}

/// How often a kernel beats itself or loses, and by how much the two sides differ on average.
fn self_comparisons(runner: &mut DeviceRunner, task: &Task) {
    let (mut decisions, mut log_ratios) = (BTreeMap::<String, u32>::new(), Vec::new());
    for seed in 0..SELF_COMPARISONS {
        let task = Task { seed, ..task.clone() };
        let report = runner.run(Some(&task), std::slice::from_ref(&task));
        let verdict = Racing::DEFAULT.judge(&report.evaluations[0].evidence);
        *decisions.entry(format!("{:?}", verdict.kind)).or_default() += 1;
        log_ratios.extend(verdict.ratio.map(f64::ln));
    }
    let mean = log_ratios.iter().sum::<f64>() / log_ratios.len().max(1) as f64;
    println!("the default beside itself: {decisions:?}, mean ratio {:.5}", mean.exp());
}

/// Comparisons of a kernel with itself.
const SELF_COMPARISONS: u64 = 300;

fn task(
    subject: &Arc<Subject>,
    workload: &Workload,
    schedule: &Schedule,
    limits: &Limits,
    seed: u64,
) -> Result<Task, tilewright_ir::Illegal> {
    let program = legalise(&lower(workload, schedule, limits)?, limits)?;
    let candidate = Candidate { subject: Arc::clone(subject), schedule: schedule.clone() };
    Ok(Task { candidate, program: Some(Arc::new(program)), seed })
}
