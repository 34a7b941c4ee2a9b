use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::{replace, sync_folder};

/// Keeps bytes that are taken out of `path` in a file beside it, which is on disk when this returns. The name
/// follows from the bytes, so that doing it again after a kill makes no second copy.
///
/// # Errors
/// When the system refuses.
pub fn keep_aside(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let aside = name(path, blake3::hash(bytes));
    if fs::read(&aside).is_ok_and(|found| found == bytes) {
        return Ok(aside);
    }
    replace(&aside, bytes)?;
    Ok(aside)
}

/// Renames a file, so that what looks for it finds none; its new name follows from its bytes.
///
/// # Errors
/// When the system refuses.
pub fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    let aside = name(path, hasher.finalize());
    fs::rename(path, &aside)?;
    sync_folder(path)?;
    Ok(aside)
}

fn name(path: &Path, digest: blake3::Hash) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".aside-{}", &digest.to_hex()[..12]));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_files_are_kept_beside_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"broken").unwrap();
        let first = keep_aside(&path, b"broken").unwrap();
        assert_eq!(keep_aside(&path, b"broken").unwrap(), first);
        assert_eq!(move_aside(&path).unwrap(), first);
        assert_ne!(keep_aside(&path, b"other").unwrap(), first);
        assert_eq!((fs::read(first).unwrap(), path.exists()), (b"broken".to_vec(), false));
    }
}
