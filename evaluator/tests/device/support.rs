//! Runners whose code generator gives whatever machine code a test wants.

use std::sync::{Arc, Mutex};

use tilewright_codegen::{Artifact, CacheSizes, CompileError, EntryPoint, Isa, isas};
use tilewright_evaluator::{DeviceRunner, DeviceSettings, Evaluation, Runner, Task, device_limits};
use tilewright_ir::{CacheState, Limits, Program, Workload, WorkloadKey, default_schedule, legalise, lower};
use tilewright_journal::{Candidate, EvalError, Measurement, Subject};
use tilewright_runtime::HostFacts;
use tilewright_stats::Evidence;

/// A test by name.
pub(crate) type Test = (&'static str, fn());

/// Gives the artifact that was set last, whatever the program.
pub(crate) struct Scripted(Mutex<Artifact>);

impl Scripted {
    pub(crate) fn set(&self, code: Vec<u8>, workspace_bytes: u64) {
        let entries = vec![EntryPoint { name: "run".to_owned(), offset: 0 }];
        *self.0.lock().unwrap() =
            Artifact { isa: "scripted".to_owned(), code, entries, workers: 1, workspace_bytes };
    }
}

impl Isa for Scripted {
    fn id(&self) -> &'static str {
        "scripted"
    }

    fn available(&self) -> bool {
        true
    }

    fn limits(&self, workers: u32, caches: &CacheSizes) -> Limits {
        isas()[0].limits(workers, caches)
    }

    fn compile(&self, _: &Program) -> Result<Artifact, CompileError> {
        Ok(self.0.lock().unwrap().clone())
    }
}

/// A workload on a runner.
pub(crate) struct Rig {
    pub(crate) runner: DeviceRunner,
    pub(crate) task: Task,
    script: Option<&'static Scripted>,
}

impl Rig {
    /// With the real code generator, the default schedule and this many threads.
    pub(crate) fn real(workload: &str, threads: u32) -> Self {
        Self::new(workload, threads, CacheState::Warm, None)
    }

    /// The same with cold caches.
    pub(crate) fn cold(workload: &str) -> Self {
        Self::new(workload, 1, CacheState::Cold, None)
    }

    /// With machine code from the test, one thread.
    pub(crate) fn scripted(workload: &str) -> Self {
        let empty = Artifact {
            isa: String::new(),
            code: vec![0xC3],
            entries: Vec::new(),
            workers: 1,
            workspace_bytes: 0,
        };
        let script: &'static Scripted = Box::leak(Box::new(Scripted(Mutex::new(empty))));
        Self::new(workload, 1, CacheState::Warm, Some(script))
    }

    fn new(text: &str, threads: u32, cache: CacheState, script: Option<&'static Scripted>) -> Self {
        let workload: Workload = text.parse().unwrap();
        let host = HostFacts::detect();
        let mut settings = DeviceSettings::detect(11).unwrap();
        let limits = device_limits(settings.isa, threads, &host);
        if let Some(script) = script {
            settings.isa = script;
        }
        let key = WorkloadKey { workload, target: host.fingerprint(), threads, cache };
        let schedule = default_schedule(&key.workload, &limits);
        let program = legalise(&lower(&key.workload, &schedule, &limits).unwrap(), &limits).unwrap();
        let subject = Arc::new(Subject::Workload(key.clone()));
        let task =
            Task { candidate: Candidate { subject, schedule }, program: Some(Arc::new(program)), seed: 5 };
        Self { runner: DeviceRunner::new(key, settings).unwrap(), task, script }
    }

    /// Evaluates the task beside itself.
    pub(crate) fn evaluate(&mut self) -> Evaluation {
        let mut report = self.runner.run(None, std::slice::from_ref(&self.task));
        assert_eq!(report.evaluations.len(), 1);
        report.evaluations.remove(0)
    }

    /// Evaluates machine code.
    pub(crate) fn run(&mut self, code: Vec<u8>, workspace_bytes: u64) -> Evaluation {
        self.script.unwrap().set(code, workspace_bytes);
        self.evaluate()
    }

    /// Evaluates machine code that must fail the same way twice.
    pub(crate) fn failure(&mut self, code: Vec<u8>, workspace_bytes: u64) -> EvalError {
        let evaluation = self.run(code, workspace_bytes);
        let error = evaluation.outcome.expect_err("a failure");
        let kind = error.kind().to_owned();
        assert_eq!(evaluation.evidence, Evidence::Failure { kind, reproduced: true }, "{error}");
        error
    }

    /// Evaluates machine code that must pass.
    pub(crate) fn success(&mut self, code: Vec<u8>, workspace_bytes: u64) -> Measurement {
        self.run(code, workspace_bytes).outcome.expect("a measurement")
    }
}
