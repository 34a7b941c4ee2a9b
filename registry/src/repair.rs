use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tilewright_storage::{keep_aside, move_aside, replace};

use crate::audit::Log;
use crate::{Action, Digest, Registry, RegistryError, standing};

/// What a repair has done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repair {
    /// Lines of the audit log that were kept.
    pub lines: u64,
    /// Lines that were damaged, or never finished.
    pub lost_lines: u64,
    /// Records and heuristics that are gone.
    pub gone: Vec<Digest>,
    /// Files that keep what was damaged.
    pub aside: Vec<PathBuf>,
}

impl Registry {
    /// Takes everything that is damaged out, and keeps it beside; `at` is the civil time of doing so, RFC 3339.
    ///
    /// Sound lines of the log are chained anew where some are missing between them, and a last line says what was
    /// done; the log as it was stays beside. A file that no line leads to is moved away too. Records whose verdict
    /// has changed are sound, and stay.
    ///
    /// # Errors
    /// When the folder cannot be read or written, or a later version wrote to the log. A repair that was cut short
    /// can be made again.
    pub fn repair(&self, at: &str) -> Result<Repair, RegistryError> {
        let path = self.log_path();
        let io = RegistryError::io;
        let _held = self.lock()?;
        let log = self.log()?;
        if let Some(line) = log.newer() {
            return Err(RegistryError::NewerLog { path, line });
        }
        let mut done = Repair { lines: log.entries().count() as u64, ..Repair::default() };
        done.lost_lines = log.lines.len() as u64 - done.lines + u64::from(log.unfinished_bytes > 0);
        let damaged_log = !log.problems().is_empty() || log.unfinished_bytes > 0;
        if damaged_log {
            let bytes = fs::read(&path).map_err(io(&path))?;
            done.aside.push(keep_aside(&path, &bytes).map_err(io(&path))?);
        }
        done.gone = self.unusable(&log);
        for file in self.unreachable(&log, &done.gone)? {
            done.aside.push(move_aside(&file).map_err(io(&file))?);
        }
        if done.aside.is_empty() && done.gone.is_empty() {
            return Ok(done);
        }
        let mut sound = Log::default();
        let mut bytes = Vec::new();
        let actions = log.entries().map(|entry| (entry.at.as_str(), entry.action.clone()));
        let aside = done.aside.iter().map(|file| self.inside(file)).collect();
        let last = Action::Repaired { aside, gone: done.gone.clone() };
        for (at, action) in actions.chain([(at, last)]) {
            let line = sound.next(at, action).encode();
            sound.push(&line);
            bytes.extend(line);
        }
        replace(&path, &bytes).map_err(io(&path))?;
        Ok(done)
    }

    /// Records and heuristics that the log names and that cannot be used.
    fn unusable(&self, log: &Log) -> Vec<Digest> {
        let named: BTreeSet<Digest> = standing::list(log).iter().map(|listed| listed.record).collect();
        let bad_record = |id: &Digest| match self.show(*id) {
            Ok(record) => self.code(&record).is_err(),
            // A later version's, or a gate that is not there any more: sound as far as can be told.
            Err(RegistryError::Newer { .. } | RegistryError::Reread { .. }) => false,
            Err(_) => true,
        };
        let bad_heuristic = |id: &Digest| self.heuristic(*id).is_err();
        let records = named.into_iter().filter(bad_record);
        records.chain(crate::heuristic::named(log).into_iter().filter(bad_heuristic)).collect()
    }

    /// Files that nothing leads to once some are gone.
    fn unreachable(&self, log: &Log, gone: &[Digest]) -> Result<Vec<PathBuf>, RegistryError> {
        let stays = |id: &Digest| !gone.contains(id);
        let records: BTreeSet<Digest> =
            standing::list(log).iter().map(|listed| listed.record).filter(stays).collect();
        let heuristics: BTreeSet<Digest> = crate::heuristic::named(log).into_iter().filter(stays).collect();
        let mut codes = BTreeSet::new();
        let mut opaque = false;
        for id in &records {
            match self.show(*id) {
                Ok(record) => {
                    codes.insert(record.kernel.subject().artifact.sha256);
                }
                Err(_) => opaque = true,
            }
        }
        let mut files = Vec::new();
        for (store, wanted, sure) in [
            (&self.records, &records, true),
            (&self.artifacts, &codes, !opaque),
            (&self.heuristics, &heuristics, true),
        ] {
            let (found, odd) = store.contents()?;
            // Code may belong to a record that this version cannot read.
            files
                .extend(found.into_iter().filter(|id| sure && !wanted.contains(id)).map(|id| store.path(id)));
            files.extend(odd.into_iter().filter(|file| !is_aside(file)));
        }
        Ok(files)
    }

    fn inside(&self, file: &Path) -> String {
        file.strip_prefix(self.folder()).unwrap_or(file).to_string_lossy().into_owned()
    }
}

/// Whether an earlier repair has put a file there.
pub(crate) fn is_aside(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().contains(".aside-"))
}
