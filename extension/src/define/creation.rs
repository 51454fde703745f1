//! Creates a template: its rows in the state, its table and its side tables.

use super::ddl::{self, NewColumn};
use super::rows::insert_attribute;
use super::{attribute, collation, dependents, embed, synonyms};
use crate::access::{Caller, definition_lock};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::metric;
use crate::postgres::guard::{as_owner_defining, subtransaction};
use crate::postgres::parameter::params;
use crate::postgres::raise::{OrRaise, Raise};
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::lock_against_writers;
use crate::postgres::transaction::begin_command;
use crate::quota;
use crate::search::text;
use crate::template::Template;
use crate::template::catalog::{self, Project};
use crate::template::definition::{self, Definition};
use crate::value::member::{self, missing, text_at, unknown_member};
use crate::value::record_id::MAX_TEMPLATE;
use crate::value::slug::{self, Noun};
use crate::value::synonym_set::SynonymSet;
use crate::value::table_name::table_sql;
use crate::vectors;
use pgrx::prelude::PgSqlErrorCode;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The definition of a new template.
#[derive(Default)]
pub struct NewTemplate {
    /// The name of its table.
    pub slug: String,
    /// The label.
    pub label: Option<String>,
    /// The attribute shown for a record.
    pub display: Option<String>,
    /// The text-search configuration.
    pub language: Option<String>,
    /// The collation of strings.
    pub collation: Option<String>,
    /// Its attributes.
    pub definitions: Vec<Definition>,
    /// The attributes whose values are embedded.
    pub embed: Option<Vec<String>>,
    /// The synonyms for full-text search.
    pub synonyms: Vec<SynonymSet>,
}

impl NewTemplate {
    /// Reads the body of POST /templates.
    pub fn parse(body: &str) -> Result<Self, Error> {
        let mut new = NewTemplate::default();
        for (name, value) in &json::object(body)?.0 {
            let here = format!("/{}", json::pointer_step(name));
            match name.as_ref() {
                "slug" => new.slug = text_at(value, &here)?,
                "label" => new.label = member::parse_label(value, &here)?,
                "display" => new.display = member::parse_label(value, &here)?,
                "language" => new.language = Some(text_at(value, &here)?),
                "collation" => new.collation = definition::parse_collation(value, &here)?,
                "attributes" => new.definitions = definition::parse_all(value, &here)?,
                "embed" => new.embed = embed::parse(value, &here)?,
                "synonyms" => new.synonyms = synonyms::parse(value, &here)?,
                // Responses have these members; a client may send a response back.
                "id" | "project" | "created_at" | "updated_at" => {}
                _ => {
                    return Err(unknown_member(name, &here).hint(
                        "Use the members slug, label, display, language, collation, attributes, embed and \
                         synonyms.",
                    ));
                }
            }
        }
        if new.slug.is_empty() { Err(missing("slug", "")) } else { Ok(new) }
    }
}

/// Creates a template in a project, which is given by slug or id.
pub fn create(project: &str, new: &NewTemplate) -> Result<Rc<Template>, Error> {
    let caller = Caller::current();
    caller.require_define_somewhere()?;
    catalog::refresh();
    let find = || {
        catalog::project_by_name_or_id(project)
            .filter(|project| caller.can_access_project(project.id))
            .ok_or_else(|| Error::new(Code::NotFound, format!("project {project:?} does not exist")))
    };
    definition_lock::one_at_a_time(find()?.id, || {
        let project = find()?;
        caller.require_define_in(project.id)?;
        create_in(&caller, &project, new)
    })
}

fn create_in(caller: &Caller, project: &Project, new: &NewTemplate) -> Result<Rc<Template>, Error> {
    slug::check(Noun::Template, &new.slug, "/slug")?;
    quota::definition::check_templates(project)?;
    quota::definition::check_attributes(project, 0, new.definitions.len())?;
    if let Some(display) = &new.display
        && !new.definitions.iter().any(|definition| definition.slug == *display)
    {
        return Err(Error::at(
            Code::UnknownAttribute,
            "/display",
            format!("attribute {display:?} does not exist"),
        ));
    }
    if let Some(slugs) = &new.embed {
        let find = |slug: &str| new.definitions.iter().find(|definition| definition.slug == slug);
        embed::check(slugs, |slug| find(slug).map(|definition| definition.kind))?;
    }
    let language = new.language.as_deref().unwrap_or("english");
    check_language(language)?;
    let (collation, collations) = collation::for_new_template(new.collation.as_deref(), &new.definitions)?;
    let mut targets = Vec::with_capacity(new.definitions.len());
    for (position, definition) in new.definitions.iter().enumerate() {
        targets.push(match &definition.target {
            None => None,
            // A template may refer to itself. Its number is not yet known.
            Some(target) if *target == new.slug => Some((None, table_sql(&project.slug, target))),
            Some(target) => {
                let found = attribute::target(caller, project.id, target).ok_or_else(|| {
                    let pointer = format!("/attributes/{position}/template");
                    Error::at(Code::InvalidValue, pointer, format!("the project has no template {target:?}"))
                        .hint("Create the target template first.")
                })?;
                Some((Some(found.id), found.table_sql()))
            }
        });
    }
    let created = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                // Creating a foreign key blocks writes to the referenced table.
                let referenced: BTreeSet<&String> = targets
                    .iter()
                    .flatten()
                    .filter(|target| target.0.is_some())
                    .map(|target| &target.1)
                    .collect();
                lock_against_writers(&referenced.into_iter().cloned().collect::<Vec<_>>());
                let id = insert_template(spi, project.id, new, language);
                if let Some(collation) = &collation {
                    collation::store_of_template(spi, id, collation);
                }
                let columns: Vec<NewColumn> = new
                    .definitions
                    .iter()
                    .zip(&targets)
                    .zip(&collations)
                    .map(|((definition, target), collation)| NewColumn {
                        definition,
                        target_table: target.as_ref().map(|target| target.1.clone()),
                        collation: collation.clone(),
                    })
                    .collect();
                let trigrams = text::table::trigram_class(spi);
                let label = new.label.as_deref();
                spi.script(&ddl::create_table(&project.slug, &new.slug, id, label, &columns, &trigrams));
                let (name, table) =
                    (format!("{}.{}", project.slug, new.slug), table_sql(&project.slug, &new.slug));
                if new.definitions.iter().any(|definition| definition.kind == AttributeType::Metric) {
                    spi.script(&metric::create_table(id, &name, &table));
                }
                spi.script(&text::table::create(id, &name, &table));
                spi.script(&text::table::create_index(spi, id));
                if let Some(schema) = vectors::table::extension_schema(spi) {
                    spi.script(&vectors::table::create(&schema, id, &name, &table));
                }
                for (position, (definition, target)) in new.definitions.iter().zip(&targets).enumerate() {
                    let target = target.as_ref().map(|target| target.0.unwrap_or(id));
                    insert_attribute(spi, id, position as i32 + 1, definition, target);
                }
                if let Some(slugs) = &new.embed {
                    embed::set(spi, id, Some(slugs));
                }
                if !new.synonyms.is_empty() {
                    synonyms::store(spi, id, &new.synonyms).or_raise();
                }
                // Makes the new table visible.
                begin_command();
                if let Some(template) = catalog::by_id(id) {
                    dependents::after_creation(spi, &template).or_raise();
                    if new.embed.is_some() {
                        vectors::table::require(&template).or_raise();
                    }
                }
                id
            })
        })
    });
    let id = created.catch(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE
        | PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION
        | PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT => {
            let name = format!("{}.{}", project.slug, new.slug);
            let error = Error::at(Code::Conflict, "/slug", format!("{name} already exists"))
                .hint("Choose another slug.");
            let row = "select from keyed_state.template where project_id = $1 and slug = $2";
            Some(snapshot::newer_row_error(error, row, &params![project.id, &new.slug]))
        }
        PgSqlErrorCode::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED => Some(
            Error::new(Code::PayloadTooLarge, "no id is left for a new template in this database")
                .hint("Create the project on another shard. Dropped templates do not free their ids."),
        ),
        _ => None,
    })?;
    catalog::by_id(id).ok_or_else(Error::not_found)
}

fn insert_template(spi: &Connection, project: i32, new: &NewTemplate, language: &str) -> i32 {
    let rows = spi.run_once(
        "insert into keyed_state.template (project_id, slug, label, display, language) \
         values ($1, $2, $3, $4, $5) returning id",
        Snapshot::Latest,
        &params![project, &new.slug, new.label.as_deref(), new.display.as_deref(), language],
    );
    let id = rows.get::<Option<i32>>(0, 0).unwrap_or_default();
    if id > MAX_TEMPLATE {
        let message = format!("a workspace may have at most {MAX_TEMPLATE} templates");
        Error::new(Code::PayloadTooLarge, message).raise();
    }
    id
}

/// Rejects a text-search configuration that does not exist.
pub fn check_language(language: &str) -> Result<(), Error> {
    let exists = connected(|spi| {
        let rows = spi.run_once(
            "select from pg_catalog.pg_ts_config c where c.cfgname operator(pg_catalog.=) $1::pg_catalog.name \
             and c.cfgnamespace operator(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace",
            Snapshot::Active,
            &params![language],
        );
        !rows.is_empty()
    });
    if exists {
        return Ok(());
    }
    Err(Error::at(
        Code::InvalidValue,
        "/language",
        format!("text-search configuration {language:?} does not exist"),
    )
    .hint("Use a name such as simple, english or german. SELECT cfgname FROM pg_ts_config lists all."))
}
