//! What is right must pass: real kernels, measured and confirmed.

use std::time::Duration;

use tilewright_evaluator::{
    DeviceRunner, DeviceSettings, EvaluatorError, Runner, StandSettings, TestStand, device_limits,
};
use tilewright_ir::computation::Computation;
use tilewright_ir::{CacheState, WorkloadKey, default_schedule, legalise, lower, operators};
use tilewright_runtime::HostFacts;
use tilewright_stats::{Decision, Evidence, Gate};

use crate::support::{Rig, Test};

pub(crate) const TESTS: &[Test] = &[
    ("default_schedules_of_all_test_workloads_pass", default_schedules_of_all_test_workloads_pass),
    ("large_outputs_pass", large_outputs_pass),
    ("two_threads_pass", two_threads_pass),
    ("cold_launches_pass", cold_launches_pass),
    ("a_kernel_does_not_beat_itself_when_confirmed", a_kernel_does_not_beat_itself_when_confirmed),
    (
        "defaults_of_all_test_workloads_pass_on_extreme_values",
        defaults_of_all_test_workloads_pass_on_extreme_values,
    ),
    ("ceilings_are_measured", ceilings_are_measured),
    ("what_does_not_fit_into_memory_is_refused", what_does_not_fit_into_memory_is_refused),
];

fn default_schedules_of_all_test_workloads_pass() {
    for workload in operators().iter().flat_map(|operator| operator.test_workloads()) {
        let mut rig = Rig::real(&workload.to_string(), 1);
        let evaluation = rig.evaluate();
        let measurement = evaluation.outcome.unwrap_or_else(|error| panic!("{workload}: {error}"));
        assert!(measurement.median_ns > 0.0 && measurement.is_measured());
        let verification = measurement.verification.unwrap();
        assert!(verification.max_error <= verification.tolerance, "{workload}: {verification:?}");
        assert_eq!(verification.miss_probability, 0.0, "{workload}: {verification:?}");
        let Evidence::Pairs { incumbent, candidate } = evaluation.evidence else { panic!("pairs") };
        assert!(incumbent.len() == candidate.len() && incumbent.len() >= 3);
    }
}

fn large_outputs_pass() {
    for workload in [
        "matmul:m=190,n=210,k=170,dtype=f32",
        "matmul:m=170,n=190,k=210,dtype=f32,layout=tt,accumulate=true,ldc=200",
        "matmul:m=190,n=170,k=150,dtype=f32,layout=nt,epilogue=bias+silu",
        "matmul:m=1,n=3000,k=1000,dtype=f32,layout=nt",
        "matmul:m=400,n=420,k=430,dtype=f32",
    ] {
        let measurement = Rig::real(workload, 1).evaluate().outcome;
        let measurement = measurement.unwrap_or_else(|error| panic!("{workload}: {error}"));
        let verification = measurement.verification.unwrap();
        assert_eq!(verification.method, "freivalds+sampled", "{workload}");
        assert!(verification.miss_probability > 0.0 && verification.miss_probability < 1e-6);
    }
}

fn two_threads_pass() {
    let mut rig = Rig::real("matmul:m=128,n=128,k=128,dtype=f32", 2);
    let measurement = rig.evaluate().outcome.unwrap();
    assert!(measurement.is_measured());
}

/// Whether they are slower is for benchmarks to say: a disturbed warm launch can take longer than a cold one.
// U033, U035
fn cold_launches_pass() {
    let evaluation = Rig::cold("matmul:m=64,n=64,k=64,dtype=f32").evaluate();
    let measurement = evaluation.outcome.unwrap();
    assert!(measurement.is_measured());
    let Evidence::Pairs { incumbent, candidate } = evaluation.evidence else { panic!("pairs") };
    assert!(incumbent.len() == candidate.len() && incumbent.len() >= 3);
}

// U008, U027
fn a_kernel_does_not_beat_itself_when_confirmed() {
    let mut rig = Rig::real("matmul:m=48,n=48,k=48,dtype=f32", 1);
    let task = rig.task.clone();
    let report = rig.runner.confirm(&task, &task).unwrap().unwrap();
    assert!(report.winner.measurement.p99_ns.unwrap() >= 100.0);
    assert_eq!(report.verification.inputs, ["integer", "heavy_tailed", "extreme", "structured"]);
    let drift = report.verification.drift.unwrap();
    assert!(drift.relative_error < 1e-5 && drift.limit == 1e-3 && drift.max_ulps >= 0.5, "{drift:?}");
    assert!(report.winner.listing.disassembly.contains("ret") && !report.winner.listing.program.is_empty());
    let verdict = report.gate.judge(&report.evidence);
    assert!(verdict.kind == Decision::Inconclusive, "{verdict:?}");
    let Evidence::Claim { sequential, confirmation } = &report.evidence else { panic!("a claim") };
    assert!(sequential.candidate.len() >= 24 && confirmation.candidate.len() >= 12);
    let claim = &report.claim;
    assert!(claim.margin >= 0.01 && claim.spread > 0.0 && claim.e_value < claim.threshold, "{claim:?}");
    assert!(claim.self_comparison.incumbent.len() >= 12 && claim.sequential.elapsed_ns > 0);
    assert!(claim.confirmation.waited_ns.is_some() && claim.confirmation.drift.is_some(), "{claim:?}");
}

/// Zeros, subnormal and large numbers, infinities and NaN come out as the definition says, with every layout, stride
/// and epilogue.
// U011
fn defaults_of_all_test_workloads_pass_on_extreme_values() {
    let host = HostFacts::detect();
    let settings = DeviceSettings::detect(0).unwrap();
    let limits = device_limits(settings.isa, 1, &host);
    let long = "matmul:m=5,n=9,k=100000,dtype=f32".parse().unwrap();
    let workloads = operators().iter().flat_map(|operator| operator.test_workloads()).chain([long]);
    for workload in workloads {
        let computation = workload.operator().describe(workload.parameters()).unwrap();
        // Rows have no such set.
        if !matches!(computation, Computation::Contraction(_)) {
            continue;
        }
        let program = lower(&workload, &default_schedule(&workload, &limits), &limits).unwrap();
        let artifact = settings.isa.compile(&legalise(&program, &limits).unwrap()).unwrap();
        let key = WorkloadKey { workload, target: host.fingerprint(), threads: 1, cache: CacheState::Warm };
        for seed in 0..4 {
            let executable = settings.executable.clone();
            let mut stand = TestStand::new(&key, StandSettings { executable, seed, thorough: true }).unwrap();
            let seen = stand.examine(&artifact, Duration::from_secs(20));
            let seen = seen.unwrap_or_else(|error| panic!("{key} with seed {seed}: {error}"));
            let inputs = seen.verification.inputs;
            assert!(inputs.iter().any(|kind| kind == "extreme"), "{key}: {inputs:?}");
        }
    }
}

fn ceilings_are_measured() {
    let mut rig = Rig::real("matmul:m=32,n=32,k=32,dtype=f32", 1);
    let ceilings = rig.runner.measure_ceilings().unwrap();
    assert!(ceilings.gflops > 1.0 && ceilings.bandwidths[0].gbps > 0.1, "{ceilings:?}");
    assert!(rig.evaluate().outcome.unwrap().is_measured());
}

// U161
fn what_does_not_fit_into_memory_is_refused() {
    let workload = "matmul:m=1000000,n=1000000,k=8,dtype=f32".parse().unwrap();
    let key = WorkloadKey { workload, target: String::new(), threads: 1, cache: CacheState::Warm };
    let refused = DeviceRunner::new(key, DeviceSettings::detect(1).unwrap()).err().unwrap();
    assert!(matches!(refused, EvaluatorError::Workload { .. }), "{refused}");
}
