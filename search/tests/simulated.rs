//! Campaigns on matrix products whose times are simulated: real spaces, real lowering, no noise.

use std::sync::atomic::AtomicBool;

use tilewright_evaluator::{BatchReport, Evaluation, Runner, Task};
use tilewright_genome::SearchSpace;
use tilewright_ir::{CacheState, Limits, Workload, WorkloadKey, default_schedule};
use tilewright_journal::{EvalError, Event, Fidelity, Measurement, Subject};
use tilewright_search::{
    Budget, Campaign, CampaignParts, CampaignSettings, Lowering, ProposalOrder, SinkError, strategy,
};
use tilewright_simulator::{Chip, chip_named, simulate};
use tilewright_stats::Evidence;

struct SimulatedRunner(Chip);

impl SimulatedRunner {
    fn time(&self, task: &Task) -> Option<f64> {
        Some(simulate(task.program.as_ref()?, &self.0).ok()?.time_ns)
    }
}

impl Runner for SimulatedRunner {
    fn run(&mut self, incumbent: Option<&Task>, batch: &[Task]) -> BatchReport {
        let evaluations = batch.iter().map(|task| {
            let beside = self.time(incumbent.unwrap_or(task));
            let (outcome, evidence) = if let Some((incumbent, candidate)) = beside.zip(self.time(task)) {
                (Ok(Measurement::predicted(candidate)), Evidence::Exact { incumbent, candidate })
            } else {
                let error = EvalError::Compile("no model".to_owned());
                let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
                (Err(error), evidence)
            };
            Evaluation { outcome, evidence, elapsed_ns: 1_000_000 }
        });
        BatchReport { evaluations: evaluations.collect(), overhead_ns: 0 }
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Simulated
    }
}

/// Time of the default and of what a campaign found, ns.
fn tune(text: &str, workers: u32, name: &str, seed: u64, trials: u64) -> [f64; 2] {
    let workload: Workload = text.parse().expect("a workload");
    let limits = Limits {
        target: "avx2".to_owned(),
        vector_bytes: 32,
        vector_registers: 16,
        workers,
        levels: Vec::new(),
        workspace_bytes: 1 << 30,
        memory_broadcast: false,
        body_instructions: 4096,
    };
    let key = WorkloadKey {
        workload: workload.clone(),
        target: "simulated".to_owned(),
        threads: workers,
        cache: CacheState::Warm,
    };
    let parts = CampaignParts {
        subject: Subject::Workload(key),
        space: SearchSpace::of(&workload, &limits).expect("a space"),
        default: default_schedule(&workload, &limits),
        strategy: (strategy(name).expect("a listed strategy").create)(),
        ranker: Box::new(ProposalOrder),
        prepare: Box::new(Lowering { workload, limits }),
        fidelity: Fidelity::Simulated,
    };
    let budget = Budget { trials: Some(trials), time_ns: None, plateau: None };
    let settings = CampaignSettings { seed, budget, ..CampaignSettings::default() };
    let mut times = [f64::NAN; 2];
    let mut sink = |event: &Event| -> Result<(), SinkError> {
        if let Event::IncumbentMoved(moved) = event {
            times = [if times[0].is_nan() { moved.median_ns } else { times[0] }, moved.median_ns];
        }
        Ok(())
    };
    let mut runner = SimulatedRunner(chip_named("amd_zen3").expect("a listed chip").clone());
    let mut campaign = Campaign::new(settings, parts);
    campaign.run(&mut runner, &mut sink, &AtomicBool::new(false)).expect("a sink that takes everything");
    times
}

const SHAPES: [(&str, u32); 6] = [
    ("matmul:m=64,n=64,k=64,dtype=f32", 1),
    ("matmul:m=512,n=512,k=512,dtype=f32", 1),
    ("matmul:m=509,n=511,k=513,dtype=f32", 2),
    ("matmul:m=13,n=17,k=19,dtype=f32", 1),
    ("matmul:m=1,n=3072,k=1024,dtype=f32,layout=nt", 2),
    ("matmul:m=128,n=3072,k=1024,dtype=f32", 2),
];

/// Mean of ln(time found by random search / time found by `name`), over shapes and seeds.
#[expect(clippy::print_stdout, reason = "figures for whoever runs it with --nocapture")]
fn advantage(name: &str, seeds: u64, trials: u64) -> f64 {
    let mut sum = 0.0;
    for (text, workers) in SHAPES {
        let mut here = 0.0;
        for seed in 0..seeds {
            let [_, random] = tune(text, workers, "random", seed, trials);
            let [_, found] = tune(text, workers, name, seed, trials);
            here += (random / found).ln() / seeds as f64;
        }
        println!("{name} {text}: {here:+.3}");
        sum += here / SHAPES.len() as f64;
    }
    sum
}

// U023
#[test]
fn no_campaign_ends_slower_than_its_default_and_most_end_faster() {
    let mut faster = 0;
    for (text, workers) in SHAPES {
        let [default, found] = tune(text, workers, "evolution", 1, 80);
        assert!(found <= default, "{text}: {found} after {default}");
        faster += usize::from(found < 0.99 * default);
    }
    assert!(faster >= 3, "{faster}");
}

#[test]
fn evolution_finds_faster_programs_than_random_search() {
    let mean = advantage("evolution", 2, 150);
    assert!(mean > 0.0, "{mean}");
}
