//! Walks the tree of an expression.

use super::arithmetic::{compare, equal, negate, operate, power};
use super::functions::call;
use super::tree::{Comparison, Comprehension, Node};
use super::{ExpressionError, LONGEST_LIST, MOST_STEPS};
use crate::value::Value;

/// What an expression is worth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Object {
    Scalar(Value),
    List(Vec<Object>),
}

type Evaluated = Result<Object, ExpressionError>;

/// An evaluation under way.
pub(super) struct Evaluator<'a> {
    value_of: &'a dyn Fn(&str) -> Option<Value>,
    /// Values of the comprehensions around, the innermost last.
    bound: Vec<(String, Object)>,
    steps: u32,
}

impl Object {
    /// Python's truth.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Scalar(Value::Boolean(value)) => *value,
            Self::Scalar(Value::Integer(value)) => *value != 0,
            Self::Scalar(Value::Real(value)) => *value != 0.0,
            Self::Scalar(Value::Text(text)) => !text.is_empty(),
            Self::List(elements) => !elements.is_empty(),
        }
    }

    pub(super) fn scalar(self, wanted: &str) -> Result<Value, ExpressionError> {
        match self {
            Self::Scalar(value) => Ok(value),
            Self::List(_) => Err(ExpressionError::Type(format!("a list stands where {wanted} is expected"))),
        }
    }

    pub(super) fn list(self, wanted: &str) -> Result<Vec<Self>, ExpressionError> {
        match self {
            Self::List(elements) => Ok(elements),
            Self::Scalar(value) => {
                Err(ExpressionError::Type(format!("`{value}` stands where {wanted} is expected")))
            }
        }
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(value_of: &'a dyn Fn(&str) -> Option<Value>) -> Self {
        Self { value_of, bound: Vec::new(), steps: 0 }
    }

    pub(super) fn evaluate(&mut self, node: &Node) -> Evaluated {
        self.step(1)?;
        match node {
            Node::Constant(value) => Ok(Object::Scalar(value.clone())),
            Node::Name(name) => self.name(name),
            Node::List(elements) => elements
                .iter()
                .map(|element| self.evaluate(element))
                .collect::<Result<_, _>>()
                .map(Object::List),
            Node::Comprehension(comprehension) => self.comprehension(comprehension),
            Node::Call(name, arguments) => {
                let arguments: Vec<Object> =
                    arguments.iter().map(|argument| self.evaluate(argument)).collect::<Result<_, _>>()?;
                self.bounded(call(name, arguments)?)
            }
            Node::Chain(first, rest) => {
                let mut value = self.evaluate(first)?;
                for (operator, operand) in rest {
                    let operand = self.evaluate(operand)?;
                    value = self.bounded(operate(*operator, value, operand)?)?;
                }
                Ok(value)
            }
            Node::Power(base, exponent) => {
                let base = self.evaluate(base)?;
                power(&base, &self.evaluate(exponent)?)
            }
            Node::Negative(operand) => negate(&self.evaluate(operand)?),
            Node::Not(operand) => Ok(truth(!self.evaluate(operand)?.is_true())),
            Node::Or(all) => self.first(all, true),
            Node::And(all) => self.first(all, false),
            Node::Compare(first, rest) => self.comparisons(first, rest),
            Node::If(parts) => {
                let [condition, value, other] = &**parts;
                let holds = self.evaluate(condition)?.is_true();
                self.evaluate(if holds { value } else { other })
            }
        }
    }

    fn step(&mut self, steps: usize) -> Result<(), ExpressionError> {
        self.steps = self.steps.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps > MOST_STEPS {
            return Err(ExpressionError::Limit { what: "steps", most: MOST_STEPS as usize });
        }
        Ok(())
    }

    /// Counts the elements of a new list, and refuses one that is too long.
    fn bounded(&mut self, object: Object) -> Evaluated {
        if let Object::List(elements) = &object {
            self.step(elements.len())?;
            if elements.len() > LONGEST_LIST {
                return Err(ExpressionError::Limit { what: "elements of a list", most: LONGEST_LIST });
            }
        }
        Ok(object)
    }

    fn name(&mut self, name: &str) -> Evaluated {
        if let Some((_, object)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(object.clone());
        }
        let value = (self.value_of)(name);
        value.map(Object::Scalar).ok_or_else(|| ExpressionError::UnknownName(name.to_owned()))
    }

    fn comprehension(&mut self, comprehension: &Comprehension) -> Evaluated {
        let Comprehension { element, name, source, condition } = comprehension;
        let source = self.evaluate(source)?.list("a list to go through")?;
        let mut elements = Vec::new();
        for value in source {
            self.bound.push((name.clone(), value));
            let wanted = match condition {
                Some(condition) => self.evaluate(condition)?.is_true(),
                None => true,
            };
            if wanted {
                elements.push(self.evaluate(element)?);
            }
            self.bound.pop();
        }
        Ok(Object::List(elements))
    }

    /// The first whose truth is `wanted`, or the last.
    fn first(&mut self, all: &[Node], wanted: bool) -> Evaluated {
        let mut value = truth(!wanted);
        for node in all {
            value = self.evaluate(node)?;
            if value.is_true() == wanted {
                break;
            }
        }
        Ok(value)
    }

    fn comparisons(&mut self, first: &Node, rest: &[(Comparison, Node)]) -> Evaluated {
        let mut left = self.evaluate(first)?;
        for (comparison, node) in rest {
            let right = self.evaluate(node)?;
            if !self.compare(*comparison, &left, &right)? {
                return Ok(truth(false));
            }
            left = right;
        }
        Ok(truth(true))
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &Object,
        right: &Object,
    ) -> Result<bool, ExpressionError> {
        Ok(match comparison {
            Comparison::Equal => equal(left, right),
            Comparison::NotEqual => !equal(left, right),
            Comparison::In | Comparison::NotIn => {
                let Object::List(elements) = right else {
                    return Err(ExpressionError::Type("`in` needs a list on its right".to_owned()));
                };
                self.step(elements.len())?;
                elements.iter().any(|element| equal(left, element)) == (comparison == Comparison::In)
            }
            Comparison::Less => compare(left, right)?.is_some_and(std::cmp::Ordering::is_lt),
            Comparison::LessEqual => compare(left, right)?.is_some_and(std::cmp::Ordering::is_le),
            Comparison::Greater => compare(left, right)?.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::GreaterEqual => compare(left, right)?.is_some_and(std::cmp::Ordering::is_ge),
        })
    }
}

fn truth(value: bool) -> Object {
    Object::Scalar(Value::Boolean(value))
}
