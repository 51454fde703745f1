//! Makes a database a shard: restricts the sequences that assign ids to the range of the shard.

use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::catalog;
use crate::template::shard::{current, stored};
use crate::value::quote::identifier;
use crate::value::shard::{IdKind, MAX_SHARD};
use std::ops::RangeInclusive;

/// Rejects a number that is not that of a shard.
pub fn check(shard: i32) -> Result<(), Error> {
    if (0..=MAX_SHARD).contains(&shard) {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, "/shard", format!("invalid shard {shard}"))
        .hint(format!("Use a number from 0 to {MAX_SHARD}.")))
}

/// Makes this database a shard, which must not have ids of other shards. Repeating the call has no effect.
pub fn set(spi: &Connection, shard: i32) -> Result<(), Error> {
    match stored(spi) {
        Some(existing) if existing == shard => return Ok(()),
        Some(existing) => {
            let message = format!("this database is shard {existing} and cannot become shard {shard}");
            return Err(Error::new(Code::Conflict, message)
                .hint("Ids contain the shard, so it is final. Use another database for the new shard."));
        }
        None => {}
    }
    for sequence in sequences(spi) {
        let range = sequence.kind.range(shard);
        let (column, table) = (identifier(&sequence.column), identifier(&sequence.table));
        // Both ends are at the ends of the primary key.
        let sql = format!("select min(r.{column}) < $1 or max(r.{column}) > $2 from keyed_state.{table} r");
        let rows = spi.run_once(&sql, Snapshot::Latest, &params![*range.start(), *range.end()]);
        if rows.value::<Option<bool>>().flatten().unwrap_or_default() {
            let message = format!(
                "this database cannot become shard {shard}: keyed_state.{} has ids outside its range",
                sequence.table
            );
            return Err(Error::new(Code::Conflict, message).hint(
                "Only a new database can become a shard. A database with data can become shard 0. \
                 Call keyed.init(shard => …) before anything else.",
            ));
        }
    }
    spi.run_once("insert into keyed_state.shard (shard) values ($1)", Snapshot::Latest, &params![shard]);
    apply_ranges(spi);
    Ok(())
}

/// Restricts every sequence of ids to the range of the shard. Does nothing in a database that is not sharded.
pub fn apply_ranges(spi: &Connection) {
    let Some(shard) = stored(spi) else { return };
    for sequence in sequences(spi) {
        let range = sequence.kind.range(shard);
        if sequence.range == range {
            continue;
        }
        let (min, max) = range.clone().into_inner();
        // A sequence that has assigned ids of this range continues behind them.
        let next = if range.contains(&sequence.next) { sequence.next } else { min };
        spi.script(&format!(
            "alter table keyed_state.{} alter column {} set minvalue {min} set maxvalue {max} set start {min} \
             restart with {next}",
            identifier(&sequence.table),
            identifier(&sequence.column)
        ));
    }
}

/// The sequence of an identity column of the state.
struct Sequence {
    table: String,
    column: String,
    kind: IdKind,
    range: RangeInclusive<i64>,
    next: i64,
}

fn sequences(spi: &Connection) -> Vec<Sequence> {
    let sql = "select c.relname::text, a.attname::text, s.relname::text, \
               a.atttypid operator(pg_catalog.=) 'pg_catalog.int8'::pg_catalog.regtype, q.seqmin, q.seqmax \
               from pg_catalog.pg_class c \
               join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attidentity <> '' \
               join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass \
               and d.refclassid = d.classid and d.refobjid = c.oid and d.refobjsubid = a.attnum and d.deptype = 'i' \
               join pg_catalog.pg_class s on s.oid = d.objid \
               join pg_catalog.pg_sequence q on q.seqrelid = s.oid \
               where c.relnamespace = 'keyed_state'::pg_catalog.regnamespace and c.relkind = 'r' order by c.relname";
    let rows = spi.run_once(sql, Snapshot::Latest, &[]);
    let sequence = |row| {
        let text = |column| rows.get::<Option<String>>(row, column).unwrap_or_default();
        let number = |column| rows.get::<Option<i64>>(row, column).unwrap_or_default();
        let (table, is_bigint) = (text(0), rows.get::<Option<bool>>(row, 3).unwrap_or_default());
        let kind = match (table.as_str(), is_bigint) {
            ("template", _) => IdKind::Template,
            (_, true) => IdKind::Bigint,
            (_, false) => IdKind::Integer,
        };
        let sql = format!(
            "select s.last_value + case when s.is_called then 1 else 0 end from keyed_state.{} s",
            identifier(&text(2))
        );
        let next = spi.run_once(&sql, Snapshot::Latest, &[]).value::<Option<i64>>().flatten();
        Sequence { table, column: text(1), kind, range: number(4)..=number(5), next: next.unwrap_or(1) }
    };
    (0..rows.len()).map(sequence).collect()
}

/// The directory entry of this database for a request router: `{shard, version, projects, moved}`. `projects` is `[{"id",
/// "slug"}]`. `moved` lists the ids that another shard assigned, by kind: `{"templates": [id], …}`. Both are `None` if
/// the caller already has this version.
pub fn directory(known: Option<&str>) -> Vec<Option<String>> {
    catalog::require_state();
    let shard = current();
    let range = |kind: IdKind| shard.map_or(0..=i64::MAX, |shard| kind.range(shard));
    let (templates, integers) = (range(IdKind::Template), range(IdKind::Integer));
    let moved = |table: &str, condition: &str| {
        format!(
            "coalesce((select pg_catalog.jsonb_agg(m.id order by m.id) from keyed_state.{table} m \
             where m.id not between {condition}), '[]')"
        )
    };
    let sql = format!(
        "select d.projects, d.moved, \
         pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(d.projects || d.moved, 'UTF8')), 'hex') from (select \
         coalesce((select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', p.id, 'slug', p.slug) order by p.id) \
         from keyed_state.project p), '[]')::text as projects, \
         pg_catalog.jsonb_build_object('templates', {}, 'projects', {}, 'inbound_endpoints', {}, \
         'webhook_endpoints', {}, 'api_keys', {})::text as moved) d",
        moved("template", "$1 and $2"),
        moved("project", "$3 and $4"),
        moved("inbound_endpoint", "$3 and $4"),
        moved("webhook_endpoint", "$3 and $4"),
        moved("api_key", "$3 and $4 and m.revoked_at is null"),
    );
    let arguments = params![*templates.start(), *templates.end(), *integers.start(), *integers.end()];
    let [projects, moved, version] = as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
            [0, 1, 2].map(|column| rows.get::<Option<String>>(0, column))
        })
    });
    let is_known = known.is_some() && known == version.as_deref();
    let unless_known = |text: Option<String>| text.filter(|_| !is_known);
    vec![shard.map(|shard| shard.to_string()), version, unless_known(projects), unless_known(moved)]
}
