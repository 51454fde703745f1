//! Contenders in turn, round after round, so that a disturbance of the machine affects all of them alike.

use crate::Arguments;
use crate::bed::{Bed, Commit};
use crate::load::{Load, Turn, median};
use crate::processors::Processors;
use std::time::Duration;

/// A workload that several contenders run.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// The commit modes in which it is measured. The first decides whether claims hold.
    pub(crate) commits: &'static [Commit],
    pub(crate) contenders: Vec<Contender>,
    pub(crate) claims: Vec<Claim>,
}

/// For reads, which do not commit.
pub(crate) const READS: &[Commit] = &[Commit::Waits];

/// For writes: the default mode, and the mode that excludes the disk.
pub(crate) const WRITES: &[Commit] = &[Commit::Waits, Commit::DoesNotWait];

/// For writes so large that the wait for the disk is negligible.
pub(crate) const BATCHES: &[Commit] = &[Commit::Waits];

/// For writes where only the code matters.
pub(crate) const WRITES_WITHOUT_DISK: &[Commit] = &[Commit::DoesNotWait];

/// One implementation of a workload.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) load: Load,
    /// The table that gets a row for each created record, if created records can be identified.
    pub(crate) table: Option<&'static str>,
    /// The table that gets a row for each record written.
    pub(crate) history: Option<&'static str>,
    /// Statements before each turn, so that earlier writes have no effect.
    pub(crate) reset: Vec<String>,
    /// The duration of its turn, as a multiple of the others'.
    pub(crate) length: f64,
}

impl Contender {
    pub(crate) fn new(name: &'static str, load: Load) -> Self {
        Self { name, load, table: None, history: None, reset: Vec::new(), length: 1.0 }
    }

    #[must_use]
    pub(crate) fn creating_in(mut self, table: &'static str) -> Self {
        self.table = Some(table);
        self
    }

    #[must_use]
    pub(crate) fn noting_in(mut self, history: &'static str) -> Self {
        self.history = Some(history);
        self
    }

    #[must_use]
    pub(crate) fn resetting_by(mut self, statements: Vec<String>) -> Self {
        self.reset = statements;
        self
    }

    #[must_use]
    pub(crate) fn lasting(mut self, length: f64) -> Self {
        self.length = length;
        self
    }
}

/// A claim about one contender relative to another.
#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) about: &'static str,
    /// The other contender may be absent from the run.
    pub(crate) against: &'static str,
    pub(crate) quantity: Quantity,
    /// The gate; none if the figure is only informative.
    pub(crate) gate: Option<f64>,
    /// The aim.
    pub(crate) aim: Option<f64>,
}

/// The quantity that a claim compares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// Rates: higher is better.
    Rate,
    /// Median latencies: lower is better.
    Latency,
    /// Median latencies, with an allowance in milliseconds for keyed.
    LatencyBut(f64),
    /// 99th percentiles of the latencies: lower is better.
    Tail,
    /// The 99th percentile of keyed relative to the median of the other: lower is better.
    Spread,
    /// The speedup of the median latency of keyed over the other: higher is better.
    Speed,
    /// Work per CPU time: higher is better.
    Cost,
}

/// All turns of one contender in one commit mode.
pub(crate) struct Score {
    turns: Vec<Turn>,
}

impl Score {
    pub(crate) fn rate(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.rate).collect())
    }

    pub(crate) fn latency(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.median).collect())
    }

    pub(crate) fn tail(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.tail).collect())
    }

    pub(crate) fn cost(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.cost).collect())
    }

    /// The median of the ratios of each round to another score, because a disturbance of a round affects both.
    pub(crate) fn ratio_to(&self, other: &Self, quantity: Quantity) -> f64 {
        let pairs = self.turns.iter().zip(&other.turns);
        let ratios = pairs.map(|(ours, theirs)| match quantity {
            Quantity::Rate => ours.rate / theirs.rate,
            Quantity::Latency => ours.median / theirs.median,
            Quantity::LatencyBut(allowance) => (ours.median - allowance) / theirs.median,
            Quantity::Speed => theirs.median / ours.median,
            Quantity::Tail => ours.tail / theirs.tail,
            Quantity::Spread => ours.tail / theirs.median,
            Quantity::Cost => theirs.cost / ours.cost,
        });
        median(ratios.collect())
    }

    /// The difference of the median latencies to another score, in milliseconds.
    pub(crate) fn excess_over(&self, other: &Self) -> f64 {
        median(
            self.turns.iter().zip(&other.turns).map(|(ours, theirs)| ours.median - theirs.median).collect(),
        )
    }

    /// The lowest and the highest rate.
    pub(crate) fn range(&self) -> (f64, f64) {
        let rates = || self.turns.iter().map(|turn| turn.rate);
        (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max))
    }
}

/// The results of a workload: for each contender its score in each commit mode, the default first.
pub(crate) struct Outcome {
    pub(crate) scores: Vec<Vec<Score>>,
    /// The number of deadlocks of each contender.
    pub(crate) deadlocks: Vec<u64>,
    pub(crate) problems: Vec<String>,
    /// The share of the CPUs that other processes used.
    pub(crate) others: f64,
}

/// Runs the contenders of a workload in turn.
pub(crate) fn run(bed: &Bed, workload: &Workload, arguments: &Arguments) -> Outcome {
    let commits = workload.commits;
    let no_scores = || commits.iter().map(|_| Score { turns: Vec::new() }).collect();
    let mut outcome = Outcome {
        scores: workload.contenders.iter().map(|_| no_scores()).collect(),
        deadlocks: vec![0; workload.contenders.len()],
        problems: Vec::new(),
        others: 0.0,
    };
    for (position, contender) in workload.contenders.iter().enumerate() {
        // A warm-up of caches and connections, which is not measured.
        let turn = take_turn(bed, contender, 1, &mut outcome.problems);
        outcome.deadlocks[position] += turn.deadlocks;
    }
    let began = Processors::now();
    for round in 0..arguments.rounds {
        for (mode, commit) in commits.iter().enumerate() {
            bed.set_commit(*commit);
            // Each round starts with another contender, so that none always follows the same one.
            let count = workload.contenders.len();
            for position in (0..count).map(|turn| (turn + round) % count) {
                let contender = &workload.contenders[position];
                let turn = take_turn(bed, contender, arguments.seconds, &mut outcome.problems);
                outcome.deadlocks[position] += turn.deadlocks;
                outcome.scores[position][mode].turns.push(turn);
            }
        }
    }
    outcome.others = Processors::now().used_by_others_since(began);
    bed.set_commit(Commit::Waits);
    outcome
}

fn take_turn(bed: &Bed, contender: &Contender, seconds: u32, problems: &mut Vec<String>) -> Turn {
    let sql = |statement: &str| bed.cluster.sql(bed.database.name(), statement);
    let rows = |table: Option<&str>| -> Option<u64> {
        let count = sql(&format!("select count(*) from {}", table?));
        Some(count.parse().expect("a count is a number"))
    };
    let deadlocks = || bed.cluster.log().matches("ERROR:  deadlock detected").count() as u64;
    for statement in &contender.reset {
        sql(statement);
    }
    let before = (rows(contender.table), rows(contender.history), deadlocks());
    let began = Processors::now();
    let seconds = (f64::from(seconds) * contender.length).round().max(1.0);
    let mut turn = contender.load.run(&bed.cluster, seconds as u32);
    // A session that ends during the sample would be missed both as a process and in its parent's total.
    std::thread::sleep(Duration::from_millis(100));
    turn.cost = Processors::now().used_by_servers_since(began) / turn.done;
    problems.extend(turn.problems.iter().map(|problem| format!("{}: {problem}", contender.name)));
    turn.deadlocks = deadlocks() - before.2;
    // When the time is up, the last request of each client may be done, but its response not received.
    let unanswered = u64::from(contender.load.clients());
    for (table, before, said, what) in [
        (contender.table, before.0, turn.created, "created"),
        (contender.history, before.1, turn.done as u64, "written"),
    ] {
        if let (Some(before), Some(after)) = (before, rows(table)) {
            let grown = after - before;
            if !(said..=said + unanswered).contains(&grown) {
                problems
                    .push(format!("{}: {said} answers say {what}, but {grown} rows were", contender.name));
            }
        }
    }
    turn
}
