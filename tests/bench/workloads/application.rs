//! The web application in a real browser, on a list of half a million records.

use super::Run;
use crate::report::Figure;
use serde_json::{Value, json};

/// The typed texts: two words of a title, a key, and parts of words.
const WORDS: [&str; 5] = ["duroti", "zamija", "W-49999", "roti", "mija"];

/// How often a browser with an empty cache opens the list in each round.
const OPENINGS: usize = 3;

/// A figure, and its location in the output of the script.
struct Shown {
    name: &'static str,
    /// The member, and its statistic: `p50`, `p95` or `most`.
    path: [&'static str; 2],
    unit: &'static str,
    gate: Option<f64>,
    aim: Option<f64>,
}

/// Figures that depend on the machine have an aim; the others have gates.
const FIGURES: [Shown; 17] = [
    aim("first records painted, p50", ["list", "p50"], 1000.0),
    aim("first records painted, at most", ["list", "most"], 1000.0),
    aim("processor time of the page until then, p50", ["work", "p50"], 500.0),
    aim("first contentful paint, p50", ["fcp", "p50"], 900.0),
    aim("largest contentful paint, p50", ["lcp", "p50"], 1200.0),
    aim("total blocking time, p50", ["blocking", "p50"], 200.0),
    gate("cumulative layout shift, at most", ["shift", "most"], 0.1, ""),
    gate("loaded until then, at most", ["firstKilobytes", "most"], 270.0, " kB"),
    gate("loaded in all, at most", ["kilobytes", "most"], 400.0, " kB"),
    gate("requests in all, at most", ["requests", "most"], 60.0, ""),
    gate("searches until then, at most", ["searches", "most"], 1.0, ""),
    aim("letter to painted answer, p50", ["typing", "p50"], 100.0),
    aim("letter to painted answer, p95", ["typing", "p95"], 150.0),
    aim("letter to painted answer, at most", ["typing", "most"], 300.0),
    aim("frame while scrolling 5,000 rows, p50", ["frames", "p50"], 17.0),
    aim("frame while scrolling 5,000 rows, p95", ["frames", "p95"], 34.0),
    gate("elements of the page then", ["elements", "most"], 2500.0, ""),
];

const fn aim(name: &'static str, path: [&'static str; 2], aim: f64) -> Shown {
    Shown { name, path, unit: " ms", gate: None, aim: Some(aim) }
}

const fn gate(name: &'static str, path: [&'static str; 2], gate: f64, unit: &'static str) -> Shown {
    Shown { name, path, unit, gate: Some(gate), aim: None }
}

impl Shown {
    fn of(&self, measured: &Value) -> Figure {
        let [member, part] = self.path;
        Figure {
            name: self.name.to_owned(),
            value: measured[member][part].as_f64().expect("the script returns the figure"),
            unit: self.unit,
            related: Vec::new(),
            more_is_better: false,
            gate: self.gate,
            aim: self.aim,
        }
    }
}

pub(super) async fn run(run: &mut Run<'_>) {
    run.bed.works().await.warm(run.bed);
    let openings = run.arguments.rounds * OPENINGS;
    let reported = json!({
        "address": run.bed.proxy.url(""), "key": run.bed.proxy.key(), "project": "bench",
        "more": {"template": "works", "words": WORDS, "openings": openings},
    });
    let measured = harness::run_script("speed", &reported).await;
    let measured: Value = serde_json::from_slice(&measured).expect("the script prints JSON");
    let letters = &measured["letters"];
    run.report
        .begin(format!("web application, list of 500,000 records: {openings} openings, {letters} letters"));
    for shown in &FIGURES {
        run.report.add_figure(&shown.of(&measured));
    }
}
