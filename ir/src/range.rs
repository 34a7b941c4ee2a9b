//! Bounds of affine expressions over nested loops.
//!
//! Inside nested loops every variable lies between its start and its last value, both affine in outer
//! variables. The greatest value of an expression is found by replacing variables from the innermost outwards.

use crate::affine::{Affine, Index, Variable};
use crate::program::Dimension;

/// Ranges of the variables in scope, outermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges(Vec<Range>);

#[derive(Debug, Clone)]
struct Range {
    variable: Variable,
    /// Not below this; `None`: unknown.
    least: Option<Affine>,
    /// Not above any of these; empty: unknown.
    greatest: Vec<Affine>,
}

impl Ranges {
    /// A variable between two constants, both included.
    pub(crate) fn push_constant(&mut self, variable: Variable, least: i64, greatest: i64) {
        self.0.push(Range { variable, least: Some(least.into()), greatest: vec![greatest.into()] });
    }

    /// The variable of a loop.
    pub(crate) fn push_loop(&mut self, dimension: &Dimension) {
        let start = dimension.start.as_affine();
        let greatest = dimension.stop.iter().filter_map(Index::as_affine).map(|stop| {
            // When the length is known the last iteration is known exactly.
            let length = start.and_then(|start| (stop.clone() - start.clone()).as_constant());
            match (length, start) {
                (Some(length), Some(start)) if length > 0 => {
                    let step = dimension.step as i64;
                    start.clone() + (length - 1) / step * step
                }
                _ => stop.clone() - 1,
            }
        });
        let greatest = greatest.collect();
        self.0.push(Range { variable: dimension.variable, least: start.cloned(), greatest });
    }

    /// Leaves the innermost scope.
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// An upper bound of `expression`; `None` when nothing is known.
    pub(crate) fn greatest(&self, expression: &Affine) -> Option<i64> {
        self.bound(expression, self.0.len())
    }

    /// A lower bound of `expression`.
    pub(crate) fn least(&self, expression: &Affine) -> Option<i64> {
        self.bound(&(-expression.clone()), self.0.len()).map(|greatest| -greatest)
    }

    fn bound(&self, expression: &Affine, scope: usize) -> Option<i64> {
        if let Some(constant) = expression.as_constant() {
            return Some(constant);
        }
        // Innermost variable that occurs.
        let at = (0..scope).rev().find(|&at| expression.coefficient(self.0[at].variable) != 0)?;
        let range = &self.0[at];
        if expression.coefficient(range.variable) > 0 {
            let bounds = range.greatest.iter();
            bounds.filter_map(|by| self.bound(&expression.substitute(range.variable, by), at)).min()
        } else {
            self.bound(&expression.substitute(range.variable, range.least.as_ref()?), at)
        }
    }
}
