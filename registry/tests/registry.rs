//! Publishing, finding, damaging and moving records.
#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tilewright_ir::{CacheState, Schedule, WorkloadKey};
use tilewright_registry::{
    ArtifactFacts, CeilingFacts, Conditions, Digest, DriftFacts, EntryOffset, Incumbent, Kernel, Origin,
    Refusal, Registry, RegistryError, Standing, Timing, VerificationFacts, Verified,
};
use tilewright_stats::{Claim, ConfirmedClaim, Decision, Evidence, Exact, Judged, PairedTimes, Racing};

const AT: &str = "2025-06-01T12:00:00+00:00";

fn key(size: u64, target: &str) -> WorkloadKey {
    WorkloadKey {
        workload: format!("matmul:m={size},n={size},k={size},dtype=f32").parse().unwrap(),
        target: target.to_owned(),
        threads: 1,
        cache: CacheState::Warm,
    }
}

/// A kernel whose code is `code`, with `gain` times the incumbent's time.
fn kernel(key: &WorkloadKey, code: &[u8], incumbent: Incumbent, gain: f64) -> Judged<Kernel> {
    let before: Vec<f64> = (0..32).map(|i| 1000.0 + f64::from(i % 7)).collect();
    let after: Vec<f64> = before.iter().map(|time| time * gain).collect();
    let pairs = PairedTimes { incumbent: before, candidate: after };
    Judged::by(
        &ConfirmedClaim::DEFAULT,
        Evidence::Claim { sequential: pairs.clone(), confirmation: pairs },
        subject(key, code, incumbent, gain),
    )
}

fn conditions(microcode: &str) -> Conditions {
    let names = [("microcode", microcode), ("tool", "tilewright 0.1.0")];
    Conditions(names.map(|(name, version)| (name.to_owned(), version.to_owned())).into())
}

fn subject(key: &WorkloadKey, code: &[u8], incumbent: Incumbent, gain: f64) -> Kernel {
    Kernel {
        key: key.clone(),
        schedule: Schedule::default().with_number("tile.m", 8).with_name("vector", "n"),
        program_hash: "00ff".to_owned(),
        artifact: ArtifactFacts {
            sha256: Digest::of(code),
            bytes: code.len() as u64,
            isa: "avx2".to_owned(),
            entries: vec![EntryOffset { name: "run".to_owned(), offset: 0 }],
            workers: 1,
            workspace_bytes: 0,
        },
        incumbent,
        timing: Timing { median_ns: 1003.0 * gain, low_ns: Some(1002.0 * gain), high_ns: None, p99_ns: None },
        verification: VerificationFacts {
            method: "full".to_owned(),
            inputs: vec!["integers".to_owned()],
            elements: 4096,
            max_error: 0.0,
            tolerance: 1e-5,
            miss_probability: 0.0,
            drift: Some(DriftFacts { max_ulps: 12.0, relative_error: 2e-7, limit: 1e-3 }),
        },
        ceilings: CeilingFacts { gflops: 100.0, gbps: 60.0 },
        origin: Origin { tool: "test".to_owned(), campaign: "c".to_owned(), seed: 1, trial: Some(3) },
        conditions: Some(conditions("0x1")),
    }
}

fn filled(folder: &Path) -> (Registry, Vec<Digest>) {
    let registry = Registry::open(folder);
    let records = [64_u64, 128, 256]
        .iter()
        .map(|&size| {
            let code = vec![size as u8; 40];
            registry.publish(&kernel(&key(size, "zen3"), &code, Incumbent::Default, 0.8), &code, AT).unwrap()
        })
        .collect();
    (registry, records)
}

#[test]
fn an_absent_registry_is_empty_and_is_not_created_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(&folder.path().join("none"));
    assert!(registry.list().unwrap().is_empty());
    assert!(registry.lookup(&key(64, "zen3")).unwrap().is_none());
    assert!(registry.verify_chain().unwrap().is_sound());
    assert!(!folder.path().join("none").exists());
}

// U081, U087, U101, U105
#[test]
fn what_is_published_is_found_with_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let found = Registry::open(folder.path()).lookup(&key(128, "zen3")).unwrap().unwrap();
    assert_eq!((found.id, found.kernel.verdict().kind), (records[1], Decision::Faster));
    assert_eq!(registry.code(&found).unwrap(), vec![128; 40]);
    assert!(registry.lookup(&key(128, "zen4")).unwrap().is_none());
    let cold = WorkloadKey { cache: CacheState::Cold, ..key(128, "zen3") };
    assert!(registry.lookup(&cold).unwrap().is_none());
    let prefix = &records[2].to_string()[..12];
    assert_eq!(registry.resolve(prefix).unwrap(), records[2]);
    assert!(matches!(registry.resolve("zz"), Err(RegistryError::Name { matches: 0, .. })));
    let report = registry.verify_chain().unwrap();
    assert!(report.is_sound() && report.lines == 3 && report.records == 3, "{report:?}");
}

// U040, U098
#[test]
fn a_record_is_replaced_only_by_what_beat_that_very_record() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let key = key(64, "zen3");
    let publish =
        |code: &[u8], incumbent, gain| registry.publish(&kernel(&key, code, incumbent, gain), code, AT);
    let refused = publish(b"new", Incumbent::Default, 0.5);
    assert!(matches!(
        refused,
        Err(RegistryError::Refused(Refusal::NotCompared { current })) if current == records[0]
    ));
    for gain in [1.0, 1.2] {
        let refused = publish(b"new", Incumbent::Record(records[0]), gain);
        assert!(matches!(refused, Err(RegistryError::Refused(Refusal::Verdict(_)))));
    }
    let better = publish(b"new", Incumbent::Record(records[0]), 0.9).unwrap();
    assert_eq!(registry.lookup(&key).unwrap().unwrap().id, better);
    let standing = |record| registry.list().unwrap().iter().find(|l| l.record == record).unwrap().standing;
    assert_eq!((standing(records[0]), standing(better)), (Standing::Superseded, Standing::Current));

    registry.retract(better, "wrong on another machine", AT).unwrap();
    assert_eq!(standing(better), Standing::Retracted);
    assert_eq!(registry.lookup(&key).unwrap().unwrap().id, records[0]);
    assert!(matches!(registry.retract(better, "again", AT), Err(RegistryError::Name { .. })));
    assert!(registry.verify_chain().unwrap().is_sound());
}

// U100
#[test]
fn the_default_may_be_first_and_a_slower_kernel_may_not() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let key = key(64, "zen3");
    let slower = kernel(&key, b"code", Incumbent::Default, 1.3);
    assert!(matches!(
        registry.publish(&slower, b"code", AT),
        Err(RegistryError::Refused(Refusal::Verdict(Decision::Slower)))
    ));
    let id = registry.publish(&kernel(&key, b"code", Incumbent::Default, 1.0), b"code", AT).unwrap();
    assert_eq!(registry.lookup(&key).unwrap().unwrap().id, id);
}

#[test]
fn a_race_won_is_no_claim() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = Evidence::Pairs { incumbent: vec![2.0; 40], candidate: vec![1.0; 40] };
    let subject = subject(&key(64, "zen3"), b"code", Incumbent::Default, 0.5);
    let raced = Judged::by(&Racing::DEFAULT, pairs, subject);
    assert_eq!(raced.verdict().kind, Decision::Faster);
    let refused = Registry::open(folder.path()).publish(&raced, b"code", AT);
    assert!(matches!(refused, Err(RegistryError::Refused(Refusal::NoMargin(_)))));
}

#[test]
fn a_gain_that_was_not_confirmed_is_no_claim() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let pairs = |ratio: f64| PairedTimes { incumbent: vec![2.0; 40], candidate: vec![2.0 * ratio; 40] };
    let subject = || subject(&key(64, "zen3"), b"code", Incumbent::Default, 0.5);
    let once = Judged::by(&Claim::DEFAULT, pairs(0.5).into(), subject());
    assert_eq!(once.verdict().kind, Decision::Faster);
    let refused = registry.publish(&once, b"code", AT);
    assert!(matches!(refused, Err(RegistryError::Refused(Refusal::NotConfirmed(_)))));
    let first = registry.publish(&kernel(&key(64, "zen3"), b"code", Incumbent::Default, 1.0), b"code", AT);
    // Found, and not found again: it replaces nothing.
    let lucky = Evidence::Claim { sequential: pairs(0.5), confirmation: pairs(1.0) };
    let beside = Kernel { incumbent: Incumbent::Record(first.unwrap()), ..subject() };
    let refused = registry.publish(&Judged::by(&ConfirmedClaim::DEFAULT, lucky, beside), b"code", AT);
    assert!(matches!(refused, Err(RegistryError::Refused(Refusal::Verdict(Decision::Inconclusive)))));
}

#[test]
fn a_simulated_kernel_is_listed_and_never_served() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let key = key(64, "zen3");
    let evidence = Evidence::Exact { incumbent: 2.0, candidate: 1.0 };
    let simulated = Judged::by(&Exact, evidence, subject(&key, b"code", Incumbent::Default, 0.5));
    let id = registry.publish(&simulated, b"code", AT).unwrap();
    assert_eq!(registry.list().unwrap()[0].record, id);
    assert!(registry.lookup(&key).unwrap().is_none());
    let measured = registry.publish(&kernel(&key, b"code", Incumbent::Default, 0.9), b"code", AT).unwrap();
    assert_eq!(registry.lookup(&key).unwrap().unwrap().id, measured);
}

// U017
#[test]
fn a_kernel_that_contradicts_itself_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let key = key(64, "zen3");
    let judge = |subject: Kernel| {
        let pairs = PairedTimes { incumbent: vec![2.0; 40], candidate: vec![1.0; 40] };
        let claim = Evidence::Claim { sequential: pairs.clone(), confirmation: pairs };
        registry.publish(&Judged::by(&ConfirmedClaim::DEFAULT, claim, subject), b"code", AT)
    };
    let good = || subject(&key, b"code", Incumbent::Default, 0.5);
    let mut wrong = vec![good(); 5];
    wrong[0].artifact.sha256 = Digest::of(b"other");
    wrong[1].artifact.entries[0].offset = 4;
    wrong[2].artifact.workers = 2;
    wrong[3].verification.max_error = f64::NAN;
    wrong[4].timing.median_ns = f64::INFINITY;
    for wrong in wrong {
        assert!(matches!(judge(wrong), Err(RegistryError::Refused(Refusal::Inconsistent(_)))));
    }
    assert!(registry.list().unwrap().is_empty());
    judge(good()).unwrap();
}

// U095
#[test]
fn a_publication_that_fails_half_way_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Code can be written, records cannot.
    fs::write(folder.path().join("records"), "").unwrap();
    let registry = Registry::open(folder.path());
    registry.check_writable().unwrap();
    let kernel = kernel(&key(64, "zen3"), b"code", Incumbent::Default, 0.5);
    assert!(registry.publish(&kernel, b"code", AT).is_err());
    fs::remove_file(folder.path().join("records")).unwrap();
    assert!(registry.verify_chain().unwrap().is_sound());
    registry.publish(&kernel, b"code", AT).unwrap();
    assert!(registry.verify_chain().unwrap().is_sound());
}

// U041, U087, U163
#[test]
fn an_archive_carries_records_with_their_fingerprint_and_restores_damaged_files() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (registry, records) = filled(here.path());
    let archive = here.path().join("kernels.archive");
    let exported = registry.export().unwrap();
    assert_eq!(exported.records, 3);
    fs::write(&archive, exported.archive).unwrap();

    let other = Registry::open(there.path());
    let code = b"mine".to_vec();
    let mine = other.publish(&kernel(&key(64, "zen3"), &code, Incumbent::Default, 0.95), &code, AT).unwrap();
    let imported = other.import(&archive, AT).unwrap();
    assert_eq!((imported.records.clone(), imported.known), (records.clone(), 0));
    assert_eq!(other.lookup(&key(64, "zen3")).unwrap().unwrap().id, mine);
    let taken = other.lookup(&key(256, "zen3")).unwrap().unwrap();
    assert_eq!((taken.id, taken.kernel.subject().key.target.as_str()), (records[2], "zen3"));
    assert!(other.verify_chain().unwrap().is_sound());

    fs::write(there.path().join(format!("records/{}.json", records[2])), b"{}").unwrap();
    assert!(other.lookup(&key(256, "zen3")).unwrap().is_none());
    assert_eq!(other.import(&archive, AT).unwrap().known, 3);
    assert_eq!(other.lookup(&key(256, "zen3")).unwrap().unwrap().id, records[2]);
    assert_eq!(other.list().unwrap().len(), 4);
}

#[test]
fn the_last_heuristic_of_a_subject_is_in_force_and_a_damaged_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let first = registry.keep_heuristic("a", b"{\"version\":1}", AT).unwrap();
    let other = registry.keep_heuristic("b", b"{\"version\":1,\"b\":0}", AT).unwrap();
    let second = registry.keep_heuristic("a", b"{\"version\":2}", AT).unwrap();
    assert_eq!(registry.keep_heuristic("a", b"{\"version\":2}", AT).unwrap(), second);
    let kept: Vec<(Digest, String)> =
        registry.heuristics().unwrap().into_iter().map(|kept| (kept.id, kept.subject)).collect();
    assert_eq!(kept, [(other, "b".to_owned()), (second, "a".to_owned())]);
    assert_eq!(registry.heuristic(first).unwrap(), b"{\"version\":1}");
    assert_eq!(
        (registry.list().unwrap().len(), registry.verify_chain().unwrap().is_sound()),
        (records.len(), true)
    );
    fs::write(folder.path().join(format!("heuristics/{other}.json")), b"{}").unwrap();
    fs::write(folder.path().join("heuristics/stray.json"), b"{}").unwrap();
    assert!(matches!(registry.heuristic(other), Err(RegistryError::Damaged { .. })));
    let problems = registry.verify_chain().unwrap().problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.path.starts_with(folder.path().join("heuristics"))));
}

// U091
#[test]
fn a_damaged_record_stands_aside_for_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let key = key(64, "zen3");
    let better = kernel(&key, b"new", Incumbent::Record(records[0]), 0.9);
    let better = registry.publish(&better, b"new", AT).unwrap();
    let path = folder.path().join(format!("records/{better}.json"));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("902.7", "102.7")).unwrap();
    assert_eq!(registry.lookup(&key).unwrap().unwrap().id, records[0]);
    assert!(matches!(registry.show(better), Err(RegistryError::Damaged { .. })));
    let report = registry.verify_chain().unwrap();
    assert!(report.problems.len() == 2, "{report:?}");
    assert!(report.problems.iter().any(|problem| problem.path == path), "{report:?}");
}

#[test]
fn a_line_changed_removed_or_inserted_breaks_the_chain_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, _) = filled(folder.path());
    let path = folder.path().join("audit.jsonl");
    let log = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    for (changed, line) in [
        (log.replacen("threads=1", "threads=2", 1), 1),
        ([lines[0], lines[2]].concat(), 2),
        ([lines[0], lines[1], lines[1], lines[2]].concat(), 3),
        ([lines[1], lines[0], lines[2]].concat(), 1),
    ] {
        fs::write(&path, &changed).unwrap();
        let report = registry.verify_chain().unwrap();
        let first = report.problems.iter().find(|problem| problem.path == path).unwrap();
        assert_eq!(first.line, Some(line), "{report:?}");
        // Whatever happened, what is intact is found, and the log can be written on.
        assert!(registry.lookup(&key(256, "zen3")).unwrap().is_some());
    }
}

// U096
#[test]
fn an_unfinished_line_is_passed_over_and_then_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let path = folder.path().join("audit.jsonl");
    let mut log = fs::read(&path).unwrap();
    log.truncate(log.len() - 9);
    fs::write(&path, &log).unwrap();
    assert_eq!(registry.list().unwrap().len(), 2);
    assert!(registry.lookup(&key(256, "zen3")).unwrap().is_none());
    let problems = registry.verify_chain().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.line == Some(3)), "{problems:?}");
    let code = vec![0; 40];
    let again = kernel(&key(256, "zen3"), &code, Incumbent::Default, 0.8);
    assert_eq!(registry.publish(&again, &code, AT).unwrap(), records[2]);
    assert!(registry.verify_chain().unwrap().is_sound());
}

// U040, U095
#[test]
fn a_torn_line_is_kept_aside_when_the_log_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, _) = filled(folder.path());
    let path = folder.path().join("audit.jsonl");
    let log = fs::read(&path).unwrap();
    let torn = &log[..log.len() - 9];
    fs::write(&path, torn).unwrap();
    registry.publish(&kernel(&key(8, "zen3"), &[8; 4], Incumbent::Default, 0.8), &[8; 4], AT).unwrap();
    let start = torn.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    let asides: Vec<Vec<u8>> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|file| file.to_string_lossy().contains("audit.jsonl.aside-"))
        .map(|file| fs::read(file).unwrap())
        .collect();
    assert_eq!(asides, [torn[start..].to_vec()]);
    assert_eq!(registry.list().unwrap().len(), 3);
}

#[test]
fn a_line_of_a_later_version_is_passed_over_by_readers_and_stops_writers() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, _) = filled(folder.path());
    let path = folder.path().join("audit.jsonl");
    let mut log = fs::read_to_string(&path).unwrap();
    let body = "{\"sequence\":4,\"action\":{\"foretold\":{}}}";
    log.push_str(&format!("{{\"hash\":\"{}\",\"entry\":{body}}}\n", Digest::of(body.as_bytes())));
    fs::write(&path, &log).unwrap();
    assert!(registry.lookup(&key(64, "zen3")).unwrap().is_some());
    let publish = registry.publish(&kernel(&key(8, "zen3"), &[8; 4], Incumbent::Default, 0.8), &[8; 4], AT);
    for error in [publish.unwrap_err(), registry.repair(AT).unwrap_err()] {
        assert!(matches!(error, RegistryError::NewerLog { line: 4, .. }), "{error}");
        assert!(error.to_string().contains("use a newer tilewright"), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), log);
}

#[test]
fn the_order_of_the_log_decides_whatever_its_clock_said() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let better = kernel(&key(64, "zen3"), b"new", Incumbent::Record(records[0]), 0.9);
    let id = registry.publish(&better, b"new", "1970-01-01T00:00:00+00:00").unwrap();
    assert_eq!(registry.lookup(&key(64, "zen3")).unwrap().unwrap().id, id);
    assert!(registry.verify_chain().unwrap().is_sound());
}

// U040, U095
#[test]
fn writers_wait_for_one_another() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for size in 1..9_u64 {
            let folder = folder.path();
            scope.spawn(move || {
                let code = vec![size as u8; 16];
                let kernel = kernel(&key(size, "zen3"), &code, Incumbent::Default, 0.8);
                Registry::open(folder).publish(&kernel, &code, AT).unwrap();
            });
        }
    });
    let report = Registry::open(folder.path()).verify_chain().unwrap();
    assert!(report.is_sound() && report.lines == 8, "{report:?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let code = b"code";
    let kernel = kernel(&key(64, "zen3"), code, Incumbent::Default, 0.8);
    let error = Registry::open(&file.join("registry")).publish(&kernel, code, AT).unwrap_err();
    assert!(
        matches!(error, RegistryError::Io { .. }) && error.to_string().contains("file/registry"),
        "{error}"
    );
}

proptest! {
    // U082
    #[test]
    fn any_flipped_bit_is_named_and_the_rest_stays_readable(file in 0_usize..7, share in 0.0..1.0_f64, bit in 0..8_u32) {
        let folder = tempfile::tempdir().unwrap();
        let (_, records) = filled(folder.path());
        let paths: Vec<_> = std::iter::once(folder.path().join("audit.jsonl"))
            .chain(records.iter().map(|id| folder.path().join(format!("records/{id}.json"))))
            .chain([64_u8, 128, 0].map(|byte| {
                folder.path().join(format!("artifacts/{}.bin", Digest::of(&[byte; 40])))
            }))
            .collect();
        let mut bytes = fs::read(&paths[file]).unwrap();
        let at = (share * bytes.len() as f64) as usize;
        bytes[at] ^= 1_u8 << bit;
        fs::write(&paths[file], &bytes).unwrap();
        let registry = Registry::open(folder.path());
        let report = registry.verify_chain().unwrap();
        prop_assert!(report.problems.iter().any(|problem| problem.path == paths[file]), "{:?}", report);
        let found = [64, 128, 256].iter().filter(|&&size| {
            let record = registry.lookup(&key(size, "zen3")).unwrap();
            record.is_some_and(|record| registry.code(&record).is_ok())
        });
        // A line end that is gone takes two lines of the log with it.
        let lost = if file == 0 && bytes[at] ^ (1_u8 << bit) == b'\n' { 2 } else { 1 };
        prop_assert!(found.count() >= 3 - lost);
    }

    #[test]
    fn a_repair_keeps_what_is_sound_and_an_archive_brings_the_rest_back(
        hits in prop::collection::vec((0_usize..7, 0.0..1.0_f64, 0..8_u32), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (registry, records) = filled(folder.path());
        registry.keep_heuristic("a subject", b"learned", AT).unwrap();
        let archive = folder.path().join("archive");
        fs::write(&archive, registry.export().unwrap().archive).unwrap();
        let paths: Vec<_> = std::iter::once(folder.path().join("audit.jsonl"))
            .chain(records.iter().map(|id| folder.path().join(format!("records/{id}.json"))))
            .chain([64_u8, 128, 0].map(|byte| {
                folder.path().join(format!("artifacts/{}.bin", Digest::of(&[byte; 40])))
            }))
            .collect();
        for (file, share, bit) in hits {
            let mut bytes = fs::read(&paths[file]).unwrap();
            let at = (share * bytes.len() as f64) as usize;
            bytes[at] ^= 1_u8 << bit;
            fs::write(&paths[file], &bytes).unwrap();
        }
        let usable = |registry: &Registry| [64, 128, 256].map(|size| {
            let record = registry.lookup(&key(size, "zen3")).unwrap();
            record.is_some_and(|record| registry.code(&record).is_ok())
        });
        // What was listed before is still remembered there.
        let registry = Registry::open(folder.path());
        let before = usable(&registry);
        let done = registry.repair(AT).unwrap();
        let report = registry.verify_chain().unwrap();
        prop_assert!(report.is_sound(), "{:?}", report.problems);
        prop_assert_eq!(usable(&registry), before);
        prop_assert_eq!(done.aside.iter().filter(|file| !file.is_file()).count(), 0);
        prop_assert_eq!(registry.repair(AT).unwrap().aside.len(), 0);
        registry.import(&archive, AT).unwrap();
        prop_assert_eq!(usable(&registry), [true; 3]);
        prop_assert!(registry.verify_chain().unwrap().is_sound());
    }

    #[test]
    fn a_damaged_archive_is_refused_whole(share in 0.0..1.0_f64, bit in 0..8_u32) {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let archive = here.path().join("archive");
        let mut bytes = filled(here.path()).0.export().unwrap().archive;
        let at = (share * bytes.len() as f64) as usize;
        bytes[at] ^= 1_u8 << bit;
        fs::write(&archive, &bytes).unwrap();
        let registry = Registry::open(there.path());
        match registry.import(&archive, AT) {
            // A changed character of a field's name or of white space may be harmless; then all is intact.
            Ok(imported) => prop_assert!(imported.records.len() == 3 && registry.verify_chain().unwrap().is_sound()),
            Err(error) => {
                prop_assert!(matches!(error, RegistryError::Archive { .. }), "{error}");
                prop_assert!(registry.list().unwrap().is_empty());
            }
        }
    }
}

/// U086, U103: another microcode or tool means verifying again, once; nothing else does.
#[test]
fn a_record_is_served_only_under_the_conditions_it_was_verified_with() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let record = registry.show(records[0]).unwrap();
    let unverified = |microcode: &str| registry.unverified(&record, &conditions(microcode)).unwrap();
    assert_eq!(unverified("0x1"), Vec::<String>::new());
    assert_eq!(unverified("0x2"), ["microcode was 0x1 and is 0x2"]);
    let verified = Verified { at: AT.to_owned(), conditions: conditions("0x2"), median_ns: 812 };
    registry.note_verified(records[0], &verified).unwrap();
    assert_eq!(unverified("0x2"), Vec::<String>::new());
    assert_eq!(unverified("0x1"), ["microcode was 0x2 and is 0x1"]);
    assert_eq!(registry.list().unwrap()[0].verified, Some(verified));
    assert_eq!(registry.list().unwrap()[1].verified, None);
    assert!(registry.verify_chain().unwrap().is_sound());
    let nobody = Digest::of(b"nobody");
    let verified = Verified { at: AT.to_owned(), conditions: conditions("0x2"), median_ns: 1 };
    assert!(matches!(registry.note_verified(nobody, &verified), Err(RegistryError::Name { .. })));
}

// U022, U080
#[test]
fn a_record_that_does_not_say_how_it_was_verified_must_be_verified() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let key = key(64, "zen3");
    let mut old = subject(&key, b"code", Incumbent::Default, 0.8);
    (old.conditions, old.verification.drift) = (None, None);
    let evidence = kernel(&key, b"code", Incumbent::Default, 0.8).evidence().clone();
    let id = registry.publish(&Judged::by(&Claim::DEFAULT, evidence, old), b"code", AT).unwrap();
    let reasons = registry.unverified(&registry.show(id).unwrap(), &conditions("0x1")).unwrap();
    assert!(reasons.len() == 1 && reasons[0].contains("does not say"), "{reasons:?}");
}

/// What another machine of the same kind says it has verified is not believed before it was verified here.
#[test]
fn a_record_from_an_archive_is_not_served_before_it_was_verified_here() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (registry, records) = filled(there.path());
    let archive = there.path().join("archive.jsonl");
    fs::write(&archive, registry.export().unwrap().archive).unwrap();
    let registry = Registry::open(here.path());
    registry.import(&archive, AT).unwrap();
    let record = registry.lookup(&key(128, "zen3")).unwrap().unwrap();
    assert_eq!(record.id, records[1]);
    let reasons = registry.unverified(&record, &conditions("0x1")).unwrap();
    assert!(reasons.len() == 1 && reasons[0].contains("archive"), "{reasons:?}");
    let verified = Verified { at: AT.to_owned(), conditions: conditions("0x1"), median_ns: 812 };
    registry.note_verified(record.id, &verified).unwrap();
    assert_eq!(registry.unverified(&record, &conditions("0x1")).unwrap(), Vec::<String>::new());
}

// U021
#[test]
fn answers_that_drift_too_far_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let key = key(64, "zen3");
    for relative_error in [2e-3, f64::NAN] {
        let mut drifting = subject(&key, b"code", Incumbent::Default, 0.8);
        drifting.verification.drift = Some(DriftFacts { max_ulps: 9.0, relative_error, limit: 1e-3 });
        let evidence = kernel(&key, b"code", Incumbent::Default, 0.8).evidence().clone();
        let refused = registry.publish(&Judged::by(&Claim::DEFAULT, evidence, drifting), b"code", AT);
        assert!(matches!(refused, Err(RegistryError::Refused(Refusal::Inconsistent(_)))), "{refused:?}");
    }
}

/// An anonymous archive says nothing of its maker's folders, and is taken in like any other.
#[test]
fn an_anonymous_archive_names_no_folder() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let registry = Registry::open(there.path());
    let key = key(64, "zen3");
    let mut mine = subject(&key, b"code", Incumbent::Default, 0.8);
    mine.origin.campaign = "/home/somebody/secret/campaign".to_owned();
    let evidence = kernel(&key, b"code", Incumbent::Default, 0.8).evidence().clone();
    registry.publish(&Judged::by(&ConfirmedClaim::DEFAULT, evidence, mine), b"code", AT).unwrap();
    let exported = registry.export_anonymous().unwrap();
    assert_eq!((exported.records, exported.damaged.len()), (1, 0));
    let text = String::from_utf8(exported.archive.clone()).unwrap();
    assert!(!text.contains("somebody") && !text.contains("0x1"), "{text}");
    let archive = there.path().join("archive.jsonl");
    fs::write(&archive, exported.archive).unwrap();
    let registry = Registry::open(here.path());
    assert_eq!(registry.import(&archive, AT).unwrap().records.len(), 1);
    let record = registry.lookup(&key).unwrap().unwrap();
    assert_eq!(record.kernel.verdict().kind, Decision::Faster);
    assert_eq!(record.kernel.subject().origin.campaign, "");
}

// U090, U106
#[test]
fn adding_records_changes_nothing_for_other_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (registry, records) = filled(folder.path());
    let mut threads = key(128, "zen3");
    threads.threads = 2;
    let others = [key(129, "zen3"), key(128, "zen4"), threads];
    for (at, other) in others.iter().enumerate() {
        let code = [at as u8; 9];
        registry.publish(&kernel(other, &code, Incumbent::Default, 0.5), &code, AT).unwrap();
        for (size, record) in [64, 128, 256].into_iter().zip(&records) {
            assert_eq!(registry.lookup(&key(size, "zen3")).unwrap().unwrap().id, *record);
        }
    }
}
