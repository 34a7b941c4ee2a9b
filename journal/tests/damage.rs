//! Whatever happens to the bytes of a journal, only the lines hit are lost, and they are named.
#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use tilewright_ir::{CacheState, Schedule, WorkloadKey};
use tilewright_journal::{
    CampaignEnded, Candidate, DamageCause, EndReason, EvalError, Event, Fidelity, IncumbentMoved, Journal,
    JournalError, JournalWriter, Judgement, Measurement, Medium, Provenance, Subject, Trial, TrialFinished,
    checkpoint, repair,
};
use tilewright_stats::{Evidence, Gate, Judged, Racing};

fn trial(index: u64, outcome: Result<Measurement, EvalError>, evidence: Evidence) -> Event {
    let key = WorkloadKey {
        workload: "matmul:m=64,n=64,k=64,dtype=f32".parse().unwrap(),
        target: "test".to_owned(),
        threads: 1,
        cache: CacheState::Warm,
    };
    let trial = Trial {
        index,
        candidate: Candidate {
            subject: Arc::new(Subject::Workload(key)),
            schedule: Schedule::default().with_name("order", "mnk").with_number("tile.m", 8 * (1 + index)),
        },
        program_hash: Some(format!("{index:016x}")),
        outcome,
        evidence,
        incumbent: Some(0),
        provenance: Provenance {
            strategy: "evolution".to_owned(),
            operator: None,
            parent: None,
            fidelity: Fidelity::Measured,
            stream: index,
            predicted_ns: Some(0.1),
        },
        at_ns: index * 1000,
        elapsed_ns: 900,
    };
    let judged = Judged::by(&Racing::DEFAULT, trial.evidence.clone(), trial.clone());
    let judgement = Some(Judgement::of(&judged));
    Event::TrialFinished(Box::new(TrialFinished { trial, judgement }))
}

fn events() -> Vec<Event> {
    let times = |by: f64| (0..12).map(|i| by * (1000.0 + f64::from(i) / 3.0)).collect::<Vec<_>>();
    let pairs = Evidence::Pairs { incumbent: times(1.0), candidate: times(0.9) };
    let failure = Evidence::Failure { kind: "crashed".to_owned(), reproduced: true };
    let wrong = EvalError::WrongAnswer {
        tensor: "c \"quoted\" {\"version\":1,\n".to_owned(),
        at: vec![1, 2],
        found: f64::NEG_INFINITY,
        wanted: 1.0 / 3.0,
        max_error: f64::INFINITY,
        tolerance: 1e-6,
    };
    vec![
        trial(0, Ok(Measurement { launches: 24, ..Measurement::predicted(900.25) }), pairs),
        trial(1, Err(EvalError::Crashed { signal: 11 }), failure.clone()),
        Event::IncumbentMoved(IncumbentMoved {
            trial: 0,
            previous: None,
            median_ns: 900.25,
            program: "for m\n  for n".to_owned(),
            at_ns: 5,
        }),
        trial(2, Err(wrong), failure),
        Event::CampaignEnded(CampaignEnded {
            why: EndReason::Failed("µ".to_owned()),
            winner: None,
            at_ns: 7,
        }),
    ]
}

fn write(folder: &Path) -> (PathBuf, Vec<u8>) {
    let path = folder.join("journal.jsonl");
    let mut writer = JournalWriter::create(&path).unwrap();
    for event in events() {
        writer.append(&event).unwrap();
    }
    writer.sync().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

/// Line (from 1) in which a byte lies, its line end included.
fn line_of(bytes: &[u8], at: usize) -> u64 {
    bytes[..at].split(|&byte| byte == b'\n').count() as u64
}

fn assert_intact(journal: &Journal, except: &[u64]) {
    let events = events();
    for entry in &journal.entries {
        assert_eq!(entry.event, events[entry.number as usize - 1], "line {}", entry.line);
    }
    for number in 1..=events.len() as u64 {
        let there = journal.entries.iter().filter(|entry| entry.number == number).count();
        assert!(there == 1 || (there == 0 && except.contains(&number)), "event {number}: {there} times");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = write(folder.path());
    let journal = Journal::read(&path).unwrap();
    assert!(journal.damage.is_empty(), "{:?}", journal.damage);
    assert_eq!(journal.events().cloned().collect::<Vec<_>>(), events());
}

#[test]
fn a_judgement_read_back_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = write(folder.path());
    let journal = Journal::read(&path).unwrap();
    let Some(Event::TrialFinished(finished)) = journal.events().next() else { panic!("a trial is first") };
    let mut judgement = finished.judgement.clone().unwrap();
    let honest = judgement.verdict.clone();
    judgement.verdict.kind = tilewright_stats::Decision::Slower;
    let judged = judgement.repeat(finished.trial.evidence.clone(), &finished.trial).unwrap();
    assert_eq!((judged.verdict(), honest.gate.as_str()), (&honest, Racing::DEFAULT.id()));
}

#[test]
fn a_checkpoint_can_hold_everything_that_a_journal_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.bin");
    checkpoint::write(&path, &events()).unwrap();
    assert_eq!(checkpoint::read::<Vec<Event>>(&path).unwrap(), events());
}

// U065, U130
#[test]
fn two_writers_fail_clearly_and_a_reader_does_not_mind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut writer = JournalWriter::create(&path).unwrap();
    writer.append(&events()[0]).unwrap();
    assert!(matches!(JournalWriter::create(&path), Err(JournalError::Exists { .. })));
    assert!(matches!(JournalWriter::resume(&path), Err(JournalError::Locked { .. })));
    assert!(matches!(repair(&path), Err(JournalError::Locked { .. })));
    assert_eq!(Journal::read(&path).unwrap().entries.len(), 1);
    drop(writer);
    assert!(JournalWriter::resume(&path).is_ok());
}

#[test]
fn a_line_removed_or_repeated_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bytes) = write(folder.path());
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    std::fs::write(&path, [lines[0], lines[3], lines[4]].concat()).unwrap();
    let journal = Journal::read(&path).unwrap();
    assert_eq!(
        journal.damage.iter().map(|damage| damage.cause.clone()).collect::<Vec<_>>(),
        [DamageCause::Missing(2)]
    );
    assert_eq!((journal.damage[0].line, journal.entries.len()), (2, 3));
    std::fs::write(&path, [lines[0], lines[1], lines[0], lines[2]].concat()).unwrap();
    let journal = Journal::read(&path).unwrap();
    assert_eq!((journal.damage[0].line, &journal.damage[0].cause), (3, &DamageCause::Repeated(1)));
    assert_eq!(journal.entries.len(), 3);
}

#[test]
fn an_empty_and_a_foreign_file_are_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    assert!(matches!(Journal::read(&path), Err(JournalError::Io { .. })));
    std::fs::write(&path, b"").unwrap();
    assert_eq!(Journal::read(&path).unwrap(), Journal::default());
    std::fs::write(&path, b"\xff\xfe\n\n{}\nnull").unwrap();
    let causes: Vec<_> = Journal::read(&path).unwrap().damage.into_iter().map(|d| d.cause).collect();
    assert_eq!(causes, [DamageCause::Form, DamageCause::Form, DamageCause::Form, DamageCause::Torn]);
}

/// A disk with so many bytes of room.
#[derive(Debug)]
struct Disk {
    content: Vec<u8>,
    room: usize,
}

impl Medium for &mut Disk {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let fits = bytes.len().min(self.room - self.content.len());
        self.content.extend_from_slice(&bytes[..fits]);
        if fits == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::StorageFull.into()) }
    }

    fn cut(&mut self, length: u64) -> std::io::Result<()> {
        self.content.truncate(length as usize);
        Ok(())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

// U070
#[test]
fn a_full_disk_keeps_whole_lines_and_the_next_line_follows_once_there_is_room() {
    let mut disk = Disk { content: Vec::new(), room: 2500 };
    let mut writer = JournalWriter::on(Path::new("journal.jsonl"), &mut disk);
    let written = events().iter().take_while(|event| writer.append(event).is_ok()).count();
    assert!(written > 0 && written < events().len());
    assert!(matches!(writer.append(&events()[0]), Err(JournalError::Full { .. })));
    drop(writer);
    assert_eq!(disk.content.last(), Some(&b'\n'));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    std::fs::write(&path, &disk.content).unwrap();
    let (mut writer, done) = JournalWriter::resume(&path).unwrap();
    assert_eq!((done.events, done.torn_aside), (written as u64, None));
    for event in &events()[written..] {
        writer.append(event).unwrap();
    }
    assert_intact(&Journal::read(&path).unwrap(), &[]);
}

#[test]
fn a_device_that_is_always_full_is_an_error_of_its_own_kind() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut writer = JournalWriter::on(Path::new("/dev/full"), full);
    assert!(matches!(writer.append(&events()[0]), Err(JournalError::Full { .. })));
}

// U030
#[test]
fn a_time_that_json_cannot_hold_is_refused() {
    let mut disk = Disk { content: Vec::new(), room: 10_000 };
    let mut writer = JournalWriter::on(Path::new("journal.jsonl"), &mut disk);
    let pairs = |time| Evidence::Pairs { incumbent: vec![1.0], candidate: vec![time] };
    let infinite = Measurement { p99_ns: Some(f64::INFINITY), ..Measurement::predicted(1.0) };
    for (event, part) in [
        (trial(0, Ok(Measurement::predicted(1.0)), pairs(f64::NAN)), "evidence"),
        (trial(0, Ok(infinite), pairs(1.0)), "measurement"),
    ] {
        let error = writer.append(&event).unwrap_err();
        assert!(
            matches!(error, JournalError::Unwritable { .. }) && error.to_string().contains(part),
            "{error}"
        );
    }
    drop(writer);
    assert!(disk.content.is_empty());
}

proptest! {
    // U077
    #[test]
    fn a_journal_cut_anywhere_loses_the_cut_line_and_goes_on(share in 0.0..1.0_f64) {
        let folder = tempfile::tempdir().unwrap();
        let (path, bytes) = write(folder.path());
        let cut = (share * bytes.len() as f64) as usize;
        std::fs::write(&path, &bytes[..cut]).unwrap();

        let whole = line_of(&bytes, cut) - 1;
        let last_is_intact = bytes[cut] == b'\n';
        let kept = whole + u64::from(last_is_intact);
        let torn = cut > 0 && bytes[cut - 1] != b'\n' && !last_is_intact;
        let journal = Journal::read(&path).unwrap();
        assert_intact(&journal, &(kept + 1..=5).collect::<Vec<_>>());
        prop_assert_eq!(journal.damage.len(), usize::from(torn));
        if torn {
            prop_assert_eq!((journal.damage[0].line, &journal.damage[0].cause), (whole + 1, &DamageCause::Torn));
        }

        let (mut writer, done) = JournalWriter::resume(&path).unwrap();
        prop_assert_eq!((done.events, done.torn_aside.is_some()), (kept, torn));
        if let Some(aside) = done.torn_aside {
            let start = cut - std::fs::read(&aside).unwrap().len();
            prop_assert_eq!(std::fs::read(&aside).unwrap(), &bytes[start..cut]);
        }
        for event in &events()[kept as usize..] {
            writer.append(event).unwrap();
        }
        prop_assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn a_flipped_bit_loses_the_lines_it_ends_or_is_in_and_names_them(share in 0.0..1.0_f64, bit in 0..8_u32) {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut bytes) = write(folder.path());
        let at = (share * bytes.len() as f64) as usize;
        let hit = line_of(&bytes, at);
        // A line end is part of two lines: without it they are one, which is neither.
        let lost = if bytes[at] == b'\n' { vec![hit, hit + 1] } else { vec![hit] };
        bytes[at] ^= 1_u8 << bit;
        std::fs::write(&path, &bytes).unwrap();
        let journal = Journal::read(&path).unwrap();
        assert_intact(&journal, &lost);
        prop_assert!(!journal.damage.is_empty());
        // A bit can also make a line end, or take one away.
        prop_assert!(journal.damage.iter().all(|damage| damage.line == hit || damage.line == hit + 1));

        let damaged = journal.damage.len();
        let (mut writer, _) = JournalWriter::resume(&path).unwrap();
        writer.append(&events()[0]).unwrap();
        let longer = Journal::read(&path).unwrap();
        prop_assert_eq!(longer.entries.len(), journal.entries.len() + 1);
        prop_assert!(longer.damage.len() <= damaged);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        let journal = Journal::read(&path).unwrap();
        prop_assert!(journal.entries.is_empty());
    }
}
