use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tilewright_ir::WorkloadKey;
use tilewright_stats::{Decision, EvidenceKind, Judged};

use crate::audit::Log;
use crate::standing::{self, Listed, Standing, Verified};
use crate::store::Store;
use crate::{Action, Conditions, Digest, Incumbent, Kernel, Record, Refusal, RegistryError};

/// A folder of accepted kernels. Reading never waits; writers wait for one another.
#[derive(Debug)]
pub struct Registry {
    folder: PathBuf,
    pub(crate) records: Store,
    pub(crate) artifacts: Store,
    pub(crate) heuristics: Store,
    cache: Mutex<Cache>,
}

/// What was made of the log when it had `bytes` bytes of whole lines.
#[derive(Debug, Default)]
struct Cache {
    bytes: u64,
    listed: Arc<[Listed]>,
}

impl Registry {
    /// A registry in `folder`, which need not exist: the first publication creates it.
    pub fn open(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            records: Store::new(folder.join("records"), "json"),
            artifacts: Store::new(folder.join("artifacts"), "bin"),
            heuristics: Store::new(folder.join("heuristics"), "json"),
            cache: Mutex::default(),
        }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Accepts a kernel that was found here; `at` is the civil time of doing so, RFC 3339.
    ///
    /// Where no record stands for its key, it may be inconclusive beside the default (it may *be* the
    /// default). Where one does, the kernel must have been judged faster beside that very record.
    ///
    /// # Errors
    /// When the verdict or the comparison does not support it, the kernel contradicts itself or `code`, or the
    /// folder cannot be written. Nothing has changed then.
    pub fn publish(&self, kernel: &Judged<Kernel>, code: &[u8], at: &str) -> Result<Digest, RegistryError> {
        let subject = kernel.subject();
        check(subject, code)?;
        let record = Record::encode(kernel)?;
        let (key, kind) = (subject.key.to_string(), kernel.kind());
        self.locked(
            |log, fresh| {
                let id = Digest::of(&record);
                let listed = standing::list(log);
                let mut current = None;
                for found in standing::usable(&listed, &key, kind) {
                    if self.show(found).is_ok() {
                        current = Some(found);
                        break;
                    }
                }
                if current == Some(id) {
                    return Ok((id, Vec::new()));
                }
                admit(kernel, current)?;
                self.artifacts.write(code, fresh)?;
                self.records.write(&record, fresh)?;
                Ok((id, vec![Action::Published { record: id, key: key.clone(), kind }]))
            },
            at,
        )
    }

    /// Withdraws a record: the one before it is in force again. Its files stay.
    ///
    /// # Errors
    /// When there is no such record, or the folder cannot be written.
    pub fn retract(&self, record: Digest, reason: &str, at: &str) -> Result<(), RegistryError> {
        self.locked(
            |log, _| {
                let listed = standing::list(log);
                if !listed
                    .iter()
                    .any(|listed| listed.record == record && listed.standing != Standing::Retracted)
                {
                    return Err(RegistryError::Name { text: record.to_string(), matches: 0 });
                }
                Ok(((), vec![Action::Retracted { record, reason: reason.to_owned() }]))
            },
            at,
        )
    }

    /// The measured record in force for `key`, or `None`. Simulated and recorded ones are never returned.
    ///
    /// Should its file be damaged, the record before it stands in; `verify_chain` names the damage.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub fn lookup(&self, key: &WorkloadKey) -> Result<Option<Record>, RegistryError> {
        let listed = self.list()?;
        let usable = standing::usable(&listed, &key.to_string(), EvidenceKind::Pairs);
        // Key and kind of the log are hints; those inside the checked record decide.
        Ok(usable.into_iter().filter_map(|id| self.show(id).ok()).find(|record| {
            record.kernel.subject().key == *key
                && record.kernel.kind() == EvidenceKind::Pairs
                && !matches!(record.kernel.verdict().kind, Decision::Slower | Decision::Failed)
        }))
    }

    /// Notes that a record was verified and measured again here; `at` is the civil time of doing so, RFC 3339.
    ///
    /// # Errors
    /// When there is no such record, or the folder cannot be written.
    pub fn note_verified(&self, record: Digest, verified: &Verified) -> Result<(), RegistryError> {
        let Verified { at, conditions, median_ns } = verified;
        self.locked(
            |log, _| {
                if !standing::list(log).iter().any(|listed| listed.record == record) {
                    return Err(RegistryError::Name { text: record.to_string(), matches: 0 });
                }
                let (conditions, median_ns) = (conditions.clone(), *median_ns);
                Ok(((), vec![Action::Verified { record, conditions, median_ns }]))
            },
            at,
        )
    }

    /// Why a record must not be served under the conditions of `now`, one phrase each; empty when it may.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub fn unverified(&self, record: &Record, now: &Conditions) -> Result<Vec<String>, RegistryError> {
        let listed = self.list()?;
        let of_record = || listed.iter().filter(|listed| listed.record == record.id);
        let again = of_record().find_map(|listed| listed.verified.as_ref());
        let found_here = of_record().any(|listed| listed.from.is_none());
        Ok(match (again, &record.kernel.subject().conditions) {
            (Some(verified), _) => verified.conditions.changes(now),
            (None, _) if !found_here => {
                vec!["it came from an archive and was never verified here".to_owned()]
            }
            (None, Some(conditions)) => conditions.changes(now),
            (None, None) => vec!["it does not say with which versions it was verified".to_owned()],
        })
    }

    /// All records that the audit log names, in order of arrival.
    ///
    /// # Errors
    /// When the audit log cannot be read. Damaged lines are left out; `verify_chain` names them.
    pub fn list(&self) -> Result<Arc<[Listed]>, RegistryError> {
        let path = self.log_path();
        let bytes = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            found => found.map_err(RegistryError::io(&path))?.len(),
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.bytes != bytes {
            let log = self.log()?;
            *cache = Cache { bytes: log.whole_bytes, listed: standing::list(&log).into() };
        }
        Ok(Arc::clone(&cache.listed))
    }

    /// Reads one record, checks its digest, and judges it again.
    ///
    /// # Errors
    /// When it is not there, damaged, or from a later version.
    pub fn show(&self, id: Digest) -> Result<Record, RegistryError> {
        let path = self.records.path(id);
        let bytes = fs::read(&path).map_err(RegistryError::io(&path))?;
        Record::decode(&path, id, &bytes)
    }

    /// The machine code of a record, its digest checked.
    ///
    /// # Errors
    /// When it is not there, or damaged.
    pub fn code(&self, record: &Record) -> Result<Vec<u8>, RegistryError> {
        self.artifacts.read(record.kernel.subject().artifact.sha256)
    }

    /// The one record whose digest begins with `text`.
    ///
    /// # Errors
    /// When none or several do, or the audit log cannot be read.
    pub fn resolve(&self, text: &str) -> Result<Digest, RegistryError> {
        let mut found: Vec<Digest> = self
            .list()?
            .iter()
            .map(|listed| listed.record)
            .filter(|record| !text.is_empty() && record.to_string().starts_with(text))
            .collect();
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [record] => Ok(record),
            _ => Err(RegistryError::Name { text: text.to_owned(), matches: found.len() }),
        }
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.folder.join("audit.jsonl")
    }

    /// The log as it is now; an absent one is empty.
    pub(crate) fn log(&self) -> Result<Log, RegistryError> {
        let path = self.log_path();
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Log::default()),
            bytes => Ok(Log::parse(&bytes.map_err(RegistryError::io(&path))?)),
        }
    }

    /// Whether records can be published: makes the folder and its log where there are none.
    ///
    /// # Errors
    /// When the folder or its log cannot be written.
    pub fn check_writable(&self) -> Result<(), RegistryError> {
        self.locked(|_, _| Ok(((), Vec::new())), "")
    }

    /// Runs `work` on the log while no other process writes, then appends the actions that it gives. When
    /// anything fails, the files that `work` says it has made are removed again: nothing leads to them.
    pub(crate) fn locked<T>(
        &self,
        work: impl FnOnce(&Log, &mut Vec<PathBuf>) -> Result<(T, Vec<Action>), RegistryError>,
        at: &str,
    ) -> Result<T, RegistryError> {
        fs::create_dir_all(&self.folder).map_err(RegistryError::io(&self.folder))?;
        let path = self.log_path();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(RegistryError::io(&path))?;
        // The lock ends with the process, so none is ever left behind.
        file.lock().map_err(RegistryError::io(&path))?;
        let mut log = self.log()?;
        let mut fresh = Vec::new();
        let done = work(&log, &mut fresh).and_then(|(result, actions)| {
            append(&mut file, &mut log, at, actions).map_err(RegistryError::io(&path))?;
            Ok(result)
        });
        if done.is_err() {
            for made in fresh {
                // The error that matters is the first one.
                fs::remove_file(made).ok();
            }
        }
        done
    }
}

/// All lines or none.
fn append(file: &mut File, log: &mut Log, at: &str, actions: Vec<Action>) -> io::Result<()> {
    let end = log.whole_bytes;
    let mut lines = Vec::new();
    for action in actions {
        let line = log.next(at, action).encode();
        log.push(&line);
        lines.extend(line);
    }
    if lines.is_empty() {
        return Ok(());
    }
    // What an interrupted writer left behind the last whole line never counted.
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    if let Err(error) = file.write_all(&lines).and_then(|()| file.sync_all()) {
        // The error to report is the first; readers pass over an unfinished line.
        file.set_len(end).ok();
        return Err(error);
    }
    Ok(())
}

/// Whether the comparison made supports publishing.
fn admit(kernel: &Judged<Kernel>, current: Option<Digest>) -> Result<(), Refusal> {
    let verdict = kernel.verdict();
    let decision = verdict.kind;
    if kernel.kind() == EvidenceKind::Pairs && verdict.margin <= 0.0 {
        return Err(Refusal::NoMargin(verdict.gate.clone()));
    }
    match (current, kernel.subject().incumbent) {
        (None, _) => match decision {
            Decision::Faster | Decision::Inconclusive if kernel.kind() != EvidenceKind::Failure => Ok(()),
            _ => Err(Refusal::Verdict(decision)),
        },
        (Some(current), Incumbent::Record(beside)) if beside == current => match decision {
            Decision::Faster => Ok(()),
            _ => Err(Refusal::Verdict(decision)),
        },
        (Some(current), _) => Err(Refusal::NotCompared { current }),
    }
}

/// Whether kernel and code belong together.
pub(crate) fn check(kernel: &Kernel, code: &[u8]) -> Result<(), Refusal> {
    let inconsistent = |problem: String| Err(Refusal::Inconsistent(problem));
    let artifact = &kernel.artifact;
    if code.is_empty() || Digest::of(code) != artifact.sha256 || code.len() as u64 != artifact.bytes {
        return inconsistent("the code is not the one that the kernel names".to_owned());
    }
    if let Some(entry) = artifact.entries.iter().find(|entry| entry.offset >= artifact.bytes) {
        return inconsistent(format!("entry `{}` lies behind the code", entry.name));
    }
    if artifact.entries.is_empty() {
        return inconsistent("the artifact has no entry".to_owned());
    }
    if artifact.workers == 0 || artifact.workers > kernel.key.threads {
        return inconsistent(format!("{} workers on {} threads", artifact.workers, kernel.key.threads));
    }
    let verification = &kernel.verification;
    if verification.max_error.is_nan() || verification.max_error > verification.tolerance {
        return inconsistent("its answer was not within tolerance".to_owned());
    }
    if let Some(drift) = &verification.drift
        && (drift.relative_error.is_nan() || drift.relative_error > drift.limit)
    {
        let (found, limit) = (drift.relative_error, drift.limit);
        return inconsistent(format!("its answers drift by {found:e} of the norm, {limit:e} is accepted"));
    }
    Ok(())
}
