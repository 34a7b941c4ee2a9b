use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tilewright_ir::CacheState;

use crate::Requested;

/// Version of `campaign.toml`, raised when an older tool would misread it.
pub const CAMPAIGN_VERSION: u32 = 1;

/// What a campaign was asked to do: the content of `campaign.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignRequest {
    /// [`CAMPAIGN_VERSION`] of the tool that wrote it.
    pub version: u32,
    /// What to make fast.
    pub workload: Requested,
    /// Worker threads, at least 1.
    pub threads: u32,
    /// State of the caches before each launch.
    pub cache: CacheState,
    /// Time to search, seconds; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Trials to make; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<u64>,
    /// Seed of every random draw. Below 2⁶³, the largest whole number of TOML.
    pub seed: u64,
    /// Name of the strategy.
    pub strategy: String,
    /// When the search ends for want of progress; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau: Option<Plateau>,
    /// Further settings by name, such as `bandit = "off"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// A search that gets no further: so many trials in a row bring less than this gain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plateau {
    /// Candidates handed to the runner, at least 1.
    pub trials: u64,
    /// Relative gain in median time that counts as progress, in [0, 1).
    pub gain: f64,
}

impl Plateau {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        if self.trials == 0 {
            Some("`trials` is 0, at least 1 is needed")
        } else if (0.0..1.0).contains(&self.gain) {
            None
        } else {
            Some("`gain` is not in [0, 1)")
        }
    }
}

/// Why a request cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The file is not a request.
    #[error("{path}, line {line}, `{key}`: {problem}; {remedy}")]
    Key {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Key that is wrong, or the nearest one.
        key: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// The file was written by a later version.
    #[error(
        "{path}, `version`: {found}, this version reads up to {CAMPAIGN_VERSION}; use a newer tilewright"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: i64,
    },
    /// The request holds what TOML cannot write.
    #[error("{path}, `{key}`: {problem}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Key of the value.
        key: &'static str,
        /// What is wrong.
        problem: String,
    },
}

impl CampaignRequest {
    /// Reads `campaign.toml`.
    ///
    /// # Errors
    /// When the file is missing, was written by a later version, or has a key that is missing, unknown or out
    /// of range; the error names file, line, key and remedy.
    pub fn read(path: &Path) -> Result<Self, RequestError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| RequestError::Io { path: path.to_owned(), error })?;
        Self::parse(path, &text)
    }

    /// Writes `campaign.toml` by way of a temporary file, so that it is never seen half written.
    ///
    /// # Errors
    /// When the file cannot be written, or a value has no form in TOML.
    pub fn write(&self, path: &Path) -> Result<(), RequestError> {
        if i64::try_from(self.seed).is_err() {
            return Err(RequestError::Unwritable {
                path: path.to_owned(),
                key: "seed",
                problem: format!("{} is above the largest whole number of TOML, {}", self.seed, i64::MAX),
            });
        }
        let text = toml::to_string(self).map_err(|error| RequestError::Unwritable {
            path: path.to_owned(),
            key: "settings",
            problem: error.to_string(),
        })?;
        tilewright_storage::replace(path, text.as_bytes())
            .map_err(|error| RequestError::Io { path: path.to_owned(), error })
    }

    /// Reads the content of `campaign.toml`; `path` is its name in errors.
    ///
    /// # Errors
    /// When it was written by a later version, or has a key that is missing, unknown or out of range.
    pub fn parse(path: &Path, text: &str) -> Result<Self, RequestError> {
        let wrong = |line, key: &str, problem: String, remedy: &str| RequestError::Key {
            path: path.to_owned(),
            line,
            key: key.to_owned(),
            problem,
            remedy: remedy.to_owned(),
        };
        // The version comes first: a later one explains every other oddity.
        if let Ok(table) = text.parse::<toml::Table>()
            && let Some(found) = table.get("version").and_then(toml::Value::as_integer)
            && found > i64::from(CAMPAIGN_VERSION)
        {
            return Err(RequestError::Newer { path: path.to_owned(), found });
        }
        let request: Self = toml::from_str(text).map_err(|error| {
            let (line, key) = locate(text, error.span(), error.message());
            wrong(line, &key, error.message().to_owned(), REMEDY)
        })?;
        let line_of = |key: &str| {
            1 + text.lines().position(|line| line.trim_start().starts_with(key)).unwrap_or_default()
        };
        if request.threads == 0 {
            return Err(wrong(line_of("threads"), "threads", "0 threads".to_owned(), "give at least 1"));
        }
        if request.seconds.is_some_and(|seconds| !(seconds.is_finite() && seconds >= 0.0)) {
            let problem = "not a finite time of 0 or more".to_owned();
            return Err(wrong(line_of("seconds"), "seconds", problem, "give seconds, or remove the key"));
        }
        if let Some(problem) = request.plateau.as_ref().and_then(Plateau::problem) {
            let remedy = "correct it, or remove the table";
            return Err(wrong(line_of("[plateau"), "plateau", problem.to_owned(), remedy));
        }
        Ok(request)
    }
}

const REMEDY: &str = "correct it, or start a new campaign in another folder";

/// Line (from 1) and key that a parser's complaint is about.
fn locate(text: &str, span: Option<std::ops::Range<usize>>, message: &str) -> (usize, String) {
    let start = span.map_or(0, |span| span.start.min(text.len()));
    let line = text.as_bytes()[..start].split(|&byte| byte == b'\n').count();
    // A missing or unknown key stands in the message between backquotes; any other is on the line.
    let quoted = message.contains("field").then(|| message.split('`').nth(1).map(str::to_owned)).flatten();
    let on_line = || {
        let line = text.lines().nth(line - 1).unwrap_or_default();
        line.split_once('=').map_or(line, |(key, _)| key).trim().to_owned()
    };
    (line, quoted.unwrap_or_else(on_line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> CampaignRequest {
        CampaignRequest {
            version: CAMPAIGN_VERSION,
            workload: "matmul:m=64,n=64,k=64,dtype=f32".parse().unwrap(),
            threads: 2,
            cache: CacheState::Warm,
            seconds: Some(60.0),
            trials: None,
            seed: 7,
            strategy: "evolution".to_owned(),
            plateau: Some(Plateau { trials: 50, gain: 0.01 }),
            settings: BTreeMap::from([("bandit".to_owned(), "off".to_owned())]),
        }
    }

    fn error(text: &str) -> String {
        CampaignRequest::parse(Path::new("campaign.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(crate::CAMPAIGN_FILE);
        request().write(&path).unwrap();
        assert_eq!(CampaignRequest::read(&path).unwrap(), request());
    }

    // U136
    #[test]
    fn errors_name_file_line_key_and_remedy() {
        let good = toml::to_string(&request()).unwrap();
        for (from, to, key) in [
            ("threads = 2", "threads = \"two\"", "`threads`"),
            ("threads = 2", "threads = 0", "`threads`"),
            ("threads = 2", "thread = 2", "`thread`"),
            ("seed = 7\n", "", "`seed`"),
            ("seed = 7", "seed = -7", "`seed`"),
            ("seconds = 60.0", "seconds = nan", "`seconds`"),
            ("m=64", "m=0", "`workload`"),
            ("gain = 0.01", "gain = 1.5", "`plateau`"),
            ("gain = 0.01", "gains = 0.01", "`gains`"),
        ] {
            let text = error(&good.replace(from, to));
            assert!(text.starts_with("campaign.toml, line "), "{text}");
            assert!(text.contains(key) && text.contains(';'), "{key}: {text}");
        }
        assert!(error(&good.replace("version = 1", "version = 9")).contains("use a newer tilewright"));
        assert!(error("threads = = 2").contains("line 1"));
    }

    #[test]
    fn a_seed_that_toml_cannot_hold_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let request = CampaignRequest { seed: u64::MAX, ..request() };
        let error = request.write(&folder.path().join("campaign.toml")).unwrap_err();
        assert!(error.to_string().contains("`seed`"));
    }
}
