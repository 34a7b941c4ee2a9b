//! Files that the user names: whole or not at all, and only where a file belongs.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// Where content is written to.
pub(crate) type Out = BufWriter<File>;

/// Permissions of a new file, before the user's mask.
const NEW: u32 = 0o666;

/// Writes what the user asked for.
///
/// A file that is there keeps its content until all of the new is on disk, and its permissions; a link is
/// followed; a device or a pipe is written to, never replaced.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut Out) -> Result<()>) -> Result<()> {
    replace(path, content).with_context(|| format!("cannot write {}", path.display()))
}

fn replace(path: &Path, content: impl FnOnce(&mut Out) -> Result<()>) -> Result<()> {
    let link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let place = match fs::canonicalize(path) {
        Ok(place) => place,
        // A link to a file that is not there yet: the system follows it.
        Err(_) if link => return directly(File::create(path)?, content),
        Err(_) => path.to_owned(),
    };
    let old = fs::metadata(&place).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return directly(File::options().write(true).open(&place)?, content);
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = place.file_name().context("it names no file")?.to_string_lossy();
    let beside = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .permissions(Permissions::from_mode(NEW))
        .tempfile_in(folder)?;
    if let Some(old) = &old {
        beside.as_file().set_permissions(old.permissions())?;
    }
    directly(beside.as_file().try_clone()?, content)?;
    beside.as_file().sync_all()?;
    beside.persist(&place).map_err(io::Error::from)?;
    Ok(tilewright_storage::sync_folder(&place)?)
}

fn directly(file: File, content: impl FnOnce(&mut Out) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) -> Result<()> {
        write(path, |out| Ok(out.write_all(text.as_bytes())?))
    }

    #[test]
    fn a_file_keeps_its_permissions_and_a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        put(&link, "made through a link").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "made through a link");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        put(&link, "second").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_fails_leaves_the_old_content_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        put(&file, "first").unwrap();
        let failed = write(&file, |out| {
            out.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert!(format!("{:#}", failed.unwrap_err()).contains("file: no more"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(put(folder.path(), "onto a folder").is_err());
    }

    #[test]
    fn what_is_no_file_is_written_to_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        put(&pipe, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }
}
