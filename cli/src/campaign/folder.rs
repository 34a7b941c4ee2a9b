//! The file that asks for a matrix, and the folder that holds what comes of it.

use std::fs::{File, OpenOptions};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use tilewright_journal::{Known, MATRIX_FILE, Matrix, MatrixHeuristics, Source};
use tilewright_registry::Registry;
use tilewright_search::strategies;
use tilewright_simulator::chips;
use tilewright_storage::LockError;

use super::arguments::How;
use crate::advice::Pool;
use crate::{UsageError, place};

/// Empty; whoever carries the matrix out holds its lock.
const LOCK_FILE: &str = "running.lock";

/// A matrix and its folder.
pub(super) struct Folder {
    /// Where the cells are.
    pub(super) path: PathBuf,
    /// What is asked; recordings are named relative to `path`.
    pub(super) matrix: Matrix,
}

impl Folder {
    /// A folder for what this file asks; nothing is written yet.
    pub(super) fn create(file: &Path, out: Option<&Path>) -> Result<Self> {
        let mut matrix = read(file)?;
        let path = match out {
            Some(out) => out.to_owned(),
            None => place::matrix(&file.file_stem().unwrap_or_default().to_string_lossy()),
        };
        if path.join(MATRIX_FILE).exists() {
            bail!(UsageError(format!(
                "{0} holds a campaign already: `tilewright campaign resume {0}` goes on with it; for a new one give another --out",
                path.display()
            )));
        }
        let beside = file.parent().unwrap_or(Path::new(""));
        for workload in &mut matrix.workloads {
            if let Source::Recorded(recording) = &mut workload.source
                && recording.is_relative()
            {
                *recording = from(&path, &beside.join(&recording))?;
            }
        }
        Ok(Self { path, matrix })
    }

    /// The folder of an earlier run.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = path.join(MATRIX_FILE);
        if !file.is_file() {
            bail!(UsageError(format!(
                "{} is no folder of `tilewright campaign run`: it has no {MATRIX_FILE}",
                path.display()
            )));
        }
        Ok(Self { path: path.to_owned(), matrix: read(&file)? })
    }

    /// What may advise on the cells. What the registry has when the matrix begins is named in it from then on, so
    /// that all cells are advised by the same.
    pub(super) fn advice(&mut self, how: &How) -> Result<Pool> {
        let begun = self.path.join(MATRIX_FILE).exists();
        // One that has begun names what advises it; where it does not, nothing did.
        let unnamed = begun && self.matrix.heuristics == MatrixHeuristics::All;
        if unnamed || (how.no_heuristics && !begun) {
            self.matrix.heuristics = MatrixHeuristics::None;
        }
        let registry = || Ok::<_, anyhow::Error>(Registry::open(&place::registry(how.registry.as_deref())?));
        match &self.matrix.heuristics {
            MatrixHeuristics::None => Ok(Pool::none()),
            MatrixHeuristics::Named(digests) => Pool::named(&registry()?, digests).with_context(|| {
                format!(
                    "{} cannot be advised as it asks: give the --registry that has its `heuristics`",
                    self.path.display()
                )
            }),
            MatrixHeuristics::All => {
                let pool = Pool::of(&registry()?)?;
                let digests: Vec<String> = pool.digests().collect();
                self.matrix.heuristics = if digests.is_empty() {
                    MatrixHeuristics::None
                } else {
                    MatrixHeuristics::Named(digests)
                };
                Ok(pool)
            }
        }
    }

    /// Where a recording is; the folder need not exist yet.
    pub(super) fn recording(&self, file: &Path) -> Result<PathBuf> {
        whole(&self.path.join(file))
    }

    /// Takes the folder for this process: one carries out a matrix, any number may look.
    pub(super) fn lock(&self) -> Result<File> {
        std::fs::create_dir_all(&self.path)
            .with_context(|| format!("cannot make the folder {}", self.path.display()))?;
        let file = self.path.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        tilewright_storage::open_locked(&file, &options).map_err(|error| match error {
            LockError::Held(holder) => anyhow!(
                "{} is being carried out by {holder}; wait for it to end, or stop it",
                self.path.display()
            ),
            LockError::Io(error) => anyhow!(error).context(format!("cannot lock {}", file.display())),
        })
    }

    /// Writes down what is asked, so that it can be resumed.
    pub(super) fn write(&self) -> Result<()> {
        std::fs::create_dir_all(&self.path)
            .with_context(|| format!("cannot make the folder {}", self.path.display()))?;
        Ok(self.matrix.write(&self.path.join(MATRIX_FILE))?)
    }
}

fn read(file: &Path) -> Result<Matrix> {
    let strategies: Vec<&str> = strategies().iter().map(|entry| entry.id).collect();
    let chips: Vec<&str> = chips().iter().map(|chip| &*chip.id).collect();
    let known = Known { strategies: Some(&strategies), chips: Some(&chips) };
    Matrix::read(file, known).map_err(|error| UsageError(error.to_string()).into())
}

/// `file` as seen from `folder`: relative, so that both can be moved together.
fn from(folder: &Path, file: &Path) -> Result<PathBuf> {
    let (folder, file) = (whole(folder)?, whole(file)?);
    let shared = folder.components().zip(file.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(shared)).collect())
}

/// A path from the root without `..`, as text: links are not followed.
fn whole(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("no such path: {}", path.display()))?;
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_named_as_seen_from_the_folder() {
        for (folder, file, seen) in [
            ("/a/campaigns/one", "/a/space.json", "../../space.json"),
            ("/a/campaigns/one", "/a/campaigns/../b/space.json", "../../b/space.json"),
            ("/a", "/a/space.json", "space.json"),
        ] {
            assert_eq!(from(Path::new(folder), Path::new(file)).unwrap(), Path::new(seen));
        }
    }
}
