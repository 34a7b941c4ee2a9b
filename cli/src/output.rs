//! The only place that writes to standard output (results) and standard error (notes).

use std::io::Write;

use anyhow::{Context, Result};
use serde::Serialize;

/// Prints a result for people.
pub(crate) fn result(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        // A reader that has seen enough (`| head`) is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Prints a result for programs.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).context("the result has no form in JSON")?;
    text.push('\n');
    result(&text)
}

/// Tells the user something beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A number of threads in words.
pub(crate) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// The name under which a unit variant is serialised.
pub(crate) fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
