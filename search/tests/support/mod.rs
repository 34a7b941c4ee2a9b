//! Judged trials by the hundred thousand, for what must not depend on how many there are.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use tilewright_genome::{Constraint, Gene, SearchSpace};
use tilewright_ir::{Schedule, ScheduleValue};
use tilewright_journal::{Candidate, Fidelity, Measurement, Provenance, RecordedSpace, Subject, Trial};
use tilewright_stats::{Evidence, Exact, Judged};

/// Strategies that evolve a population.
pub(crate) const EVOLUTIONARY: [&str; 8] = [
    "evolution",
    "evolution-ucb",
    "evolution-uniform",
    "evolution-policy",
    "genetic",
    "differential-evolution",
    "islands",
    "map-elites",
];

fn number(value: &ScheduleValue) -> u64 {
    match value {
        ScheduleValue::Number(number) => *number,
        ScheduleValue::Name(_) => 0,
    }
}

/// 10¹² points before the constraint.
pub(crate) fn space() -> SearchSpace {
    let names: Vec<String> = (0..12).map(|at| format!("g{at}")).collect();
    let genes = names.iter().map(|name| Gene::ordered(name, name, (1..=10).collect())).collect();
    let product = Constraint::new("g0 * g1 * g2 <= 64", &["g0", "g1", "g2"], |values| {
        values.iter().map(|value| number(value)).product::<u64>() <= 64
    });
    SearchSpace::plain(genes, vec![product]).expect("a space")
}

/// A trial with the number `index` of a point drawn at random; smaller values are faster.
pub(crate) fn trial(
    space: &SearchSpace,
    subject: &Arc<Subject>,
    index: u64,
    rng: &mut ChaCha8Rng,
) -> Judged<Trial> {
    let schedule: Schedule = space.decode(&space.sample(rng)).expect("a legal point");
    let time_ns = 1_000.0 + schedule.parameters.values().map(number).sum::<u64>() as f64;
    let evidence = Evidence::Exact { incumbent: 1_000.0, candidate: time_ns };
    let trial = Trial {
        index,
        candidate: Candidate { subject: Arc::clone(subject), schedule },
        program_hash: None,
        outcome: Ok(Measurement::predicted(time_ns)),
        evidence: evidence.clone(),
        incumbent: None,
        provenance: Provenance {
            strategy: "test".to_owned(),
            operator: None,
            parent: None,
            fidelity: Fidelity::Simulated,
            stream: index,
            predicted_ns: None,
        },
        at_ns: 0,
        elapsed_ns: 0,
    };
    Judged::by(&Exact, evidence, trial)
}

/// What the trials are about.
pub(crate) fn subject() -> Arc<Subject> {
    Arc::new(Subject::Recorded(RecordedSpace {
        space: "sum".to_owned(),
        device: "formula".to_owned(),
        digest: String::new(),
        parameters: Vec::new(),
    }))
}
