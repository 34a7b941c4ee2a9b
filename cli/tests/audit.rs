//! What users see of how far claims can be trusted.
#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use std::process::Command;

use serde_json::{Value, json};

/// Exit code and printed object of a quick audit.
fn audit(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["audit", "--quick", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (
        output.status.code(),
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{told}")),
    )
}

#[test]
fn a_quick_audit_counts_false_claims_and_its_exit_code_says_whether_promises_hold() {
    let folder = tempfile::tempdir().unwrap();
    // A machine that drifts: one side after the other deceives, pairs do not.
    let times: Vec<f64> = (0..32).map(|i| 1.2 - 0.004 * f64::from(i)).collect();
    let entry = |value: u32| {
        let scaled: Vec<f64> = times.iter().map(|time| time * f64::from(value)).collect();
        json!({ "block": value, "time": 1.1 * f64::from(value), "times": scaled })
    };
    let cache = json!({
        "device_name": "d", "kernel_name": "k", "tune_params_keys": ["block"],
        "tune_params": { "block": [1, 2, 4] },
        "cache": { "1": entry(1), "2": entry(2), "4": entry(4) },
    });
    let file = folder.path().join("drifting.json");
    std::fs::write(&file, cache.to_string()).unwrap();
    let (code, found) = audit(&["--recorded", file.to_str().unwrap()]);
    let host = &found["aa"]["host"];
    // What is found on this machine is the audit's to judge, below; a test cannot promise a quiet one.
    assert_eq!(host["pairs"], json!(60), "{found}");
    let [comparisons, claims] = ["comparisons", "false_claims"].map(|name| host[name].as_f64().unwrap());
    assert!(comparisons > 100.0 && claims < comparisons / 100.0, "{found}");
    let at_least = if claims == 0.0 { 1.0 - 0.05_f64.powf(1.0 / comparisons) } else { claims / comparisons };
    assert!(host["upper_bound_95"].as_f64().unwrap() >= 0.999_999 * at_least, "{found}");
    let recorded = &found["aa"]["recorded"];
    assert_eq!((&recorded["comparisons"], &recorded["false_claims"]), (&json!(3), &json!(0)));
    assert_eq!((&recorded["naive"]["false_claims"], &recorded["pairs"]), (&json!(3), &json!(16)));
    let powers = found["power"].as_array().unwrap();
    assert!(powers.len() == 2 && powers.iter().all(|power| power["found"].is_number()));
    let broken = found["broken"].as_array().unwrap();
    assert_eq!(code == Some(0), broken.is_empty(), "{found}");
    assert_eq!(claims > 0.0, broken.iter().any(|promise| promise.as_str().unwrap().contains("beat itself")));
}

#[test]
fn recordings_without_single_samples_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("means.json");
    let cache = json!({
        "device_name": "d", "kernel_name": "k", "tune_params_keys": ["block"],
        "tune_params": { "block": [1, 2, 4] },
        "cache": {
            "1": { "block": 1, "time": 1.1, "times": [1.1] },
            "2": { "block": 2, "time": 1.2, "times": [1.2] },
            "4": { "block": 4, "time": 1.3, "times": [1.3] },
        },
    });
    std::fs::write(&file, cache.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tilewright"))
        .args(["audit", "--quick", "--recorded", file.to_str().unwrap()])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("single samples"), "{told}");
}
