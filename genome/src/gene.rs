use serde::{Deserialize, Serialize};
use tilewright_ir::ScheduleValue;

/// One decision of a schedule: its parameter's name and the values it may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gene {
    /// Name of the schedule parameter.
    pub name: String,
    /// Genes of one group are decided together: crossover takes a whole group from one parent.
    pub group: String,
    /// Its values.
    pub values: Values,
    /// How a random value is drawn.
    pub sampling: Sampling,
}

/// Values of a gene; at most 65,536.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Numbers in ascending order: neighbours are alike, so stepping makes sense.
    Ordered(Vec<u64>),
    /// Choices without an order.
    Categorical(Vec<String>),
}

/// How a random value is drawn among the open ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// All alike.
    Uniform,
    /// The last one with probability `last`, else the `i`-th of the open values with a probability
    /// proportional to `ln((i+1)/i)`: sizes matter by their ratio, and the largest size is often special
    /// (a tile that covers its axis makes no loop).
    Logarithmic {
        /// Probability of the last open value, from 0 to 1.
        last: f64,
    },
}

impl Gene {
    /// A gene with numeric values, drawn uniformly; sorts them and removes duplicates.
    pub fn ordered(name: &str, group: &str, mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self {
            name: name.to_owned(),
            group: group.to_owned(),
            values: Values::Ordered(values),
            sampling: Sampling::Uniform,
        }
    }

    /// A gene with named choices, drawn uniformly.
    pub fn categorical(name: &str, group: &str, values: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            group: group.to_owned(),
            values: Values::Categorical(values.iter().map(|&value| value.to_owned()).collect()),
            sampling: Sampling::Uniform,
        }
    }

    /// The same gene, drawn logarithmically.
    #[must_use]
    pub fn logarithmic(self, last: f64) -> Self {
        Self { sampling: Sampling::Logarithmic { last }, ..self }
    }

    /// Whether its values have an order.
    pub fn is_ordered(&self) -> bool {
        matches!(self.values, Values::Ordered(_))
    }

    /// The value at an index, `None` beyond the list.
    pub fn value(&self, index: u16) -> Option<ScheduleValue> {
        match &self.values {
            Values::Ordered(values) => values.get(usize::from(index)).copied().map(ScheduleValue::Number),
            Values::Categorical(values) => values.get(usize::from(index)).cloned().map(ScheduleValue::Name),
        }
    }

    /// The number at an index, `None` beyond the list or for a choice.
    pub fn number(&self, index: u16) -> Option<u64> {
        match &self.values {
            Values::Ordered(values) => values.get(usize::from(index)).copied(),
            Values::Categorical(_) => None,
        }
    }

    /// The name at an index, `None` beyond the list or for a number.
    pub fn choice(&self, index: u16) -> Option<&str> {
        match &self.values {
            Values::Ordered(_) => None,
            Values::Categorical(values) => values.get(usize::from(index)).map(String::as_str),
        }
    }

    /// Index of a value, `None` when it is not in the list.
    pub fn index_of(&self, value: &ScheduleValue) -> Option<u16> {
        let at = match (&self.values, value) {
            (Values::Ordered(values), ScheduleValue::Number(number)) => values.binary_search(number).ok(),
            (Values::Categorical(values), ScheduleValue::Name(name)) => {
                values.iter().position(|value| value == name)
            }
            _ => None,
        };
        at.map(|at| at as u16)
    }
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Ordered(values) => values.len(),
            Self::Categorical(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
