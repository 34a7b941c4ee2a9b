//! Coordinators and workers killed at random: nothing that was reported is lost, nothing is there twice, and what goes on
//! ends as if nothing had happened.
//!
//! `TILEWRIGHT_KILLS=200` kills that often (`docs/journal.md`).
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// Kills of each test where nothing else is asked for.
const FEW: usize = 4;

/// Many candidates, so that there is time to be killed in.
const MATRIX: &str = "strategies = ['evolution', 'random']
seeds = [3]
budget = { trials = 400 }
[[workload]]
workload = 'matmul:m=64,n=64,k=64,dtype=f32'
[[target]]
name = 'zen3'
chip = 'amd_zen3'
";

const TUNE: &[&str] =
    &["tune", "matmul:m=24,n=24,k=24,dtype=f32", "--seed", "5", "--trials", "80", "--quiet"];

struct Bench {
    folder: tempfile::TempDir,
    rng: ChaCha8Rng,
    kills: usize,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let kills = std::env::var("TILEWRIGHT_KILLS").map_or(FEW, |kills| kills.parse().unwrap());
        let bench =
            Self { folder: tempfile::tempdir().unwrap(), rng: ChaCha8Rng::seed_from_u64(seed), kills };
        std::fs::write(bench.path("matrix.toml"), MATRIX).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
            .env("XDG_DATA_HOME", self.path("data"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn pause(&mut self, most: Duration) {
        std::thread::sleep(most.mul_f64(self.rng.random_range(0.0..1.0)));
    }

    /// After all: everything is sound, perhaps after a repair, which changes no result.
    fn check(&self, places: &[&str]) {
        self.run(&[&["fsck", "--repair"], places].concat());
        self.run(&[&["fsck"], places].concat());
    }
}

/// Journals below a folder, with what they hold.
fn journals(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(journals(&path));
        } else if path.ends_with("journal.jsonl") {
            found.push((path.clone(), std::fs::read(path).unwrap()));
        }
    }
    found.sort();
    found
}

/// The whole lines of a journal: what has been reported.
fn whole(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)]
}

/// Whether all that had been reported before is there now, as it was.
fn assert_nothing_lost(before: &[(PathBuf, Vec<u8>)], now: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in before {
        let (_, now) = now.iter().find(|(found, _)| found == path).expect("the journal is there");
        assert!(now.starts_with(whole(bytes)), "{} was changed", path.display());
    }
}

/// Every trial of a journal, each of which must be there once and in order.
fn trials(bytes: &[u8]) -> Vec<Value> {
    let lines = whole(bytes).split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let events = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let trials: Vec<Value> = events.filter_map(|line| line["event"].get("trial_finished").cloned()).collect();
    let numbers: Vec<u64> = trials.iter().map(|trial| trial["trial"]["index"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..trials.len() as u64).collect::<Vec<_>>());
    trials
}

/// Processes that a process has started and that still live.
fn children(process: u32) -> BTreeSet<u32> {
    let parent = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut fields = status.rsplit_once(')')?.1.split_whitespace();
        (fields.next()? != "Z").then_some(())?;
        fields.next()?.parse::<u32>().ok()
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| parent(id) == Some(process)).collect()
}

fn kill(process: u32) {
    // One that has just ended is no failure.
    Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn simulated_campaigns_killed_anywhere_end_like_one_that_was_not() {
    let mut bench = Bench::new(1);
    let started = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    bench.run(&["campaign", "run", "matrix.toml", "--out", "whole", "--jobs", "2"]);
    let took = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().saturating_sub(started);
    let wanted: Vec<Vec<Value>> =
        journals(&bench.path("whole")).iter().map(|(_, bytes)| trials(bytes)).collect();
    let (mut killed, mut round) = (0, 0);
    while killed < bench.kills {
        let out = format!("killed-{round}");
        let mut arguments = vec!["campaign", "run", "matrix.toml", "--out", &out, "--jobs", "2"];
        loop {
            let mut child = bench.start(&arguments);
            bench.pause(took);
            let before = journals(&bench.path(&out));
            let ended = child.try_wait().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_nothing_lost(&before, &journals(&bench.path(&out)));
            if let Some(status) = ended {
                assert!(status.success(), "{out}: {status}");
                break;
            }
            killed += 1;
            // Killed before there was anything to resume, it begins anew.
            if bench.path(&out).join("matrix.toml").exists() {
                arguments = vec!["campaign", "resume", &out, "--jobs", "2"];
            }
            if killed >= bench.kills {
                bench.run(&arguments);
                break;
            }
        }
        let found: Vec<Vec<Value>> =
            journals(&bench.path(&out)).iter().map(|(_, bytes)| trials(bytes)).collect();
        assert!(found == wanted, "{out} tried other candidates than the one that was not killed");
        bench.check(&[&out]);
        round += 1;
    }
    println!("{killed} coordinators of simulated campaigns killed in {round} campaigns");
}

#[test]
fn measured_campaigns_killed_anywhere_go_on_with_the_answers_they_had() {
    let mut bench = Bench::new(2);
    bench.run(&["devices"]);
    let (mut killed, mut round) = (0, 0);
    while killed < bench.kills {
        let out = format!("killed-{round}");
        let first = [TUNE, &["--out", &out, "--registry", "kept"]].concat();
        let again = [&first[..], &["--resume"]].concat();
        let begun = |bench: &Bench| bench.path(&out).join("campaign.toml").exists();
        loop {
            let arguments = if begun(&bench) { &again } else { &first };
            let mut child = bench.start(arguments);
            bench.pause(Duration::from_millis(2500));
            let (before, workers) = (journals(&bench.path(&out)), children(child.id()));
            let ended = child.try_wait().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_nothing_lost(&before, &journals(&bench.path(&out)));
            if let Some(status) = ended {
                assert!(status.success(), "{out}: {status}");
                break;
            }
            killed += 1;
            // Workers end with their coordinator, whatever they were doing.
            for _ in 0..200 {
                if !workers.iter().any(|worker| is_alive(*worker)) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            let left: Vec<&u32> = workers.iter().filter(|worker| is_alive(**worker)).collect();
            assert!(left.is_empty(), "workers {left:?} outlived their coordinator");
            if killed >= bench.kills {
                break;
            }
        }
        // Goes through all trials again: one that this search would not have tried is an error.
        let arguments = if begun(&bench) { &again } else { &first };
        bench.run(arguments);
        let before = journals(&bench.path(&out));
        bench.run(&again);
        let now = journals(&bench.path(&out));
        assert_nothing_lost(&before, &now);
        assert!(trials(&before[0].1).len() >= 80);
        assert_eq!(trials(&before[0].1), trials(&now[0].1), "{out}: nothing was left to try");
        bench.check(&[&out, "kept"]);
        round += 1;
    }
    println!("{killed} coordinators of measured campaigns killed in {round} campaigns");
}

#[test]
fn a_campaign_outlives_its_workers() {
    let mut bench = Bench::new(3);
    bench.run(&["devices"]);
    let (mut killed, mut round) = (0, 0);
    while killed < bench.kills {
        let out = format!("c-{round}");
        let mut child = bench.start(&[TUNE, &["--out", &out, "--registry", "kept"]].concat());
        // A few each time: a campaign that loses every worker at once may say that it cannot go on.
        let most = killed + 4;
        let status = loop {
            bench.pause(Duration::from_millis(500));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            let workers: Vec<u32> = children(child.id()).into_iter().collect();
            if killed < most && !workers.is_empty() {
                kill(workers[bench.rng.random_range(0..workers.len())]);
                killed += 1;
            }
        };
        assert!(status.success(), "{out}: {status}");
        let journal = journals(&bench.path(&out));
        assert!(trials(&journal[0].1).len() >= 80, "{out}");
        bench.run(&[TUNE, &["--out", &out, "--registry", "kept", "--resume"]].concat());
        assert_nothing_lost(&journal, &journals(&bench.path(&out)));
        bench.check(&[&out, "kept"]);
        round += 1;
    }
    println!("{killed} workers killed in {round} campaigns");
}
