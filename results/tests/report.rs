//! Reports of whole, unfinished, empty and damaged campaigns.
#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod support;

use std::fs;

use support::{events, write};
use tilewright_journal::{Event, JOURNAL_FILE};
use tilewright_results::{
    Axis, Campaign, ReportError, Summary, Table, convergence, importance, report, write_csv,
};

fn campaign(events: &[Event]) -> Campaign {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), events);
    Campaign::read(folder.path()).unwrap()
}

/// Every opened element is closed, in order; enough of XML for what the report writes.
fn assert_balanced(markup: &str) {
    let mut open = Vec::new();
    for part in markup.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "near <{}", part.chars().take(60).collect::<String>());
        } else if !tag.ends_with('/') && !tag.starts_with(['!', '?']) && !tag.starts_with("meta ") {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

// U032, U062, U150
#[test]
fn a_page_stands_alone_and_shows_everything() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &events(400, 1));
    let written = report(folder.path()).unwrap();
    // Where a browser is at hand, it is a page to look at.
    if let Some(keep) = std::env::var_os("TILEWRIGHT_KEEP_REPORT") {
        fs::copy(&written.page, keep).unwrap();
    }
    let page = fs::read_to_string(&written.page).unwrap();
    let names: Vec<_> =
        written.charts.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "convergence-evaluations",
            "convergence-time",
            "pairs",
            "ratios",
            "roofline",
            "outcomes",
            "importance"
        ]
    );
    assert_eq!(page.matches("<svg").count(), names.len());
    for wanted in [
        "the speed of the default schedule",
        "GFLOP/s",
        "Disassembly",
        "vfmadd231ps",
        "<b class=\"tile\">contract</b>",
        "A kernel against itself",
        "Mutation operators",
        "resize register tile",
        "--threads 2 --time 60s",
        "AMD EPYC 7003 &lt;made up&gt;",
        "wrong answer in",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert_balanced(&page);
    assert!(!page.contains("<script") && !page.contains(" src=") && !page.contains("url("));
    // A wrong answer may be one; nothing else is.
    assert!(!page.replace("NaN instead of", "").contains("NaN"));
    for path in &written.charts {
        let svg = fs::read_to_string(path).unwrap();
        assert_balanced(&svg);
        assert!(svg.contains("aria-label") && !svg.contains("NaN") && !svg.contains("var("), "{path:?}");
    }
}

#[test]
fn one_journal_gives_one_page() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &events(60, 2));
    let first = fs::read(report(folder.path()).unwrap().page).unwrap();
    let second = fs::read(report(folder.path()).unwrap().page).unwrap();
    assert!(first == second);
}

// U065, U151
#[test]
fn a_campaign_stopped_anywhere_has_a_page() {
    let events = events(12, 3);
    for length in 1..=events.len() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &events[..length]);
        let page = fs::read_to_string(report(folder.path()).unwrap().page).unwrap();
        assert_balanced(&page);
        assert_eq!(page.contains("did not end by itself"), length < events.len());
        assert!(!page.contains("NaN"), "after {length} events");
    }
}

#[test]
fn damage_is_named_on_the_page_and_a_lost_start_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &events(20, 4));
    let path = folder.path().join(JOURNAL_FILE);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&path, text.replacen(lines[5], &lines[5].replace("stream", "dream"), 1)).unwrap();
    let written = report(folder.path()).unwrap();
    assert_eq!((written.damage.len(), written.damage[0].line), (1, 6));
    let page = fs::read_to_string(written.page).unwrap();
    assert!(page.contains("line 6 ") && page.contains("changed since it was written"));
    fs::write(&path, lines[1..].concat()).unwrap();
    assert!(matches!(report(folder.path()), Err(ReportError::NoStart { .. })));
    fs::remove_file(&path).unwrap();
    assert!(matches!(report(folder.path()), Err(ReportError::Journal(_))));
}

// U120
#[test]
fn the_summary_agrees_with_the_journal() {
    let campaign = campaign(&events(400, 1));
    let summary = Summary::of(&campaign);
    let (winner, default) = (summary.winner.clone().unwrap(), summary.default.clone().unwrap());
    assert!(summary.confirmed && winner.bound == "compute");
    assert!((winner.gflops - 2.0 * 1024_f64.powi(3) / winner.median_ns).abs() < 1e-9);
    assert!((winner.ceiling_fraction - winner.gflops / 203.4).abs() < 1e-9);
    let speedup = summary.speedup.unwrap();
    assert!((speedup / (default.median_ns / winner.median_ns) - 1.0).abs() < 0.02);
    assert_eq!(summary.outcomes.values().sum::<u64>(), 400);
    assert_eq!(summary.evaluations, summary.outcomes["ok"]);
    assert!((summary.evaluations_per_second - summary.evaluations as f64 / 60.0).abs() < 0.1);
    let json = serde_json::to_value(&summary).unwrap();
    for name in ["winner", "default", "ceiling", "evaluations", "outcomes", "device", "seed", "version"] {
        assert!(json.get(name).is_some(), "{name}");
    }
}

// U153
#[test]
fn the_best_so_far_only_improves_and_ends_with_the_last_trial() {
    let campaign = campaign(&events(400, 5));
    for axis in [Axis::Evaluations, Axis::Seconds] {
        let course = convergence(&campaign, axis);
        assert!(course.best.is_sorted_by(|a, b| a.0 <= b.0));
        // A race may be won by luck, so neighbours may fall back by the noise.
        assert!(course.best.is_sorted_by(|a, b| a.1 <= b.1 * 1.02));
        assert_eq!(course.best.last().unwrap().0.to_bits(), course.trials.last().unwrap().0.to_bits());
    }
}

#[test]
fn the_parameter_that_the_model_makes_matter_most_comes_first() {
    let campaign = campaign(&events(800, 6));
    let ranking = importance(&campaign);
    let place = |name: &str| ranking.iter().position(|found| found.parameter == name).unwrap();
    assert!(ranking.iter().all(|found| (0.0..=1.0).contains(&found.share) && found.spread >= 1.0));
    assert!(place("pack.b") < place("order"), "{ranking:?}");
    assert!(ranking[place("order")].share < 0.05, "{ranking:?}");
}

// U155
#[test]
fn the_export_has_one_line_a_trial_and_as_many_fields_in_each() {
    let campaign = campaign(&events(100, 7));
    let mut out = Vec::new();
    write_csv(&Table::of_trials(&campaign), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let fields = |line: &str| {
        let mut quoted = false;
        1 + line
            .chars()
            .filter(|&c| {
                quoted ^= c == '"';
                c == ',' && !quoted
            })
            .count()
    };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 101);
    assert!(lines[0].starts_with("trial,outcome,") && lines[0].ends_with("schedule.unroll"));
    assert!(lines.iter().all(|line| fields(line) == fields(lines[0])));
    assert!(text.contains("ok,measured,"));
}

/// A kernel that is right and far from the best known is called what it is, on the page and in the summary.
#[test]
fn what_is_no_replacement_is_called_so() {
    let mut events = events(60, 8);
    let Event::CampaignStarted(started) = &mut events[0] else { panic!("the first event") };
    started.best_known_ns = Some(1000.0);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &events);
    let page = fs::read_to_string(report(folder.path()).unwrap().page).unwrap();
    assert!(page.contains("Not a replacement.") && page.contains("as long as the best known"));
    assert_balanced(&page);
    let placement = Summary::of(&campaign(&events)).placement.unwrap();
    assert!(!placement.replacement && placement.best_known_ratio.unwrap() > 1000.0, "{placement:?}");

    let Event::CampaignStarted(started) = &mut events[0] else { panic!("the first event") };
    started.best_known_ns = None;
    let placement = Summary::of(&campaign(&events)).placement.unwrap();
    assert!(placement.replacement && placement.ceiling_fraction > 0.1, "{placement:?}");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &events);
    let page = fs::read_to_string(report(folder.path()).unwrap().page).unwrap();
    assert!(!page.contains("Not a replacement"));
}
