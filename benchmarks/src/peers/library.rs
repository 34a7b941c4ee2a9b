//! Finding and loading shared libraries.

use std::fs;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use super::Absent;

/// A shared library by the beginnings of its file name, the preferred one first.
pub struct LibraryFile {
    /// Folder of the peer below `benchmarks/peers/build`.
    pub folder: &'static str,
    /// Beginnings of file names, each followed by anything.
    pub prefixes: &'static [&'static str],
    /// Whether the system's folders are searched too.
    pub system: bool,
}

/// Where libraries are looked for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// A folder given by the user, searched before all others.
    pub peer_dir: Option<PathBuf>,
}

/// The folders of the system, and folders below that distributions use for alternatives.
const SYSTEM: &[&str] = &["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
const ALTERNATIVES: &[&str] = &["", "openblas-pthread", "openblas-openmp", "blis-openmp"];

impl Search {
    /// The first file that fits.
    ///
    /// # Errors
    /// [`Absent`], with the command that installs it.
    pub fn find(&self, file: &LibraryFile) -> Result<PathBuf, Absent> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/build");
        let mut folders = Vec::new();
        if let Some(given) = &self.peer_dir {
            folders.push(given.join(file.folder));
            folders.push(given.clone());
        }
        folders.push(built.join(file.folder));
        if file.system {
            let all = SYSTEM.iter().flat_map(|root| ALTERNATIVES.iter().map(|sub| Path::new(root).join(sub)));
            folders.extend(all);
        }
        folders.iter().find_map(|folder| first_match(folder, file.prefixes)).ok_or_else(|| Absent {
            why: format!("no {}* found", file.prefixes.join("*, ")),
            remedy: format!("run benchmarks/install-peers.sh {}", file.folder),
        })
    }
}

/// A loaded library that stays loaded until the process ends, so that its functions stay callable.
pub(super) struct Library {
    handle: ManuallyDrop<libloading::Library>,
    path: PathBuf,
}

impl Library {
    /// Loads the library that was found for a contender.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Absent> {
        let absent = |why: String| Absent { why, remedy: "run benchmarks/install-peers.sh".to_owned() };
        let path = path.ok_or_else(|| absent("no library was found".to_owned()))?;
        // SAFETY: a peer's library, installed to be loaded; its initialisers run in a process that
        // exists for it alone.
        let handle = unsafe { libloading::Library::new(path) }.map_err(|error| absent(error.to_string()))?;
        Ok(Self { handle: ManuallyDrop::new(handle), path: path.to_owned() })
    }

    /// The first symbol of `names` that exists, as a function, or a pointer to data, of type
    /// `F`.
    ///
    /// # Safety
    /// `F` must be the pointer type of the symbol.
    pub(super) unsafe fn function<F: Copy>(&self, names: &[impl AsRef<str>]) -> Result<F, Absent> {
        let symbol = |name: &str| {
            // SAFETY: the caller vouches for the type; the library is never unloaded.
            unsafe { self.handle.get::<F>(name.as_bytes()) }.ok().map(|symbol| *symbol)
        };
        names.iter().find_map(|name| symbol(name.as_ref())).ok_or_else(|| Absent {
            why: format!(
                "{} has no {}",
                self.path.display(),
                names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" or ")
            ),
            remedy: "install a newer build".to_owned(),
        })
    }
}

/// A text that a library returned.
///
/// # Safety
/// `text` must be null or a C string that lives long enough to be copied.
pub(super) unsafe fn text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
}

fn first_match(folder: &Path, prefixes: &[&str]) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let fits = |path: &PathBuf, prefix: &str| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(prefix) && name.contains(".so") && path.is_file())
    };
    prefixes.iter().find_map(|prefix| files.iter().find(|path| fits(path, prefix)).cloned())
}
