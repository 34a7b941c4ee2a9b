//! Operators on values, as Python defines them.

use std::cmp::Ordering;

use super::evaluate::Object;
use super::tree::Operator;
use super::{ExpressionError, LONGEST_LIST};
use crate::value::Value;

/// A number, truth values counting as 0 and 1.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i64),
    Broken(f64),
}

impl Number {
    fn of(object: &Object) -> Option<Self> {
        match object {
            Object::Scalar(Value::Boolean(value)) => Some(Self::Whole(i64::from(*value))),
            Object::Scalar(Value::Integer(value)) => Some(Self::Whole(*value)),
            Object::Scalar(Value::Real(value)) => Some(Self::Broken(*value)),
            _ => None,
        }
    }

    fn real(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Broken(value) => value,
        }
    }

    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(first), Self::Whole(second)) => Some(first.cmp(&second)),
            (first, second) => first.real().partial_cmp(&second.real()),
        }
    }
}

/// `left operator right`.
pub(super) fn operate(operator: Operator, left: Object, right: Object) -> Result<Object, ExpressionError> {
    if let (Some(left), Some(right)) = (Number::of(&left), Number::of(&right)) {
        return numbers(operator, left, right);
    }
    match (operator, left, right) {
        (Operator::Add, Object::List(mut left), Object::List(right)) => {
            left.extend(right);
            Ok(Object::List(left))
        }
        (Operator::Multiply, Object::List(list), Object::Scalar(Value::Integer(times)))
        | (Operator::Multiply, Object::Scalar(Value::Integer(times)), Object::List(list)) => {
            let times = usize::try_from(times).unwrap_or(0);
            if list.len().saturating_mul(times) > LONGEST_LIST {
                return Err(ExpressionError::Limit { what: "elements of a list", most: LONGEST_LIST });
            }
            Ok(Object::List(list.iter().cycle().take(list.len() * times).cloned().collect()))
        }
        _ => Err(ExpressionError::Type("arithmetic needs numbers on both sides".to_owned())),
    }
}

/// What an operator makes of two whole and of two broken numbers.
type Whole = fn(i64, i64) -> Option<i64>;
type Broken = fn(f64, f64) -> f64;

fn numbers(operator: Operator, left: Number, right: Number) -> Result<Object, ExpressionError> {
    let (what, whole, broken): (_, Whole, Broken) = match operator {
        Operator::Add => ("a sum", i64::checked_add, |a, b| a + b),
        Operator::Subtract => ("a difference", i64::checked_sub, |a, b| a - b),
        Operator::Multiply => ("a product", i64::checked_mul, |a, b| a * b),
        Operator::Divide => return real("a quotient", left.real() / right.real()),
        Operator::FloorDivide => ("a quotient", floor_quotient, |a, b| (a / b).floor()),
        Operator::Remainder => ("a remainder", floor_remainder, |a, b| a - b * (a / b).floor()),
    };
    match (left, right) {
        (Number::Whole(left), Number::Whole(right)) => {
            whole(left, right).map(integer).ok_or(ExpressionError::Range(what))
        }
        (left, right) => real(what, broken(left.real(), right.real())),
    }
}

/// Rounded down, as Python does; `None` for a divisor of 0 and beyond 64 bits.
fn floor_quotient(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let rest = left.checked_rem(right)?;
    Some(if rest != 0 && (rest < 0) != (right < 0) { quotient - 1 } else { quotient })
}

/// With the sign of the divisor, as Python has it.
fn floor_remainder(left: i64, right: i64) -> Option<i64> {
    let rest = left.checked_rem(right)?;
    Some(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
}

/// `base ** exponent`.
pub(super) fn power(base: &Object, exponent: &Object) -> Result<Object, ExpressionError> {
    let (Some(base), Some(exponent)) = (Number::of(base), Number::of(exponent)) else {
        return Err(ExpressionError::Type("`**` needs numbers on both sides".to_owned()));
    };
    if let (Number::Whole(base), Number::Whole(exponent @ 0..)) = (base, exponent) {
        let exponent = u32::try_from(exponent).ok();
        let power = exponent.and_then(|exponent| base.checked_pow(exponent));
        return power.map(integer).ok_or(ExpressionError::Range("a power"));
    }
    real("a power", base.real().powf(exponent.real()))
}

/// `-operand`.
pub(super) fn negate(operand: &Object) -> Result<Object, ExpressionError> {
    match Number::of(operand) {
        Some(Number::Whole(value)) => {
            value.checked_neg().map(integer).ok_or(ExpressionError::Range("a negative number"))
        }
        Some(Number::Broken(value)) => Ok(Object::Scalar(Value::Real(-value))),
        None => Err(ExpressionError::Type("`-` needs a number".to_owned())),
    }
}

/// Equality; values of different kinds differ.
pub(super) fn equal(left: &Object, right: &Object) -> bool {
    match (Number::of(left), Number::of(right)) {
        (Some(left), Some(right)) => left.order(right) == Some(Ordering::Equal),
        (None, None) => match (left, right) {
            (Object::List(left), Object::List(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
            }
            (left, right) => left == right,
        },
        _ => false,
    }
}

/// Order of two numbers or two texts; `None` where a number is not one.
pub(super) fn compare(left: &Object, right: &Object) -> Result<Option<Ordering>, ExpressionError> {
    if let (Some(left), Some(right)) = (Number::of(left), Number::of(right)) {
        return Ok(left.order(right));
    }
    match (left, right) {
        (Object::Scalar(Value::Text(left)), Object::Scalar(Value::Text(right))) => Ok(Some(left.cmp(right))),
        _ => Err(ExpressionError::Type("only two numbers or two texts have an order".to_owned())),
    }
}

fn integer(value: i64) -> Object {
    Object::Scalar(Value::Integer(value))
}

fn real(what: &'static str, value: f64) -> Result<Object, ExpressionError> {
    if value.is_finite() { Ok(Object::Scalar(Value::Real(value))) } else { Err(ExpressionError::Range(what)) }
}
