//! Files that were cut off while being written: everything up to the last whole configuration still counts.

/// The beginning of a JSON text up to the end of its last whole element at the second level, closed; `None`
/// where no such element is whole.
///
/// Configurations of every known format stand at that level: in an object or a list inside the top object.
pub(crate) fn closed(text: &[u8]) -> Option<Vec<u8>> {
    let mut open: Vec<u8> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    let mut last = None;
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    return None;
                }
                if open.len() == 2 && byte == b'}' {
                    last = Some((at + 1, [open[1], open[0]]));
                }
            }
            _ => {}
        }
    }
    let (end, closing) = last?;
    let mut whole = text[..end].to_vec();
    whole.extend(closing);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        closed(text.as_bytes()).map(|whole| String::from_utf8(whole).unwrap())
    }

    #[test]
    fn a_text_ends_with_its_last_whole_configuration() {
        let whole = r#"{"a":{"x":{"k":[1,2]}}}"#;
        assert_eq!(of(r#"{"a":{"x":{"k":[1,2]},"y":{"k":[1,"#).as_deref(), Some(whole));
        assert_eq!(of(r#"{"a":{"x":{"k":[1,2]},"#).as_deref(), Some(whole));
        assert_eq!(of(r#"{"a":[{"k":"}]\"{"},{"k":"#).as_deref(), Some(r#"{"a":[{"k":"}]\"{"}]}"#));
    }

    #[test]
    fn nothing_whole_is_nothing() {
        for text in ["", "{", r#"{"a":{"x":{"k":1"#, r#"{"a":"b"#, "]", "{]"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
