//! Sets up a database and migrates its state.

use super::{attribute, ddl, positions, reconcile, released, shard};
use crate::access::{Caller, binding, policy_sql};
use crate::change::generation;
use crate::error::{Code, Error};
use crate::job::start_pending;
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::guard::{as_owner, as_owner_defining, subtransaction, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::{library_version, preload, role, table_lock};
use crate::search::text;
use crate::template::catalog;
use crate::value::quote::{identifier, literal};
use crate::value::table_name::{SideTable, table_sql};
use crate::vectors;
use pgrx::pg_sys::Oid;
use pgrx::prelude::PgSqlErrorCode;
use std::collections::HashSet;

const ROLES: &str = include_str!("../../../sql/roles.sql");
const PROXY_LOGIN: &str = include_str!("../../../sql/proxy_login.sql");

/// One migration of the state.
enum Step {
    Script(&'static str),
    /// A migration that depends on existing templates.
    Function(fn(&Connection)),
    /// A migration that converts as many templates as one transaction can lock, and returns the number of remaining ones.
    Batch(fn(&Connection) -> usize),
}

/// The migrations, oldest first. Each runs once in a database.
const MIGRATIONS: &[(i32, Step)] = &[
    (1, Step::Script(include_str!("../../../sql/state/0001_tables.sql"))),
    (2, Step::Function(text::rebuild::make_missing)),
    (3, Step::Script(include_str!("../../../sql/state/0002_project_time_zone.sql"))),
    (4, Step::Function(attribute::create_missing_indexes)),
    (5, Step::Script(include_str!("../../../sql/state/0003_access.sql"))),
    (6, Step::Function(enable_row_security)),
    (7, Step::Function(vectors::table::create_missing)),
    (8, Step::Script(include_str!("../../../sql/state/0008_embedding_queue.sql"))),
    (9, Step::Script(include_str!("../../../sql/state/0009_inbound.sql"))),
    (10, Step::Script(include_str!("../../../sql/state/0010_views.sql"))),
    (11, Step::Script(include_str!("../../../sql/state/0011_quota.sql"))),
    (12, Step::Script(include_str!("../../../sql/state/0012_idempotent_request.sql"))),
    (13, Step::Script(include_str!("../../../sql/state/0013_slugs.sql"))),
    (14, Step::Script(include_str!("../../../sql/state/0014_stored_credentials.sql"))),
    (15, Step::Function(binding::migrate)),
    (16, Step::Script(include_str!("../../../sql/state/0016_inbound_payloads.sql"))),
    (17, Step::Script(include_str!("../../../sql/state/0017_idempotency_full.sql"))),
    (18, Step::Batch(released::convert_batch)),
    (19, Step::Function(reconcile::migrate_policies)),
    (20, Step::Script(include_str!("../../../sql/state/0020_inbound_refused.sql"))),
    (21, Step::Script(include_str!("../../../sql/state/0021_jobs.sql"))),
    (22, Step::Script(include_str!("../../../sql/state/0022_replication.sql"))),
    (24, Step::Script(include_str!("../../../sql/state/0024_job_turns.sql"))),
    (26, Step::Script(include_str!("../../../sql/state/0026_attribute_types.sql"))),
    (27, Step::Script(include_str!("../../../sql/state/0027_documents_by.sql"))),
    (28, Step::Script(include_str!("../../../sql/state/0028_failed_embeddings.sql"))),
    (29, Step::Script(include_str!("../../../sql/state/0029_document_index_job.sql"))),
    (30, Step::Script(include_str!("../../../sql/state/0030_synonyms.sql"))),
    (31, Step::Script(include_str!("../../../sql/state/0031_complete_scans.sql"))),
    (32, Step::Script(include_str!("../../../sql/state/0032_collation.sql"))),
    (33, Step::Script(include_str!("../../../sql/state/0033_format.sql"))),
    (34, Step::Script(include_str!("../../../sql/state/0034_view_presentation.sql"))),
    (35, Step::Script(include_str!("../../../sql/state/0035_changes.sql"))),
    (36, Step::Batch(positions::add_to_lockable)),
    (37, Step::Script(include_str!("../../../sql/state/0037_webhooks.sql"))),
    (38, Step::Script(include_str!("../../../sql/state/0038_shard.sql"))),
];

/// The newest schema version.
pub fn newest_version() -> i32 {
    MIGRATIONS.iter().map(|step| step.0).max().unwrap_or(0)
}

/// Only one session at a time sets up or migrates a database.
fn lock_setup() {
    advisory_lock::lock(LockKind::Setup, 0, Mode::Exclusive);
}

/// Raises an error if other roles have created objects in the schemas of keyed. Using them would run code of their
/// owners.
fn reject_objects_of_other_owners() -> Result<(), Error> {
    let found = connected(|spi| {
        // The SQL of the extension may be older than the library, until ALTER EXTENSION … UPDATE.
        let function = spi.run_once(
            "select pg_catalog.to_regprocedure('keyed.foreign_objects()')",
            Snapshot::Latest,
            &[],
        );
        function.value::<Option<Oid>>().flatten()?;
        let sql = "select object, finding, remedy, pg_catalog.count(*) over () from keyed.foreign_objects() limit 1";
        let rows = spi.run_once(sql, Snapshot::Latest, &[]);
        let text = |column| rows.get::<Option<String>>(0, column).unwrap_or_default();
        let others = |count: i64| if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        (!rows.is_empty()).then(|| {
            let others = others(rows.get::<Option<i64>>(0, 3).unwrap_or(1));
            (format!("{} {}{others}", text(0), text(1)), text(2))
        })
    });
    match found {
        None => Ok(()),
        Some((finding, remedy)) => Err(Error::new(
            Code::Conflict,
            format!("the schemas of keyed contain objects of other owners:  {finding}"),
        )
        .hint(format!("{remedy}. List all of them with SELECT * FROM keyed.foreign_objects()."))),
    }
}

/// Creates the roles and the tables of the state; existing ones remain. With `preload`, sessions of this database load
/// the library of keyed at their start. With `shard`, the database becomes this shard. Returns the schema version.
pub fn init(preload: bool, shard: Option<i32>) -> Result<i32, Error> {
    if !role::is_superuser(role::current()) {
        return Err(Error::new(Code::Forbidden, "only a superuser may call keyed.init()"));
    }
    if let Some(shard) = shard {
        shard::check(shard)?;
    }
    library_version::require_updated_sql()?;
    lock_setup();
    reject_objects_of_other_owners()?;
    connected(|spi| {
        // Suppresses notices about roles that already exist.
        spi.script("set local client_min_messages = warning");
        spi.script(ROLES);
    });
    let version = migrate()?;
    if let Some(shard) = shard {
        as_owner_defining(|| connected(|spi| shard::set(spi, shard)))?;
    }
    if preload {
        preload_library();
    }
    Ok(version)
}

/// Adds the library of keyed to session_preload_libraries of this database, after those that its sessions already load.
fn preload_library() {
    if preload::is_shared() {
        return;
    }
    // Ignores settings of roles and of this session.
    let sql = "select pg_catalog.current_database()::text, coalesce( \
               (select pg_catalog.substr(c, pg_catalog.strpos(c, '=') + 1) \
                from pg_catalog.pg_db_role_setting s, pg_catalog.unnest(s.setconfig) c \
                where s.setrole = 0 and c like 'session_preload_libraries=%' \
                and s.setdatabase in (0, (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())) \
                order by s.setdatabase desc limit 1), \
               (select f.setting from pg_catalog.pg_file_settings f where f.name = 'session_preload_libraries' and f.applied \
                order by f.seqno desc limit 1), '')";
    connected(|spi| {
        let rows = spi.run_once(sql, Snapshot::Latest, &[]);
        let text = |column| rows.get::<Option<String>>(0, column).unwrap_or_default();
        if let Some(libraries) = preload::with_library(&text(1)) {
            let libraries: Vec<String> = libraries.iter().map(|library| literal(library)).collect();
            let (database, libraries) = (identifier(&text(0)), libraries.join(", "));
            spi.script(&format!("alter database {database} set session_preload_libraries = {libraries}"));
        }
    });
}

/// Runs the pending migrations. Returns the schema version.
pub fn migrate() -> Result<i32, Error> {
    Caller::current().require_admin("migrate the state of keyed")?;
    library_version::require_updated_sql()?;
    lock_setup();
    reject_objects_of_other_owners()?;
    if !ensure_extension(text::table::TRIGRAM_EXTENSION) {
        return Err(text::table::missing());
    }
    // pgvector is optional.
    if is_available(vectors::table::EXTENSION) {
        ensure_extension(vectors::table::EXTENSION);
    }
    if role::is_superuser(role::current()) && role::find(role::PROXY).is_some() {
        connected(|spi| spi.script(PROXY_LOGIN));
    }
    let version = as_owner_defining(|| {
        connected(|spi| {
            let make_version = "create table if not exists keyed_state.version ( \
                   number integer primary key, applied_at timestamptz not null default pg_catalog.now()); \
                 comment on table keyed_state.version is 'The scripts that made this state what it is.'; \
                 comment on column keyed_state.version.number is 'The number of the script.'; \
                 comment on column keyed_state.version.applied_at is 'When it ran.';";
            // It usually exists; the notice is suppressed.
            with_settings(&[(c"client_min_messages", c"warning")], || spi.script(make_version));
            let rows = spi.run_once("select number from keyed_state.version", Snapshot::Latest, &[]);
            let applied: HashSet<i32> = rows.column::<i32>().collect();
            let mut version = applied.iter().copied().max().unwrap_or(0);
            for (number, step) in MIGRATIONS.iter().filter(|step| !applied.contains(&step.0)) {
                match step {
                    Step::Script(script) => run_script(script)?,
                    Step::Function(function) => function(spi),
                    Step::Batch(function) => {
                        let remaining = function(spi);
                        if remaining > 0 {
                            pgrx::notice!(
                                "{remaining} templates remain to be migrated; call keyed.migrate() again"
                            );
                            break;
                        }
                    }
                }
                spi.script(&format!("insert into keyed_state.version (number) values ({number})"));
                version = version.max(*number);
            }
            // Roles may have been renamed, or the database restored.
            binding::renew(spi);
            generation::current(spi);
            // The migrations may have created sequences.
            if version == newest_version() {
                shard::apply_ranges(spi);
            }
            // pgvector may have been installed after the migration.
            vectors::table::create_missing(spi);
            // An update of the extension may change how documents are indexed.
            text::renewal::renew_indexes(spi);
            Ok::<i32, Error>(version)
        })
    })?;
    // Workers with the old library end after an update of the extension.
    start_pending(false);
    Ok(version)
}

/// Runs the script of a migration. It locks tables that every session reads, and sessions queue behind its lock request.
/// The lock timeout of two seconds keeps an idle transaction from blocking all of them.
fn run_script(script: &str) -> Result<(), Error> {
    let run = || with_settings(&[(c"lock_timeout", c"2s")], || connected(|spi| spi.script(script)));
    let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    let busy = || table_lock::still_busy("the tables of keyed's state");
    subtransaction(run).catch_also(&locked, |caught| caught.is_any_of(&locked).then(busy))
}

/// The pending migrations.
pub fn pending() -> Vec<i32> {
    let known = || MIGRATIONS.iter().map(|step| step.0);
    if !catalog::state_exists() || role::find(role::OWNER).is_none() {
        return known().collect();
    }
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once("select number from keyed_state.version", Snapshot::Active, &[]);
            let applied: HashSet<i32> = rows.column::<i32>().collect();
            known().filter(|number| !applied.contains(number)).collect()
        })
    })
}

/// Creates a required extension and grants the owner USAGE on its schema. Returns whether it exists: only a superuser
/// can create it.
fn ensure_extension(name: &str) -> bool {
    connected(|spi| {
        let find = || {
            let rows = spi.run_once(
                    "select pg_catalog.quote_ident(n.nspname), pg_catalog.has_schema_privilege('keyed_owner', n.oid, 'usage') \
                     from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace \
                     where e.extname = $1",
                    Snapshot::Latest,
                    &params![name],
                );
            let schema = rows.value::<Option<String>>().flatten();
            schema.map(|schema| (schema, rows.get::<Option<bool>>(0, 1).unwrap_or_default()))
        };
        let is_superuser = role::is_superuser(role::current());
        if find().is_none() {
            if !is_superuser {
                return false;
            }
            let has_public =
                spi.run_once("select pg_catalog.to_regnamespace('public')", Snapshot::Latest, &[]);
            let schema =
                if has_public.value::<Option<Oid>>().flatten().is_some() { "public" } else { "keyed_state" };
            spi.script(&format!("create extension {name} schema {schema}"));
        }
        if let Some((schema, false)) = find()
            && is_superuser
        {
            spi.script(&format!("grant usage on schema {schema} to keyed_owner"));
        }
        true
    })
}

/// Whether the files of an extension are on this server.
fn is_available(extension: &str) -> bool {
    connected(|spi| {
        let sql = "select from pg_catalog.pg_available_extensions e where e.name operator(pg_catalog.=) $1::pg_catalog.name";
        !spi.run_once(sql, Snapshot::Latest, &params![extension]).is_empty()
    })
}

/// Migration 6: enables row-level security on the tables of existing templates.
fn enable_row_security(spi: &Connection) {
    let side_tables = [SideTable::History, SideTable::Series, SideTable::Documents];
    let sql = format!(
        "select p.slug, t.slug, c.relname::text, c.relnamespace = 'keyed_state'::regnamespace \
         from keyed_state.template t join keyed_state.project p on p.id = t.project_id \
         join pg_catalog.pg_class c on c.oid in (to_regclass(format('%I.%I', p.slug, t.slug)), {}) \
         where not c.relrowsecurity order by t.id",
        side_tables.map(|table| table.regclass_sql("t.id")).join(", ")
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &[]);
    for row in 0..rows.len() {
        let text = |column| rows.get::<Option<String>>(row, column).unwrap_or_default();
        let table = table_sql(&text(0), &text(1));
        spi.script(&if rows.get::<Option<bool>>(row, 3).unwrap_or_default() {
            policy_sql::enable_on_side_table(&text(2), &table)
        } else {
            ddl::secure_table(&table)
        });
    }
}
