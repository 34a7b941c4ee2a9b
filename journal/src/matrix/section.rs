//! A table of a file, from which keys are taken by type; every complaint names line and key.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::MatrixError;

/// Characters of a foreign text that an error repeats.
const MOST_QUOTED: usize = 60;

/// The file, for errors.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl File<'_> {
    pub(super) fn wrong(
        &self,
        span: &Range<usize>,
        key: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> MatrixError {
        let start = span.start.min(self.text.len());
        MatrixError::Key {
            path: self.path.to_owned(),
            line: self.text.as_bytes()[..start].split(|&byte| byte == b'\n').count(),
            key: quoted(key),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

/// A text as an error may repeat it: short, and without control characters.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST_QUOTED).is_some() {
        short.push('…');
    }
    short
}

/// A value with where it stands and what it is called.
#[derive(Clone)]
#[expect(clippy::struct_field_names, reason = "a value as the parser names it")]
pub(super) struct Value<'a> {
    pub(super) file: File<'a>,
    pub(super) value: &'a DeValue<'a>,
    pub(super) span: Range<usize>,
    pub(super) key: String,
}

impl<'a> Value<'a> {
    pub(super) fn wrong(&self, problem: impl Into<String>, remedy: impl Into<String>) -> MatrixError {
        self.file.wrong(&self.span, &self.key, problem, remedy)
    }

    fn wanted(&self, what: &str) -> MatrixError {
        let found = self.value.type_str();
        let article = if found.starts_with(['a', 'i']) { "an" } else { "a" };
        self.wrong(format!("{article} {found} where {what} is wanted"), format!("give {what}"))
    }

    pub(super) fn text(&self) -> Result<&'a str, MatrixError> {
        match self.value {
            DeValue::String(text) => Ok(text.as_ref()),
            _ => Err(self.wanted("a text in quotation marks")),
        }
    }

    /// A whole number in this range.
    pub(super) fn count(&self, range: std::ops::RangeInclusive<u64>) -> Result<u64, MatrixError> {
        let what = format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(number) = self.value else { return Err(self.wanted(&what)) };
        let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| self.wrong("a number out of range", format!("give {what}")))
    }

    pub(super) fn number(&self) -> Result<f64, MatrixError> {
        let number = match self.value {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n as f64)
            }
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => return Err(self.wanted("a number")),
        };
        number
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| self.wrong("a number that is not finite", "give a finite number"))
    }

    /// A time, s: a number of seconds, or a text like `90s`.
    pub(super) fn seconds(&self) -> Result<f64, MatrixError> {
        let seconds = match self.value {
            DeValue::String(text) => {
                crate::seconds(text).map_err(|problem| self.wrong(quoted(&problem), "write e.g. \"90s\""))?
            }
            _ => self.number()?,
        };
        if seconds > 0.0 { Ok(seconds) } else { Err(self.wrong("a time of 0 or less", "write e.g. \"90s\"")) }
    }

    /// The values of a list that is not empty.
    pub(super) fn list(&self, of: &str) -> Result<Vec<Self>, MatrixError> {
        let DeValue::Array(array) = self.value else { return Err(self.wanted(&format!("a list of {of}"))) };
        let list: Vec<Self> = array
            .iter()
            .map(|value| Self { value: value.get_ref(), span: value.span(), ..self.clone() })
            .collect();
        if list.is_empty() {
            return Err(self.wrong("an empty list", format!("name at least one of the {of}")));
        }
        Ok(list)
    }

    /// The table that this is, with these keys and no others.
    pub(super) fn section(&self, known: &'static [&'static str]) -> Result<Section<'a>, MatrixError> {
        let DeValue::Table(table) = self.value else { return Err(self.wanted("a table")) };
        Section::new(self.file, table, &self.span, self.key.clone(), known)
    }
}

/// A table whose keys are all known.
pub(super) struct Section<'a> {
    file: File<'a>,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    name: String,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        file: File<'a>,
        table: &'a DeTable<'a>,
        span: &Range<usize>,
        name: String,
        known: &'static [&'static str],
    ) -> Result<Self, MatrixError> {
        let section = Self { file, table, span: span.clone(), name };
        for (key, _) in table {
            let found: &str = key.get_ref();
            if !known.contains(&found) {
                let remedy = match nearest(found, known) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("there are: {}", known.join(", ")),
                };
                let key_name = section.qualified(found);
                return Err(file.wrong(&key.span(), &key_name, "no such key", remedy));
            }
        }
        Ok(section)
    }

    fn qualified(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        let value: &'a Spanned<DeValue<'a>> = self.table.get(key)?;
        let (value, span) = (value.get_ref(), value.span());
        Some(Value { file: self.file, value, span, key: self.qualified(key) })
    }

    pub(super) fn needed(&self, key: &str, remedy: &str) -> Result<Value<'a>, MatrixError> {
        self.get(key).ok_or_else(|| self.wrong(key, "missing", remedy))
    }

    /// A complaint about the section as a whole.
    pub(super) fn wrong(&self, key: &str, problem: &str, remedy: &str) -> MatrixError {
        self.file.wrong(&self.span, &self.qualified(key), problem, remedy)
    }
}

/// The known word that a misspelt one is closest to, if it is close.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let close = known.iter().map(|&known| (distance(word, known), known)).min()?;
    (close.0 <= 1 + close.1.len() / 4).then_some(close.1)
}

/// Insertions, deletions and exchanges between two words (Levenshtein 1966); far apart where the lengths are.
fn distance(first: &str, second: &str) -> usize {
    let (first, second): (Vec<char>, Vec<char>) =
        (first.chars().take(2 * MOST_QUOTED).collect(), second.chars().collect());
    let mut row: Vec<usize> = (0..=second.len()).collect();
    for (at, a) in first.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (to, b) in second.iter().enumerate() {
            let exchanged = diagonal + usize::from(a != b);
            diagonal = row[to + 1];
            row[to + 1] = exchanged.min(row[to] + 1).min(diagonal + 1);
        }
    }
    row[second.len()]
}
