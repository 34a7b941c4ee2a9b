//! The few forms that sections are made of.

use crate::format::escape;

/// A table; the first column is a name, the others are values. Cells are text, not markup.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: String = head.iter().map(|cell| format!("<th>{}</th>", escape(cell))).collect();
    let rows: String = rows
        .iter()
        .map(|row| {
            let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
            format!("<tr>{cells}</tr>")
        })
        .collect();
    format!("<div class=\"scroll\"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>")
}

/// Names and values, one pair a line; pairs without value are left out.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let lines: String = facts
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value)))
        .collect();
    format!("<dl>{lines}</dl>")
}

/// Something long behind one line.
pub(crate) fn details(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>{body}</details>", escape(summary))
}

/// A paragraph of plain text.
pub(crate) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}
