use crate::SampleError;
use crate::error::check_positive;

/// Logarithms closer than this are the same time: a picosecond in a second.
///
/// Without it a change of unit, which moves last bits, would break ties.
pub(crate) const SAME: f64 = 1e-12;

/// ln(candidate / incumbent) of each pair: negative where the candidate was faster.
///
/// # Errors
/// When the lengths differ, a series is empty, or a time is not positive and finite.
pub fn log_ratios(incumbent: &[f64], candidate: &[f64]) -> Result<Vec<f64>, SampleError> {
    if incumbent.len() != candidate.len() {
        return Err(SampleError::Unequal { first: incumbent.len(), second: candidate.len() });
    }
    check_positive(incumbent, 1)?;
    check_positive(candidate, 1)?;
    // A difference of logarithms, not the logarithm of a quotient: exchanging the sides then
    // changes nothing but the sign.
    Ok(incumbent
        .iter()
        .zip(candidate)
        .map(|(incumbent, candidate)| candidate.ln() - incumbent.ln())
        .collect())
}

/// Natural logarithms of the times of one side.
pub(crate) fn logs(times: &[f64]) -> Result<Vec<f64>, SampleError> {
    check_positive(times, 1)?;
    Ok(times.iter().map(|time| time.ln()).collect())
}
