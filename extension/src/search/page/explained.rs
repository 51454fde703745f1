//! Tells the statements that find the records of a page.

use super::access_path::Look;
use super::bound_statement::{Statement, Told};
use super::find::Step;
use super::paths::Paths;
use crate::postgres::planning::Shape;
use crate::postgres::setting;
use crate::search::query::keyset::Segment;
use crate::search::run::Search;

impl Search<'_> {
    /// The statements that were run for the records of a page, with what they have shown; and whether these were the
    /// records of all segments.
    pub fn statements_run(&self, segments: &[Segment], most: usize) -> (Vec<Told>, bool) {
        let mut steps = Vec::new();
        let (_, is_of_all) = self.find(segments, most, &mut steps);
        let mut told = Vec::new();
        let mut purpose = String::new();
        let whole = self.whole(segments);
        for step in steps {
            let paths = Paths::of(self.template, self.plan, &segments[0]);
            let (statement, shape) = match (step, paths) {
                (Step::Look(look), _) => {
                    purpose = describe(&look);
                    continue;
                }
                (Step::Counted(entries), _) => {
                    purpose = format!("Records that an index has for a value: {entries}. ");
                    continue;
                }
                (Step::Walk(among), Some(paths)) => (plain(paths.walk(among, most, None)), Some(Shape::Walk)),
                (Step::Lookup(leading), Some(paths)) => {
                    purpose.push_str("Those that an index finds are sorted:");
                    let paths = if segments.len() > 1 { paths.over(&whole) } else { paths };
                    (plain(paths.lookup(&leading, most, None)), Some(Shape::Lookup))
                }
                _ => (self.page_sql(&segments[0], most), None),
            };
            told.push(Told { purpose: std::mem::take(&mut purpose), statement, shape, member: None });
        }
        (told, is_of_all)
    }

    /// The statements that may be run for the records of a segment. Which of them is, follows from the records, hidden ones
    /// among them.
    pub fn possible_statements(&self, segment: &Segment, most: usize) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
        let mut tell = |statement, shape| {
            let purpose = if told.is_empty() { String::new() } else { "Or:".to_owned() };
            told.push(Told { purpose, statement, shape, member: None });
        };
        if let Some(paths) = self.paths(segment) {
            if paths.may_walk {
                let sql = paths.walk(Some(setting::records_of_look()), most, None);
                tell(plain(sql), Some(Shape::Walk));
            }
            if paths.count_of_served() > 0 {
                let all = Vec::from_iter(0..paths.count_of_served());
                tell(plain(paths.lookup(&all, most, None)), Some(Shape::Lookup));
            }
        }
        tell(self.page_sql(segment, most), None);
        told
    }
}

/// What a look has shown.
fn describe(look: &Look) -> String {
    let served: Vec<String> = look.served.iter().map(u64::to_string).collect();
    let by_index = match served.is_empty() {
        true => "No index serves a condition.".to_owned(),
        false => format!("Of {}, the indexes of conditions find {}.", look.counted, served.join(", ")),
    };
    format!("Of {} records looked at, {} are on the page. {by_index} ", look.records, look.passing)
}

fn plain(sql: String) -> Statement {
    Statement { sql, arguments: Vec::new(), are_many: false }
}
