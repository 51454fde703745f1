//! Replaces indexes of documents with an earlier operator class.

use super::table;
use crate::job;
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::postgres::table_lock::{lock_exclusively, take_chunk};
use crate::template::{Template, catalog};
use crate::value::table_name::SideTable;

/// Creates the index of documents if it is missing or has another operator class. A small index is created immediately,
/// which locks the table of documents exclusively. A job replaces a large index that searches can use.
pub fn renew_indexes(spi: &Connection) {
    let Some(class) = table::document_class_name(spi) else { return };
    let sql = format!(
        "select t.id, c.opcname::text from keyed_state.template t \
           left join pg_catalog.pg_index i on i.indexrelid = {} \
           left join pg_catalog.pg_opclass c on c.oid = i.indclass[0] \
         where {} is not null and c.opcname::text is distinct from $1 order by t.id",
        SideTable::Documents.regclass_sql(&format!("t.id || '{}'", table::INDEX_ENDING)),
        SideTable::Documents.regclass_sql("t.id"),
    );
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![class]);
    let mut ids = Vec::new();
    for row in 0..rows.len() {
        let id = rows.get::<Option<i32>>(row, 0).unwrap_or_default();
        let class = rows.get::<Option<String>>(row, 1);
        let has_index = class.is_some_and(|class| table::DOCUMENT_CLASSES.contains(&class.as_str()));
        let documents = catalog::table_oid("keyed_state", &SideTable::Documents.name(id));
        let takes_long = documents.is_some_and(|table| job::takes_index_long(spi, table));
        match catalog::by_id(id).filter(|_| has_index && takes_long && job::may_renew_documents(spi)) {
            Some(template) => job::add_indexes_without_attribute(spi, &template),
            None => ids.push(id),
        }
    }
    take_chunk(&mut ids, "indexes of documents");
    lock_exclusively(&ids.iter().map(|id| SideTable::Documents.sql(*id)).collect::<Vec<_>>());
    for id in ids {
        // Suppresses the notice about a missing index.
        with_settings(&[(c"client_min_messages", c"warning")], || spi.script(&table::drop_index(id)));
        spi.script(&table::create_index(spi, id));
    }
}

/// The next steps towards an index of documents with the best operator class.
#[derive(Debug, Default)]
pub struct Steps {
    /// Statements that run outside of a transaction.
    pub alone: Vec<String>,
    /// The statements that rename the new index, in one transaction.
    pub rename: Option<String>,
}

/// The next steps for the index of a template; nothing if it is up to date. The new index is built while searches use
/// the current one, which is then dropped.
pub fn next_steps(spi: &Connection, template: &Template) -> Steps {
    let mut steps = Steps::default();
    let Some(best) = table::document_class_name(spi) else { return steps };
    let name = table::index_name(template.id);
    let [next, former] = ["next", "former"].map(|state| format!("{name}_{state}"));
    let found = |name: &str| -> Option<(String, bool)> {
        let rows = spi.run_once(
            "select c.opcname::text, i.indisvalid from pg_catalog.pg_index i \
             join pg_catalog.pg_opclass c on c.oid = i.indclass[0] \
             where i.indexrelid = pg_catalog.to_regclass('keyed_state.' || $1)",
            Snapshot::Latest,
            &params![name],
        );
        (!rows.is_empty()).then(|| (rows.get(0, 0), rows.get(0, 1)))
    };
    let is_best = |index: &Option<(String, bool)>| index.as_ref().is_some_and(|it| it.1 && it.0 == best);
    let drop = |name: &str| format!("drop index concurrently keyed_state.{name}");
    let (present, prepared) = (found(&name), found(&next));
    if is_best(&present) {
        steps
            .alone
            .extend([&next, &former].into_iter().filter(|name| found(name).is_some()).map(|it| drop(it)));
    } else if is_best(&prepared) {
        let old = present.map(|_| format!("alter index keyed_state.{name} rename to {former}; "));
        let old = old.unwrap_or_default();
        steps.rename = Some(format!("{old}alter index keyed_state.{next} rename to {name}"));
    } else {
        steps.alone.extend(prepared.map(|_| drop(&next)));
        steps.alone.push(format!(
            "create index concurrently {next} on {} using gin (document {})",
            SideTable::Documents.sql(template.id),
            format_args!("keyed.{best}")
        ));
    }
    steps
}
