use serde::{Deserialize, Serialize};

/// How columns become those of a linear model: less their mean, over their standard deviation; what is unknown
/// is 0, the mean. Constant columns are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Standard {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Term {
    column: usize,
    mean: f32,
    /// One over the standard deviation.
    scale: f32,
    /// Whether the term is the square of the standardised value, less its mean 1.
    square: bool,
}

/// A model matrix, row after row.
#[derive(Debug)]
pub(super) struct Design {
    width: usize,
    values: Vec<f64>,
}

impl Standard {
    /// The terms of columns of equal length: each column, and with `squares` the square of each that has more
    /// than two values. The square of a logarithm is a best value in the middle, and that of the logarithm of a
    /// product an interaction.
    pub(super) fn of(columns: &[Vec<f32>], squares: bool) -> Self {
        let mut terms = Vec::new();
        for (column, values) in columns.iter().enumerate() {
            let known = values.iter().copied().filter(|value| value.is_finite());
            let count = known.clone().count() as f64;
            let mean = known.clone().map(f64::from).sum::<f64>() / count.max(1.0);
            let variance =
                known.clone().map(|value| (f64::from(value) - mean).powi(2)).sum::<f64>() / count.max(1.0);
            if variance <= 1e-9 {
                continue;
            }
            let term =
                Term { column, mean: mean as f32, scale: (1.0 / variance.sqrt()) as f32, square: false };
            let first = known.clone().next().unwrap_or_default();
            let second = known.clone().find(|&value| value != first).unwrap_or(first);
            let several = known.clone().any(|value| value != first && value != second);
            terms.push(term.clone());
            if squares && several {
                terms.push(Term { square: true, ..term });
            }
        }
        Self { terms }
    }

    /// Number of terms.
    pub(super) fn width(&self) -> usize {
        self.terms.len()
    }

    /// One term of some rows of the columns; of a column that is `None`, 0.
    pub(super) fn term(&self, term: usize, columns: &[Option<&[f32]>], first: usize, values: &mut [f32]) {
        let Term { column, mean, scale, square } = self.terms[term];
        let Some(Some(column)) = columns.get(column) else {
            values.fill(0.0);
            return;
        };
        for (value, &raw) in values.iter_mut().zip(&column[first..]) {
            let standard = (raw - mean) * scale;
            let term = if square { standard * standard - 1.0 } else { standard };
            *value = if term.is_finite() { term } else { 0.0 };
        }
    }

    /// The terms of the first `rows` rows.
    pub(super) fn design(&self, columns: &[Vec<f32>], rows: usize) -> Design {
        let columns: Vec<Option<&[f32]>> = columns.iter().map(|column| Some(column.as_slice())).collect();
        let mut values = vec![0.0; self.width() * rows];
        let mut term = vec![0.0; rows];
        for at in 0..self.width() {
            self.term(at, &columns, 0, &mut term);
            for (row, &value) in term.iter().enumerate() {
                values[row * self.width() + at] = f64::from(value);
            }
        }
        Design { width: self.width(), values }
    }

    /// Whether it refers to no more than so many columns.
    pub(super) fn fits(&self, columns: usize) -> bool {
        self.terms.iter().all(|term| term.column < columns)
    }
}

impl Design {
    /// Number of terms.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of rows; 0 without terms.
    pub(super) fn rows(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Terms of one row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..][..self.width]
    }
}
