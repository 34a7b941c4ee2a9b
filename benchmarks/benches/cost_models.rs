//! Time of the learned cost models: ranking a batch of 10,000 genomes, and a refit on 500 judged trials.
//!
//! The space has the size of recorded GPU spaces and of the contraction family: 16 genes, 7 of them wide.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Gene, Genome, SearchSpace};
use tilewright_ir::Schedule;
use tilewright_journal::{Candidate, Fidelity, Measurement, Provenance, RecordedSpace, Subject, Trial};
use tilewright_search::{CostModel, Scored, SpaceFeatures, cost_models};
use tilewright_stats::{Evidence, Exact, Judged};

const TRIALS: usize = 500;
const BATCH: usize = 10_000;

fn space() -> SearchSpace {
    let wide = |at: usize| Gene::ordered(&format!("tile{at}"), "tile", (1..=48).collect());
    let narrow = |at: usize| Gene::ordered(&format!("switch{at}"), "switch", vec![0, 1]);
    let choice = |at: usize| Gene::categorical(&format!("order{at}"), "order", &["mnk", "mkn", "nmk", "nkm"]);
    let genes = (0..7).map(wide).chain((0..6).map(narrow)).chain((0..3).map(choice)).collect();
    SearchSpace::plain(genes, Vec::new()).expect("a space")
}

fn judged(schedule: Schedule, time: f64) -> Judged<Trial> {
    let evidence = Evidence::Exact { incumbent: 1.0, candidate: time };
    let subject = Subject::Recorded(RecordedSpace {
        space: String::new(),
        device: String::new(),
        digest: String::new(),
        parameters: Vec::new(),
    });
    let provenance = Provenance {
        strategy: String::new(),
        operator: None,
        parent: None,
        fidelity: Fidelity::Simulated,
        stream: 0,
        predicted_ns: None,
    };
    let trial = Trial {
        index: 0,
        candidate: Candidate { subject: subject.into(), schedule },
        program_hash: None,
        outcome: Ok(Measurement::predicted(time)),
        evidence: evidence.clone(),
        incumbent: None,
        provenance,
        at_ns: 0,
        elapsed_ns: 0,
    };
    Judged::by(&Exact, evidence, trial)
}

fn teach(model: &mut dyn CostModel, space: &SearchSpace, genomes: &[Genome]) {
    let time = |genome: &Genome| {
        let value = |at: usize| f64::from(genome.0[at]) + 1.0;
        let tile = (value(0) * value(1) / 200.0).log2().abs() + (value(2) / value(3)).log2().abs();
        1.0 + tile + 0.3 * value(8) + 0.2 * value(14) * value(4).log2()
    };
    let trials: Vec<Judged<Trial>> = genomes
        .iter()
        .map(|genome| judged(space.decode(genome).expect("a legal genome"), time(genome)))
        .collect();
    let scored: Vec<Scored<'_>> = trials
        .iter()
        .zip(genomes)
        .map(|(judged, genome)| Scored { judged, score: Some(time(genome).ln()) })
        .collect();
    model.update(&SpaceFeatures::of(space).genomes(space, genomes), &scored);
}

fn cost_model_times(criterion: &mut Criterion) {
    let space = space();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let genomes: Vec<Genome> = (0..TRIALS).map(|_| space.sample(&mut rng)).collect();
    let batch: Vec<Genome> = (0..BATCH).map(|_| space.sample(&mut rng)).collect();
    let features = SpaceFeatures::of(&space);
    for entry in cost_models() {
        let mut model = (entry.create)(1);
        teach(model.as_mut(), &space, &genomes);
        criterion.bench_function(&format!("{}: rank {BATCH} genomes", entry.id), |bencher| {
            bencher.iter(|| model.predict(&features.genomes(&space, black_box(&batch))));
        });
        criterion.bench_function(&format!("{}: refit on {TRIALS} trials", entry.id), |bencher| {
            bencher.iter_batched(
                || (entry.create)(1),
                |mut model| {
                    teach(model.as_mut(), &space, black_box(&genomes));
                    model
                },
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, cost_model_times);
criterion_main!(benches);
