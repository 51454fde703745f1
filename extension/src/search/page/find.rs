//! Runs the statements that find the records of a page.

use super::access_path::{self, AccessPath, Look, Question, Reading, choose};
use super::paths::{Part, Paths};
use super::rare_value;
use super::sorted_substrings::{self, Sorting};
use super::substring_rows;
use crate::attribute_type::AttributeType;
use crate::filter::arguments::{Argument, Arguments};
use crate::filter::field::Column;
use crate::postgres::direct_access::Unfit;
use crate::postgres::key_order::{Along, KeyOrder};
use crate::postgres::parameter::Parameter;
use crate::postgres::places::Place;
use crate::postgres::planning::{Shape, in_shape};
use crate::postgres::relation;
use crate::postgres::setting;
use crate::postgres::spi::{Rows, Snapshot};
use crate::search::query::keyset::Segment;
use crate::search::query::plan::COMPARED;
use crate::search::query::sort::Direction;
use crate::search::run::Search;
use crate::value::standard_column::{CREATED_AT, UPDATED_AT};
use pgrx::pg_sys::Oid;

/// Records on a page.
pub struct PageRows<'c> {
    /// The records.
    pub rows: Rows<'c>,
    /// Whether they are those of all segments.
    pub is_of_all: bool,
}

/// A step on the way to the records of a page.
pub enum Step {
    /// So many records were read along the index of the order; all of them without a number.
    Walk(Option<u64>),
    /// The index of a condition has so many entries for its value.
    Counted(u64),
    /// Some records were counted.
    Look(Look),
    /// These conditions led.
    Lookup(Vec<usize>),
    /// PostgreSQL chose.
    Planned,
}

impl Search<'_> {
    /// At most this many records of the first of these segments, or of all of them.
    pub fn page_rows(&self, segments: &[Segment], most: usize) -> PageRows<'_> {
        let mut steps = Vec::new();
        let (rows, is_of_all) = self.find(segments, most, &mut steps);
        PageRows { rows, is_of_all }
    }

    /// The paths to choose from.
    pub(super) fn paths<'s>(&'s self, segment: &'s Segment) -> Option<Paths<'s>> {
        let has_words = self.selection.is_some();
        (!has_words).then(|| Paths::of(self.template, self.plan, segment)).flatten()
    }

    /// At most this many records of the first of these segments, or of all of them, with whether it is all.
    pub(super) fn find(&self, segments: &[Segment], most: usize, steps: &mut Vec<Step>) -> (Rows<'_>, bool) {
        let segment = &segments[0];
        let Some(paths) = self.paths(segment) else { return (self.planned(segment, most, steps), false) };
        let question = Question {
            records: relation::estimated_rows(self.template.table),
            wanted: most,
            may_walk: paths.may_walk,
            reading: if self.plan.is_by_age() { Reading::ByAge } else { Reading::Far },
        };
        let records = setting::records_of_look();
        if let Some(part) = paths.only_part() {
            let found = match (self.along(segments), self.sorting()) {
                (Some(along), _) => self.by_part(segments, &paths, part, question, along, steps),
                (None, Some(sorting)) => {
                    self.by_sorted_part(segments, &paths, part, sorting, question, steps)
                }
                (None, None) => Err(Unfit),
            };
            if let Ok(found) = found {
                return found;
            }
        }
        if access_path::is_small(question, records) {
            let rows = match paths.may_walk {
                true => self.walk(&paths, None, most, steps),
                false => self.planned(segment, most, steps),
            };
            return (rows, false);
        }
        if let Some(rare) = rare_value::find(self.template, &paths, question) {
            steps.push(Step::Counted(rare.entries));
            return (self.lookup(paths, segments, vec![rare.place], most, steps), true);
        }
        let mut look = Look { records, counted: records, ..Look::default() };
        if !paths.may_walk {
            self.count(&paths, records, &mut look, steps);
        }
        let leading = loop {
            let next = match look.served.is_empty() && paths.may_walk && steps.is_empty() {
                true => AccessPath::Look(records),
                false => choose(question, &look),
            };
            let among = match next {
                AccessPath::Lookup(leading) => break leading,
                AccessPath::Planned => return (self.planned(segment, most, steps), false),
                AccessPath::Look(among) if !paths.may_walk || among <= look.records && !steps.is_empty() => {
                    self.count(&paths, among, &mut look, steps);
                    continue;
                }
                // A few round numbers, so that few statements are kept.
                AccessPath::Walk(among) => among.next_power_of_two(),
                AccessPath::Look(among) => among,
            };
            let rows = self.walk(&paths, Some(among), most, steps);
            if rows.len() >= most {
                return (rows, false);
            }
            (look.records, look.passing) = (among, rows.len() as u64);
            if paths.is_single() {
                (look.counted, look.served) = (among, vec![look.passing; paths.count_of_served()]);
            } else if matches!(next, AccessPath::Look(_)) {
                let counted = self.count(&paths, among, &mut look, steps);
                if counted < among {
                    // There are no more.
                    return (rows, false);
                }
                continue;
            }
            if paths.is_bounded() && self.extent(&paths, among) < among {
                // There are no more.
                return (rows, false);
            }
            steps.push(Step::Look(look.clone()));
        };
        (self.lookup(paths, segments, leading, most, steps), true)
    }

    /// Records of all segments, which the indexes of these conditions find.
    fn lookup(
        &self,
        paths: Paths<'_>,
        segments: &[Segment],
        leading: Vec<usize>,
        most: usize,
        steps: &mut Vec<Step>,
    ) -> Rows<'_> {
        let whole = self.whole(segments);
        let paths = paths.over(if segments.len() > 1 { &whole } else { &segments[0] });
        let rows = self.in_path(&paths, Shape::Lookup, |arguments| paths.lookup(&leading, most, arguments));
        steps.push(Step::Lookup(leading));
        rows
    }

    /// The index along which the records of the first segment are read without a statement, if there is one.
    fn along(&self, segments: &[Segment]) -> Option<Along> {
        let plan = self.plan;
        if plan.is_by_age() {
            return Some(Along::Ids(plan.position.as_ref().map(|position| position.uuid)));
        }
        let [key] = plan.keys.as_slice() else { return None };
        let attribute = self.template.attributes.iter().find(|it| Some(it.id) == key.column.attribute())?;
        // The index of a text holds the beginning of it.
        let is_bare = !matches!(attribute.kind, AttributeType::String | AttributeType::List);
        (plan.order.is_of_values(&segments[0]) && is_bare && key.path.is_empty() && attribute.indexed)
            .then_some(Along::Values(attribute.column))
    }

    /// Records with a part of a text, found without a statement; and whether they are those of all segments.
    fn by_part(
        &self,
        segments: &[Segment],
        paths: &Paths,
        part: Part,
        question: Question,
        along: Along,
        steps: &mut Vec<Step>,
    ) -> Result<(Rows<'_>, bool), Unfit> {
        let (order, reading) = match (self.plan.order.tie, along) {
            (Direction::Ascending, Along::Ids(_)) => (KeyOrder::Ascending, Reading::DirectByAge),
            (Direction::Descending, Along::Ids(_)) => (KeyOrder::Descending, Reading::DirectByAge),
            (Direction::Ascending, Along::Values(_)) => (KeyOrder::Ascending, Reading::DirectFar),
            (Direction::Descending, Along::Values(_)) => (KeyOrder::Descending, Reading::DirectFar),
        };
        let question = Question { reading, ..question };
        let found =
            substring_rows::find(self.template, part, question, setting::records_of_look(), along, order)?;
        steps.push(Step::Walk(found.read));
        if let Some(look) = found.look {
            steps.extend([Step::Look(look), Step::Lookup(vec![0])]);
        }
        let whole = self.whole(segments);
        let (segment, is_of_all) = match found.are_all {
            true => (&whole, true),
            false => (&segments[0], segments.len() == 1),
        };
        Ok((self.first_at(paths, &found.places, segment, found.are_all, question.wanted), is_of_all))
    }

    /// So many of the records at these places, in the order of a segment; of those alone that belong to it, if some may not.
    fn first_at(
        &self,
        paths: &Paths,
        places: &[Place],
        segment: &Segment,
        may_be_others: bool,
        most: usize,
    ) -> Rows<'_> {
        let sql = paths.first_at("$1", segment, may_be_others, most);
        let places = [Place::array(places)];
        in_shape(Shape::Lookup, || self.template.run(self.spi, &sql, Snapshot::Active, &places))
    }

    /// What the first records are sorted by, where no index has their order.
    fn sorting(&self) -> Option<Sorting> {
        let plan = self.plan;
        let ([key], true, None) = (plan.keys.as_slice(), plan.must_sort, &plan.position) else { return None };
        let attribute = self.template.attributes.iter().find(|it| Some(it.id) == key.column.attribute());
        let column = match (&key.column, attribute) {
            (Column::CreatedAt, _) => CREATED_AT,
            (Column::UpdatedAt, _) => UPDATED_AT,
            (Column::Attribute { kind, .. }, Some(attribute)) if *kind != AttributeType::List => {
                attribute.column
            }
            _ => return None,
        };
        let (direction, nulls, most_characters) = (key.direction, key.nulls, COMPARED);
        let collation = attribute.map_or(Oid::INVALID, |attribute| attribute.order);
        key.path.is_empty().then_some(Sorting { column, most_characters, collation, direction, nulls })
    }

    /// The first records with a part of a text in an order that no index has, found without a statement.
    fn by_sorted_part(
        &self,
        segments: &[Segment],
        paths: &Paths,
        part: Part,
        sorting: Sorting,
        question: Question,
        steps: &mut Vec<Step>,
    ) -> Result<(Rows<'_>, bool), Unfit> {
        let Question { records, wanted, .. } = question;
        let found = sorted_substrings::find(self.template, part, sorting, records, wanted)?;
        match found.look {
            Some(look) => steps.extend([Step::Look(look), Step::Lookup(vec![0])]),
            None => steps.push(Step::Planned),
        }
        Ok((self.first_at(paths, &found.places, &self.whole(segments), false, wanted), true))
    }

    pub(super) fn whole(&self, segments: &[Segment]) -> Segment {
        self.plan.order.in_one_run(segments)
    }

    fn planned(&self, segment: &Segment, most: usize, steps: &mut Vec<Step>) -> Rows<'_> {
        steps.push(Step::Planned);
        self.ask(&self.page_sql(segment, most))
    }

    fn walk(&self, paths: &Paths, among: Option<u64>, most: usize, steps: &mut Vec<Step>) -> Rows<'_> {
        steps.push(Step::Walk(among));
        self.in_path(paths, Shape::Walk, |arguments| paths.walk(among, most, arguments))
    }

    /// How many records there are in a segment, up to so many.
    fn extent(&self, paths: &Paths, among: u64) -> u64 {
        let rows = self.in_path(paths, Shape::Walk, |arguments| paths.extent(among, arguments));
        rows.get::<Option<i64>>(0, 0).unwrap_or_default() as u64
    }

    /// Counts among so many records what the indexes would find; the number of records that there were.
    fn count(&self, paths: &Paths, among: u64, look: &mut Look, steps: &mut Vec<Step>) -> u64 {
        let rows = self.in_path(paths, Shape::Walk, |arguments| paths.look(among, arguments));
        let count = |column: usize| rows.get::<Option<i64>>(0, column).unwrap_or_default() as u64;
        look.counted = among;
        look.served = (2..2 + paths.count_of_served()).map(count).collect();
        if !paths.may_walk {
            (look.records, look.passing) = (among, count(1));
        }
        steps.push(Step::Look(look.clone()));
        count(0)
    }

    fn in_path(&self, paths: &Paths, shape: Shape, sql: impl Fn(Option<&Arguments>) -> String) -> Rows<'_> {
        let arguments = Arguments::default();
        let text = sql(Some(&arguments));
        let parameters: Vec<Parameter> = arguments.into_list().iter().map(parameter).collect();
        in_shape(shape, || match paths.may_be_kept() {
            true => self.template.run(self.spi, &text, Snapshot::Active, &parameters),
            false => self.spi.run_once(&text, Snapshot::Active, &parameters),
        })
    }
}

fn parameter(argument: &Argument) -> Parameter {
    match argument {
        Argument::One(text, sql_type) => Parameter::read(text, sql_type),
        Argument::Many(texts, sql_type) => Parameter::read_array(texts, sql_type),
    }
}
