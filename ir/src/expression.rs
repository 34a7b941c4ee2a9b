//! Element-wise expressions of `map` and `reduce`.

use serde::{Deserialize, Serialize};

use crate::affine::{Constraint, Index};
use crate::program::{Access, Number};

/// Functions of one value. All follow IEEE 754 for NaN and infinities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants are the standard names")]
pub enum Unary {
    Negate,
    Absolute,
    Exponential,
    Logarithm,
    SquareRoot,
    ReciprocalSquareRoot,
    HyperbolicTangent,
    ErrorFunction,
    /// `x / (1 + exp(−x))`.
    Silu,
    /// `max(x, 0)`, NaN kept.
    Relu,
}

/// Functions of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants are the standard names")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Maximum,
    Minimum,
}

/// The value of one point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// A constant.
    Constant(Number),
    /// An element.
    Load(Access),
    /// An index, as a number.
    Position(Index),
    /// A function of one value.
    Unary(Unary, Box<Expression>),
    /// A function of two values.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// One of two values.
    Choose {
        /// All must hold for the first.
        condition: Vec<Constraint>,
        /// First value.
        then: Box<Expression>,
        /// Second value.
        otherwise: Box<Expression>,
    },
    /// A uniform number in [0, 1) from a counter-based generator of this seed at this counter.
    Random {
        /// Seed.
        seed: u64,
        /// Counter.
        counter: Index,
    },
}

impl Expression {
    /// A constant.
    pub fn constant(value: f64) -> Self {
        Self::Constant(value.into())
    }

    /// A function of this value.
    #[must_use]
    pub fn unary(self, function: Unary) -> Self {
        Self::Unary(function, Box::new(self))
    }

    /// A function of this value and another.
    #[must_use]
    pub fn binary(self, function: Binary, other: Self) -> Self {
        Self::Binary(function, Box::new(self), Box::new(other))
    }

    /// Number of functions in it.
    pub fn functions(&self) -> u64 {
        match self {
            Self::Constant(_) | Self::Load(_) | Self::Position(_) => 0,
            Self::Random { .. } => 1,
            Self::Unary(_, value) => 1 + value.functions(),
            Self::Binary(_, first, second) => 1 + first.functions() + second.functions(),
            Self::Choose { then, otherwise, .. } => then.functions() + otherwise.functions(),
        }
    }

    /// The same expression with every loaded element replaced by what `of` makes of it, and every other index
    /// by what `at` makes of it.
    #[must_use]
    pub fn replace(&self, of: &mut dyn FnMut(&Access) -> Self, at: &mut dyn FnMut(&Index) -> Index) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(*value),
            Self::Load(access) => of(access),
            Self::Position(index) => Self::Position(at(index)),
            Self::Random { seed, counter } => Self::Random { seed: *seed, counter: at(counter) },
            Self::Unary(function, value) => value.replace(of, at).unary(*function),
            Self::Binary(function, first, second) => {
                let first = first.replace(of, at);
                first.binary(*function, second.replace(of, at))
            }
            Self::Choose { condition, then, otherwise } => Self::Choose {
                condition: condition.iter().map(|constraint| Constraint(at(&constraint.0))).collect(),
                then: Box::new(then.replace(of, at)),
                otherwise: Box::new(otherwise.replace(of, at)),
            },
        }
    }

    /// Calls `visit` with every element that is read.
    pub fn loads<'a>(&'a self, visit: &mut dyn FnMut(&'a Access)) {
        match self {
            Self::Constant(_) | Self::Position(_) | Self::Random { .. } => {}
            Self::Load(access) => visit(access),
            Self::Unary(_, value) => value.loads(visit),
            Self::Binary(_, first, second) => {
                first.loads(visit);
                second.loads(visit);
            }
            Self::Choose { then, otherwise, .. } => {
                then.loads(visit);
                otherwise.loads(visit);
            }
        }
    }
}
