//! Whether a result is the product, without computing the product.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::peers::Problem;

/// Freivalds' check in double precision: `C·x` against `A·(B·x)` for random vectors `x`.
///
/// The tolerance of a row is that of rounding errors that add up like a random walk over the
/// reduction; operands rounded to 16 bits, an element left out or computed twice lie far above it.
/// (R. Freivalds, *Probabilistic machines can use less running time*, 1977.)
///
/// # Errors
/// A sentence on the first row that differs.
pub fn verify(problem: &Problem, seed: u64) -> Result<(), String> {
    let shape = problem.shape();
    let (a, b, c) = (problem.a_values(), problem.b_values(), problem.c_values());
    let (a_strides, b_strides) = (shape.a_strides(), shape.b_strides());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..2 {
        let x: Vec<f64> =
            (0..shape.n).map(|_| f64::from(rng.next_u32()) / f64::from(1_u32 << 31) - 1.0).collect();
        // Beside B·x, the sum of squares that scales the tolerance.
        let bx: Vec<(f64, f64)> = (0..shape.k).map(|l| row_times(b, l, b_strides, &x)).collect();
        let (sums, squares): (Vec<f64>, Vec<f64>) = bx.into_iter().unzip();
        for row in 0..shape.m {
            let (mut expected, mut norm) = (0.0, 0.0);
            for l in 0..shape.k {
                let value = f64::from(a[index(row, l, a_strides)]);
                expected += value * sums[l];
                norm += value * value * squares[l];
            }
            let (found, _) = row_times(c, row, (shape.n as isize, 1), &x);
            let tolerance = 16.0 * f64::from(f32::EPSILON) * (norm * shape.k as f64).sqrt() + 1e-30;
            let error = (found - expected).abs();
            if error.is_nan() || error > tolerance {
                return Err(format!(
                    "row {row}: C·x is {found}, A·(B·x) is {expected} (tolerance {tolerance:.1e})"
                ));
            }
        }
    }
    Ok(())
}

fn index(row: usize, column: usize, (row_stride, column_stride): (isize, isize)) -> usize {
    row * row_stride as usize + column * column_stride as usize
}

/// One row of a strided matrix times `x`, and the sum of the squared terms.
fn row_times(matrix: &[f32], row: usize, strides: (isize, isize), x: &[f64]) -> (f64, f64) {
    x.iter().enumerate().fold((0.0, 0.0), |(sum, squares), (column, factor)| {
        let term = f64::from(matrix[index(row, column, strides)]) * factor;
        (sum + term, squares + term * term)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Shape, SharedBuffers};

    fn multiplied(text: &str) -> (SharedBuffers, Problem) {
        let shape: Shape = text.parse().unwrap();
        let mut buffers = SharedBuffers::create(&[shape]).unwrap();
        buffers.fill(shape, 7).unwrap();
        let problem = buffers.problem(shape).unwrap();
        let (a, b) = (problem.a_values(), problem.b_values());
        for row in 0..shape.m {
            for column in 0..shape.n {
                let sum = (0..shape.k).fold(0.0_f32, |sum, l| {
                    a[index(row, l, shape.a_strides())].mul_add(b[index(l, column, shape.b_strides())], sum)
                });
                put(&problem, row * shape.n + column, sum);
            }
        }
        (buffers, problem)
    }

    fn put(problem: &Problem, at: usize, value: f32) {
        assert!(at < problem.shape().m * problem.shape().n);
        // SAFETY: in range, and no other reference to C is alive.
        unsafe { problem.c().add(at).write(value) };
    }

    #[test]
    fn the_product_passes_in_every_layout() {
        for layout in ["nn", "nt", "tn", "tt"] {
            let (_buffers, problem) = multiplied(&format!("matmul:m=13,n=17,k=190,layout={layout}"));
            assert_eq!(verify(&problem, 1), Ok(()), "{layout}");
        }
    }

    #[test]
    fn one_wrong_or_missing_element_fails() {
        let (_buffers, problem) = multiplied("matmul:m=13,n=17,k=190");
        let right = problem.c_values()[40];
        for wrong in [f32::NAN, 0.0, right + 0.01] {
            put(&problem, 40, wrong);
            assert!(verify(&problem, 1).is_err(), "{wrong}");
        }
        put(&problem, 40, right);
        assert_eq!(verify(&problem, 1), Ok(()));
    }

    #[test]
    fn operands_rounded_to_bfloat16_fail() {
        let (_buffers, problem) = multiplied("matmul:m=8,n=64,k=2048");
        let shape = problem.shape();
        let rounded = |value: f32| f32::from_bits(value.to_bits().wrapping_add(0x8000) & 0xffff_0000);
        for at in 0..shape.m * shape.n {
            let (row, column) = (at / shape.n, at % shape.n);
            let (a, b) = (problem.a_values(), problem.b_values());
            let sum = (0..shape.k)
                .map(|l| {
                    f64::from(rounded(a[row * shape.k + l])) * f64::from(rounded(b[l * shape.n + column]))
                })
                .sum::<f64>();
            put(&problem, at, sum as f32);
        }
        assert!(verify(&problem, 1).is_err());
    }
}
