//! Everything measured about a machine in one record, and its cache on disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ceiling::Effort;
use crate::{CeilingMeter, Ceilings, HostFacts, NoiseSamples, Pool, RuntimeError};

/// Raised when the meaning of a field changes; older files are then measured again.
const FORMAT: u32 = 1;

/// Facts, ceilings and steadiness of one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// Version of this record's form.
    pub format: u32,
    /// [`HostFacts::fingerprint`] of `host`.
    pub fingerprint: String,
    /// What the machine is.
    pub host: HostFacts,
    /// What it can do at most.
    pub ceilings: Ceilings,
    /// Comparisons of a kernel with itself, on one worker and on all.
    pub noise: Vec<NoiseSamples>,
}

/// Why a report could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("device report {}: {source}", path.display())]
pub struct ReportError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl DeviceReport {
    /// Measures this machine with the workers of the pool; `noise_pairs` pairs for each noise sample.
    ///
    /// # Errors
    /// When the system refuses memory.
    pub fn measure(pool: &Pool, effort: &Effort, noise_pairs: usize) -> Result<Self, RuntimeError> {
        let host = HostFacts::detect();
        let ceilings = CeilingMeter::new(pool).measure(&host, effort)?;
        let mut noise = vec![NoiseSamples::measure(pool, 1, noise_pairs)?];
        if pool.threads() > 1 {
            noise.push(NoiseSamples::measure(pool, pool.threads(), noise_pairs)?);
        }
        Ok(Self { format: FORMAT, fingerprint: host.fingerprint(), host, ceilings, noise })
    }

    /// Reads the report kept at this path: `None` when there is none, or it is of another machine, of
    /// another form, or damaged, all of which mean to measure again.
    ///
    /// # Errors
    /// When the file is there but cannot be read.
    pub fn cached(path: &Path, fingerprint: &str) -> Result<Option<Self>, ReportError> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ReportError { path: path.into(), source }),
        };
        let report = serde_json::from_slice::<Self>(&text).ok();
        Ok(report.filter(|report| report.format == FORMAT && report.fingerprint == fingerprint))
    }

    /// Writes the report as JSON, whole or not at all: to a file beside it first, then renamed.
    ///
    /// # Errors
    /// When the system refuses; what was at the path before is then still there.
    pub fn store(&self, path: &Path) -> Result<(), ReportError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.tmp", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = self.write(&beside).and_then(|()| fs::rename(&beside, path));
        written.map_err(|source| {
            // The error that matters is the first one; a left-over temporary file harms nobody.
            let _ = fs::remove_file(&beside);
            ReportError { path: path.into(), source }
        })
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create(path)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> DeviceReport {
        let host = HostFacts::detect();
        let noise = vec![NoiseSamples { threads: 1, pairs: vec![[50_001, 49_999]] }];
        DeviceReport {
            format: FORMAT,
            fingerprint: host.fingerprint(),
            host,
            ceilings: Ceilings::default(),
            noise,
        }
    }

    #[test]
    fn what_is_stored_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device.json");
        let report = report();
        assert_eq!(DeviceReport::cached(&path, &report.fingerprint).unwrap(), None);
        report.store(&path).unwrap();
        report.store(&path).unwrap();
        assert_eq!(DeviceReport::cached(&path, &report.fingerprint).unwrap(), Some(report));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_machine_form_or_damage_means_measuring_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device.json");
        let report = report();
        report.store(&path).unwrap();
        assert_eq!(DeviceReport::cached(&path, "other").unwrap(), None);
        let older = DeviceReport { format: FORMAT - 1, ..report.clone() };
        older.store(&path).unwrap();
        assert_eq!(DeviceReport::cached(&path, &report.fingerprint).unwrap(), None);
        fs::write(&path, "{\"format\":").unwrap();
        assert_eq!(DeviceReport::cached(&path, &report.fingerprint).unwrap(), None);
    }

    #[test]
    fn a_failed_store_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let occupied = folder.path().join("device.json");
        fs::create_dir(&occupied).unwrap();
        assert!(report().store(&occupied).is_err());
        assert!(DeviceReport::cached(&occupied, "any").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
