use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use tilewright_ir::WorkloadKey;

use crate::audit::Log;
use crate::registry::check;
use crate::repair::is_aside;
use crate::standing;
use crate::{Digest, Registry, RegistryError};

/// What a check of the whole registry found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Lines of the audit log.
    pub lines: u64,
    /// Records that were checked with their artifacts.
    pub records: u64,
    /// Hash of the log's last line: who keeps it elsewhere notices a rewritten registry.
    pub head: Digest,
    /// Everything that is wrong, in order of the log.
    pub problems: Vec<Problem>,
}

/// Something that is wrong with a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// File.
    pub path: PathBuf,
    /// Line in it, from 1, where it has lines.
    pub line: Option<u64>,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Registry {
    /// Checks chain, digests, verdicts and artifacts of everything; nothing is run or measured.
    ///
    /// # Errors
    /// When the folder cannot be read. Damage is no error: it is what the report is for.
    pub fn verify_chain(&self) -> Result<Report, RegistryError> {
        let log = self.log()?;
        let path = self.log_path();
        let mut problems = self.problems_of(&log);
        if log.unfinished_bytes > 0 {
            let problem = format!("{} bytes of a line that was never finished", log.unfinished_bytes);
            problems.push(Problem { path, line: Some(log.lines.len() as u64 + 1), problem });
        }
        let listed = standing::list(&log);
        let named: BTreeSet<Digest> = listed.iter().map(|listed| listed.record).collect();
        let mut artifacts = BTreeSet::new();
        for &id in &named {
            match self.check_record(id) {
                Ok((artifact, problem)) => {
                    artifacts.insert(artifact);
                    problems.extend(problem);
                }
                Err(problem) => problems.push(problem),
            }
        }
        let learned: BTreeSet<Digest> = crate::heuristic::named(&log);
        for &id in &learned {
            if let Err(error) = self.heuristic(id) {
                let path = self.heuristics.path(id);
                problems.push(Problem { path, line: None, problem: reason(error) });
            }
        }
        let (heuristics, odd_heuristics) = self.heuristics.contents()?;
        let (records, odd_records) = self.records.contents()?;
        let (codes, odd_codes) = self.artifacts.contents()?;
        let unnamed = records.into_iter().filter(|id| !named.contains(id)).map(|id| self.records.path(id));
        let unused =
            codes.into_iter().filter(|code| !artifacts.contains(code)).map(|code| self.artifacts.path(code));
        let stray =
            heuristics.into_iter().filter(|id| !learned.contains(id)).map(|id| self.heuristics.path(id));
        let odd = odd_records.into_iter().chain(odd_codes).chain(odd_heuristics);
        let odd = odd.filter(|path| !is_aside(path));
        for path in unnamed.chain(unused).chain(stray).chain(odd) {
            problems.push(Problem {
                path,
                line: None,
                problem: "no line of the audit log leads here: a publication that was killed left it, and it can be deleted; or the line is damaged, and an archive with the record brings it back (`registry import`)".to_owned(),
            });
        }
        Ok(Report { lines: log.lines.len() as u64, records: named.len() as u64, head: log.head(), problems })
    }

    /// What readers pass over: damaged lines of the log, or a log that is gone while there are records, and for
    /// a `key` records of it that cannot be read. Empty lists cost the reading of the log alone.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn passed_over(&self, key: Option<&WorkloadKey>) -> Result<Vec<Problem>, RegistryError> {
        let log = self.log()?;
        let mut problems = self.problems_of(&log);
        if log.lines.is_empty() && !self.records.contents()?.0.is_empty() {
            let problem = "gone or empty, while there are records".to_owned();
            problems.push(Problem { path: self.log_path(), line: None, problem });
        }
        let key = key.map(ToString::to_string);
        for listed in standing::list(&log).iter().filter(|listed| key.as_ref() == Some(&listed.key)) {
            problems.extend(self.check_record(listed.record).err());
        }
        Ok(problems)
    }

    fn problems_of(&self, log: &Log) -> Vec<Problem> {
        let path = self.log_path();
        let problems = log.problems().into_iter();
        problems.map(|(line, problem)| Problem { path: path.clone(), line: Some(line), problem }).collect()
    }

    /// The artifact of an intact record, and what else is wrong with it.
    fn check_record(&self, id: Digest) -> Result<(Digest, Option<Problem>), Problem> {
        let path = self.records.path(id);
        let wrong = |problem: String| Problem { path: path.clone(), line: None, problem };
        let record = self.show(id).map_err(|error| wrong(reason(error)))?;
        let artifact = record.kernel.subject().artifact.sha256;
        let code = match self.code(&record) {
            Ok(code) => code,
            Err(error) => {
                let path = self.artifacts.path(artifact);
                return Ok((artifact, Some(Problem { path, line: None, problem: reason(error) })));
            }
        };
        if let Err(refusal) = check(record.kernel.subject(), &code) {
            return Ok((artifact, Some(wrong(refusal.to_string()))));
        }
        let (now, then) = (record.kernel.verdict(), &record.stored_verdict);
        let changed = (now.kind != then.kind)
            .then(|| wrong(format!("judged {:?} when it was stored, {:?} now", then.kind, now.kind)));
        Ok((artifact, changed))
    }
}

/// An error without the path, which stands beside it.
fn reason(error: RegistryError) -> String {
    match error {
        RegistryError::Io { error, .. } => error.to_string(),
        RegistryError::Damaged { problem, .. } => problem,
        RegistryError::Reread { error, .. } => error.to_string(),
        other => other.to_string(),
    }
}
