//! Programs and machine code with what matters set off.

use crate::format::escape;

const LOOPS: [&str; 12] = [
    "for",
    "in",
    "step",
    "rest",
    "over",
    "when",
    "otherwise",
    "phase",
    "entry",
    "program",
    "unroll",
    "prefetch",
];
const TILES: [&str; 11] = [
    "fill",
    "copy",
    "contract",
    "map",
    "reduce",
    "scan",
    "select",
    "gather",
    "scatter",
    "barrier",
    "collective",
];

/// A program with loops and tile instructions set off.
pub(super) fn program(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| words(line, program_class)).collect();
    format!("<pre class=\"code\">{}</pre>", lines.join("\n"))
}

/// Machine code with mnemonics that work on vectors set off.
pub(super) fn assembly(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| words(line, assembly_class)).collect();
    format!("<pre class=\"code tall\">{}</pre>", lines.join("\n"))
}

fn program_class(word: &str) -> Option<&'static str> {
    if LOOPS.contains(&word) {
        Some("loop")
    } else if TILES.contains(&word) {
        Some("tile")
    } else {
        None
    }
}

fn assembly_class(word: &str) -> Option<&'static str> {
    let is_mnemonic =
        |start: &str| word.starts_with(start) && word.chars().all(|c| c.is_ascii_alphanumeric());
    if is_mnemonic("vfm") || is_mnemonic("vpdp") || is_mnemonic("vpmadd") {
        Some("tile")
    } else if word.len() >= 2 && word.starts_with('j') && word.chars().all(|c| c.is_ascii_lowercase()) {
        Some("loop")
    } else {
        None
    }
}

/// The line with whole words put into spans of the class that `class` gives.
fn words(line: &str, class: impl Fn(&str) -> Option<&'static str>) -> String {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut marked = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let same = |character: char| is_word(character) == is_word(first);
        let end = rest.find(|character| !same(character)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        match class(part) {
            Some(class) => marked += &format!("<b class=\"{class}\">{part}</b>"),
            None => marked += &escape(part),
        }
        rest = after;
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_set_off_and_text_stays_text() {
        let marked = program("for m in 0..512 step 8\n  map former[m] <- <b>x</b>");
        assert!(marked.contains("<b class=\"loop\">for</b> m <b class=\"loop\">in</b> 0..512"), "{marked}");
        assert!(marked.contains("<b class=\"tile\">map</b> former[m] &lt;- &lt;b&gt;x"), "{marked}");
        assert!(assembly("vfmadd231ps ymm0,ymm1,[rax]").contains("<b class=\"tile\">vfmadd231ps</b>"));
    }
}
