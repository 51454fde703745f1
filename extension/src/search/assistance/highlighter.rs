//! Adds highlights to each record of a search: where its terms match.

use super::fragment::{Fragment, best, fragments};
use super::highlight::Pattern;
use crate::access::{Caller, visibility};
use crate::attribute_type::AttributeType;
use crate::json::write_string;
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::shape::{Addition, Columns, Projection, STANDARD_COLUMNS};
use crate::search::text::names::{self, Reference, VisibleRows};
use crate::search::text::query::TextQuery;
use crate::search::text::stem::Stemmer;
use crate::search::text::write::is_covered;
use crate::template::Template;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;
use uuid::Uuid;

/// The maximum number of cached words, and of cached display terms.
const MAX_CACHED: usize = 20_000;

/// The projection with highlights, if they are requested.
pub fn highlighted(
    projection: Projection,
    caller: &Caller,
    template: &Template,
    terms: Option<&TextQuery>,
    offsets: Option<bool>,
) -> Projection {
    let Some(has_offsets) = offsets else { return projection };
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    projection.with(Highlighter::new(template, terms, &visible_rows, has_offsets))
}

/// Writes `highlights`, and `highlight_offsets` if requested.
pub struct Highlighter {
    own: Language,
    references: Vec<Referenced>,
    has_offsets: bool,
}

/// The terms as they match strings of one template.
struct Language {
    stemmer: Stemmer,
    pattern: Pattern,
    /// The terms with the stem of a word; a cache.
    known: RefCell<HashMap<String, u64>>,
}

/// A reference whose display terms may match.
struct Referenced {
    reference: Reference,
    language: Language,
    /// The visible display terms; a cache.
    names: RefCell<HashMap<Uuid, Option<String>>>,
}

impl Highlighter {
    /// Highlights of the terms of a search.
    pub fn new(
        template: &Template,
        terms: Option<&TextQuery>,
        visible_rows: &VisibleRows,
        has_offsets: bool,
    ) -> Highlighter {
        let references = terms.map(|_| names::references(template, visible_rows)).unwrap_or_default();
        let empty = TextQuery::default();
        let terms = terms.unwrap_or(&empty);
        let requested = || terms.terms.iter().filter(|term| !term.is_excluded);
        let may_match = |reference: &Reference| requested().any(|term| reference.may_match(term));
        let references = references.into_iter().filter(may_match).map(|reference| Referenced {
            language: Language::new(reference.target(), terms),
            reference,
            names: RefCell::default(),
        });
        Highlighter { references: references.collect(), own: Language::new(template, terms), has_offsets }
    }

    /// The fragments of an attribute of a record; none without a value.
    fn of_attribute(&self, template: &Template, position: usize, column: &Columns) -> Vec<Fragment> {
        let attribute = &template.attributes[position];
        let Some(value) = column(STANDARD_COLUMNS + position) else { return Vec::new() };
        match attribute.kind {
            AttributeType::Reference => {
                let referenced = self.references.iter().find(|it| it.reference.slug() == attribute.slug);
                let Some(referenced) = referenced else { return Vec::new() };
                let name = referenced.name(datum::read_uuid(value));
                name.map(|name| referenced.language.fragments(0, &name)).unwrap_or_default()
            }
            _ if !is_covered(attribute) => Vec::new(),
            AttributeType::String => datum::with_text(value, |text| self.own.fragments(0, text)),
            _ => {
                let elements = datum::read_text_array(value).unwrap_or_default();
                let labels = elements.iter().enumerate();
                labels.flat_map(|(place, it)| self.own.fragments(place, attribute.label_of(it))).collect()
            }
        }
    }
}

impl Language {
    fn new(template: &Template, terms: &TextQuery) -> Language {
        let stemmer = Stemmer::new(template);
        let pattern = Pattern::new(terms.terms.iter(), |typed| stemmer.variants(typed));
        Language { stemmer, pattern, known: RefCell::default() }
    }

    fn fragments(&self, value: usize, text: &str) -> Vec<Fragment> {
        if self.pattern.is_empty() {
            return Vec::new();
        }
        pgrx::check_for_interrupts!();
        let marks = self.pattern.marks(
            text,
            |word| self.terms_of(word),
            || {
                pgrx::check_for_interrupts!();
            },
        );
        fragments(value, text, &marks)
    }

    fn terms_of(&self, word: &str) -> u64 {
        if let Some(known) = self.known.borrow().get(word) {
            return *known;
        }
        let terms = self.pattern.terms_with(&self.stemmer.stems(word));
        let mut known = self.known.borrow_mut();
        if known.len() >= MAX_CACHED {
            known.clear();
        }
        known.insert(word.to_owned(), terms);
        terms
    }
}

impl Referenced {
    /// The display term of a record, if it is visible to the caller.
    fn name(&self, id: Uuid) -> Option<String> {
        if let Some(known) = self.names.borrow().get(&id) {
            return known.clone();
        }
        let (target, sql) = (self.reference.target(), self.reference.name_sql());
        let name = connected(|spi| {
            let rows = target.run(spi, &sql, Snapshot::Active, &params![id]);
            rows.value::<Option<String>>().flatten()
        });
        let mut names = self.names.borrow_mut();
        if names.len() >= MAX_CACHED {
            names.clear();
        }
        names.insert(id, name.clone());
        name
    }
}

impl Addition for Highlighter {
    fn write(&self, out: &mut String, template: &Template, column: &Columns, projection: &Projection) {
        let mut found: Vec<(Cow<str>, bool, Vec<Fragment>)> = Vec::new();
        for (position, attribute) in template.attributes.iter().enumerate() {
            if projection.has_attribute(position) {
                let fragments = best(self.of_attribute(template, position, column));
                found.push((
                    Cow::Borrowed(&attribute.slug),
                    attribute.kind == AttributeType::List,
                    fragments,
                ));
            }
        }
        if let Some(key) = column(1) {
            let fragments = datum::with_text(key, |key| best(self.own.fragments(0, key)));
            found.push((Cow::Borrowed("external_key"), false, fragments));
        }
        found.retain(|(_, _, fragments)| !fragments.is_empty());
        write_each(out, "highlights", &found, |out, _, it| write_string(out, &it.html));
        if self.has_offsets {
            write_each(out, "highlight_offsets", &found, |out, is_list, it| {
                out.push('{');
                if is_list {
                    let _ = write!(out, "\"value\":{},", it.value);
                }
                let marks: Vec<String> =
                    it.marks.iter().map(|mark| format!("[{},{}]", mark.start, mark.end)).collect();
                let (start, end) = (it.place.start, it.place.end);
                let _ = write!(out, "\"start\":{start},\"end\":{end},\"marks\":[{}]}}", marks.join(","));
            });
        }
    }

    fn runs_statements(&self) -> bool {
        !self.references.is_empty()
    }
}

/// Writes a member that contains a value for each fragment of each attribute.
fn write_each(
    out: &mut String,
    member: &str,
    found: &[(Cow<str>, bool, Vec<Fragment>)],
    write: impl Fn(&mut String, bool, &Fragment),
) {
    let _ = write!(out, ",\"{member}\":{{");
    for (place, (slug, is_list, fragments)) in found.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_string(out, slug);
        out.push_str(":[");
        for (place, fragment) in fragments.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            write(out, *is_list, fragment);
        }
        out.push(']');
    }
    out.push('}');
}

impl fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Highlighter").field("pattern", &self.own.pattern).finish_non_exhaustive()
    }
}
