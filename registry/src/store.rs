//! Files named after their content.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tilewright_storage::{replace, sync_folder};

use crate::{Digest, RegistryError};

/// A folder of files named after their digest.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
    extension: &'static str,
}

impl Store {
    pub(crate) fn new(folder: PathBuf, extension: &'static str) -> Self {
        Self { folder, extension }
    }

    pub(crate) fn path(&self, digest: Digest) -> PathBuf {
        self.folder.join(format!("{digest}.{}", self.extension))
    }

    /// The bytes of that digest, checked.
    pub(crate) fn read(&self, digest: Digest) -> Result<Vec<u8>, RegistryError> {
        let path = self.path(digest);
        let bytes = fs::read(&path).map_err(RegistryError::io(&path))?;
        let found = Digest::of(&bytes);
        if found == digest {
            Ok(bytes)
        } else {
            Err(RegistryError::damaged(&path, format!("its bytes have the digest {found}")))
        }
    }

    /// Puts bytes in, so that they are on disk, whole, when this returns. A damaged file is replaced; a file that
    /// was not there before joins the `fresh` ones.
    pub(crate) fn write(&self, bytes: &[u8], fresh: &mut Vec<PathBuf>) -> Result<Digest, RegistryError> {
        let digest = Digest::of(bytes);
        if self.read(digest).is_ok() {
            return Ok(digest);
        }
        let path = self.path(digest);
        let known = path.exists();
        self.replace(&path, bytes).map_err(RegistryError::io(&path))?;
        if !known {
            fresh.push(path);
        }
        Ok(digest)
    }

    /// Files that are there: those with a digest for a name, and the names of the others.
    pub(crate) fn contents(&self) -> Result<(Vec<Digest>, Vec<PathBuf>), RegistryError> {
        let (mut digests, mut others) = (Vec::new(), Vec::new());
        let folder = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((digests, others)),
            folder => folder.map_err(RegistryError::io(&self.folder))?,
        };
        for file in folder {
            let path = file.map_err(RegistryError::io(&self.folder))?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            match stem.and_then(|stem| stem.parse().ok()) {
                Some(digest) if self.path(digest) == path => digests.push(digest),
                _ => others.push(path),
            }
        }
        digests.sort_unstable();
        others.sort_unstable();
        Ok((digests, others))
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        // The folder's own name, should it be new.
        sync_folder(&self.folder)?;
        replace(path, bytes)
    }
}
