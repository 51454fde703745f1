//! The tables that are printed.

use crate::Arguments;
use crate::bed::Commit;
use crate::rounds::{Claim, Outcome, Quantity, Workload};

/// Prints what was measured as it comes, and remembers what must not be.
pub(crate) struct Report {
    /// What is being reported on.
    title: String,
    failures: Vec<String>,
    gates: usize,
}

/// A figure that something is claimed of.
pub(crate) struct Figure {
    pub(crate) name: String,
    /// In each mode of commit, the default first: that one decides.
    pub(crate) values: Vec<f64>,
    pub(crate) more_is_better: bool,
    pub(crate) unit: &'static str,
    pub(crate) gate: Option<f64>,
    pub(crate) aim: Option<f64>,
}

impl Report {
    pub(crate) fn new(arguments: &Arguments, disk_latency: f64) -> Self {
        let Arguments { rounds, seconds, .. } = arguments;
        println!(
            "Rounds: {rounds}, {seconds} s for each contender. Shown: medians, and the lowest and highest rate."
        );
        println!("Ratios count; rates are this machine's, whose disk keeps a page in {disk_latency:.2} ms.");
        Self { title: String::new(), failures: Vec::new(), gates: 0 }
    }

    /// Begins to report on something.
    pub(crate) fn begin(&mut self, title: String) {
        println!("\n{title}");
        self.title = title;
    }

    /// Prints a workload: a line for each contender, a line for each claim.
    pub(crate) fn add(&mut self, workload: &Workload, outcome: Outcome) {
        let clients = workload.contenders.first().map_or(0, |contender| contender.load.clients());
        let plural = if clients == 1 { "" } else { "s" };
        self.begin(format!("{}, {clients} client{plural}", workload.name));
        let headings = workload.commits.iter().map(|commit| {
            let mode = if *commit == Commit::Waits { "" } else { "commits do not wait" };
            format!("{:>10} {:>8}  {mode:<19}", "rate/s", "p50 ms")
        });
        println!("  {:<30}{}", "", headings.collect::<Vec<_>>().join(" ").trim_end());
        for (contender, scores) in workload.contenders.iter().zip(&outcome.scores) {
            let columns: Vec<String> = scores
                .iter()
                .map(|score| {
                    let (lowest, highest) = score.range();
                    let range = format!("{}-{}", thousands(lowest), thousands(highest));
                    format!("{:>10} {:>8.3}  {range:<19}", thousands(score.rate()), score.latency())
                })
                .collect();
            println!("  {:<30}{}", contender.name, columns.join(" ").trim_end());
        }
        println!("  (others used {:.0} % of the processors)", outcome.others * 100.0);
        for claim in &workload.claims {
            self.add_claim(workload, &outcome, claim);
        }
        for fault in outcome.faults {
            self.fail(&fault);
        }
    }

    fn add_claim(&mut self, workload: &Workload, outcome: &Outcome, claim: &Claim) {
        let scores_of = |name: &str| {
            let position = workload.contenders.iter().position(|contender| contender.name == name)?;
            Some(&outcome.scores[position])
        };
        let Claim { about, against, .. } = claim;
        let (Some(ours), Some(theirs)) = (scores_of(about), scores_of(against)) else {
            println!("  {about} / {against}: not measured");
            return;
        };
        let more_is_better = claim.quantity == Quantity::Rate;
        let values = ours.iter().zip(theirs).map(|(ours, theirs)| ours.ratio_to(theirs, claim.quantity));
        let of = if more_is_better { "" } else { ", p50" };
        self.add_figure(&Figure {
            name: format!("{about} / {against}{of}"),
            values: values.collect(),
            more_is_better,
            unit: "",
            gate: claim.gate,
            aim: claim.aim,
        });
    }

    /// Prints a figure, and remembers it when its gate does not hold.
    pub(crate) fn add_figure(&mut self, figure: &Figure) {
        let Figure { name, values, more_is_better, unit, gate, aim } = figure;
        let reached = |bound: f64| match more_is_better {
            true => values[0] >= bound,
            false => values[0] <= bound,
        };
        let sign = if *more_is_better { ">=" } else { "<=" };
        let mut line = format!("  {name}: {:.2}{unit}", values[0]);
        if let Some(other) = values.get(1) {
            line.push_str(&format!(" ({other:.2}{unit} when commits do not wait)"));
        }
        if let Some(gate) = gate {
            self.gates += 1;
            let verdict = if reached(*gate) { "holds" } else { "DOES NOT HOLD" };
            line.push_str(&format!("; gate {sign} {gate}{unit} {verdict}"));
            if !reached(*gate) {
                let missed = format!("{name} is {:.2}{unit}, the gate is {sign} {gate}{unit}", values[0]);
                self.failures.push(format!("{}: {missed}", self.title));
            }
        }
        if let Some(aim) = aim {
            let verdict = if reached(*aim) { "reached" } else { "not reached" };
            line.push_str(&format!("; aim {aim}{unit} {verdict}"));
        }
        println!("{line}");
    }

    /// Remembers what went wrong.
    pub(crate) fn fail(&mut self, fault: &str) {
        println!("  WRONG: {fault}");
        self.failures.push(format!("{}: {fault}", self.title));
    }

    /// Prints the end; whether all is well.
    pub(crate) fn conclude(self) -> bool {
        println!();
        match self.failures.as_slice() {
            [] => println!("All {} gates hold, and every answer was right.", self.gates),
            failures => {
                println!("{} failures:", failures.len());
                failures.iter().for_each(|failure| println!("  {failure}"));
            }
        }
        self.failures.is_empty()
    }
}

/// A rate with its thousands apart.
fn thousands(rate: f64) -> String {
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
