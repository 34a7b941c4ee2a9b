/// What random search without replacement is expected to find in a space.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Valid values, ascending.
    values: Vec<f64>,
    /// Configurations in all, those without a value included.
    configurations: usize,
}

impl Baseline {
    /// For the valid values of a space with so many `configurations` (at least as many as values).
    pub fn new(mut values: Vec<f64>, configurations: usize) -> Self {
        values.sort_by(f64::total_cmp);
        Self { configurations: configurations.max(values.len()), values }
    }

    /// Valid values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Expected best value after so many draws (linear between whole numbers), in the values' unit. As long
    /// as nothing valid was drawn, the worst value counts. NaN where there is no value.
    ///
    /// The best is the k-th value when none of the k better ones was drawn and this one was:
    /// `s₀ = 1`, `P(k) = s_k · M/(n−k)`, `s_{k+1} = s_k · (1 − M/(n−k))`, by counting draws without
    /// replacement.
    pub fn expected_best(&self, draws: f64) -> f64 {
        let draws = draws.max(0.0);
        let below = draws.floor();
        let first = self.after(below);
        let share = draws - below;
        if share > 0.0 { first * (1.0 - share) + self.after(below + 1.0) * share } else { first }
    }

    fn after(&self, draws: f64) -> f64 {
        let Some(&worst) = self.values.last() else { return f64::NAN };
        let (mut expected, mut left) = (0.0, 1.0);
        for (better, value) in self.values.iter().enumerate() {
            let drawn = (draws / (self.configurations - better) as f64).min(1.0);
            expected += left * drawn * value;
            left *= 1.0 - drawn;
            // What is left cannot change any digit of the sum.
            if left < 1e-18 {
                return expected;
            }
        }
        expected + left * worst
    }
}
