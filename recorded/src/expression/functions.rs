//! The functions that an expression may call.

use std::cmp::Ordering;

use super::arithmetic::{compare, negate};
use super::evaluate::Object;
use super::{ExpressionError, LONGEST_LIST};
use crate::value::Value;

/// The value of `name(arguments)`.
pub(super) fn call(name: &str, arguments: Vec<Object>) -> Result<Object, ExpressionError> {
    match name {
        "min" => extreme("min", Ordering::Less, arguments),
        "max" => extreme("max", Ordering::Greater, arguments),
        "range" => range(arguments),
        "abs" | "len" | "int" => {
            let [argument] = <[Object; 1]>::try_from(arguments)
                .map_err(|_| ExpressionError::Type(format!("`{name}` has one argument")))?;
            match name {
                "abs" => absolute(argument),
                "len" => {
                    let count = argument.list("the argument of `len`")?.len();
                    Ok(Object::Scalar(Value::Integer(count as i64)))
                }
                _ => whole(&argument.scalar("the argument of `int`")?),
            }
        }
        _ => Err(ExpressionError::UnknownFunction(name.to_owned())),
    }
}

/// The least or greatest of the arguments, or of the elements of the only one.
fn extreme(name: &str, wanted: Ordering, mut arguments: Vec<Object>) -> Result<Object, ExpressionError> {
    if let [Object::List(_)] = &arguments[..] {
        arguments = arguments.swap_remove(0).list("a list")?;
    }
    let mut candidates = arguments.into_iter();
    let Some(mut best) = candidates.next() else {
        return Err(ExpressionError::Type(format!("`{name}` of nothing")));
    };
    for candidate in candidates {
        if compare(&candidate, &best)? == Some(wanted) {
            best = candidate;
        }
    }
    // A single value must be one that has an order.
    compare(&best, &best)?;
    Ok(best)
}

fn absolute(argument: Object) -> Result<Object, ExpressionError> {
    let zero = Object::Scalar(Value::Integer(0));
    if compare(&argument, &zero)? == Some(Ordering::Less) { negate(&argument) } else { Ok(argument) }
}

/// A number without what follows the point.
fn whole(value: &Value) -> Result<Object, ExpressionError> {
    let number = match value {
        Value::Boolean(value) => i64::from(*value),
        Value::Integer(value) => *value,
        Value::Real(value) if value.abs() < 9e18 => *value as i64,
        Value::Real(_) => return Err(ExpressionError::Range("`int`")),
        Value::Text(_) => return Err(ExpressionError::Type("`int` needs a number".to_owned())),
    };
    Ok(Object::Scalar(Value::Integer(number)))
}

/// `range(end)`, `range(start, end)`, `range(start, end, step)`.
fn range(arguments: Vec<Object>) -> Result<Object, ExpressionError> {
    let numbers: Vec<i64> = arguments
        .into_iter()
        .map(|argument| match argument {
            Object::Scalar(Value::Integer(number)) => Ok(number),
            _ => Err(ExpressionError::Type("`range` needs whole numbers".to_owned())),
        })
        .collect::<Result<_, _>>()?;
    let (start, end, step) = match numbers[..] {
        [end] => (0, end, 1),
        [start, end] => (start, end, 1),
        [start, end, step] if step != 0 => (start, end, step),
        _ => {
            return Err(ExpressionError::Type(
                "`range` has from one to three numbers, the step not 0".to_owned(),
            ));
        }
    };
    let mut elements = Vec::new();
    let mut next = Some(start);
    while let Some(value) = next.filter(|&value| if step > 0 { value < end } else { value > end }) {
        if elements.len() == LONGEST_LIST {
            return Err(ExpressionError::Limit { what: "elements of a list", most: LONGEST_LIST });
        }
        elements.push(Object::Scalar(Value::Integer(value)));
        next = value.checked_add(step);
    }
    Ok(Object::List(elements))
}
