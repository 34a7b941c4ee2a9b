//! Where files go when the user does not say.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The file of this machine's measurements.
pub(crate) fn device_report(fingerprint: &str) -> Result<PathBuf> {
    let folder = dirs::cache_dir().context("no cache folder for this user: set HOME")?.join("tilewright");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.join(format!("device-{fingerprint}.json")))
}

/// The registry's folder.
pub(crate) fn registry(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(folder) => Ok(folder.to_owned()),
        None => Ok(dirs::data_local_dir()
            .context("no data folder for this user: set HOME, or give --registry DIR")?
            .join("tilewright")
            .join("registry")),
    }
}

/// A folder for a new campaign that does not exist yet.
pub(crate) fn campaign(workload: &str, threads: u32) -> PathBuf {
    let name: String = workload.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    numbered(&format!("{name}-t{threads}"))
}

/// A folder for a new matrix of campaigns that does not exist yet.
pub(crate) fn matrix(name: &str) -> PathBuf {
    numbered(name)
}

fn numbered(name: &str) -> PathBuf {
    let mut numbered = (1..).map(|number| PathBuf::from("campaigns").join(format!("{name}-{number}")));
    numbered.find(|folder| !folder.exists()).expect("invariant: the numbers never end")
}
