//! The printed tables.

use crate::Arguments;
use crate::bed::Commit;
use crate::benchmarks::Row;
use crate::rounds::{Claim, Outcome, Quantity, Score, Workload};

/// The width of the column of names.
const WIDTH: usize = 50;

/// Prints measurements as they arrive, and collects failures.
pub(crate) struct Report {
    /// The current group, as on the command line.
    group: String,
    /// The current workload.
    title: String,
    /// The rows for the file.
    rows: Vec<Row>,
    failures: Vec<String>,
    /// Whether a response of the group was wrong.
    has_wrong_response: bool,
    gates: usize,
}

/// The figure of a claim.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// Related figures, printed next to it.
    pub(crate) related: Vec<f64>,
    pub(crate) more_is_better: bool,
    pub(crate) gate: Option<f64>,
    pub(crate) aim: Option<f64>,
}

impl Figure {
    fn sign(&self) -> &'static str {
        if self.more_is_better { ">=" } else { "<=" }
    }

    fn reaches(&self, bound: f64) -> bool {
        if self.more_is_better { self.value >= bound } else { self.value <= bound }
    }

    /// The gate, and whether it is met.
    fn bound(&self) -> String {
        let (sign, unit) = (self.sign(), self.unit);
        let gate = self.gate.map(|gate| {
            let verdict = if self.reaches(gate) { "passed" } else { "FAILED" };
            format!("gate {sign} {gate}{unit} {verdict}")
        });
        let aim = self.aim.map(|aim| {
            let verdict = if self.reaches(aim) { "reached" } else { "not reached" };
            format!("aim {aim}{unit} {verdict}")
        });
        Vec::from_iter(gate.into_iter().chain(aim)).join(", ")
    }
}

impl Report {
    pub(crate) fn new(arguments: &Arguments, disk_latency: f64) -> Self {
        let Arguments { rounds, seconds, .. } = arguments;
        println!(
            "Rounds: {rounds}, {seconds} s per contender. Shown: medians, and the lowest and highest rate."
        );
        println!(
            "Ratios count; rates are this machine's, where an fsync of a page takes {disk_latency:.2} ms."
        );
        Self {
            group: String::new(),
            title: String::new(),
            rows: Vec::new(),
            failures: Vec::new(),
            has_wrong_response: false,
            gates: 0,
        }
    }

    /// Starts the report on a group of workloads.
    pub(crate) fn begin_group(&mut self, name: &str) {
        self.group = name.to_owned();
        self.has_wrong_response = false;
    }

    /// Returns the rows of this group for the file; none if a response was wrong.
    pub(crate) fn take_rows(&mut self) -> Option<Vec<Row>> {
        let rows = std::mem::take(&mut self.rows);
        (!self.has_wrong_response).then_some(rows)
    }

    /// Starts the report on a workload.
    pub(crate) fn begin(&mut self, title: String) {
        println!("\n{title}");
        self.title = title;
    }

    /// Prints a workload: a line for each contender, and a line for each claim.
    pub(crate) fn add(&mut self, workload: &Workload, outcome: Outcome) {
        let clients = workload.contenders.first().map_or(0, |contender| contender.load.clients());
        let plural = if clients == 1 { "" } else { "s" };
        self.begin(format!("{}, {clients} client{plural}", workload.name));
        let headings = workload.commits.iter().map(|commit| {
            let mode = if *commit == Commit::Waits { "" } else { "commits do not wait" };
            format!("{:>10} {:>8} {:>8} {:>7}  {mode:<19}", "rate/s", "p50 ms", "p99 ms", "cpu µs")
        });
        println!("  {:<30}{}", "", headings.collect::<Vec<_>>().join(" ").trim_end());
        for (contender, scores) in workload.contenders.iter().zip(&outcome.scores) {
            let columns: Vec<String> = scores
                .iter()
                .map(|score| {
                    let (lowest, highest) = score.range();
                    let range = format!("{}-{}", thousands(lowest), thousands(highest));
                    format!(
                        "{:>10} {:>8.3} {:>8.3} {:>7.0}  {range:<19}",
                        thousands(score.rate()),
                        score.latency(),
                        score.tail(),
                        score.cost()
                    )
                })
                .collect();
            println!("  {:<30}{}", contender.name, columns.join(" ").trim_end());
        }
        println!("  (others used {:.0} % of the processors)", outcome.others * 100.0);
        // The CPU time of the servers for an operation hardly depends on the disk, on other processes, or on the load
        // generator.
        let views: Vec<String> =
            headings_of_claims(workload).iter().map(|view| format!("{view:>9}")).collect();
        println!("  {:<WIDTH$}{}", "", views.concat());
        for claim in &workload.claims {
            self.add_claim(workload, &outcome, claim);
        }
        for problem in outcome.problems {
            self.fail(&problem);
        }
    }

    fn add_claim(&mut self, workload: &Workload, outcome: &Outcome, claim: &Claim) {
        let scores_of = |name: &str| {
            let position = workload.contenders.iter().position(|contender| contender.name == name)?;
            Some(&outcome.scores[position])
        };
        let Claim { about, against, quantity, .. } = claim;
        let (Some(ours), Some(theirs)) = (scores_of(about), scores_of(against)) else {
            println!("  {about} / {against}: not measured");
            return;
        };
        let ratio_by =
            |quantity| ours.iter().zip(theirs).map(move |(ours, theirs)| ours.ratio_to(theirs, quantity));
        let mut values: Vec<f64> = ratio_by(*quantity).collect();
        let by_cost = ratio_by(Quantity::Cost).next_back();
        let more_is_better = matches!(quantity, Quantity::Rate | Quantity::Speed);
        // In the direction of the first figure.
        values.extend(by_cost.map(|ratio| if more_is_better { ratio } else { 1.0 / ratio }));
        // The heading describes only the first claim.
        let is_other = workload.claims.first().is_some_and(|first| first.quantity != *quantity);
        let view = if is_other { format!(", {}", heading(*quantity)) } else { String::new() };
        let figure = Figure {
            name: format!("{about} / {against}{view}"),
            value: values.remove(0),
            unit: "",
            related: values,
            more_is_better,
            gate: claim.gate,
            aim: claim.aim,
        };
        self.print_figure(&figure);
        let formatted =
            |scores: &[Score]| scores.first().map(|score| formatted(score, *quantity)).unwrap_or_default();
        self.rows.push(Row {
            group: self.group.clone(),
            measured: format!("{}: {about}", self.title),
            ours: formatted(ours),
            peer: (*against).to_owned(),
            theirs: formatted(theirs),
            ratio: format!("{:.2}", figure.value),
            bound: figure.bound(),
            ..Row::default()
        });
    }

    /// Prints a figure, and records a failure if its gate is missed.
    pub(crate) fn add_figure(&mut self, figure: &Figure) {
        self.print_figure(figure);
        self.rows.push(Row {
            group: self.group.clone(),
            measured: format!("{}: {}", self.title, figure.name),
            ours: format!("{:.2}{}", figure.value, figure.unit),
            bound: figure.bound(),
            ..Row::default()
        });
    }

    fn print_figure(&mut self, figure: &Figure) {
        let Figure { name, value, unit, .. } = figure;
        let mut line = format!("  {name:<WIDTH$}{:>9}", format!("{value:.2}{unit}"));
        for value in &figure.related {
            line.push_str(&format!("{value:>9.2}"));
        }
        println!("{line}  {}", figure.bound());
        let Some(gate) = figure.gate else { return };
        self.gates += 1;
        if !figure.reaches(gate) {
            let missed = format!("{name} is {value:.2}{unit}, the gate is {} {gate}{unit}", figure.sign());
            self.failures.push(format!("{}: {missed}", self.title));
        }
    }

    /// Prints how often an event occurred. An event that must never occur has a gate of 0.
    pub(crate) fn add_count(&mut self, name: &str, count: u64, never: bool) {
        let verdict = match (never, count) {
            (false, _) => "",
            (true, 0) => "  gate 0 passed",
            (true, _) => "  gate 0 FAILED",
        };
        self.gates += usize::from(never);
        println!("  {name:<WIDTH$}{count:>9}{verdict}");
        self.rows.push(Row {
            group: self.group.clone(),
            measured: format!("{}: {name}", self.title),
            ours: count.to_string(),
            bound: verdict.trim().to_owned(),
            ..Row::default()
        });
        if never && count > 0 {
            self.failures.push(format!("{}: {name}: {count}, the gate is 0", self.title));
        }
    }

    /// Records a failure.
    pub(crate) fn fail(&mut self, problem: &str) {
        println!("  WRONG: {problem}");
        self.failures.push(format!("{}: {problem}", self.title));
        self.has_wrong_response = true;
    }

    /// Prints the summary, and returns whether everything succeeded.
    pub(crate) fn conclude(self) -> bool {
        println!();
        match self.failures.as_slice() {
            [] => println!("All {} gates hold, and every answer was right.", self.gates),
            failures => {
                println!("What is wrong:");
                failures.iter().for_each(|failure| println!("  {failure}"));
            }
        }
        self.failures.is_empty()
    }
}

/// The figures of a claim: the deciding one, the same without waiting for commits, and by CPU time.
fn headings_of_claims(workload: &Workload) -> Vec<&'static str> {
    let quantity = workload.claims.first().map_or(Quantity::Rate, |claim| claim.quantity);
    let mut headings = vec![heading(quantity)];
    headings.extend(workload.commits.iter().skip(1).map(|_| "no wait"));
    headings.push("by cpu");
    headings
}

fn heading(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Rate => "by rate",
        Quantity::Latency | Quantity::LatencyBut(_) => "by p50",
        Quantity::Speed => "times as fast",
        Quantity::Tail => "by p99",
        Quantity::Spread => "p99 by p50",
        Quantity::Cost => "by cpu",
    }
}

/// The quantity that a claim compares, with its unit.
fn formatted(score: &Score, quantity: Quantity) -> String {
    match quantity {
        Quantity::Rate => format!("{}/s", thousands(score.rate())),
        Quantity::Latency | Quantity::LatencyBut(_) | Quantity::Speed => {
            format!("{:.3} ms p50", score.latency())
        }
        Quantity::Tail => format!("{:.3} ms p99", score.tail()),
        Quantity::Spread => format!("{:.3} ms p50, {:.3} ms p99", score.latency(), score.tail()),
        Quantity::Cost => format!("{:.0} µs of processor", score.cost()),
    }
}

/// A rate with thousands separators.
pub(crate) fn thousands(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
