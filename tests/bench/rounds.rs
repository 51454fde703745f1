//! Contenders in turn, round after round: what disturbs the machine then disturbs all of them alike.

use crate::Arguments;
use crate::bed::{Bed, Commit};
use crate::load::{Load, Turn, median};
use crate::processors::Processors;
use std::time::Duration;

/// Work that several contenders do alike.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// The modes of commit that it is measured in. The first decides whether claims hold.
    pub(crate) commits: &'static [Commit],
    pub(crate) contenders: Vec<Contender>,
    pub(crate) claims: Vec<Claim>,
}

/// For reading, which commits nothing.
pub(crate) const READS: &[Commit] = &[Commit::Waits];

/// For writing: as users have it, and to see what the disk hides.
pub(crate) const WRITES: &[Commit] = &[Commit::Waits, Commit::DoesNotWait];

/// For writes so large that the wait for the disk is negligible.
pub(crate) const BATCHES: &[Commit] = &[Commit::Waits];

/// For writing where only the code is in question.
pub(crate) const WRITES_WITHOUT_DISK: &[Commit] = &[Commit::DoesNotWait];

/// One way to do the work.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) load: Load,
    /// The table that gets a row for each record created, where it is known which those are.
    pub(crate) table: Option<&'static str>,
    /// The table that gets a row for each record written.
    pub(crate) history: Option<&'static str>,
    /// Statements before each turn, so that it does not matter what was written before.
    pub(crate) reset: Vec<String>,
    /// How many times as long as others it works in each turn.
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

/// What is claimed of one contender against another.
#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) about: &'static str,
    /// It may be absent from the run.
    pub(crate) against: &'static str,
    pub(crate) quantity: Quantity,
    /// What must hold; none where the figure is only of interest.
    pub(crate) gate: Option<f64>,
    /// What is wished for.
    pub(crate) aim: Option<f64>,
}

/// Which ratio a claim is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// Of the rates: the more the better.
    Rate,
    /// Of the median latencies: the less the better.
    Latency,
    /// The same, but for the milliseconds that ours may take more.
    LatencyBut(f64),
    /// Of the latencies that one in a hundred exceeds: the less the better.
    Tail,
    /// Of our latency that one in a hundred exceeds to their median: the less the better.
    Spread,
    /// Of their median latency to ours, how many times as fast it is: the more the better.
    Speed,
    /// Of the work done for the same processor time: the more the better.
    Cost,
}

/// All turns of one contender in one mode of commit.
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

    /// The median of what the rounds say of this score against another one: what slows a round slows both.
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

    /// By how much the median latency is more than that of another one: milliseconds.
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

/// What became of a workload: for each contender its score in each mode of commit, the default first.
pub(crate) struct Outcome {
    pub(crate) scores: Vec<Vec<Score>>,
    /// For each contender how often the server found a deadlock.
    pub(crate) deadlocks: Vec<u64>,
    pub(crate) problems: Vec<String>,
    /// The share of the processors that others used meanwhile.
    pub(crate) others: f64,
}

/// Lets the contenders of a workload work in turn.
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
        // Caches and connections are warm before any figure counts.
        let turn = take_turn(bed, contender, 1, &mut outcome.problems);
        outcome.deadlocks[position] += turn.deadlocks;
    }
    let began = Processors::now();
    for round in 0..arguments.rounds {
        for (mode, commit) in commits.iter().enumerate() {
            bed.set_commit(*commit);
            // Another one starts each round, so that none always follows the same neighbour.
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
    // A session that ends just now would be missed both as a process and in what its parent has gathered.
    std::thread::sleep(Duration::from_millis(100));
    turn.cost = Processors::now().used_by_servers_since(began) / turn.done;
    problems.extend(turn.problems.iter().map(|problem| format!("{}: {problem}", contender.name)));
    turn.deadlocks = deadlocks() - before.2;
    // When the time is up the last request of each client may have been done, but not answered.
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
