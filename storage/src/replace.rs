use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file so that a reader, or a loss of power, finds the old content or the new; the new is on disk when
/// this returns. Whoever writes the same file must hold a lock meanwhile: the temporary name is always the same,
/// so that one killed writer after the other leaves one file behind, not many.
///
/// # Errors
/// When the system refuses; the old content is untouched then.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| std::fs::rename(&beside, path)) {
        // Best effort: a full disk should not also keep the failed attempt.
        std::fs::remove_file(&beside).ok();
        return Err(error);
    }
    sync_folder(path)
}

/// Returns once the name of a file is on disk, as far as its folder says so.
///
/// # Errors
/// When the system refuses.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Where the new content is written before it is renamed.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_old_one_or_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"old").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::create_dir(beside(&path)).unwrap();
        assert!(replace(&path, b"newer").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn what_a_killed_writer_left_is_no_hindrance() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(beside(&path), b"half").unwrap();
        replace(&path, b"whole").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
