//! Conditions and lists of values as problem descriptions write them: a small part of Python's expressions.
//!
//! Numbers, texts, `True`, `False`, names, lists and tuples, `range`, list comprehensions over one name,
//! `or and not`, chained comparisons, `in`, `+ - * / // % **`, `… if … else …`, and the functions `min`,
//! `max`, `abs`, `len`, `int`. The semantics are Python's (The Python Language Reference, chapter 6), except
//! that whole numbers have 64 bits: a result beyond is an error. Nothing is executed: a parser of this module
//! reads the text and an evaluator walks the tree, both within limits of length, depth and steps.
//!
//! ```
//! use tilewright_recorded::Value;
//! use tilewright_recorded::expression::Expression;
//!
//! let condition = Expression::parse("32 <= block_x * block_y <= 1024 or tile in [1, 2]")?;
//! assert_eq!(condition.names(), ["block_x", "block_y", "tile"]);
//! let holds = condition.holds(&|name| Some(Value::Integer(if name == "tile" { 2 } else { 64 })))?;
//! assert!(holds);
//! # Ok::<(), tilewright_recorded::expression::ExpressionError>(())
//! ```

mod arithmetic;
mod evaluate;
mod functions;
mod parse;
mod token;
mod tree;

use crate::value::Value;
use evaluate::Evaluator;
pub(crate) use evaluate::Object;
use tree::Node;

/// Longest text of an expression, bytes.
const LONGEST: usize = 16_384;
/// Deepest nesting of brackets and operators.
const DEEPEST: usize = 48;
/// Most nodes visited by one evaluation.
const MOST_STEPS: u32 = 1_000_000;
/// Longest list.
const LONGEST_LIST: usize = 1 << 16;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    root: Node,
    names: Vec<String>,
}

/// Why an expression cannot be read or has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// The text is no expression of the supported kind.
    #[error("character {at}: {problem}; write it with the operators and functions that are supported")]
    Syntax {
        /// Position of the character, from 1.
        at: usize,
        /// What is wrong.
        problem: String,
    },
    /// Longer, deeper or more laborious than an expression may be.
    #[error("more than {most} {what}; write a simpler expression")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A name that is no parameter.
    #[error("`{0}` is no parameter; correct the name")]
    UnknownName(String),
    /// A function that is not supported.
    #[error("`{0}` is no function that is supported (min, max, abs, len, int, range)")]
    UnknownFunction(String),
    /// An operation on values that it is not defined for.
    #[error("{0}")]
    Type(String),
    /// A result that is no finite number of 64 bits.
    #[error("{0} has no finite result of 64 bits")]
    Range(&'static str),
}

impl Expression {
    /// Reads a text.
    ///
    /// # Errors
    /// When it is no expression, or beyond the limits.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.len() > LONGEST {
            return Err(ExpressionError::Limit { what: "characters", most: LONGEST });
        }
        let (root, names) = parse::parse(text)?;
        Ok(Self { text: text.to_owned(), root, names })
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names that need a value, each once, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the expression is true as Python sees it: not 0, `False` or empty.
    ///
    /// # Errors
    /// When a name has no value, or an operation has no result.
    pub fn holds(&self, value_of: &dyn Fn(&str) -> Option<Value>) -> Result<bool, ExpressionError> {
        Ok(Evaluator::new(value_of).evaluate(&self.root)?.is_true())
    }

    /// The list that the expression is; a single value becomes a list of one.
    ///
    /// # Errors
    /// When a name has no value, an operation has no result, or an element is itself a list.
    pub fn list(&self, value_of: &dyn Fn(&str) -> Option<Value>) -> Result<Vec<Value>, ExpressionError> {
        let elements = match Evaluator::new(value_of).evaluate(&self.root)? {
            Object::List(elements) => elements,
            single @ Object::Scalar(_) => vec![single],
        };
        elements.into_iter().map(|element| element.scalar("a list of values")).collect()
    }
}

#[cfg(test)]
mod tests;
