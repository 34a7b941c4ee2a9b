//! Hostile journals, checkpoints and requests: named damage or an error, and what is sound is read.

use std::path::Path;

use tilewright_fuzz::Fuzz;

use crate::{
    CAMPAIGN_VERSION, CampaignEnded, CampaignRequest, CampaignResumed, EndReason, Event, IncumbentMoved,
    Journal, JournalReader, Known, LinesLost, Matrix, ProposerAnswered, checkpoint, frame, seconds,
};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn events() -> Vec<Event> {
    let journal = Path::new(HERE).join("corpus/campaign/journal.jsonl");
    let recorded = Journal::read(&journal).expect("a recorded campaign").entries;
    let others = [
        Event::IncumbentMoved(IncumbentMoved {
            trial: 1,
            previous: Some(0),
            median_ns: 12.5,
            program: "for m".to_owned(),
            at_ns: 9,
        }),
        Event::CampaignResumed(CampaignResumed {
            resumed: "2026-01-01T00:00:00Z".to_owned(),
            tool: "t".to_owned(),
            trials: 1,
        }),
        Event::ProposerAnswered(ProposerAnswered {
            said: "0".to_owned(),
            question: "{}".to_owned(),
            answer: "{}".to_owned(),
        }),
        Event::LinesLost(LinesLost { aside: "a".to_owned() }),
        Event::CampaignEnded(CampaignEnded {
            why: EndReason::Failed("x".to_owned()),
            winner: None,
            at_ns: 7,
        }),
    ];
    recorded.into_iter().map(|entry| entry.event).chain(others).collect()
}

fn lines(events: &[Event]) -> Vec<u8> {
    let line = |(number, event): (u64, &Event)| frame::encode(number, event).expect("an event");
    (1..).zip(events).flat_map(line).collect()
}

/// Makes the checksum of every line right that has the form of one.
fn mend_lines(bytes: &mut Vec<u8>) {
    let mended =
        bytes.split_inclusive(|&byte| byte == b'\n').flat_map(|line| match line.strip_suffix(b"\n") {
            Some(whole) => [&frame::mended(whole).unwrap_or_else(|| whole.to_vec()), &b"\n"[..]].concat(),
            None => line.to_vec(),
        });
    *bytes = mended.collect();
}

#[test]
fn fuzzed_journals_are_read_as_far_as_they_are_sound() {
    let events = events();
    let fuzz = Fuzz::new(HERE, "journal").seed(lines(&events)).mend(mend_lines);
    let single = events.chunks(3).fold(fuzz, |fuzz, events| fuzz.seed(lines(events)));
    single.run(|bytes| {
        let mut reader = JournalReader::new(bytes);
        let mut numbers = Vec::new();
        while let Some(found) = reader.read_next().expect("memory can be read") {
            match found {
                Ok(entry) => {
                    numbers.push(entry.number);
                    // What was read can be written again, unless a number is none that JSON holds.
                    if frame::encode(entry.number, &entry.event).is_ok() && numbers.len() == 1 {
                        let again = frame::encode(entry.number, &entry.event).expect("it was written before");
                        assert!(frame::decode(&again[..again.len() - 1]).is_ok());
                    }
                }
                Err(damage) => assert!(!damage.to_string().is_empty()),
            }
        }
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    });
}

#[test]
fn fuzzed_journals_are_sound_once_damage_is_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("journal.jsonl");
    Fuzz::new(HERE, "set-aside").seed(lines(&events()[..3])).mend(mend_lines).run(|bytes| {
        std::fs::write(&file, bytes).expect("room");
        let before = match Journal::read(&file) {
            Ok(before) => before,
            Err(error) => return assert!(crate::set_aside(&file).is_err(), "{error}"),
        };
        crate::set_aside(&file).expect("it can be repaired");
        let after = Journal::read(&file).expect("it can be read");
        assert!(after.damage.is_empty(), "{:?}", after.damage);
        let sound = |journal: &Journal| {
            let lost = |event: &&Event| !matches!(event, Event::LinesLost(_));
            journal.events().filter(lost).cloned().collect::<Vec<_>>()
        };
        assert_eq!(sound(&after), sound(&before));
        crate::repair(&file).expect("it can be gone on with");
        for aside in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
            if aside.path() != file {
                std::fs::remove_file(aside.path()).expect("ours");
            }
        }
    });
}

#[test]
fn fuzzed_checkpoints_are_refused_or_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("checkpoint.bin");
    checkpoint::write(&path, &events()).expect("room");
    let seed = std::fs::read(&path).expect("written");
    Fuzz::new(HERE, "checkpoint").seed(seed).mend(checkpoint::mend).run(|bytes| {
        let _ = checkpoint::parse::<Vec<Event>>(Path::new("checkpoint.bin"), bytes);
    });
}

#[test]
fn fuzzed_requests_are_refused_or_written_back() {
    let request = CampaignRequest {
        version: CAMPAIGN_VERSION,
        workload: "matmul:m=64,n=64,k=64,dtype=f32".parse().expect("a workload"),
        threads: 2,
        cache: tilewright_ir::CacheState::Cold,
        seconds: Some(1.5),
        trials: Some(9),
        seed: 7,
        strategy: "evolution".to_owned(),
        plateau: Some(crate::Plateau { trials: 50, gain: 0.01 }),
        settings: [("bandit".to_owned(), "off".to_owned())].into(),
    };
    let text = toml::to_string(&request).expect("a request");
    Fuzz::new(HERE, "request").seed(text).run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        match CampaignRequest::parse(Path::new("campaign.toml"), &text) {
            Ok(request) => {
                let again = toml::to_string(&request).expect("what was read can be written");
                let again = CampaignRequest::parse(Path::new("campaign.toml"), &again).expect("and read");
                assert_eq!(again, request);
            }
            Err(error) => assert!(error.to_string().contains("campaign.toml"), "{error}"),
        }
    });
}

#[test]
fn fuzzed_matrices_are_refused_or_written_back() {
    let matrix = "version = 1\nstrategies = ['evolution', 'random']\nseeds = [3, 5]\nobjectives = ['median', 'p99']\n\
        baseline = 'random'\nheuristics = false\n[budget]\ntime = '1.5m'\ntrials = 200\ntotal_time = 3600\n\
        plateau = { trials = 50, gain = 0.02 }\n[[workload]]\nname = 'small'\n\
        workload = 'matmul:m=64,n=64,k=64,dtype=f32'\n[[workload]]\nrecorded = 'spaces/a.json.gz'\n\
        [[target]]\nthreads = 1\n[[target]]\nname = 'chip'\nchip = 'amd_zen3'\ncache = 'cold'\n";
    Fuzz::new(HERE, "matrix").seed(matrix).run(|bytes| {
        match Matrix::parse(Path::new("matrix.toml"), bytes, Known::default()) {
            Ok(matrix) => {
                let text = matrix.to_toml();
                let again = Matrix::parse(Path::new("matrix.toml"), text.as_bytes(), Known::default());
                assert_eq!(again.expect("what was written is read"), matrix);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("matrix.toml") && !text.contains(char::is_control), "{text:?}");
            }
        }
    });
}

#[test]
fn fuzzed_times_are_refused_or_above_zero() {
    let fuzz = ["90s", "1.5m", "2h", "250ms", "12"].iter().fold(Fuzz::new(HERE, "time"), Fuzz::seed);
    fuzz.run(|bytes| {
        if let Ok(found) = seconds(&String::from_utf8_lossy(bytes)) {
            assert!(found.is_finite() && found > 0.0, "{found}");
        }
    });
}
