use proptest::prelude::*;

use super::*;

fn value_of(name: &str) -> Option<Value> {
    match name {
        "x" => Some(Value::Integer(48)),
        "y" => Some(Value::Integer(16)),
        "zero" => Some(Value::Integer(0)),
        "half" => Some(Value::Real(0.5)),
        "on" => Some(Value::Boolean(true)),
        "mode" => Some(Value::Text("fast".to_owned())),
        _ => None,
    }
}

fn holds(text: &str) -> Result<bool, ExpressionError> {
    Expression::parse(text)?.holds(&value_of)
}

fn list(text: &str) -> Vec<String> {
    let values = Expression::parse(text).and_then(|parsed| parsed.list(&value_of)).unwrap();
    values.iter().map(ToString::to_string).collect()
}

// U118
#[test]
fn conditions_mean_what_they_mean_in_python() {
    for (text, wanted) in [
        ("x * y <= 1024", true),
        ("32 <= x <= 40", false),
        ("1 < y < x < 100", true),
        ("x % 32 != 0 and y % 16 == 0", true),
        ("zero or not x", false),
        ("not zero == x", true),
        ("x // 32 == 1 and -7 // 2 == -4 and -7 % 3 == 2 and 7 % -3 == -2", true),
        ("7 / 2 == 3.5 and 2 ** 10 == 1024 and -2 ** 2 == -4 and 2 ** -1 == half", true),
        ("2 ** 3 ** 2 == 512", true),
        ("10 - 4 - 3 == 3 and 100 / 10 / 5 == 2", true),
        ("mode == 'fast' and mode in [\"fast\", 'slow'] and mode not in ('a',)", true),
        ("mode == 1", false),
        ("on + 1 == 2 and on == 1 and True and not False", true),
        (
            "min(x, y) == 16 and max([1, 5, 3]) == 5 and abs(-3) == 3 and len([1, 2]) == 2 and int(2.9) == 2",
            true,
        ),
        ("(x if on else y) == 48", true),
        ("y in [i * 4 for i in range(10) if i > 2]", true),
        ("[1, 2] + [3] == [1, 2, 3] and [0] * 2 == [0, 0]", true),
        ("zero == 0 or ((x*2+(15-1))*(y*2+14)) < 12*1024", true),
        ("1e3 == 1000 and .5 == half and 1.5e-1 == 0.15", true),
    ] {
        assert_eq!(holds(text), Ok(wanted), "{text}");
    }
}

#[test]
fn lists_of_values_are_written_in_several_ways() {
    assert_eq!(list("[1, 2, 4,]"), ["1", "2", "4"]);
    assert_eq!(list("[32 * i for i in range(1, 4)]"), ["32", "64", "96"]);
    assert_eq!(list("[1] + [2 * i for i in range(1, 3)]"), ["1", "2", "4"]);
    assert_eq!(list("range(8, 0, -3)"), ["8", "5", "2"]);
    assert_eq!(list("7"), ["7"]);
    assert_eq!(list("[]"), Vec::<String>::new());
}

#[test]
fn names_are_those_that_need_a_value() {
    let parsed = Expression::parse("a + b > min(a, c) or d in [i + e for i in range(f)]").unwrap();
    assert_eq!(parsed.names(), ["a", "b", "c", "d", "e", "f"]);
}

#[test]
fn errors_say_what_and_where() {
    for (text, wanted) in [
        ("", "ends here"),
        ("x +", "ends here"),
        ("x y", "character 3: something is left over"),
        ("(x", "`)` is missing"),
        ("x = 3", "unexpected `=`"),
        ("x.real", "not a number"),
        ("x[0]", "left over"),
        ("lambda: x", "unexpected `:`"),
        ("'abc", "text without end"),
        ("'a\\'b'", "backslash"),
        ("99999999999999999999", "not a number of 64 bits"),
        ("1e999", "not a number"),
        ("__import__('os')", "no function"),
        ("other > 1", "`other` is no parameter"),
        ("x // zero", "a quotient has no finite"),
        ("x / zero", "a quotient"),
        ("x % zero", "a remainder"),
        ("2 ** 64", "a power"),
        ("2 ** 99999999999", "a power"),
        ("9223372036854775807 + 1", "a sum"),
        ("-(-9223372036854775807 - 1) == 0", "a negative number"),
        ("(-9223372036854775807 - 1) // -1", "a quotient"),
        ("[0] * 99999999", "elements of a list"),
        ("range(10 ** 12)", "elements of a list"),
        ("mode < 3", "have an order"),
        ("min()", "of nothing"),
        ("min('a', 1)", "have an order"),
        ("[1] < [2]", "have an order"),
        ("x & y", "left over"),
        ("[i for i in 5]", "list to go through"),
        ("[i for i in range(3)", "missing"),
    ] {
        let error = holds(text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn hostile_expressions_end_at_a_limit() {
    let deep = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(matches!(holds(&deep), Err(ExpressionError::Limit { what: "levels of nesting", .. })));
    for sign in ["-", "not ", "2 ** "] {
        assert!(
            matches!(holds(&format!("{}1", sign.repeat(2_000))), Err(ExpressionError::Limit { .. })),
            "{sign}"
        );
    }
    let long = "1 + ".repeat(5_000) + "1";
    assert!(matches!(holds(&long), Err(ExpressionError::Limit { what: "characters", .. })));
    assert_eq!(holds(&("1 + ".repeat(4_000) + "1 == 4001")), Ok(true));
    let work = "[[[1 for a in range(1000)] for b in range(1000)] for c in range(1000)]";
    assert!(matches!(holds(work), Err(ExpressionError::Limit { what: "steps", .. })));
    let nested = format!("{}1{}", "[".repeat(8_000), "]".repeat(8_000));
    assert!(matches!(holds(&nested), Err(ExpressionError::Limit { .. })));
}

proptest! {
    #[test]
    fn no_text_breaks_the_parser(text in "[xyz0-9 .,()\\[\\]<>=!+*/%'\"-]{0,80}|(x|y|1|\\(|\\)|\\[|\\]| or | and | not | in | for | if | else |<=|\\*\\*|//|,){0,40}") {
        if let Ok(parsed) = Expression::parse(&text) {
            let _ = parsed.holds(&value_of);
            let _ = parsed.list(&value_of);
        }
    }

    #[test]
    fn whole_numbers_divide_as_in_python(left in -200..200_i64, right in -20..20_i64) {
        prop_assume!(right != 0);
        let text = format!("({left}) == ({right}) * (({left}) // ({right})) + ({left}) % ({right})");
        prop_assert_eq!(holds(&text), Ok(true));
        let sign = format!("0 <= ({left}) % ({right}) < {right} or {right} < ({left}) % ({right}) <= 0");
        prop_assert_eq!(holds(&sign), Ok(true));
    }
}
