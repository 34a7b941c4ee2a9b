/// Ranks from 1 with ties at the middle of their group.
pub(crate) struct Ranks {
    /// Twice the rank of each value, so that a middle is a whole number.
    pub(crate) doubled: Vec<usize>,
    /// Σ(t³ − t) over groups of t tied values: the term of every tie correction.
    pub(crate) tie_term: f64,
}

/// Ranks finite `values`; neighbours no further apart than `tolerance` are tied.
pub(crate) fn rank(values: &[f64], tolerance: f64) -> Ranks {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut doubled = vec![0; values.len()];
    let mut tie_term = 0.0;
    for group in order.chunk_by(|&a, &b| values[b] - values[a] <= tolerance).scan(0, |before, group| {
        let start = *before;
        *before += group.len();
        Some((start, group))
    }) {
        let (start, members) = group;
        for &member in members {
            doubled[member] = 2 * start + 1 + members.len();
        }
        let size = members.len() as f64;
        tie_term += size * size * size - size;
    }
    Ranks { doubled, tie_term }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_middle_rank() {
        let ranks = rank(&[3.0, 1.0, 3.0, 2.0], 0.0);
        assert_eq!(ranks.doubled, [7, 2, 7, 4]);
        assert!((ranks.tie_term - 6.0).abs() < 1e-12);
    }
}
