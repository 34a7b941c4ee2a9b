//! `tilewright fsck`: whether stored files are what was written, and how to go on where they are not.
//!
//! | file | holds |
//! |---|---|
//! | `campaign.rs` | a campaign's folder, and that of a matrix of campaigns |
//! | `registry.rs` | a registry |

mod campaign;
mod registry;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use tilewright_journal::{CAMPAIGN_FILE, CELLS_FOLDER, JOURNAL_FILE, MATRIX_FILE};

use crate::{Ending, UsageError, output, place};

pub(crate) const EXAMPLES: &str = "Examples:
  tilewright fsck campaigns/first
  tilewright fsck campaigns/first campaigns/strategies-1 --repair
  tilewright fsck --json | jq '.places[].problems'

Exit codes: 0 all sound, or everything repaired; 1 damage is left; 2 a path that is none of ours.";

#[derive(Debug, Args)]
pub(crate) struct Fsck {
    /// Folders of campaigns, of `campaign run`, or registries; this user's registry where none is given
    pub(crate) paths: Vec<PathBuf>,
    /// Keep what is sound, and move the rest into files beside (`….aside-…`)
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Campaign,
    Matrix,
    Registry,
}

/// Something that is wrong.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the JSON fields")]
struct Problem {
    path: PathBuf,
    /// Line in it, from 1, where it has lines.
    line: Option<u64>,
    problem: String,
    /// Whether it has been put right.
    repaired: bool,
}

/// One folder with what was found in it.
#[derive(Debug, Serialize)]
struct Place {
    path: PathBuf,
    kind: Kind,
    /// Events, records and other files that are sound.
    sound: u64,
    problems: Vec<Problem>,
    /// Files that a repair has moved damaged parts into.
    aside: Vec<PathBuf>,
}

impl Place {
    fn new(path: &Path, kind: Kind) -> Self {
        Self { path: path.to_owned(), kind, sound: 0, problems: Vec::new(), aside: Vec::new() }
    }

    fn wrong(&mut self, path: &Path, line: Option<u64>, problem: impl Into<String>) {
        self.problems.push(Problem { path: path.to_owned(), line, problem: problem.into(), repaired: false });
    }

    /// Marks the problems of a file as put right.
    fn repaired(&mut self, path: &Path) {
        for problem in self.problems.iter_mut().filter(|problem| problem.path == path) {
            problem.repaired = true;
        }
    }
}

#[derive(Serialize)]
struct Printed<'a> {
    version: u32,
    /// Whether nothing is damaged any more.
    sound: bool,
    places: &'a [Place],
}

/// Runs the command.
pub(crate) fn fsck(arguments: &Fsck) -> Result<Ending> {
    let paths = match &arguments.paths[..] {
        [] => vec![place::registry(None)?],
        paths => paths.to_vec(),
    };
    let kinds = paths.iter().map(|path| Ok((path, kind_of(path)?))).collect::<Result<Vec<_>>>()?;
    let mut places = Vec::new();
    for (path, kind) in kinds {
        let mut found = Place::new(path, kind);
        match kind {
            Kind::Campaign => campaign::campaign(path, arguments.repair, &mut found),
            Kind::Matrix => campaign::matrix(path, arguments.repair, &mut found),
            Kind::Registry => registry::registry(path, arguments.repair, &mut found),
        }
        .with_context(|| format!("cannot check {}", path.display()))?;
        places.push(found);
    }
    let left = places.iter().flat_map(|place| &place.problems).filter(|problem| !problem.repaired).count();
    if arguments.json {
        output::json(&Printed { version: 1, sound: left == 0, places: &places })?;
    } else {
        output::result(&text(&places, arguments.repair))?;
    }
    Ok(if left == 0 { Ending::Done } else { Ending::Damaged })
}

fn kind_of(path: &Path) -> Result<Kind> {
    let has = |names: &[&str]| names.iter().any(|name| path.join(name).exists());
    if has(&[MATRIX_FILE, CELLS_FOLDER]) {
        Ok(Kind::Matrix)
    } else if has(&[JOURNAL_FILE, CAMPAIGN_FILE]) {
        Ok(Kind::Campaign)
    } else if has(&["audit.jsonl", "records"]) {
        Ok(Kind::Registry)
    } else {
        Err(UsageError(format!(
            "{} is no campaign (it has no {JOURNAL_FILE}), no folder of `campaign run` (no {MATRIX_FILE}) and no \
             registry (no audit.jsonl)",
            path.display()
        ))
        .into())
    }
}

fn text(places: &[Place], repair: bool) -> String {
    let mut text = String::new();
    for place in places {
        let kind = output::name_of(&place.kind);
        for problem in &place.problems {
            let line = problem.line.map_or(String::new(), |line| format!(", line {line}"));
            let state = if problem.repaired { "repaired" } else { "damaged" };
            text.push_str(&format!("{state}: {}{line}: {}\n", problem.path.display(), problem.problem));
        }
        for aside in &place.aside {
            text.push_str(&format!("kept in {}\n", aside.display()));
        }
        let left = place.problems.iter().filter(|problem| !problem.repaired).count();
        let verdict = match (left, place.problems.len()) {
            (0, 0) => "sound".to_owned(),
            (0, repaired) => format!("{repaired} problems, all repaired"),
            (left, _) if repair => format!("{left} problems cannot be repaired here"),
            (left, _) => format!("{left} problems; --repair keeps what is sound and moves the rest aside"),
        };
        text.push_str(&format!("{}: {kind}, {} sound: {verdict}\n", place.path.display(), place.sound));
    }
    text
}
