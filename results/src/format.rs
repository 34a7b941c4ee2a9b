//! Numbers and text as a reader wants them.

/// Text with the characters that mean something in HTML replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Three significant digits, without exponent where a person would write none.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "–".to_owned()
    } else if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.2e}")
    } else if size >= 100.0 {
        thousands(value.round() as i64)
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// A number on an axis: no zeros that say nothing.
pub(crate) fn tick(value: f64) -> String {
    let text = number(value);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A time interval in one unit, with the digits in which its ends differ.
pub(crate) fn time_interval(low_ns: f64, high_ns: f64) -> String {
    let (value, unit) = time_unit(high_ns);
    format!("{} {unit}", interval(low_ns / value, high_ns / value))
}

/// Two ends with the decimals that it takes to show their distance, from two to six.
pub(crate) fn interval(low: f64, high: f64) -> String {
    let distance = (high - low).abs();
    let wanted = if distance > 0.0 { 1.0 - distance.log10().floor() } else { 2.0 };
    let decimals = wanted.clamp(2.0, 6.0) as usize;
    format!("{low:.decimals$} to {high:.decimals$}")
}

/// A count with thin spaces between thousands.
pub(crate) fn count(value: u64) -> String {
    thousands(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A time in the unit that fits.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = time_unit(ns);
    format!("{} {unit}", number(ns / value))
}

/// Nanoseconds of the unit that fits a time, and its name.
pub(crate) fn time_unit(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        size if size < 1e3 => (1.0, "ns"),
        size if size < 1e6 => (1e3, "µs"),
        size if size < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// A number of bytes in the unit that fits.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", number(bytes as f64 / 1024.0)),
        1_048_576..1_073_741_824 => format!("{} MiB", number(bytes as f64 / 1_048_576.0)),
        _ => format!("{} GiB", number(bytes as f64 / 1_073_741_824.0)),
    }
}

/// A share as a percentage with one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Events for each second; 0 where no time has passed.
pub(crate) fn per_second(events: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { events as f64 * 1e9 / ns as f64 }
}

fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if value < 0 { format!("−{grouped}") } else { grouped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_like_a_person_wrote_them() {
        for (value, text) in [
            (0.0, "0"),
            (0.04567, "0.046"),
            (1.234, "1.23"),
            (98.76, "98.8"),
            (12345.6, "12\u{202f}346"),
            (-1000.0, "−1\u{202f}000"),
            (1.5e9, "1.50e9"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!((time(1500.0).as_str(), time(2.5e9).as_str()), ("1.50 µs", "2.50 s"));
        assert_eq!(
            (tick(20.0).as_str(), tick(0.1).as_str(), tick(1024.0).as_str()),
            ("20", "0.1", "1\u{202f}024")
        );
        assert_eq!(interval(2.3211, 2.3244), "2.3211 to 2.3244");
        assert_eq!(time_interval(11_660_000.0, 11_720_000.0), "11.660 to 11.720 ms");
        assert_eq!((bytes(512).as_str(), bytes(65_536).as_str()), ("512 B", "64.0 KiB"));
    }

    #[test]
    fn nothing_in_a_text_becomes_markup() {
        assert_eq!(escape("<b a=\"1\" b='2'>&"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;");
    }
}
