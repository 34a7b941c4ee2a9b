use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How long a writer waits for another one to end before it says who that is.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The process that holds a lock, as far as the system tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Number of the process; `None` where the system does not tell (another machine, another container).
    pub process: Option<u32>,
    /// What it is called.
    pub name: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.process, &self.name) {
            (Some(process), Some(name)) => write!(f, "process {process} ({name})"),
            (Some(process), None) => write!(f, "process {process}"),
            (None, _) => f.write_str("another process"),
        }
    }
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Somebody else has it.
    Held(Holder),
    /// The system refused.
    Io(io::Error),
}

/// Takes the lock of an open file, or says who has it. It ends with the process, so none is ever left behind.
///
/// # Errors
/// When another process has it, or the system refuses.
pub fn try_lock(file: &File) -> Result<(), LockError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => LockError::Held(holder_of(file)),
        TryLockError::Error(error) => LockError::Io(error),
    })
}

/// Opens a file and takes its lock. A file that was replaced between the two is opened anew, so that what is locked
/// is what the name stands for.
///
/// # Errors
/// When another process has the lock, or the system refuses.
pub fn open_locked(path: &Path, options: &OpenOptions) -> Result<File, LockError> {
    loop {
        let file = options.open(path).map_err(LockError::Io)?;
        try_lock(&file)?;
        if is_current(path, &file).map_err(LockError::Io)? {
            return Ok(file);
        }
    }
}

/// Like [`open_locked`], and waits for others to end, whose work is expected to be short.
///
/// # Errors
/// When another process has the lock for very long, or the system refuses.
pub fn wait_for_lock(path: &Path, options: &OpenOptions) -> Result<File, LockError> {
    let mut waited = Duration::ZERO;
    loop {
        match open_locked(path, options) {
            Err(LockError::Held(_)) if waited < PATIENCE => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            done => return done,
        }
    }
}

/// Who holds the lock of a file, if anybody does; the lock itself is not touched, so nobody is disturbed.
///
/// # Errors
/// When the file cannot be opened.
pub fn holder(path: &Path) -> io::Result<Option<Holder>> {
    let holder = holder_of(&File::open(path)?);
    Ok(holder.process.is_some().then_some(holder))
}

fn is_current(path: &Path, file: &File) -> io::Result<bool> {
    let opened = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Times that the system's list is read: it is read in pieces, between which other locks come and go, and then one
/// that is there can be missing.
const LISTINGS: u32 = 8;

/// Looks the holder up in the system's list: `N: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE …`.
fn holder_of(file: &File) -> Holder {
    let process = file.metadata().ok().and_then(|found| {
        let (major, minor) = (rustix::fs::major(found.dev()), rustix::fs::minor(found.dev()));
        let wanted = format!("{major:02x}:{minor:02x}:{}", found.ino());
        (0..LISTINGS).find_map(|_| {
            let locks = std::fs::read_to_string("/proc/locks").ok()?;
            locks.lines().find_map(|line| {
                let mut words = line.split_whitespace().skip_while(|word| *word != "FLOCK");
                let [_, _, kind, process, place] = std::array::from_fn(|_| words.next().unwrap_or_default());
                // Numbers below 1 belong to processes that cannot be seen from here.
                let process = process.parse().ok().filter(|process| *process > 0)?;
                (kind == "WRITE" && place == wanted && !line.contains("->")).then_some(process)
            })
        })
    });
    let name = process.and_then(|process: u32| {
        let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    });
    Holder { process, name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        options
    }

    #[test]
    fn the_second_is_told_who_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let first = open_locked(&path, &options()).unwrap();
        let Err(LockError::Held(found)) = open_locked(&path, &options()) else { panic!("it is held") };
        assert_eq!(found.process, Some(std::process::id()));
        assert!(found.to_string().starts_with(&format!("process {} (", std::process::id())), "{found}");
        assert_eq!(holder(&path).unwrap(), Some(found));
        drop(first);
        assert_eq!(holder(&path).unwrap(), None);
        assert!(open_locked(&path, &options()).is_ok());
    }

    #[test]
    fn what_was_replaced_while_waiting_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let first = open_locked(&path, &options()).unwrap();
        let waiting = {
            let path = path.clone();
            std::thread::spawn(move || wait_for_lock(&path, &options()).unwrap())
        };
        crate::replace(&path, b"new").unwrap();
        drop(first);
        let second = waiting.join().unwrap();
        assert!(is_current(&path, &second).unwrap());
    }
}
