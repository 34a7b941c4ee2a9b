use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tilewright_ir::CacheState;
use toml::de::{DeTable, DeValue};

use super::section::{File, Section, Value, nearest, quoted};
use super::{
    Known, MATRIX_VERSION, MOST_CELLS, Matrix, MatrixBudget, MatrixError, MatrixHeuristics, MatrixTarget,
    MatrixWorkload, Objective, Source,
};
use crate::Plateau;

/// Largest file that is read, bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Longest name, characters: it becomes the name of a folder.
const LONGEST_NAME: usize = 80;
/// Gain that counts as progress where a plateau says nothing else, as in the margin of a claim.
const GAIN: f64 = 0.01;
const MOST_THREADS: u64 = 1024;

impl Matrix {
    /// Reads a campaign file.
    ///
    /// # Errors
    /// When the file cannot be read, or something in it is wrong; the error names file, line, key and remedy.
    pub fn read(path: &Path, known: Known<'_>) -> Result<Self, MatrixError> {
        let io = |error| MatrixError::Io { path: path.to_owned(), error };
        let bytes = std::fs::metadata(path).map_err(io)?.len();
        if bytes > MOST_BYTES {
            return Err(MatrixError::TooLarge { path: path.to_owned(), bytes, most: MOST_BYTES });
        }
        Self::parse(path, &std::fs::read(path).map_err(io)?, known)
    }

    /// Reads the content of a campaign file; `path` is its name in errors.
    ///
    /// # Errors
    /// When something in it is wrong; the error names file, line, key and remedy.
    pub fn parse(path: &Path, bytes: &[u8], known: Known<'_>) -> Result<Self, MatrixError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| MatrixError::Encoding { path: path.to_owned(), at: error.valid_up_to() })?;
        let file = File { path, text };
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let rest = text.get(span.start.min(text.len())..).unwrap_or_default();
            let near = rest.lines().next().unwrap_or_default().trim();
            file.wrong(&span, near, quoted(error.message()), "write it as TOML: key = value, lists in [ ]")
        })?;
        // The version comes first: a later one explains every other oddity.
        if let Some(found) = table.get_ref().get("version") {
            let value = Value { file, value: found.get_ref(), span: found.span(), key: "version".to_owned() };
            let found = value.count(1..=i64::MAX as u64)?;
            if found > u64::from(MATRIX_VERSION) {
                return Err(MatrixError::Newer { path: path.to_owned(), found });
            }
        }
        let keys = &[
            "version",
            "strategies",
            "seeds",
            "objectives",
            "baseline",
            "budget",
            "heuristics",
            "workload",
            "target",
        ];
        let section = Section::new(file, table.get_ref(), &(0..0), String::new(), keys)?;
        let strategies =
            section.needed("strategies", "name some: strategies = [\"evolution\", \"random\"]")?;
        let names = distinct(&strategies, "strategies", |value| {
            let name = fit_for_folder(value, value.text()?)?;
            match known.strategies {
                Some(known) => one_of(value, &name, "strategy", known),
                None => Ok(name),
            }
        })?;
        let matrix = Self {
            seeds: section.get("seeds").map_or(Ok(vec![0]), |value| seeds(&value))?,
            objectives: section
                .get("objectives")
                .map_or(Ok(vec![Objective::Median]), |value| objectives(&value))?,
            baseline: section.get("baseline").map(|value| baseline(&value, &names)).transpose()?,
            strategies: names,
            budget: budget(&section)?,
            workloads: workloads(&section)?,
            targets: targets(&section, known.chips)?,
            heuristics: section
                .get("heuristics")
                .map_or(Ok(MatrixHeuristics::All), |value| heuristics(&value))?,
        };
        let of_workload = |workload: &MatrixWorkload| match workload.source {
            Source::Workload(_) => matrix.targets.len(),
            Source::Recorded(_) => 1,
        };
        let problems: usize = matrix.workloads.iter().map(of_workload).sum();
        let cells = problems.saturating_mul(matrix.strategies.len()).saturating_mul(matrix.seeds.len());
        if cells > MOST_CELLS {
            let problem = format!("{cells} cells in all, at most {MOST_CELLS} are run");
            return Err(strategies.wrong(problem, "leave out strategies, seeds, workloads or targets"));
        }
        Ok(matrix)
    }
}

/// The values of a list, each once.
fn distinct<T: Clone + Ord>(
    list: &Value<'_>,
    of: &str,
    take: impl Fn(&Value<'_>) -> Result<T, MatrixError>,
) -> Result<Vec<T>, MatrixError> {
    let mut taken = Vec::new();
    let mut seen = BTreeSet::new();
    for value in list.list(of)? {
        let item = take(&value)?;
        if !seen.insert(item.clone()) {
            return Err(value.wrong("named twice", "leave one of them out"));
        }
        taken.push(item);
    }
    Ok(taken)
}

/// A name among those that there are.
fn one_of(value: &Value<'_>, name: &str, what: &str, known: &[&str]) -> Result<String, MatrixError> {
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let all = known.join(", ");
    let remedy = nearest(name, known).map_or_else(
        || format!("there are: {all}"),
        |meant| format!("did you mean `{meant}`? There are: {all}"),
    );
    Err(value.wrong(format!("unknown {what} `{}`", quoted(name)), remedy))
}

/// A list of seeds, or how many from 0 on.
fn seeds(value: &Value<'_>) -> Result<Vec<u64>, MatrixError> {
    if let DeValue::Integer(_) = value.value {
        return Ok((0..value.count(1..=MOST_CELLS as u64)?).collect());
    }
    distinct(value, "seeds", |seed| seed.count(0..=i64::MAX as u64))
}

/// Whether heuristics advise, or which.
fn heuristics(value: &Value<'_>) -> Result<MatrixHeuristics, MatrixError> {
    match value.value {
        DeValue::Boolean(true) => Ok(MatrixHeuristics::All),
        DeValue::Boolean(false) => Ok(MatrixHeuristics::None),
        _ => {
            let digest = |value: &Value<'_>| {
                let text = value.text()?;
                let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
                let wrong = || {
                    value.wrong(
                        "no digest of 64 hexadecimal digits",
                        "copy it from `tilewright heuristics list --json`",
                    )
                };
                if is_digest { Ok(text.to_owned()) } else { Err(wrong()) }
            };
            Ok(MatrixHeuristics::Named(distinct(value, "heuristics", digest)?))
        }
    }
}

fn objectives(value: &Value<'_>) -> Result<Vec<Objective>, MatrixError> {
    distinct(value, "objectives", |value| {
        let name = value.text()?;
        let names = Objective::ALL.map(Objective::name);
        one_of(value, name, "objective", &names)?;
        let found = Objective::ALL.into_iter().find(|objective| objective.name() == name);
        found.ok_or_else(|| value.wrong("unknown", "leave it out"))
    })
}

fn baseline(value: &Value<'_>, strategies: &[String]) -> Result<String, MatrixError> {
    let names: Vec<&str> = strategies.iter().map(String::as_str).collect();
    one_of(value, value.text()?, "strategy of this matrix", &names)
}

fn budget(section: &Section<'_>) -> Result<MatrixBudget, MatrixError> {
    let remedy = "add e.g. [budget] trials = 200, or time = \"10s\"";
    let budget = section.needed("budget", remedy)?;
    let section = budget.section(&["time", "trials", "total_time", "total_trials", "plateau"])?;
    let time = |key| section.get(key).map(|value| value.seconds()).transpose();
    let count = |key| section.get(key).map(|value| value.count(1..=i64::MAX as u64)).transpose();
    let found = MatrixBudget {
        seconds: time("time")?,
        trials: count("trials")?,
        total_seconds: time("total_time")?,
        total_trials: count("total_trials")?,
        plateau: section.get("plateau").map(|value| plateau(&value)).transpose()?,
    };
    if found == MatrixBudget::default() {
        return Err(budget.wrong("nothing ends a search", remedy));
    }
    Ok(found)
}

/// A number of trials, or a table with the gain too.
fn plateau(value: &Value<'_>) -> Result<Plateau, MatrixError> {
    let most = i64::MAX as u64;
    if let DeValue::Integer(_) = value.value {
        return Ok(Plateau { trials: value.count(1..=most)?, gain: GAIN });
    }
    let section = value.section(&["trials", "gain"])?;
    let trials = section.needed("trials", "say after how many trials")?.count(1..=most)?;
    let gain = section.get("gain").map_or(Ok(GAIN), |value| value.number())?;
    let plateau = Plateau { trials, gain };
    match plateau.problem() {
        Some(problem) => Err(value.wrong(problem, "give e.g. gain = 0.01")),
        None => Ok(plateau),
    }
}

fn workloads(section: &Section<'_>) -> Result<Vec<MatrixWorkload>, MatrixError> {
    let list = section.needed("workload", "add a table [[workload]] with `workload` or `recorded`")?;
    let mut names = BTreeSet::new();
    let read = |value: Value<'_>| {
        let section = value.section(&["name", "workload", "recorded"])?;
        let (source, default, named) = match (section.get("workload"), section.get("recorded")) {
            (Some(_), Some(both)) => {
                return Err(both.wrong("beside `workload`", "give one of the two"));
            }
            (None, None) => {
                return Err(value.wrong("neither `workload` nor `recorded`", "give one of the two"));
            }
            (Some(given), None) => {
                let parsed = given.text()?.parse::<tilewright_ir::Workload>().map_err(|error| {
                    let problem: String =
                        error.to_string().chars().take(300).flat_map(char::escape_debug).collect();
                    given.wrong(problem, "write e.g. \"matmul:m=64,n=64,k=64,dtype=f32\"")
                })?;
                let name = parsed.to_string();
                (Source::Workload(parsed), name, given)
            }
            (None, Some(given)) => {
                let path = PathBuf::from(given.text()?);
                let Some(name) = path.file_name() else {
                    return Err(
                        given.wrong("no file", "give the path of a recording, e.g. \"space.json.gz\"")
                    );
                };
                let name = name.to_string_lossy().into_owned();
                let name = name.strip_suffix(".gz").unwrap_or(&name);
                let name = name.strip_suffix(".json").unwrap_or(name).to_owned();
                (Source::Recorded(path), name, given)
            }
        };
        let name = name(&section, &default, &named, &mut names)?;
        Ok(MatrixWorkload { name, source })
    };
    list.list("workloads")?.into_iter().map(read).collect()
}

fn targets(section: &Section<'_>, chips: Option<&[&str]>) -> Result<Vec<MatrixTarget>, MatrixError> {
    let Some(list) = section.get("target") else {
        let name = "t1-warm".to_owned();
        return Ok(vec![MatrixTarget { name, threads: 1, cache: CacheState::Warm, isa: None, chip: None }]);
    };
    let mut names = BTreeSet::new();
    let read = |value: Value<'_>| {
        let section = value.section(&["name", "threads", "cache", "isa", "chip"])?;
        let threads = section.get("threads").map_or(Ok(1), |value| value.count(1..=MOST_THREADS))? as u32;
        let cache = match section.get("cache") {
            None => CacheState::Warm,
            Some(value) => match &*one_of(&value, value.text()?, "state", &["warm", "cold"])? {
                "cold" => CacheState::Cold,
                _ => CacheState::Warm,
            },
        };
        let isa = section.get("isa").map(|value| value.text().map(str::to_owned)).transpose()?;
        let chip = |value: Value<'_>| match (value.text()?, chips) {
            (name, Some(chips)) => one_of(&value, name, "chip", chips),
            (name, None) => Ok(name.to_owned()),
        };
        let chip = section.get("chip").map(chip).transpose()?;
        if isa.is_some() && chip.is_some() {
            return Err(value.wrong("`isa` beside `chip`", "leave `isa` out: a chip has its own"));
        }
        let place = chip.as_ref().or(isa.as_ref()).map(|place| format!("{place}-")).unwrap_or_default();
        let name = name(&section, &format!("{place}t{threads}-{cache}"), &value, &mut names)?;
        Ok(MatrixTarget { name, threads, cache, isa, chip })
    };
    list.list("targets")?.into_iter().map(read).collect()
}

/// The name of a table, given or made of what it holds; unique, and fit for a folder.
fn name(
    section: &Section<'_>,
    default: &str,
    otherwise: &Value<'_>,
    names: &mut BTreeSet<String>,
) -> Result<String, MatrixError> {
    let given = section.get("name");
    let name = match &given {
        Some(value) => value.text()?.to_owned(),
        None => default.chars().take(LONGEST_NAME).map(|c| if fit(c) { c } else { '-' }).collect(),
    };
    let at = given.as_ref().unwrap_or(otherwise);
    let name = fit_for_folder(at, &name)?;
    if !names.insert(name.clone()) {
        return Err(at.wrong(format!("a second `{name}`"), "give each a `name` of its own"));
    }
    Ok(name)
}

fn fit(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')
}

fn fit_for_folder(value: &Value<'_>, name: &str) -> Result<String, MatrixError> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && name.chars().all(fit) && name.len() <= LONGEST_NAME {
        return Ok(name.to_owned());
    }
    let problem = format!("`{}` cannot be the name of a folder", quoted(name));
    let remedy = format!("give a name of at most {LONGEST_NAME} letters, digits, `-`, `_`, `.`, `+`");
    Err(value.wrong(problem, remedy))
}
