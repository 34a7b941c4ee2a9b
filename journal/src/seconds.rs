/// Reads a time: `90s`, `1.5m`, `2h`, `250ms`, or plain seconds; above zero.
///
/// # Errors
/// When it is none; the text says what is wrong and how to write it.
pub fn seconds(text: &str) -> Result<f64, String> {
    let split = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown unit `{unit}`: use ms, s, m or h")),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if (value * factor).is_finite() && value > 0.0 => Ok(value * factor),
        _ => Err(format!("`{text}` is no time above zero: write e.g. 60s or 5m")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("60s"), Ok(60.0));
        assert_eq!(seconds("1.5m"), Ok(90.0));
        assert_eq!(seconds("250ms"), Ok(0.25));
        assert!(seconds("-1s").is_err() && seconds("1y").is_err() && seconds("s").is_err());
        assert!(seconds("1e308h").is_err() && seconds("inf").is_err() && seconds("").is_err());
    }
}
