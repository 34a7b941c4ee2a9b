//! Hostile workloads and schedules: an error, or something that can be lowered.

use tilewright_fuzz::Fuzz;
use tilewright_ir::{
    Limits, MemoryLevel, Schedule, Workload, WorkloadKey, default_schedule, legalise, lower, operators,
    starting_schedules,
};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// What fits in memory when it is written out as a program.
fn is_small(workload: &Workload) -> bool {
    let computation = workload.operator().describe(workload.parameters());
    computation.is_ok_and(|computation| computation.operations() < 1e6)
}

fn limits() -> Limits {
    let level = |name: &str, bytes| MemoryLevel { name: name.to_owned(), bytes, owner: None, strict: false };
    Limits {
        target: "avx2".to_owned(),
        vector_bytes: 32,
        vector_registers: 16,
        workers: 2,
        levels: vec![level("L1", 32 << 10), level("L2", 512 << 10), level("L3", 32 << 20)],
        workspace_bytes: 1 << 30,
        memory_broadcast: true,
        body_instructions: 20_000,
    }
}

#[test]
fn fuzzed_workloads_are_refused_or_read_back() {
    let texts = operators().iter().flat_map(|operator| operator.test_workloads());
    let fuzz = texts.fold(Fuzz::new(HERE, "workload"), |fuzz, workload| fuzz.seed(workload.to_string()));
    fuzz.seed("matmul:m=128,n=3072,k=1024,dtype=f32,layout=nt,lda=4000,accumulate=true,epilogue=bias+silu")
        .run(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let workload: Workload = match text.parse() {
                Ok(workload) => workload,
                Err(error) => return assert!(!error.to_string().is_empty()),
            };
            assert_eq!(workload.to_string().parse::<Workload>().unwrap(), workload);
            if is_small(&workload) {
                let schedule = default_schedule(&workload, &limits());
                let program = lower(&workload, &schedule, &limits()).expect("a default is legal");
                legalise(&program, &limits()).expect("a default is legal");
            }
        });
}

#[test]
fn fuzzed_schedules_are_illegal_or_lowered() {
    let workload: Workload = "matmul:m=21,n=37,k=19,dtype=f32,epilogue=bias+silu".parse().unwrap();
    let known =
        starting_schedules(&workload, &limits()).into_iter().chain([default_schedule(&workload, &limits())]);
    let json = |schedule: &Schedule| serde_json::to_vec(schedule).unwrap();
    let more = Schedule::default()
        .with_number("tile.m", 8)
        .with_number("register.n", 4)
        .with_name("rest.m", "mask")
        .with_name("order", "kmn")
        .with_name("pack.a", "tile")
        .with_name("threads", "m.outer")
        .with_name("vector", "k")
        .with_number("unroll", 4)
        .with_number("prefetch.b", 3);
    let fuzz = known.fold(Fuzz::new(HERE, "schedule"), |fuzz, schedule| fuzz.seed(json(&schedule)));
    fuzz.seed(json(&more)).run(|bytes| {
        let Ok(schedule) = serde_json::from_slice::<Schedule>(bytes) else { return };
        assert_eq!(serde_json::from_slice::<Schedule>(&json(&schedule)).unwrap(), schedule);
        if let Ok(program) = lower(&workload, &schedule, &limits()) {
            let _ = legalise(&program, &limits());
        }
    });
}

#[test]
fn fuzzed_keys_are_refused_or_read_back() {
    let key = r#"{"workload":"matmul:m=8,n=8,k=8,dtype=f32","target":"zen3","threads":1,"cache":"warm"}"#;
    Fuzz::new(HERE, "key").seed(key).run(|bytes| {
        let Ok(key) = serde_json::from_slice::<WorkloadKey>(bytes) else { return };
        let text = serde_json::to_vec(&key).unwrap();
        assert_eq!(serde_json::from_slice::<WorkloadKey>(&text).unwrap(), key);
    });
}
