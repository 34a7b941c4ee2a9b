//! Affine index expressions: the only arithmetic that loop bounds, offsets and guards may use.

use std::ops::{Add, Mul, Neg, Sub};

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::program::TensorId;

/// A variable of a program: a loop variable, an axis of one instruction, or a run-time extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variable(pub u32);

/// Terms are few: most expressions need no allocation.
type Terms = SmallVec<[(Variable, i64); 3]>;

/// `constant + Σ coefficient · variable`, terms sorted by variable and never zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Affine {
    constant: i64,
    terms: Terms,
}

impl Affine {
    /// The part that no variable multiplies.
    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// Variables with their coefficients, sorted by variable.
    pub fn terms(&self) -> &[(Variable, i64)] {
        &self.terms
    }

    /// The value, when no variable takes part.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Coefficient of `variable`, 0 when absent.
    pub fn coefficient(&self, variable: Variable) -> i64 {
        self.terms.iter().find(|term| term.0 == variable).map_or(0, |term| term.1)
    }

    /// Replaces `variable` by an expression.
    #[must_use]
    pub fn substitute(&self, variable: Variable, by: &Self) -> Self {
        let coefficient = self.coefficient(variable);
        if coefficient == 0 {
            return self.clone();
        }
        self.clone() - Self::from(variable) * coefficient + by.clone() * coefficient
    }

    /// The value under an assignment of all variables that occur.
    pub fn evaluate(&self, value: impl Fn(Variable) -> i64) -> i64 {
        self.terms
            .iter()
            .fold(self.constant, |sum, &(variable, coefficient)| sum + coefficient * value(variable))
    }
}

impl From<i64> for Affine {
    fn from(constant: i64) -> Self {
        Self { constant, terms: Terms::new() }
    }
}

impl From<Variable> for Affine {
    fn from(variable: Variable) -> Self {
        Self { constant: 0, terms: smallvec![(variable, 1)] }
    }
}

impl<T: Into<Affine>> Add<T> for Affine {
    type Output = Self;

    fn add(mut self, other: T) -> Self {
        let other = other.into();
        self.constant += other.constant;
        for (variable, coefficient) in other.terms {
            match self.terms.binary_search_by_key(&variable, |term| term.0) {
                Ok(at) => {
                    self.terms[at].1 += coefficient;
                    if self.terms[at].1 == 0 {
                        self.terms.remove(at);
                    }
                }
                Err(at) => self.terms.insert(at, (variable, coefficient)),
            }
        }
        self
    }
}

impl<T: Into<Affine>> Sub<T> for Affine {
    type Output = Self;

    fn sub(self, other: T) -> Self {
        self + -other.into()
    }
}

impl Mul<i64> for Affine {
    type Output = Self;

    fn mul(mut self, factor: i64) -> Self {
        if factor == 0 {
            return Self::default();
        }
        self.constant *= factor;
        for term in &mut self.terms {
            term.1 *= factor;
        }
        self
    }
}

impl Neg for Affine {
    type Output = Self;

    fn neg(self) -> Self {
        self * -1
    }
}

impl<T: Into<Affine>> Add<T> for Variable {
    type Output = Affine;

    fn add(self, other: T) -> Affine {
        Affine::from(self) + other
    }
}

impl<T: Into<Affine>> Sub<T> for Variable {
    type Output = Affine;

    fn sub(self, other: T) -> Affine {
        Affine::from(self) - other
    }
}

impl Mul<i64> for Variable {
    type Output = Affine;

    fn mul(self, factor: i64) -> Affine {
        Affine::from(self) * factor
    }
}

/// An index: affine, plus at most one looked-up term (a cache page, a gathered row, a shift).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Index {
    /// The affine part.
    pub affine: Affine,
    /// The looked-up part.
    pub lookup: Option<Box<Lookup>>,
}

/// `scale · table[indices]`, with the range that the table declares for its values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lookup {
    /// An integer tensor.
    pub table: TensorId,
    /// Where it is read; may itself look up.
    pub indices: Vec<Index>,
    /// Least and greatest value that the table may hold.
    pub range: (i64, i64),
    /// Factor of the value.
    pub scale: i64,
}

impl Index {
    /// The affine expression, when nothing is looked up.
    pub fn as_affine(&self) -> Option<&Affine> {
        self.lookup.is_none().then_some(&self.affine)
    }

    /// Replaces `variable` by an affine expression, in lookups too.
    #[must_use]
    pub fn substitute(&self, variable: Variable, by: &Affine) -> Self {
        Self {
            affine: self.affine.substitute(variable, by),
            lookup: self.lookup.as_ref().map(|lookup| {
                let indices = lookup.indices.iter().map(|index| index.substitute(variable, by)).collect();
                Box::new(Lookup { indices, ..(**lookup).clone() })
            }),
        }
    }
}

impl<T: Into<Affine>> From<T> for Index {
    fn from(affine: T) -> Self {
        Self { affine: affine.into(), lookup: None }
    }
}

/// `expression ≥ 0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Constraint(pub Index);

/// The least of several indices: where a loop or an axis stops. Never empty.
pub type Bound = Vec<Index>;
