//! Vector operations of element-wise expressions.
//!
//! Counts of polynomial approximations in single precision after Cephes and SLEEF: an exponential is a range
//! reduction of four operations, a polynomial of six, and three for the exponent; the others are built on it.

use tilewright_ir::expression::{Binary, Expression, Unary};

/// Operations, divisions and dependent cycles of one vector.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Cost {
    pub(super) operations: f64,
    pub(super) divisions: f64,
    pub(super) latency: f64,
}

const fn cost(operations: f64, divisions: f64, latency: f64) -> Cost {
    Cost { operations, divisions, latency }
}

/// The cost of one vector of an expression, loads left out.
pub(super) fn cost_of(expression: &Expression) -> Cost {
    match expression {
        Expression::Constant(_) | Expression::Load(_) => Cost::default(),
        Expression::Position(_) => cost(2.0, 0.0, 4.0),
        Expression::Unary(function, value) => cost_of(value).then(match function {
            Unary::Negate | Unary::Absolute => cost(1.0, 0.0, 1.0),
            Unary::Relu => cost(2.0, 0.0, 2.0),
            Unary::SquareRoot => cost(1.0, 1.0, 20.0),
            Unary::ReciprocalSquareRoot => cost(1.0, 2.0, 32.0),
            Unary::Exponential => cost(16.0, 0.0, 45.0),
            Unary::Logarithm => cost(22.0, 0.0, 55.0),
            Unary::HyperbolicTangent => cost(22.0, 1.0, 65.0),
            Unary::ErrorFunction => cost(30.0, 1.0, 80.0),
            Unary::Silu => cost(20.0, 1.0, 62.0),
        }),
        Expression::Binary(function, first, second) => {
            let own = match function {
                Binary::Add | Binary::Subtract | Binary::Multiply => cost(1.0, 0.0, 3.0),
                Binary::Divide => cost(1.0, 1.0, 13.0),
                // A comparison more, so that NaN is kept.
                Binary::Maximum | Binary::Minimum => cost(3.0, 0.0, 4.0),
            };
            cost_of(first).beside(cost_of(second)).then(own)
        }
        Expression::Choose { condition, then, otherwise } => {
            let own = cost(1.0 + 2.0 * condition.len() as f64, 0.0, 3.0);
            cost_of(then).beside(cost_of(otherwise)).then(own)
        }
        // A counter-based generator: ten rounds of four operations.
        Expression::Random { .. } => cost(44.0, 0.0, 60.0),
    }
}

impl Cost {
    fn then(self, next: Self) -> Self {
        cost(self.operations + next.operations, self.divisions + next.divisions, self.latency + next.latency)
    }

    fn beside(self, other: Self) -> Self {
        cost(
            self.operations + other.operations,
            self.divisions + other.divisions,
            self.latency.max(other.latency),
        )
    }
}
