//! A small network that scores one edit: a linear part beside one hidden layer of hyperbolic tangents.
//! Shared by all edits, so that the number of genes does not matter.

use rand::{Rng, RngExt};

use super::features::FEATURES;

/// Units of the hidden layer.
const HIDDEN: usize = 12;
/// Weights of a hidden unit: one a feature, and a constant.
const ROW: usize = FEATURES + 1;
/// Weights in all: linear part, output of each hidden unit, rows of the hidden layer.
pub(super) const WEIGHTS: usize = FEATURES + HIDDEN + HIDDEN * ROW;

/// Weights that score everything 0, with hidden units that differ from one another.
pub(super) fn untrained(rng: &mut dyn Rng) -> Vec<f64> {
    let spread = (3.0 / ROW as f64).sqrt();
    let mut weights = vec![0.0; FEATURES + HIDDEN];
    weights.extend((0..HIDDEN * ROW).map(|_| spread * (2.0 * rng.random::<f64>() - 1.0)));
    weights
}

fn dot(weights: &[f64], features: &[f64; FEATURES]) -> f64 {
    weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
}

/// Activations of the hidden layer.
fn hidden(weights: &[f64], features: &[f64; FEATURES]) -> [f64; HIDDEN] {
    let rows = weights[FEATURES + HIDDEN..].chunks_exact(ROW);
    let mut activations = [0.0; HIDDEN];
    for (activation, row) in activations.iter_mut().zip(rows) {
        *activation = (dot(&row[..FEATURES], features) + row[FEATURES]).tanh();
    }
    activations
}

/// Preference of an edit.
pub(super) fn preference(weights: &[f64], features: &[f64; FEATURES]) -> f64 {
    let outputs = &weights[FEATURES..FEATURES + HIDDEN];
    let activations = hidden(weights, features);
    dot(&weights[..FEATURES], features)
        + outputs.iter().zip(activations).map(|(output, activation)| output * activation).sum::<f64>()
}

/// Adds `factor` times the derivative of [`preference`] by each weight.
fn add_derivative(weights: &[f64], features: &[f64; FEATURES], factor: f64, gradient: &mut [f64]) {
    let activations = hidden(weights, features);
    let (linear, rest) = gradient.split_at_mut(FEATURES);
    let (outputs, rows) = rest.split_at_mut(HIDDEN);
    for (derivative, feature) in linear.iter_mut().zip(features) {
        *derivative += factor * feature;
    }
    for (unit, row) in rows.chunks_exact_mut(ROW).enumerate() {
        let activation = activations[unit];
        outputs[unit] += factor * activation;
        let inner = factor * weights[FEATURES + unit] * (1.0 - activation * activation);
        for (derivative, feature) in row.iter_mut().zip(features) {
            *derivative += inner * feature;
        }
        row[FEATURES] += inner;
    }
}

/// Probabilities proportional to the exponentials of preferences.
pub(super) fn softmax(preferences: &[f64]) -> Vec<f64> {
    let highest = preferences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = preferences.iter().map(|preference| (preference - highest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Gradient, by each weight, of the logarithm of the probability of `chosen` among these edits:
/// `Σ (1[chosen] − probability) · ∂preference`.
pub(super) fn log_gradient(
    weights: &[f64],
    edits: &[[f64; FEATURES]],
    probabilities: &[f64],
    chosen: usize,
) -> Vec<f64> {
    let mut gradient = vec![0.0; WEIGHTS];
    for (at, (features, probability)) in edits.iter().zip(probabilities).enumerate() {
        let factor = f64::from(u8::from(at == chosen)) - probability;
        add_derivative(weights, features, factor, &mut gradient);
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_gradient_is_what_finite_differences_say() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut number = || 2.0 * rng.random::<f64>() - 1.0;
        let mut weights: Vec<f64> = (0..WEIGHTS).map(|_| 0.5 * number()).collect();
        let edits: Vec<[f64; FEATURES]> = (0..9).map(|_| std::array::from_fn(|_| number())).collect();
        let log_probability = |weights: &[f64], chosen: usize| {
            let preferences: Vec<f64> = edits.iter().map(|edit| preference(weights, edit)).collect();
            softmax(&preferences)[chosen].ln()
        };
        for chosen in [0, 4, 8] {
            let preferences: Vec<f64> = edits.iter().map(|edit| preference(&weights, edit)).collect();
            let gradient = log_gradient(&weights, &edits, &softmax(&preferences), chosen);
            assert!(gradient.iter().any(|derivative| derivative.abs() > 0.1));
            for at in 0..WEIGHTS {
                let (before, step) = (weights[at], 1e-5);
                weights[at] = before + step;
                let above = log_probability(&weights, chosen);
                weights[at] = before - step;
                let below = log_probability(&weights, chosen);
                weights[at] = before;
                let difference = (above - below) / (2.0 * step);
                assert!((difference - gradient[at]).abs() < 1e-8, "{at}: {difference} {}", gradient[at]);
            }
        }
    }

    #[test]
    fn an_untrained_network_prefers_nothing_and_large_preferences_stay_finite() {
        let weights = untrained(&mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(weights.len(), WEIGHTS);
        assert_eq!(preference(&weights, &[0.7; FEATURES]), 0.0);
        assert_eq!(softmax(&[1e4, 1e4, -1e4]), [0.5, 0.5, 0.0]);
    }
}
