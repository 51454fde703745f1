//! Finds the records of a page: takes the samples, chooses the access path and runs it. [`explained`] reports the steps.

use super::access_path::{self, AccessPath, Question, Reading, Sample, choose};
use super::paths::{Paths, Substring};
use super::search::Search;
use super::sorted_substrings::{self, Sorting};
use super::statement::{Explained, Statement};
use super::substring_rows;
use crate::attribute_type::AttributeType;
use crate::filter::arguments::{Argument, Arguments};
use crate::filter::field::Column;
use crate::filter::render::INDEXED_CHARACTERS;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::key_order::{Along, KeyOrder};
use crate::postgres::ordered_index::IndexedValue;
use crate::postgres::parameter::Parameter;
use crate::postgres::planning::{Shape, in_shape};
use crate::postgres::relation;
use crate::postgres::setting;
use crate::postgres::spi::{Rows, Snapshot};
use crate::postgres::table::Table;
use crate::postgres::tid::Tid;
use crate::search::query::keyset::Segment;
use crate::search::query::plan::COMPARED;
use crate::search::query::sort::Direction;
use crate::template::Template;
use crate::value::constant::Constant;
use crate::value::standard_column::{CREATED_AT, UPDATED_AT};
use pgrx::pg_sys::Oid;

/// Records on a page.
pub struct PageRows<'c> {
    /// The records.
    pub rows: Rows<'c>,
    /// Whether these are the records of all segments, or only of the first.
    pub is_of_all: bool,
}

/// A step of finding the records of a page.
enum Step {
    /// An ordered scan read this many records; `None` for all.
    OrderedScan(Option<u64>),
    /// The index of a condition has this many entries for its value.
    Counted(u64),
    /// A sample was counted.
    Sample(Sample),
    /// A lookup in the indexes of these conditions.
    Lookup(Vec<usize>),
    /// PostgreSQL's plan.
    Planned,
}

/// At most `limit` records of the first of these segments, or of all of them.
pub fn page_rows<'s>(search: &'s Search<'s>, segments: &[Segment], limit: usize) -> PageRows<'s> {
    PageFinder { search, limit, steps: Vec::new() }.find(segments)
}

/// The statements that were run for the records of a page, with their results; and whether these were the
/// records of all segments.
pub fn explained(search: &Search, segments: &[Segment], limit: usize) -> (Vec<Explained>, bool) {
    let mut finder = PageFinder { search, limit, steps: Vec::new() };
    let is_of_all = finder.find(segments).is_of_all;
    let mut all = Vec::new();
    let mut purpose = String::new();
    let whole = search.plan.order.as_one_segment(segments);
    for step in finder.steps {
        let paths = Paths::of(search.template, search.plan, &segments[0]);
        let (statement, shape) = match (step, paths) {
            (Step::Sample(sample), _) => {
                purpose = describe(&sample);
                continue;
            }
            (Step::Counted(entries), _) => {
                purpose = format!("Index entries for the value: {entries}. ");
                continue;
            }
            (Step::OrderedScan(among), Some(paths)) => {
                (Statement::plain(paths.ordered_scan(among, limit, None)), Some(Shape::OrderedScan))
            }
            (Step::Lookup(leading), Some(paths)) => {
                purpose.push_str("Those that an index finds are sorted:");
                let paths = if segments.len() > 1 { paths.over(&whole) } else { paths };
                (Statement::plain(paths.lookup(&leading, limit, None)), Some(Shape::Lookup))
            }
            _ => (search.page_statement(&segments[0], limit), None),
        };
        all.push(Explained { purpose: std::mem::take(&mut purpose), statement, shape, member: None });
    }
    (all, is_of_all)
}

/// The statements that may be run for the records of a segment. The choice depends on the records, including hidden ones.
pub fn possible(search: &Search, segment: &Segment, limit: usize) -> Vec<Explained> {
    let mut all: Vec<Explained> = Vec::new();
    let mut add = |statement, shape| {
        let purpose = if all.is_empty() { String::new() } else { "Or:".to_owned() };
        all.push(Explained { purpose, statement, shape, member: None });
    };
    if let Some(paths) = paths(search, segment) {
        if paths.has_ordered_scan {
            let sql = paths.ordered_scan(Some(setting::sample_size()), limit, None);
            add(Statement::plain(sql), Some(Shape::OrderedScan));
        }
        let is_looked_up = paths.has_ordered_scan || paths.equalities().next().is_some();
        if is_looked_up && paths.count_of_indexable() > 0 {
            let indexable = Vec::from_iter(0..paths.count_of_indexable());
            add(Statement::plain(paths.lookup(&indexable, limit, None)), Some(Shape::Lookup));
        }
    }
    add(search.page_statement(segment, limit), None);
    all
}

fn describe(sample: &Sample) -> String {
    let indexable: Vec<String> = sample.indexable.iter().map(u64::to_string).collect();
    let by_index = match indexable.is_empty() {
        true => "No index serves a condition.".to_owned(),
        false => format!("Of {}, the indexes of conditions find {}.", sample.counted, indexable.join(", ")),
    };
    format!("Of {} records examined, {} are on the page. {by_index} ", sample.records, sample.passing)
}

/// The available paths; `None` for full-text terms.
fn paths<'s>(search: &'s Search, segment: &'s Segment) -> Option<Paths<'s>> {
    match search.selection {
        None => Paths::of(search.template, search.plan, segment),
        Some(_) => None,
    }
}

/// A search for the records of a page.
struct PageFinder<'s> {
    search: &'s Search<'s>,
    limit: usize,
    steps: Vec<Step>,
}

impl<'s> PageFinder<'s> {
    fn find(&mut self, segments: &[Segment]) -> PageRows<'s> {
        let search = self.search;
        let segment = &segments[0];
        let of_first = |rows| PageRows { rows, is_of_all: false };
        let of_all = |rows| PageRows { rows, is_of_all: true };
        let Some(paths) = paths(search, segment) else { return of_first(self.planned(segment)) };
        let question = Question {
            records: relation::estimated_rows(search.template.table),
            requested: self.limit,
            has_ordered_scan: paths.has_ordered_scan,
            reading: if search.plan.is_ordered_by_id() { Reading::ByAge } else { Reading::Far },
        };
        if let Some(substring) = paths.only_substring()
            && let Ok(found) = self.by_substring(segments, &paths, substring, question)
        {
            return found;
        }
        let size = setting::sample_size();
        if access_path::is_small(question, size) {
            return of_first(match paths.has_ordered_scan {
                true => self.ordered_scan(&paths, None),
                false => self.planned(segment),
            });
        }
        if let Some((place, entries)) = rare_equality(search.template, &paths, question) {
            self.steps.push(Step::Counted(entries));
            return of_all(self.lookup(paths, segments, vec![place]));
        }
        if !paths.has_ordered_scan {
            return of_first(self.planned(segment));
        }
        let mut sample = Sample { records: size, counted: size, ..Sample::default() };
        let leading = loop {
            let next = match sample.indexable.is_empty() && self.steps.is_empty() {
                true => AccessPath::Sample(size),
                false => choose(question, &sample),
            };
            let among = match next {
                AccessPath::Lookup(leading) => break leading,
                AccessPath::Planned => return of_first(self.planned(segment)),
                AccessPath::Sample(among) if among <= sample.records && !self.steps.is_empty() => {
                    self.count(&paths, among, &mut sample);
                    continue;
                }
                // A power of two, so that a session caches few statements.
                AccessPath::OrderedScan(among) => among.next_power_of_two(),
                AccessPath::Sample(among) => among,
            };
            let rows = self.ordered_scan(&paths, Some(among));
            if rows.len() >= self.limit {
                return of_first(rows);
            }
            (sample.records, sample.passing) = (among, rows.len() as u64);
            if paths.is_single() {
                (sample.counted, sample.indexable) =
                    (among, vec![sample.passing; paths.count_of_indexable()]);
            } else if matches!(next, AccessPath::Sample(_)) {
                let counted = self.count(&paths, among, &mut sample);
                if counted < among {
                    // There are no more.
                    return of_first(rows);
                }
                continue;
            }
            if paths.is_bounded() && self.extent(&paths, among) < among {
                // There are no more.
                return of_first(rows);
            }
            self.steps.push(Step::Sample(sample.clone()));
        };
        of_all(self.lookup(paths, segments, leading))
    }

    fn planned(&mut self, segment: &Segment) -> Rows<'s> {
        self.steps.push(Step::Planned);
        self.search.run(&self.search.page_statement(segment, self.limit))
    }

    fn ordered_scan(&mut self, paths: &Paths, among: Option<u64>) -> Rows<'s> {
        self.steps.push(Step::OrderedScan(among));
        self.run(paths, Shape::OrderedScan, |arguments| paths.ordered_scan(among, self.limit, arguments))
    }

    /// Records of all segments, found by the indexes of these conditions.
    fn lookup(&mut self, paths: Paths, segments: &[Segment], leading: Vec<usize>) -> Rows<'s> {
        let whole = self.search.plan.order.as_one_segment(segments);
        let paths = paths.over(if segments.len() > 1 { &whole } else { &segments[0] });
        let rows = self.run(&paths, Shape::Lookup, |arguments| paths.lookup(&leading, self.limit, arguments));
        self.steps.push(Step::Lookup(leading));
        rows
    }

    /// The number of records in a segment, up to a maximum.
    fn extent(&self, paths: &Paths, maximum: u64) -> u64 {
        let rows = self.run(paths, Shape::OrderedScan, |arguments| paths.extent(maximum, arguments));
        rows.get::<Option<i64>>(0, 0).unwrap_or_default() as u64
    }

    /// Counts in a sample of this size the records that the indexes would find. Returns the number of records in
    /// the sample.
    fn count(&mut self, paths: &Paths, size: u64, sample: &mut Sample) -> u64 {
        let rows = self.run(paths, Shape::OrderedScan, |arguments| paths.sample(size, arguments));
        let count = |column: usize| rows.get::<Option<i64>>(0, column).unwrap_or_default() as u64;
        sample.counted = size;
        sample.indexable = (1..=paths.count_of_indexable()).map(count).collect();
        self.steps.push(Step::Sample(sample.clone()));
        count(0)
    }

    fn run(&self, paths: &Paths, shape: Shape, sql: impl Fn(Option<&Arguments>) -> String) -> Rows<'s> {
        let Search { spi, template, .. } = self.search;
        let arguments = Arguments::default();
        let text = sql(Some(&arguments));
        let parameters: Vec<Parameter> = arguments.into_list().iter().map(parameter).collect();
        in_shape(shape, || match paths.is_cacheable() {
            true => template.run(spi, &text, Snapshot::Active, &parameters),
            false => spi.run_once(&text, Snapshot::Active, &parameters),
        })
    }

    /// Records with a substring, found without a statement.
    fn by_substring(
        &mut self,
        segments: &[Segment],
        paths: &Paths,
        substring: Substring,
        question: Question,
    ) -> Result<PageRows<'s>, Unsupported> {
        match (self.along(segments), self.sorting()) {
            (Some(along), _) => self.by_ordered_substring(segments, paths, substring, question, along),
            (None, Some(sorting)) => self.by_sorted_substring(segments, paths, substring, question, sorting),
            (None, None) => Err(Unsupported),
        }
    }

    /// The index with which the first segment is read in order without a statement, if there is one.
    fn along(&self, segments: &[Segment]) -> Option<Along> {
        let Search { template, plan, .. } = self.search;
        if plan.is_ordered_by_id() {
            return Some(Along::Ids(plan.position.as_ref().map(|position| position.uuid)));
        }
        let [key] = plan.keys.as_slice() else { return None };
        let attribute = template.attributes.iter().find(|it| Some(it.id) == key.column.attribute())?;
        // The index of a text column contains prefixes only.
        let is_bare = !matches!(attribute.kind, AttributeType::String | AttributeType::List);
        (plan.order.is_of_values(&segments[0]) && is_bare && key.path.is_empty() && attribute.indexed)
            .then_some(Along::Values(attribute.column))
    }

    fn by_ordered_substring(
        &mut self,
        segments: &[Segment],
        paths: &Paths,
        substring: Substring,
        question: Question,
        along: Along,
    ) -> Result<PageRows<'s>, Unsupported> {
        let plan = self.search.plan;
        let (order, reading) = match (plan.order.tie, along) {
            (Direction::Ascending, Along::Ids(_)) => (KeyOrder::Ascending, Reading::DirectByAge),
            (Direction::Descending, Along::Ids(_)) => (KeyOrder::Descending, Reading::DirectByAge),
            (Direction::Ascending, Along::Values(_)) => (KeyOrder::Ascending, Reading::DirectFar),
            (Direction::Descending, Along::Values(_)) => (KeyOrder::Descending, Reading::DirectFar),
        };
        let question = Question { reading, ..question };
        let size = setting::sample_size();
        let found = substring_rows::find(self.search.template, substring, question, size, along, order)?;
        self.steps.push(Step::OrderedScan(found.read));
        if let Some(sample) = found.sample {
            self.steps.extend([Step::Sample(sample), Step::Lookup(vec![0])]);
        }
        let whole = plan.order.as_one_segment(segments);
        let (segment, is_of_all) = match found.are_all {
            true => (&whole, true),
            false => (&segments[0], segments.len() == 1),
        };
        Ok(PageRows { rows: self.first_at(paths, &found.tids, segment, found.are_all), is_of_all })
    }

    /// The sort key of a first page whose order no index has.
    fn sorting(&self) -> Option<Sorting> {
        let Search { template, plan, .. } = self.search;
        let ([key], true, None) = (plan.keys.as_slice(), plan.must_sort, &plan.position) else { return None };
        let attribute = template.attributes.iter().find(|it| Some(it.id) == key.column.attribute());
        let column = match (&key.column, attribute) {
            (Column::CreatedAt, _) => CREATED_AT,
            (Column::UpdatedAt, _) => UPDATED_AT,
            (Column::Attribute { kind, .. }, Some(attribute)) if *kind != AttributeType::List => {
                attribute.column
            }
            _ => return None,
        };
        let (direction, nulls, max_characters) = (key.direction, key.nulls, COMPARED);
        let collation = attribute.map_or(Oid::INVALID, |attribute| attribute.order);
        key.path.is_empty().then_some(Sorting { column, max_characters, collation, direction, nulls })
    }

    fn by_sorted_substring(
        &mut self,
        segments: &[Segment],
        paths: &Paths,
        substring: Substring,
        question: Question,
        sorting: Sorting,
    ) -> Result<PageRows<'s>, Unsupported> {
        let Question { records, requested, .. } = question;
        let found = sorted_substrings::find(self.search.template, substring, sorting, records, requested)?;
        match found.sample {
            Some(sample) => self.steps.extend([Step::Sample(sample), Step::Lookup(vec![0])]),
            None => self.steps.push(Step::Planned),
        }
        let whole = self.search.plan.order.as_one_segment(segments);
        Ok(PageRows { rows: self.first_at(paths, &found.tids, &whole, false), is_of_all: true })
    }

    /// The first of the records with these TIDs, in the order of a segment. Records outside of the segment are excluded
    /// if `may_be_others`.
    fn first_at(&self, paths: &Paths, tids: &[Tid], segment: &Segment, may_be_others: bool) -> Rows<'s> {
        let Search { spi, template, .. } = self.search;
        let sql = paths.first_at("$1", segment, may_be_others, self.limit);
        let tids = [Tid::array(tids)];
        in_shape(Shape::Lookup, || template.run(spi, &sql, Snapshot::Active, &tids))
    }
}

/// The equality condition whose index has the fewest entries for its value, by its position among the indexable conditions,
/// with the number of entries; `None` if an ordered scan may cost less than to look those up.
fn rare_equality(template: &Template, paths: &Paths, question: Question) -> Option<(usize, u64)> {
    let mut maximum = access_path::max_entries(question);
    let found = Table::with(template.table, |table| {
        let mut rarest = None;
        for (place, column, constants) in paths.equalities() {
            let entries = constants.iter().try_fold(0, |entries, constant| {
                let (indexed, value) = entry_of(template, column, constant)?;
                Some(entries + table.index_entries(indexed, value, maximum).ok()?)
            });
            if let Some(entries) = entries
                && entries < maximum
            {
                (maximum, rarest) = (entries, Some((place, entries)));
            }
        }
        Ok(rarest)
    });
    found.ok().flatten()
}

/// The contents of a field's index, and its entry for a constant; `None` if no index contains single
/// values.
fn entry_of(template: &Template, column: &Column, constant: &Constant) -> Option<(IndexedValue, Parameter)> {
    let attribute = template.attributes.iter().find(|it| Some(it.id) == column.attribute())?;
    let indexed = match attribute.kind {
        AttributeType::List => return None,
        AttributeType::String => IndexedValue::Beginning(attribute.column, INDEXED_CHARACTERS as i32),
        _ => IndexedValue::Whole(attribute.column),
    };
    let value = match constant.beginning(INDEXED_CHARACTERS) {
        Constant::Text(text) => Parameter::read(&text, "text"),
        Constant::Typed(text, sql_type) => Parameter::read(&text, sql_type),
        Constant::Midnight(_) => return None,
    };
    Some((indexed, value))
}

fn parameter(argument: &Argument) -> Parameter {
    match argument {
        Argument::One(text, sql_type) => Parameter::read(text, sql_type),
        Argument::Many(texts, sql_type) => Parameter::read_array(texts, sql_type),
    }
}
