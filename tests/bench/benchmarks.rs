//! `BENCHMARKS.md`: the last measurement of each group, one row for each claim and figure.
//!
//! A run replaces the rows of its groups, and keeps those of other groups. So the file is parsed first: a row belongs
//! to the group in its command.

use std::fmt::Write as _;

/// The header of the table.
const HEADING: &str = "| workload | keyed | compared with | its figure | ratio | gate and aim | run | command |\n\
                       |---|---|---|---|---|---|---|---|\n";

/// The text above the table.
const INTRODUCTION: &str = "# Benchmarks\n\n\
    `make bench` writes this file: do not edit it. Each row compares two contenders that took turns in the same run, and \
    shows the median of the rounds. Compare the ratios: rates and times depend on the machine, which [Runs](#runs) \
    describes. [tests/bench/README.md](tests/bench/README.md) describes the workloads.\n\n\
    If rates are compared, a ratio above 1 is in favor of keyed; if times are compared, a ratio below 1. A gate is a \
    required ratio: a run that misses it fails. An aim is a target that is only reported.\n\n";

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// The name of the group of workloads, as in the command.
    pub(crate) group: String,
    /// The measured quantity.
    pub(crate) measured: String,
    /// The figure of keyed, with its unit.
    pub(crate) ours: String,
    /// The contender of the other figure; empty if there is none.
    pub(crate) peer: String,
    /// The other figure.
    pub(crate) theirs: String,
    /// The ratio of keyed's figure to the other one.
    pub(crate) ratio: String,
    /// The gate and the aim, and whether they are met.
    pub(crate) bound: String,
    /// The number of the run, see [`Benchmarks::runs`].
    pub(crate) run: String,
}

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Benchmarks {
    rows: Vec<Row>,
    /// The machines and versions, each with its letter.
    runs: Vec<(String, String)>,
}

impl Benchmarks {
    /// Parses a file that [`Benchmarks::render`] wrote. Unknown lines are dropped.
    pub(crate) fn parse(text: &str) -> Benchmarks {
        let mut benchmarks = Benchmarks::default();
        for line in text.lines() {
            let cells: Vec<String> = cells(line);
            match cells.as_slice() {
                [measured, ours, peer, theirs, ratio, bound, run, command] => {
                    let Some(group) = group_of(command) else { continue };
                    let [measured, ours, peer, theirs, ratio, bound, run] =
                        [measured, ours, peer, theirs, ratio, bound, run].map(String::clone);
                    benchmarks.rows.push(Row { group, measured, ours, peer, theirs, ratio, bound, run });
                }
                [letter, description] if letter.len() == 1 && letter != "-" => {
                    benchmarks.runs.push((letter.clone(), description.clone()));
                }
                _ => {}
            }
        }
        benchmarks
    }

    /// Replaces the rows of these groups by those of a run with this description. `order` lists all groups.
    pub(crate) fn replace(&mut self, groups: &[String], rows: Vec<Row>, run: &str, order: &[String]) {
        let is_known = |row: &Row| order.contains(&row.group) && !groups.contains(&row.group);
        self.rows.retain(is_known);
        let letter = self.letter_of(run);
        self.rows.extend(rows.into_iter().map(|row| Row { run: letter.clone(), ..row }));
        // The sort is stable: rows of one group stay in the order of their measurement.
        self.rows.sort_by_key(|row| order.iter().position(|group| *group == row.group));
        self.runs.retain(|(letter, _)| self.rows.iter().any(|row| row.run == *letter));
    }

    /// The letter of a run: that of an equal run, or the first unused one.
    fn letter_of(&mut self, run: &str) -> String {
        if let Some((letter, _)) = self.runs.iter().find(|(_, description)| description == run) {
            return letter.clone();
        }
        let is_used = |letter: &String| self.rows.iter().any(|row| row.run == *letter);
        let letter = ('A'..='Z').map(String::from).find(|letter| !is_used(letter)).unwrap_or_default();
        self.runs.retain(|(other, _)| *other != letter);
        self.runs.push((letter.clone(), run.to_owned()));
        self.runs.sort();
        letter
    }

    /// The text of the file.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("{INTRODUCTION}{HEADING}");
        for row in &self.rows {
            let Row { group, measured, ours, peer, theirs, ratio, bound, run } = row;
            let cells =
                [measured, ours, peer, theirs, ratio, bound, run, &command(group)].map(|it| escaped(it));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push_str("\n## Runs\n\n| run | environment |\n|---|---|\n");
        for (letter, description) in &self.runs {
            let _ = writeln!(text, "| {letter} | {} |", escaped(description));
        }
        text
    }
}

/// The command that measures a group.
fn command(group: &str) -> String {
    format!("`make bench ARGS='--only {group}'`")
}

fn group_of(command: &str) -> Option<String> {
    Some(command.strip_prefix("`make bench ARGS='--only ")?.strip_suffix("'`")?.to_owned())
}

/// A text as a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The cells of a table row; none for any other line.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
        return Vec::new();
    };
    inner.split(" | ").map(|cell| cell.trim().replace("\\|", "|")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(group: &str, measured: &str) -> Row {
        Row {
            group: group.to_owned(),
            measured: measured.to_owned(),
            ours: "26,100/s".to_owned(),
            peer: "PostgREST".to_owned(),
            theirs: "3,930/s".to_owned(),
            ratio: "6.64".to_owned(),
            bound: "gate >= 4 passed".to_owned(),
            run: String::new(),
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn measured(benchmarks: &Benchmarks) -> Vec<(&str, &str)> {
        benchmarks.rows.iter().map(|row| (row.measured.as_str(), row.run.as_str())).collect()
    }

    #[test]
    fn report_round_trips() {
        let mut benchmarks = Benchmarks::default();
        let mut bare = Row { peer: String::new(), theirs: String::new(), ..row("upsert", "a | b") };
        bare.ratio = String::new();
        let rows = vec![row("lookup", "lookup by key, 8 clients"), bare];
        let order = names(&["lookup", "upsert"]);
        benchmarks.replace(&order, rows, "2 processors | PostgreSQL 15", &order);
        assert_eq!(Benchmarks::parse(&benchmarks.render()), benchmarks);
        assert_eq!(measured(&benchmarks), [("lookup by key, 8 clients", "A"), ("a | b", "A")]);
    }

    #[test]
    fn run_replaces_only_its_groups() {
        let order = names(&["lookup", "upsert", "list"]);
        let mut benchmarks = Benchmarks::default();
        benchmarks.replace(
            &order,
            vec![row("list", "l"), row("lookup", "k"), row("upsert", "u")],
            "one",
            &order,
        );
        assert_eq!(measured(&benchmarks), [("k", "A"), ("u", "A"), ("l", "A")]);
        benchmarks.replace(
            &names(&["upsert"]),
            vec![row("upsert", "u2"), row("upsert", "u3")],
            "two",
            &order,
        );
        assert_eq!(measured(&benchmarks), [("k", "A"), ("u2", "B"), ("u3", "B"), ("l", "A")]);
        // Runs with the same machine and settings share a letter, and a letter without rows becomes free.
        benchmarks.replace(&names(&["lookup", "list"]), vec![row("list", "l2")], "two", &order);
        assert_eq!(measured(&benchmarks), [("u2", "B"), ("u3", "B"), ("l2", "B")]);
        assert_eq!(benchmarks.runs, [("B".to_owned(), "two".to_owned())]);
        benchmarks.replace(&names(&["lookup"]), vec![row("lookup", "k3")], "three", &order);
        assert_eq!(measured(&benchmarks)[0], ("k3", "A"));
    }

    #[test]
    fn removed_group_leaves_no_row() {
        let mut benchmarks = Benchmarks::default();
        let before = names(&["old", "lookup"]);
        benchmarks.replace(&before, vec![row("old", "o"), row("lookup", "k")], "one", &before);
        benchmarks.replace(&[], Vec::new(), "one", &names(&["lookup"]));
        assert_eq!(measured(&benchmarks), [("k", "A")]);
    }
}
