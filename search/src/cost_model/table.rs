use std::sync::Arc;

/// Features of many candidates, column after column: one column a feature, one row a candidate.
///
/// A feature that a candidate does not have is `NaN`.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    names: Arc<[String]>,
    rows: usize,
    values: Vec<f32>,
}

impl Table {
    /// A table of that many rows in which nothing is known yet.
    pub fn new(names: Arc<[String]>, rows: usize) -> Self {
        let values = vec![f32::NAN; names.len() * rows];
        Self { names, rows, values }
    }

    /// Names of the features, in the order of columns.
    pub fn names(&self) -> &Arc<[String]> {
        &self.names
    }

    /// Number of candidates.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Values of one feature.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column(&self, column: usize) -> &[f32] {
        &self.values[column * self.rows..][..self.rows]
    }

    /// Values of one feature, to be set.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column_mut(&mut self, column: usize) -> &mut [f32] {
        &mut self.values[column * self.rows..][..self.rows]
    }

    /// Features of one candidate.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> Vec<f32> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        (0..self.names.len()).map(|column| self.column(column)[row]).collect()
    }

    /// The same candidates with more features.
    ///
    /// # Panics
    /// When the other table has another number of rows.
    #[must_use]
    pub fn beside(mut self, other: &Table) -> Self {
        assert_eq!(self.rows, other.rows, "tables of the same candidates");
        self.names = self.names.iter().chain(other.names.iter()).cloned().collect();
        self.values.extend_from_slice(&other.values);
        self
    }

    /// For each name, the values of that feature; `None` where there is none.
    pub(super) fn find(&self, names: &[String]) -> Vec<Option<&[f32]>> {
        if *self.names == *names {
            return (0..names.len()).map(|column| Some(self.column(column))).collect();
        }
        let place = |name: &String| self.names.iter().position(|other| other == name);
        names.iter().map(|name| place(name).map(|column| self.column(column))).collect()
    }

    /// Sets a column to the sum of two before it.
    pub(super) fn add(&mut self, column: usize, first: usize, second: usize) {
        let (before, here) = self.values.split_at_mut(column * self.rows);
        let (first, second) = (&before[first * self.rows..], &before[second * self.rows..]);
        for ((sum, first), second) in here[..self.rows].iter_mut().zip(first).zip(second) {
            *sum = first + second;
        }
    }
}
