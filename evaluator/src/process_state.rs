//! State of a worker process that no kernel has business to change, as the system tells it: read from outside, so
//! that a kernel cannot have a hand in it.

use std::collections::BTreeMap;

/// Lines of `/proc/…/status` that are compared: threads, signals, processors, and what is forbidden.
const LINES: [&str; 8] =
    ["Threads", "SigBlk", "SigIgn", "SigCgt", "Cpus_allowed", "NoNewPrivs", "Seccomp", "Umask"];

/// The state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ProcessState {
    lines: BTreeMap<&'static str, String>,
    /// Numbers of its child processes.
    children: String,
    /// Priority of its threads.
    nice: Option<i32>,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// There are other threads.
    Threads(String),
    /// There are child processes.
    Children(String),
    /// Anything else.
    State(String),
}

impl ProcessState {
    /// The state of a process now; empty where the system does not tell.
    pub(crate) fn of(process: u32) -> Self {
        let read =
            |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
        let status = read("status");
        let mut lines = BTreeMap::new();
        for line in status.lines() {
            if let Some((name, value)) = line.split_once(':')
                && let Some(&known) = LINES.iter().find(|known| **known == name)
            {
                lines.insert(known, value.trim().to_owned());
            }
        }
        let children = read(&format!("task/{process}/children")).trim().to_owned();
        // The name, in brackets, may hold anything; fields are counted from its end: state is the first.
        let stat = read("stat");
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        Self { lines, children, nice: fields.split_whitespace().nth(16).and_then(|nice| nice.parse().ok()) }
    }

    /// The first change between two states of a process.
    pub(crate) fn change(&self, after: &Self) -> Option<Change> {
        if self.children != after.children {
            return Some(Change::Children(format!("processes {} were left", after.children)));
        }
        for (name, before) in &self.lines {
            let now = after.lines.get(name).map_or("", String::as_str);
            if before != now {
                let text = format!("{name} was {before} and is {now}");
                return Some(if *name == "Threads" { Change::Threads(text) } else { Change::State(text) });
            }
        }
        (self.nice != after.nice)
            .then(|| Change::State(format!("priority was {:?} and is {:?}", self.nice, after.nice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_as_it_was() {
        let own = std::process::id();
        let before = ProcessState::of(own);
        assert!(before.lines.contains_key("Threads") && before.nice.is_some(), "{before:?}");
        let mut after = before.clone();
        assert_eq!(before.change(&after), None);
        after.lines.insert("Threads", "99".to_owned());
        assert!(matches!(before.change(&after), Some(Change::Threads(text)) if text.ends_with("99")));
        let state = ProcessState { nice: Some(-5), ..before.clone() };
        assert!(matches!(before.change(&state), Some(Change::State(_))));
        let children = ProcessState { children: "1 2".to_owned(), ..before.clone() };
        assert!(matches!(before.change(&children), Some(Change::Children(_))));
    }
}
