use std::path::Path;

use toml::{Table, Value};

use super::{MATRIX_VERSION, Matrix, MatrixError, MatrixHeuristics, Objective, Source};

impl Matrix {
    /// Writes the matrix in a form that [`Matrix::read`] reads back, by way of a temporary file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), MatrixError> {
        tilewright_storage::replace(path, self.to_toml().as_bytes())
            .map_err(|error| MatrixError::Io { path: path.to_owned(), error })
    }

    /// The matrix as the text of a file.
    pub fn to_toml(&self) -> String {
        let mut table = Table::new();
        table.insert("version".to_owned(), Value::Integer(MATRIX_VERSION.into()));
        table.insert("strategies".to_owned(), texts(self.strategies.iter().map(String::as_str)));
        let seeds = self.seeds.iter().map(|&seed| whole(seed)).collect();
        table.insert("seeds".to_owned(), Value::Array(seeds));
        table.insert("objectives".to_owned(), texts(self.objectives.iter().copied().map(Objective::name)));
        if let Some(baseline) = &self.baseline {
            table.insert("baseline".to_owned(), Value::String(baseline.clone()));
        }
        let heuristics = match &self.heuristics {
            MatrixHeuristics::All => Value::Boolean(true),
            MatrixHeuristics::None => Value::Boolean(false),
            MatrixHeuristics::Named(digests) => texts(digests.iter().map(String::as_str)),
        };
        table.insert("heuristics".to_owned(), heuristics);
        table.insert("budget".to_owned(), Value::Table(self.budget()));
        let workloads = self.workloads.iter().map(|workload| {
            let source = match &workload.source {
                Source::Workload(workload) => ("workload", workload.to_string()),
                // The name came out of a TOML file, so it is text.
                Source::Recorded(path) => ("recorded", path.to_string_lossy().into_owned()),
            };
            named(&workload.name, [source])
        });
        table.insert("workload".to_owned(), Value::Array(workloads.collect()));
        let targets = self.targets.iter().map(|target| {
            let isa = target.isa.as_ref().map(|isa| ("isa", isa.clone()));
            let chip = target.chip.as_ref().map(|chip| ("chip", chip.clone()));
            let texts = [("cache", target.cache.to_string())].into_iter().chain(isa).chain(chip);
            let mut table = named(&target.name, texts);
            if let Value::Table(table) = &mut table {
                table.insert("threads".to_owned(), Value::Integer(target.threads.into()));
            }
            table
        });
        table.insert("target".to_owned(), Value::Array(targets.collect()));
        table.to_string()
    }

    fn budget(&self) -> Table {
        let budget = &self.budget;
        let times = [("time", budget.seconds), ("total_time", budget.total_seconds)];
        let counts = [("trials", budget.trials), ("total_trials", budget.total_trials)];
        let times = times.into_iter().filter_map(|(key, time)| Some((key, Value::Float(time?))));
        let counts = counts.into_iter().filter_map(|(key, count)| Some((key, whole(count?))));
        let mut table: Table = times.chain(counts).map(|(key, value)| (key.to_owned(), value)).collect();
        if let Some(plateau) = budget.plateau {
            let of = [("trials", whole(plateau.trials)), ("gain", Value::Float(plateau.gain))];
            let of: Table = of.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            table.insert("plateau".to_owned(), Value::Table(of));
        }
        table
    }
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(texts.map(|text| Value::String(text.to_owned())).collect())
}

/// Reading allows no number above the largest of TOML.
fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn named<'a>(name: &str, texts: impl IntoIterator<Item = (&'a str, String)>) -> Value {
    let texts = texts.into_iter().map(|(key, text)| (key.to_owned(), Value::String(text)));
    let name = ("name".to_owned(), Value::String(name.to_owned()));
    Value::Table(std::iter::once(name).chain(texts).collect())
}
