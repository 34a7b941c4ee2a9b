//! From files to spaces with names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tilewright_recorded::{Content, Problem, RecordedError, RecordedSpace, read};
use tilewright_search::score::ScoredSpace;

use crate::UsageError;

/// The spaces of these files, each restricted by the problem of its parameters, if one is among them.
pub(crate) fn spaces(files: &[PathBuf], problems: &[PathBuf]) -> Result<Vec<ScoredSpace>> {
    let mut recorded: Vec<(String, RecordedSpace)> = Vec::new();
    let mut known: Vec<Problem> = Vec::new();
    for file in files {
        match content(file)? {
            Content::Space(space) => recorded.push((stem(file), space)),
            Content::Problem(problem) => known.push(problem),
        }
    }
    for file in problems {
        match content(file)? {
            Content::Problem(problem) => known.push(problem),
            Content::Space(_) => {
                let problem = format!("--problem {}: a recording; give it among the files", file.display());
                return Err(UsageError(problem).into());
            }
        }
    }
    if recorded.is_empty() {
        return Err(
            UsageError("no recording among the files; a problem alone has no times".to_owned()).into()
        );
    }
    let mut names = BTreeSet::new();
    if let Some((twice, _)) = recorded.iter().find(|(name, _)| !names.insert(name.clone())) {
        return Err(UsageError(format!("two files are called `{twice}`; rename one")).into());
    }
    for problem in &known {
        if !recorded.iter().any(|(_, space)| describes(problem, space)) {
            let problem = format!("{}: no recording among the files has its parameters", problem.file);
            return Err(UsageError(problem).into());
        }
    }
    recorded.into_iter().map(|(name, space)| scored(&name, space, &known)).collect()
}

/// The space of one file, under this name.
pub(crate) fn recorded_space(name: &str, file: &Path) -> Result<ScoredSpace> {
    match content(file)? {
        Content::Space(space) => scored(name, space, &[]),
        Content::Problem(problem) => {
            let text = format!("{}: a problem description has no times", problem.file);
            Err(UsageError(text).into())
        }
    }
}

fn scored(name: &str, mut space: RecordedSpace, problems: &[Problem]) -> Result<ScoredSpace> {
    for problem in problems {
        if describes(problem, &space) {
            space = problem.restrict(&space).map_err(|error| usage(&error))?;
        }
    }
    ScoredSpace::new(name, space).map_err(|error| UsageError(format!("{name}: {error}")).into())
}

fn content(file: &Path) -> Result<Content> {
    match read(file) {
        Err(RecordedError::Io { error, .. }) => {
            Err(UsageError(format!("cannot read {}: {error}", file.display())).into())
        }
        other => other.map_err(|error| usage(&error)),
    }
}

fn usage(error: &RecordedError) -> anyhow::Error {
    UsageError(error.to_string()).into()
}

/// Whether a problem has the parameters of a recording.
fn describes(problem: &Problem, space: &RecordedSpace) -> bool {
    let described: BTreeSet<&str> = problem.parameters.iter().map(|parameter| &*parameter.name).collect();
    described == space.parameters().iter().map(|parameter| &*parameter.name).collect()
}

/// The name of a file without folder and endings; of a journal, that of its campaign's folder.
fn stem(file: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    if file.extension().is_some_and(|extension| extension == "jsonl") {
        let folder = file.canonicalize().ok().and_then(|whole| whole.parent().and_then(name));
        return folder.unwrap_or_else(|| "journal".to_owned());
    }
    let name = name(file).or_else(|| file.canonicalize().ok().as_deref().and_then(name));
    let name = name.unwrap_or_else(|| "space".to_owned());
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_without_folder_and_endings() {
        for (file, name) in [
            ("a/convolution_milo-A100.json.gz", "convolution_milo-A100"),
            ("results.json", "results"),
            ("campaigns/first", "first"),
            ("v1.5.json", "v1.5"),
        ] {
            assert_eq!(stem(Path::new(file)), name);
        }
    }
}
