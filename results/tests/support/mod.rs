//! A made-up campaign that looks like a real one: a rough model of a matmul kernel with noise, searched by
//! mutation, with failures of every kind. Nothing in it was measured.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tilewright_ir::{CacheState, Schedule, WorkloadKey};
use tilewright_journal::{
    Bandwidth, CAMPAIGN_VERSION, Cache, CampaignEnded, CampaignRequest, CampaignStarted, Candidate,
    CeilingMeasured, Ceilings, Confirmation, ConfirmedKernel, Drift, EndReason, EvalError, Event, Fidelity,
    Host, IncumbentMoved, JOURNAL_FILE, JournalWriter, Judgement, KernelListing, Measurement, Provenance,
    Requested, SelfComparison, Subject, Trial, TrialFinished, Verification, Work,
};
use tilewright_stats::samples::median;
use tilewright_stats::{Claim, Decision, Evidence, Judged, Level, Racing, interval};

const OPERATIONS: f64 = 2.0 * 1024.0 * 1024.0 * 1024.0;
const PROGRAM: &str = "program matmul m=1024 n=1024 k=1024
tensor a f32[1024,1024] strides [1024, 1] input
tensor b f32[1024,1024] strides [1024, 1] input
tensor c f32[1024,1024] strides [1024, 1] output
resource thread 2
entry run phase
  for jc in 0..1024 step 512 rest peel
    for pc in 0..1024 step 256 rest peel
      bp f32[256,512] in L3, panels(n,16), one for the device
      copy bp <- b[pc..pc+256, jc..jc+512]
      barrier device
      for ic in 0..1024 step 96 rest mask over thread block
        fill acc <- 0 for lane<16 vector
        contract acc[i,j] += a[ic+i,p] * bp[p,j]
        copy c[ic+i,jc+j] <- acc[i,j] when i < 1024";

fn key() -> WorkloadKey {
    WorkloadKey {
        workload: "matmul:m=1024,n=1024,k=1024,dtype=f32".parse().unwrap(),
        target: "zen3-2c-4f1a".to_owned(),
        threads: 2,
        cache: CacheState::Warm,
    }
}

fn ceilings(gflops: f64) -> Ceilings {
    let level =
        |level: &str, gbps, capacity_bytes| Bandwidth { level: level.to_owned(), gbps, capacity_bytes };
    Ceilings {
        threads: 2,
        gflops,
        bandwidths: vec![
            level("L1", 400.0, Some(64 << 10)),
            level("L2", 135.0, Some(1 << 20)),
            level("L3", 115.0, Some(32 << 20)),
            level("memory", 20.0, None),
        ],
        noise_floor: Some(0.004),
    }
}

fn started(seed: u64) -> CampaignStarted {
    let cache = |name: &str, bytes, shared_by| Cache { name: name.to_owned(), bytes, shared_by };
    CampaignStarted {
        request: CampaignRequest {
            version: CAMPAIGN_VERSION,
            workload: Requested::Workload(key().workload),
            threads: 2,
            cache: CacheState::Warm,
            seconds: Some(60.0),
            trials: None,
            seed,
            strategy: "evolution".to_owned(),
            plateau: None,
            settings: BTreeMap::from([("bandit".to_owned(), "on".to_owned())]),
        },
        subject: Subject::Workload(key()),
        work: Work { operations: OPERATIONS, compulsory_bytes: 12 << 20 },
        space_points: Some(4.2e9),
        best_known_ns: None,
        host: Host {
            fingerprint: "zen3-2c-4f1a".to_owned(),
            processor: "AMD EPYC 7003 <made up>".to_owned(),
            cores: 2,
            threads: 2,
            features: vec!["avx2".to_owned(), "fma".to_owned()],
            caches: vec![cache("L1d", 32 << 10, 1), cache("L2", 512 << 10, 1), cache("L3", 32 << 20, 2)],
            memory_bytes: 8 << 30,
            system: "Linux 6.1".to_owned(),
        },
        ceilings: ceilings(203.0),
        tool: "tilewright 0.1.0".to_owned(),
        command: "tilewright tune matmul:m=1024,n=1024,k=1024,dtype=f32 --threads 2 --time 60s"
            .split(' ')
            .map(str::to_owned)
            .collect(),
        started: "2025-06-01T12:00:00+00:00".to_owned(),
    }
}

fn default_schedule() -> Schedule {
    Schedule::default()
        .with_name("order", "nkm")
        .with_number("register.m", 4)
        .with_number("register.n", 16)
        .with_number("tile.k", 128)
        .with_number("unroll", 1)
        .with_name("pack.b", "none")
        .with_name("threads", "m.outer")
}

/// Changes one parameter; the name says which mutation operator did it.
fn mutate(schedule: &Schedule, rng: &mut dyn Rng) -> (Schedule, &'static str) {
    fn pick<T: Copy>(rng: &mut dyn Rng, of: &[T]) -> T {
        of[rng.random_range(0..of.len())]
    }
    let next = schedule.clone();
    match rng.random_range(0..6) {
        0 => (next.with_name("order", pick(rng, &["mnk", "nkm", "kmn", "knm"])), "reorder loops"),
        1 => (next.with_number("register.m", rng.random_range(1..9)), "resize register tile"),
        2 => (next.with_number("tile.k", 32 * rng.random_range(1..33)), "resize cache tile"),
        3 => (next.with_number("unroll", pick(rng, &[1, 2, 4, 8])), "change unrolling"),
        4 => (next.with_name("pack.b", pick(rng, &["none", "panel", "tile", "whole"])), "change packing"),
        _ => (next.with_name("threads", pick(rng, &["m.outer", "n.outer", "k"])), "map threads"),
    }
}

/// True share of the ceiling.
fn quality(schedule: &Schedule) -> f64 {
    let number = |name: &str| schedule.number(name).unwrap_or(1) as f64;
    let register = 1.0 - 0.045 * (number("register.m") - 6.0).powi(2);
    let tile = 1.0 - 0.06 * (number("tile.k") / 256.0).log2().powi(2);
    let unroll = 0.9 + 0.1 * (number("unroll").log2() / 3.0);
    let pack = match schedule.name("pack.b") {
        Some("tile") => 1.0,
        Some("whole") => 0.97,
        Some("panel") => 0.9,
        _ => 0.62,
    };
    let threads = if schedule.name("threads") == Some("k") { 0.8 } else { 1.0 };
    (0.91 * register * tile * unroll * pack * threads).max(0.03)
}

fn true_ns(schedule: &Schedule) -> f64 {
    OPERATIONS / (203.0 * quality(schedule))
}

/// Pairs with a common drift, a little noise of each side, and now and then a disturbed launch.
fn pairs(incumbent: f64, candidate: f64, count: usize, rng: &mut dyn Rng) -> Evidence {
    let mut side = |ns: f64, drift: f64| {
        let disturbed = if rng.random_range(0..60) == 0 { 1.4 } else { 1.0 };
        ns * (1.0 + drift + 0.006 * rng.random::<f64>()) * disturbed
    };
    let times: Vec<(f64, f64)> = (0..count)
        .map(|pair| {
            let drift = 0.01 * (pair as f64 / 9.0).sin();
            (side(incumbent, drift), side(candidate, drift))
        })
        .collect();
    let (incumbent, candidate) = times.into_iter().unzip();
    Evidence::Pairs { incumbent, candidate }
}

fn measured(times: &[f64]) -> Measurement {
    let median_ns = median(times).unwrap();
    Measurement {
        interval_ns: interval::median_interval(times, Level::FIVE_PERCENT).unwrap(),
        p99_ns: Some(median_ns * 1.04),
        launches: times.len() as u64 * 2,
        kernel_ns: times.iter().sum::<f64>() as u64 * 2,
        codegen_ns: 21_000,
        code_bytes: 3_408,
        workspace_bytes: 1 << 20,
        artifact_sha256: Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned()),
        verification: Some(verification()),
        ..Measurement::predicted(median_ns)
    }
}

fn verification() -> Verification {
    Verification {
        method: "freivalds+sampled".to_owned(),
        inputs: vec!["integers".to_owned(), "heavy-tailed".to_owned()],
        elements: 4096,
        max_error: 2.1e-6,
        tolerance: 6.1e-5,
        miss_probability: 1e-12,
        drift: Some(Drift { max_ulps: 31.0, relative_error: 4.1e-7, limit: 1e-3 }),
    }
}

fn failure(schedule: &Schedule, index: u64, rng: &mut dyn Rng) -> Option<EvalError> {
    match rng.random_range(0..200) {
        0..20 => Some(EvalError::Illegal("needs 20 vector registers of 16".to_owned())),
        20..45 if index > 0 => Some(EvalError::Duplicate { of: rng.random_range(0..index) }),
        45 => Some(EvalError::Crashed { signal: 11 }),
        46 => Some(EvalError::Timeout { limit_ms: 500 }),
        47 if schedule.name("pack.b") != Some("none") => Some(EvalError::WrongAnswer {
            tensor: "c".to_owned(),
            at: vec![3, 1],
            found: f64::NAN,
            wanted: 1.5,
            max_error: f64::INFINITY,
            tolerance: 6e-5,
        }),
        _ => None,
    }
}

fn kernel(trial: u64, schedule: &Schedule, times: &[f64]) -> ConfirmedKernel {
    let body: Vec<String> = (0..12)
        .map(|row| format!("{:04x}  vfmadd231ps ymm{row},ymm14,[rsi+{:#x}]", 64 + row * 6, row * 32))
        .collect();
    ConfirmedKernel {
        trial: Some(trial),
        schedule: schedule.clone(),
        measurement: measured(times),
        listing: KernelListing {
            isa: "avx2".to_owned(),
            program: PROGRAM.to_owned(),
            program_hash: format!("{trial:016x}"),
            disassembly: format!(
                "0000  push rbx\n0001  mov rax,[rdi]\n{}\n00b0  jne 0040h\n00b6  ret",
                body.join("\n")
            ),
        },
    }
}

/// The events of a campaign of `trials` trials.
pub(crate) fn events(trials: u64, seed: u64) -> Vec<Event> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let subject = Arc::new(Subject::Workload(key()));
    let mut events = vec![Event::CampaignStarted(Box::new(started(seed)))];
    let (mut incumbent, mut incumbent_index) = (default_schedule(), 0);
    let mut at_ns = 0;
    for index in 0..trials {
        let (schedule, operator) = if index == 0 {
            (default_schedule(), None)
        } else {
            let (mut next, operator) = mutate(&incumbent, &mut rng);
            for _ in 0..rng.random_range(0..4) {
                next = mutate(&next, &mut rng).0;
            }
            (next, Some(operator.to_owned()))
        };
        let failed = (index > 0).then(|| failure(&schedule, index, &mut rng)).flatten();
        let (outcome, evidence) = if let Some(error) = failed {
            let evidence = Evidence::Failure { kind: error.kind().to_owned(), reproduced: true };
            (Err(error), evidence)
        } else {
            let evidence = pairs(true_ns(&incumbent), true_ns(&schedule), 10, &mut rng);
            let Evidence::Pairs { candidate, .. } = &evidence else { unreachable!("made as pairs") };
            (Ok(measured(candidate)), evidence)
        };
        at_ns += 60_000_000_000 / trials;
        let trial = Trial {
            index,
            candidate: Candidate { subject: Arc::clone(&subject), schedule: schedule.clone() },
            program_hash: Some(format!("{index:016x}")),
            outcome,
            evidence,
            incumbent: Some(incumbent_index),
            provenance: Provenance {
                strategy: "evolution".to_owned(),
                operator,
                parent: (index > 0).then_some(incumbent_index),
                fidelity: Fidelity::Measured,
                stream: index,
                predicted_ns: Some(true_ns(&schedule) * rng.random_range(0.8..1.2)),
            },
            at_ns,
            elapsed_ns: 20_000_000,
        };
        let judged = Judged::by(&Racing::DEFAULT, trial.evidence.clone(), ());
        let wins = index == 0 || judged.verdict().kind == Decision::Faster;
        let median_ns = trial.outcome.as_ref().map_or(0.0, |measurement| measurement.median_ns);
        let judgement = Some(Judgement::of(&judged));
        events.push(Event::TrialFinished(Box::new(TrialFinished { trial, judgement })));
        if wins {
            let previous = (index > 0).then_some(incumbent_index);
            (incumbent, incumbent_index) = (schedule, index);
            let program = PROGRAM.to_owned();
            events.push(Event::IncumbentMoved(IncumbentMoved {
                trial: index,
                previous,
                median_ns,
                program,
                at_ns,
            }));
        }
        if index % 40 == 39 {
            let evidence = pairs(true_ns(&incumbent), true_ns(&incumbent), 24, &mut rng);
            let judgement = Judgement::of(&Judged::by(&Claim::DEFAULT, evidence.clone(), ()));
            let comparison = SelfComparison { trial: incumbent_index, evidence, judgement, at_ns };
            events.push(Event::SelfComparison(Box::new(comparison)));
            let ceilings = ceilings(203.0 + rng.random_range(-2.0..2.0));
            events.push(Event::CeilingMeasured(CeilingMeasured { ceilings, at_ns }));
        }
    }
    let evidence = pairs(true_ns(&default_schedule()), true_ns(&incumbent), 120, &mut rng);
    let Evidence::Pairs { incumbent: default, candidate: winner } = &evidence else { unreachable!("pairs") };
    let confirmation = Confirmation {
        winner: kernel(incumbent_index, &incumbent, winner),
        default: kernel(0, &default_schedule(), default),
        judgement: Judgement::of(&Judged::by(&Claim::DEFAULT, evidence.clone(), ())),
        verification: verification(),
        ceilings: ceilings(203.4),
        at_ns: at_ns + 4_000_000_000,
        evidence,
    };
    let at_ns = confirmation.at_ns;
    events.push(Event::Confirmation(Box::new(confirmation)));
    events.push(Event::CampaignEnded(CampaignEnded {
        why: EndReason::Time,
        winner: Some(incumbent_index),
        at_ns,
    }));
    events
}

/// Writes events as the journal of a campaign's folder.
pub(crate) fn write(folder: &Path, events: &[Event]) {
    std::fs::create_dir_all(folder).unwrap();
    let mut writer = JournalWriter::create(&folder.join(JOURNAL_FILE)).unwrap();
    for event in events {
        writer.append(event).unwrap();
    }
}
