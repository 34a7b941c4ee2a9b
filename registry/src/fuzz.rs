//! Hostile logs, records and archives: named damage or an error.

use std::path::{Path, PathBuf};

use tilewright_fuzz::Fuzz;

use crate::audit::Log;
use crate::{Digest, Record, archive, standing};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// A registry with three records, one of which came from an archive and one of which was retracted.
fn kept(name: &str) -> Vec<u8> {
    let file: PathBuf = [HERE, "corpus", "registry", name].iter().collect();
    std::fs::read(file).expect("a file that is kept for this")
}

/// Makes every hash of the log right, and chains it.
fn mend_log(bytes: &mut Vec<u8>) {
    let mut previous = Digest::NONE.to_string();
    let mended = bytes.split_inclusive(|&byte| byte == b'\n').flat_map(|line| {
        let text = String::from_utf8_lossy(line);
        let body = text.trim_end().split_once(",\"entry\":").and_then(|(_, rest)| rest.strip_suffix('}'));
        let Some(body) = body else { return line.to_vec() };
        let mut body = body.to_owned();
        if let Some(at) = body.find("\"previous\":\"").map(|at| at + 12)
            && body.is_char_boundary(at + 64)
            && body.len() > at + 64
        {
            body.replace_range(at..at + 64, &previous);
        }
        previous = Digest::of(body.as_bytes()).to_string();
        format!("{{\"hash\":\"{previous}\",\"entry\":{body}}}\n").into_bytes()
    });
    *bytes = mended.collect();
}

#[test]
fn fuzzed_audit_logs_are_read_as_far_as_they_are_sound() {
    Fuzz::new(HERE, "audit").seed(kept("audit.jsonl")).mend(mend_log).run(|bytes| {
        let log = Log::parse(bytes);
        assert_eq!(log.whole_bytes + log.unfinished_bytes, bytes.len() as u64);
        let listed = standing::list(&log);
        let entries = log.entries().count();
        assert!(listed.len() <= entries);
        let _ = (log.problems(), log.head(), log.newer(), crate::heuristic::named(&log));
    });
}

#[test]
fn fuzzed_records_are_refused_or_judged_again() {
    Fuzz::new(HERE, "record").seed(kept("record.json")).run(|bytes| {
        let _ = Record::decode(Path::new("record.json"), Digest::of(bytes), bytes);
    });
}

/// Makes the digest of each record right.
fn mend_archive(bytes: &mut Vec<u8>) {
    let mended = bytes.split_inclusive(|&byte| byte == b'\n').flat_map(|line| {
        let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(line) else { return line.to_vec() };
        if let Some(record) = value["record"].as_str() {
            value["id"] = Digest::of(record.as_bytes()).to_string().into();
        }
        format!("{value}\n").into_bytes()
    });
    *bytes = mended.collect();
}

#[test]
fn fuzzed_archives_are_refused_or_taken_whole() {
    Fuzz::new(HERE, "archive").seed(kept("archive.jsonl")).mend(mend_archive).run(
        |bytes| match archive::parse(Path::new("archive"), bytes) {
            Ok(arrivals) => {
                for (record, text, code) in arrivals {
                    assert_eq!(Digest::of(text.as_bytes()), record.id);
                    assert_eq!(Digest::of(&code), record.kernel.subject().artifact.sha256);
                }
            }
            Err(error) => assert!(error.to_string().starts_with("archive, line "), "{error}"),
        },
    );
}
