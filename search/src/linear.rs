//! Small dense systems of linear equations.

/// The lower triangle L of a symmetric positive definite matrix A = L·Lᵀ.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cholesky {
    size: usize,
    /// L, row by row; above the diagonal 0.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors a matrix of `size` rows, one after another, of which the lower triangle is read; `None` when it
    /// is not positive definite, or not of that size.
    pub(crate) fn of(matrix: &[f64], size: usize) -> Option<Self> {
        if matrix.len() != size * size {
            return None;
        }
        let mut lower = vec![0.0; size * size];
        for row in 0..size {
            for column in 0..=row {
                let (left, right) = (&lower[row * size..][..column], &lower[column * size..][..column]);
                let known: f64 = left.iter().zip(right).map(|(left, right)| left * right).sum();
                let rest = matrix[row * size + column] - known;
                lower[row * size + column] = if row > column {
                    rest / lower[column * size + column]
                } else if rest > 0.0 && rest.is_finite() {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Self { size, lower })
    }

    /// L, row by row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.lower[row * self.size..][..=row]
    }

    /// y with L·y = `right`.
    pub(crate) fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> = Vec::with_capacity(self.size);
        for (at, wanted) in right.iter().enumerate().take(self.size) {
            let row = self.row(at);
            let known: f64 = row.iter().zip(&solution).map(|(factor, value)| factor * value).sum();
            solution.push((wanted - known) / row[at]);
        }
        solution
    }

    /// x with A·x = `right`.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = self.forward(right);
        for at in (0..solution.len()).rev() {
            let known: f64 = (at + 1..solution.len())
                .map(|below| self.lower[below * self.size + at] * solution[below])
                .sum();
            solution[at] = (solution[at] - known) / self.lower[at * self.size + at];
        }
        solution
    }

    /// xᵀ·A⁻¹·x.
    pub(crate) fn quadratic(&self, vector: &[f64]) -> f64 {
        self.forward(vector).iter().map(|value| value * value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_solves_and_what_is_not_positive_definite_is_refused() {
        let matrix = [4.0, 2.0, 0.0, 2.0, 5.0, 1.0, 0.0, 1.0, 3.0];
        let factor = Cholesky::of(&matrix, 3).unwrap();
        let solution = factor.solve(&[8.0, 15.0, 11.0]);
        for (row, wanted) in matrix.chunks(3).zip([8.0, 15.0, 11.0]) {
            let found: f64 = row.iter().zip(&solution).map(|(factor, value)| factor * value).sum();
            assert!((found - wanted).abs() < 1e-12, "{found}");
        }
        let quadratic: f64 = solution.iter().zip([8.0, 15.0, 11.0]).map(|(x, b)| x * b).sum();
        assert!((factor.quadratic(&[8.0, 15.0, 11.0]) - quadratic).abs() < 1e-12);
        assert_eq!(Cholesky::of(&[1.0, 2.0, 2.0, 1.0], 2), None);
        assert_eq!(Cholesky::of(&[f64::NAN], 1), None);
        assert_eq!(Cholesky::of(&[1.0], 2), None);
    }
}
