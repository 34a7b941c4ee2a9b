//! `tilewright heuristics` from the outside.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Map, Value, json};
use tilewright_registry::Digest;

/// A cache of a valley over two parameters, with a failure.
fn cache(device: &str) -> String {
    let mut entries = Map::new();
    for (x, y) in (1..9_i64).flat_map(|x| (1..9_i64).map(move |y| (x, y))) {
        let time = 1.0 + (x - 5).pow(2) as f64 + 0.01 * y as f64;
        let mut entry =
            json!({ "x": x, "y": y, "time": time, "times": vec![time; 8], "compile_time": 500.0 });
        if (x, y) == (8, 8) {
            entry["time"] = json!("RuntimeFailedConfig");
        }
        entries.insert(format!("{x},{y}"), entry);
    }
    json!({ "device_name": device, "kernel_name": "blur", "tune_params_keys": ["x", "y"], "cache": entries })
        .to_string()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewright"));
    command.args(arguments).env_remove("RUST_BACKTRACE").current_dir(folder).output().unwrap()
}

fn heuristics(folder: &Path, registry: &str, arguments: &[&str]) -> Output {
    run(folder, &[&["heuristics"], arguments, &["--registry", registry]].concat())
}

fn json(folder: &Path, registry: &str, arguments: &[&str]) -> Value {
    let output = heuristics(folder, registry, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

// U073
#[test]
fn campaigns_are_advised_by_what_the_registry_had_when_they_began() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for device in ["one", "two", "three"] {
        std::fs::write(at.join(format!("{device}.json")), cache(device)).unwrap();
    }
    let trained = json(at, "r", &["train", "one.json"]);
    let text = "strategies = ['auto']\nseeds = 2\nbudget = { trials = 12 }\n\
                [[workload]]\nrecorded = 'one.json'\n[[workload]]\nrecorded = 'two.json'\n";
    std::fs::write(at.join("asked.toml"), text).unwrap();
    let campaign = |arguments: &[&str]| -> Value {
        let output = run(at, &[&["campaign"], arguments, &["--registry", "r", "--json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let begun = campaign(&["run", "asked.toml", "--out", "advised"]);
    let id = trained["heuristics"][0]["id"].as_str().unwrap();
    let matrix = std::fs::read_to_string(at.join("advised/matrix.toml")).unwrap();
    assert!(matrix.contains(&format!("heuristics = [\"{id}\"]")), "{matrix}");
    for cell in begun["cells"].as_array().unwrap() {
        // What was learned from a recording says nothing new of it.
        let advice = cell["heuristics"].as_array().unwrap();
        assert_eq!(advice.is_empty(), cell["workload"] == "one", "{cell}");
        if let Some(advice) = advice.first() {
            assert_eq!(advice["subject"], trained["heuristics"][0]["subject"]);
            assert!(advice["trials"].as_u64() >= Some(2), "{cell}");
        }
    }
    // What is learned later, or asked later, does not change a campaign that has begun.
    json(at, "r", &["train", "three.json"]);
    let resumed = campaign(&["resume", "advised", "--no-heuristics"]);
    assert_eq!(resumed["cells"], begun["cells"]);
    assert_eq!(std::fs::read_to_string(at.join("advised/matrix.toml")).unwrap(), matrix);
    // Without its advice it would be another search: it does not go on.
    let lost = run(at, &["campaign", "resume", "advised", "--registry", "elsewhere"]);
    let error = String::from_utf8(lost.stderr).unwrap();
    assert!(!lost.status.success() && error.contains("--registry") && error.contains(id), "{error}");
    let cold = campaign(&["run", "asked.toml", "--out", "cold", "--no-heuristics"]);
    assert!(cold["cells"].as_array().unwrap().iter().all(|cell| cell["heuristics"] == json!([])));
    // A folder that names nothing began with nothing.
    let file = at.join("cold/matrix.toml");
    let named = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, named.replace("heuristics = false\n", "")).unwrap();
    assert_eq!(campaign(&["resume", "cold"])["cells"], cold["cells"]);
    let text = run(at, &["campaign", "status", "advised"]).stdout;
    assert!(String::from_utf8(text).unwrap().contains("advice: "));
}

#[test]
fn what_recordings_teach_is_kept_shown_and_carried_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("one.json"), cache("one")).unwrap();
    std::fs::write(at.join("two.json"), cache("two")).unwrap();
    let trained = json(at, "here", &["train", "one.json", "two.json"]);
    assert_eq!(trained["heuristics"][0]["subject"], json!("blur recorded on one"));
    assert_eq!(trained["heuristics"][1]["evidence"], json!(64));
    // Trained again, the same is kept.
    assert_eq!(json(at, "here", &["train", "one.json", "two.json"]), trained);
    let listed = json(at, "here", &["show"]);
    assert_eq!(listed["heuristics"].as_array().unwrap().len(), 2);
    let id = trained["heuristics"][0]["id"].as_str().unwrap();
    let shown = json(at, "here", &["show", &id[..12]]);
    assert_eq!(shown["heuristic"]["points"][0]["score"], json!(0.0));
    assert_eq!(
        (&shown["importance"][0]["name"], &shown["importance"][0]["best"]),
        (&json!("x"), &json!("5"))
    );
    let text = String::from_utf8(heuristics(at, "here", &["show", &id[..12]]).stdout).unwrap();
    assert!(text.contains("64 judged trials") && text.contains("x=5"), "{text}");
    json(at, "here", &["export", "learned.jsonl"]);
    let imported = json(at, "there", &["import", "learned.jsonl"]);
    assert_eq!(imported["heuristics"], trained["heuristics"]);
    let verified = run(at, &["registry", "verify", "--hashes-only", "--registry", "there"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn what_a_campaign_teaches_is_its_judged_trials() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let tune = [
        "tune",
        "matmul:m=8,n=8,k=8,dtype=f32",
        "--trials",
        "60",
        "--out",
        "c",
        "--registry",
        "r",
        "--quiet",
    ];
    let tuned = run(at, &tune);
    assert!(tuned.status.success(), "{}", String::from_utf8_lossy(&tuned.stderr));
    let trained = json(at, "r", &["train", "c"]);
    let evidence = trained["heuristics"][0]["evidence"].as_u64().unwrap();
    assert!(evidence >= 60, "{trained}");
    let shown = json(at, "r", &["show", trained["heuristics"][0]["id"].as_str().unwrap()]);
    assert!(shown["heuristic"]["operators"].as_object().is_some_and(|all| all.contains_key("start")));

    // It advises on another shape, is named, and stays with the campaign.
    let other = |more: &[&str]| {
        let tune = ["tune", "matmul:m=8,n=16,k=8,dtype=f32", "--registry", "r", "--quiet", "--json"];
        let output = run(at, &[&tune[..], more].concat());
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let advised = other(&["--trials", "49", "--out", "advised"]);
    let advice = &advised["heuristics"][0];
    assert_eq!(advice["subject"], trained["heuristics"][0]["subject"]);
    assert!(advice["trials"].as_u64().unwrap() >= 1, "{advised}");
    // With more trials than before there would be less unproven advice: it stays as it was.
    let longer = other(&["--trials", "90", "--out", "advised", "--resume", "--no-heuristics"]);
    assert!(longer["heuristics"][0]["trials"].as_u64() >= advice["trials"].as_u64(), "{longer}");
    assert_eq!(other(&["--trials", "8", "--out", "cold", "--no-heuristics"])["heuristics"], json!([]));
}

#[test]
fn wrong_input_is_told_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("empty")).unwrap();
    std::fs::write(at.join("one.json"), cache("one")).unwrap();
    std::fs::write(at.join("other.jsonl"), "{}\n").unwrap();
    std::fs::write(at.join("cut.jsonl"), "{\"tilewright_heuristics\":2}\n{\"id\":\"12").unwrap();
    let line = |id: Digest, text: &str| {
        format!("{{\"tilewright_heuristics\":2}}\n{}\n", json!({ "id": id.to_string(), "heuristic": text }))
    };
    let newer = "{\"version\":7}";
    std::fs::write(at.join("newer.jsonl"), line(Digest::of(newer.as_bytes()), newer)).unwrap();
    std::fs::write(at.join("changed.jsonl"), line(Digest::NONE, newer)).unwrap();
    for (arguments, code, wanted) in [
        (&["train", "empty"][..], 2, "empty is no campaign"),
        (&["train", "nowhere.json"], 2, "cannot read nowhere.json"),
        (&["train", "one.json", "other.jsonl"], 2, "other.jsonl"),
        (&["import", "nowhere.jsonl"], 2, "cannot read nowhere.jsonl"),
        (&["import", "other.jsonl"], 2, "not a file that"),
        (&["import", "cut.jsonl"], 2, "cut.jsonl, line 2"),
        (&["import", "changed.jsonl"], 2, "changed.jsonl, line 2: changed since"),
        (&["import", "newer.jsonl"], 2, "newer tilewright"),
        (&["show", "abc"], 2, "beginning of 0 heuristics"),
        (&["train"], 2, "SOURCES"),
    ] {
        let output = heuristics(at, "here", arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && text.contains(wanted), "{arguments:?}: {text}");
    }
    assert!(!at.join("here").exists());
}
