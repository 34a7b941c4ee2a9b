//! What a model sees of a schedule: numbers with names, so that what was learned on one space means the same
//! on another.

use std::fmt::Debug;
use std::sync::Arc;

use tilewright_genome::{Gene, Genome, SearchSpace, Values};
use tilewright_ir::{Program, Schedule, ScheduleValue};

use super::table::Table;

/// Ordered genes whose products are features: those with the widest range of values.
const MOST_MULTIPLIED: usize = 7;
/// Choices of a categorical gene that get a feature of their own; the rest look like none of them.
const MOST_CHOICES: usize = 32;

/// Features of legalised programs: predictions of a simulator, counts of instructions.
pub trait ProgramFeatures: Debug + Send {
    /// Names of the features.
    fn names(&self) -> Vec<String>;

    /// Their values, in the order of the names; `None` where it cannot tell.
    fn of(&self, program: &Program) -> Option<Vec<f32>>;
}

/// Turns points of one space into features:
///
/// | feature | of | value |
/// |---|---|---|
/// | `NAME.log2` | an ordered gene | logarithm of the number; −1 for 0 |
/// | `NAME.rank` | an ordered gene | place in the list of values, from 0 to 1 |
/// | `NAME=CHOICE` | a categorical gene | 1 or 0 |
/// | `NAME*NAME.log2` | two of the widest ordered genes | logarithm of the product |
///
/// A gene without effect has 0 everywhere.
#[derive(Debug, Clone)]
pub struct SpaceFeatures {
    names: Arc<[String]>,
    columns: Vec<Column>,
    literal: bool,
    genes: Vec<Gene>,
}

#[derive(Debug, Clone)]
enum Column {
    Log {
        gene: usize,
        table: Vec<f32>,
    },
    Rank {
        gene: usize,
        table: Vec<f32>,
    },
    Choice {
        gene: usize,
        index: u16,
    },
    /// Of two columns of logarithms.
    Product {
        first: usize,
        second: usize,
    },
}

fn log2(number: u64) -> f32 {
    if number == 0 { -1.0 } else { (number as f64).log2() as f32 }
}

impl SpaceFeatures {
    /// The features of a space.
    pub fn of(space: &SearchSpace) -> Self {
        let mut names = Vec::new();
        let mut columns = Vec::new();
        // Column of logarithms and width of each ordered gene.
        let mut widths: Vec<(usize, f32)> = Vec::new();
        for (gene, described) in space.genes().iter().enumerate() {
            match &described.values {
                Values::Ordered(values) if values.len() > 1 => {
                    let table: Vec<f32> = values.iter().map(|&value| log2(value)).collect();
                    if values.len() > 2 {
                        widths.push((columns.len(), table[table.len() - 1] - table[0]));
                    }
                    names.push(format!("{}.log2", described.name));
                    columns.push(Column::Log { gene, table });
                    if values.len() > 2 {
                        let last = (values.len() - 1) as f32;
                        let table = (0..values.len()).map(|index| index as f32 / last).collect();
                        names.push(format!("{}.rank", described.name));
                        columns.push(Column::Rank { gene, table });
                    }
                }
                Values::Categorical(values) if values.len() > 1 => {
                    for (index, value) in values.iter().enumerate().take(MOST_CHOICES) {
                        names.push(format!("{}={value}", described.name));
                        columns.push(Column::Choice { gene, index: index as u16 });
                    }
                }
                _ => {}
            }
        }
        widths.sort_by(|first, second| second.1.total_cmp(&first.1).then(first.0.cmp(&second.0)));
        widths.truncate(MOST_MULTIPLIED);
        widths.sort_by_key(|width| width.0);
        for (at, &(first, _)) in widths.iter().enumerate() {
            for &(second, _) in &widths[at + 1..] {
                let name = |column: usize| names[column].trim_end_matches(".log2").to_owned();
                names.push(format!("{}*{}.log2", name(first), name(second)));
                columns.push(Column::Product { first, second });
            }
        }
        let genes = space.genes().to_vec();
        Self { names: names.into(), columns, literal: space.is_literal(), genes }
    }

    /// Names of the features, in the order of columns.
    pub fn names(&self) -> &Arc<[String]> {
        &self.names
    }

    /// The features of genomes; a row of `NaN` for one that is not legal.
    pub fn genomes<'a>(&self, space: &SearchSpace, genomes: impl IntoIterator<Item = &'a Genome>) -> Table {
        let genomes: Vec<&Genome> = genomes.into_iter().collect();
        if !self.literal {
            let schedules: Vec<Option<Schedule>> =
                genomes.iter().map(|genome| space.decode(genome).ok()).collect();
            return self.rows(&schedules.iter().map(Option::as_ref).collect::<Vec<_>>());
        }
        let mut table = Table::new(Arc::clone(&self.names), genomes.len());
        let mut indices: Vec<u16> = Vec::new();
        let mut gathered = usize::MAX;
        for (at, column) in self.columns.iter().enumerate() {
            let gene = match column {
                Column::Log { gene, .. } | Column::Rank { gene, .. } | Column::Choice { gene, .. } => *gene,
                Column::Product { first, second } => {
                    table.add(at, *first, *second);
                    continue;
                }
            };
            if gathered != gene {
                indices.clear();
                indices.extend(genomes.iter().map(|genome| genome.0.get(gene).copied().unwrap_or(u16::MAX)));
                gathered = gene;
            }
            let values = table.column_mut(at).iter_mut().zip(&indices);
            match column {
                Column::Log { table, .. } | Column::Rank { table, .. } => {
                    for (value, &index) in values {
                        *value = table.get(usize::from(index)).copied().unwrap_or(f32::NAN);
                    }
                }
                Column::Choice { index: wanted, .. } => {
                    for (value, index) in values {
                        *value = f32::from(u8::from(index == wanted));
                    }
                }
                Column::Product { .. } => {}
            }
        }
        table
    }

    /// The features of schedules of this space.
    pub fn schedules<'a>(&self, schedules: impl IntoIterator<Item = &'a Schedule>) -> Table {
        self.rows(&schedules.into_iter().map(Some).collect::<Vec<_>>())
    }

    fn rows(&self, schedules: &[Option<&Schedule>]) -> Table {
        let mut table = Table::new(Arc::clone(&self.names), schedules.len());
        for (at, column) in self.columns.iter().enumerate() {
            if let Column::Product { first, second } = column {
                table.add(at, *first, *second);
                continue;
            }
            for (value, schedule) in table.column_mut(at).iter_mut().zip(schedules) {
                if let Some(schedule) = schedule {
                    *value = self.value(column, schedule);
                }
            }
        }
        table
    }

    fn value(&self, column: &Column, schedule: &Schedule) -> f32 {
        let parameter = |gene: usize| schedule.parameters.get(&self.genes[gene].name);
        match column {
            Column::Log { gene, .. } => match parameter(*gene) {
                Some(ScheduleValue::Number(number)) => log2(*number),
                _ => 0.0,
            },
            Column::Rank { gene, .. } => match (parameter(*gene), &self.genes[*gene].values) {
                (Some(ScheduleValue::Number(number)), Values::Ordered(values)) => {
                    values.partition_point(|value| value < number) as f32 / (values.len() - 1) as f32
                }
                _ => 0.0,
            },
            Column::Choice { gene, index } => match parameter(*gene) {
                Some(ScheduleValue::Name(name)) => {
                    f32::from(u8::from(self.genes[*gene].choice(*index) == Some(name.as_str())))
                }
                _ => 0.0,
            },
            Column::Product { .. } => f32::NAN,
        }
    }
}
