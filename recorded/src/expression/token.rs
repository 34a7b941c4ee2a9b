//! Words, numbers and signs of an expression.

use super::ExpressionError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Integer(i64),
    Real(f64),
    Text(String),
    /// A name or a key word.
    Word(String),
    Sign(&'static str),
}

/// Longer signs first: `<=` is not `<` and `=`.
const SIGNS: [&str; 20] = [
    "**", "//", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "&", "|",
];

/// Tokens with the position of their first character, from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let at = text[..text.len() - rest.len()].chars().count() + 1;
        let wrong = |problem: String| ExpressionError::Syntax { at, problem };
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            number(rest).ok_or_else(|| wrong("not a number of 64 bits".to_owned()))?
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (Token::Word(rest[..length].to_owned()), length)
        } else if first == '"' || first == '\'' {
            let end = rest[1..].find([first, '\\']).filter(|&end| rest[1 + end..].starts_with(first));
            let end = end.ok_or_else(|| wrong("a text without end, or with a backslash".to_owned()))?;
            (Token::Text(rest[1..=end].to_owned()), end + 2)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| wrong(format!("unexpected `{first}`")))?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push((at, token));
        rest = &rest[length..];
    }
}

/// A number in decimal, with its length in bytes.
fn number(text: &str) -> Option<(Token, usize)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    let whole = end;
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let token = if end == whole {
        Token::Integer(text[..end].parse().ok()?)
    } else {
        Token::Real(text[..end].parse().ok().filter(|value: &f64| value.is_finite())?)
    };
    Some((token, end))
}
