use std::io::{self, Write};

use super::table::{Table, Values};

/// Writes a table comma-separated with a header (RFC 4180); what does not apply is empty.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_csv(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    line(out, table.columns.iter().map(|column| column.name.clone()))?;
    for row in 0..table.rows() {
        line(out, table.columns.iter().map(|column| text(&column.values, row).unwrap_or_default()))?;
    }
    Ok(())
}

fn text(values: &Values, row: usize) -> Option<String> {
    match values {
        Values::Counts(values) => values[row].map(|value| value.to_string()),
        Values::Numbers(values) => values[row].map(|value| value.to_string()),
        Values::Texts(values) => values[row].clone(),
    }
}

fn line(out: &mut dyn Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    let fields: Vec<String> = fields
        .map(|field| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    writeln!(out, "{}", fields.join(","))
}
