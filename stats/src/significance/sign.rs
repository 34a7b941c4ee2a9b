use super::PValues;
use crate::SampleError;
use crate::distributions::fair_at_most;
use crate::error::check_finite;
use crate::pairs::SAME;

/// Sign test that the median of `differences` is 0; zero differences are dropped.
///
/// Exact binomial p-values. Assumes nothing of the differences but that each is
/// as likely positive as negative (Arbuthnot 1710; Dixon & Mood 1946).
///
/// # Errors
/// When there is no difference, or one is not finite.
pub fn sign_test(differences: &[f64]) -> Result<PValues, SampleError> {
    check_finite(differences, 1)?;
    let negative = differences.iter().filter(|d| **d < -SAME).count();
    let positive = differences.iter().filter(|d| **d > SAME).count();
    let n = negative + positive;
    Ok(PValues { less: fair_at_most(positive, n), greater: fair_at_most(negative, n) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_ten_has_one_chance_in_1024() {
        let p = sign_test(&[-1.0; 10]).unwrap();
        assert!((p.less - 1.0 / 1024.0).abs() < 1e-12);
        assert!((p.greater - 1.0).abs() < 1e-12);
    }

    #[test]
    fn zeros_say_nothing() {
        assert_eq!(sign_test(&[0.0; 5]).unwrap(), PValues::NOTHING);
    }
}
