//! What is right must pass: real kernels, measured and confirmed.

use tilewright_evaluator::{DeviceRunner, DeviceSettings, EvaluatorError, Runner};
use tilewright_ir::{CacheState, WorkloadKey, operators};
use tilewright_stats::{Decision, Evidence, Gate};

use crate::support::{Rig, Test};

pub(crate) const TESTS: &[Test] = &[
    ("default_schedules_of_all_test_workloads_pass", default_schedules_of_all_test_workloads_pass),
    ("large_outputs_pass", large_outputs_pass),
    ("two_threads_pass", two_threads_pass),
    ("cold_launches_pass", cold_launches_pass),
    ("a_kernel_does_not_beat_itself_when_confirmed", a_kernel_does_not_beat_itself_when_confirmed),
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
fn cold_launches_pass() {
    let evaluation = Rig::cold("matmul:m=64,n=64,k=64,dtype=f32").evaluate();
    let measurement = evaluation.outcome.unwrap();
    assert!(measurement.is_measured());
    let Evidence::Pairs { incumbent, candidate } = evaluation.evidence else { panic!("pairs") };
    assert!(incumbent.len() == candidate.len() && incumbent.len() >= 3);
}

fn a_kernel_does_not_beat_itself_when_confirmed() {
    let mut rig = Rig::real("matmul:m=48,n=48,k=48,dtype=f32", 1);
    let task = rig.task.clone();
    let report = rig.runner.confirm(&task, &task).unwrap().unwrap();
    assert!(report.winner.measurement.p99_ns.unwrap() >= 100.0);
    assert_eq!(report.verification.inputs.len(), 3);
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

fn ceilings_are_measured() {
    let mut rig = Rig::real("matmul:m=32,n=32,k=32,dtype=f32", 1);
    let ceilings = rig.runner.measure_ceilings().unwrap();
    assert!(ceilings.gflops > 1.0 && ceilings.bandwidths[0].gbps > 0.1, "{ceilings:?}");
    assert!(rig.evaluate().outcome.unwrap().is_measured());
}

fn what_does_not_fit_into_memory_is_refused() {
    let workload = "matmul:m=1000000,n=1000000,k=8,dtype=f32".parse().unwrap();
    let key = WorkloadKey { workload, target: String::new(), threads: 1, cache: CacheState::Warm };
    let refused = DeviceRunner::new(key, DeviceSettings::detect(1).unwrap()).err().unwrap();
    assert!(matches!(refused, EvaluatorError::Workload { .. }), "{refused}");
}
