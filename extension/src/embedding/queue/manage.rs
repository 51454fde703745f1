//! Retries and re-embedding for administrators.

use super::{TABLE, definition, require};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::Template;

/// Retries failed records of a template, or of all templates that the caller can see. Returns their number.
pub fn retry(template: Option<&Template>) -> Result<i64, Error> {
    let caller = Caller::current();
    caller.require_admin("retry embeddings")?;
    require()?;
    let projects = caller.projects();
    let template = template.map(|template| template.id);
    Ok(as_owner(|| {
        connected(|spi| {
            lock(spi);
            let sql = format!(
                "update {TABLE} set state = 'pending', attempts = 0, due_at = now() \
                 where state = 'failed' and ($1 is null or template_id = $1) and ($2 is null or template_id in ( \
                   select t.id from keyed_state.template t where t.project_id = any ($2)))"
            );
            spi.run_once(&sql, Snapshot::Latest, &params![template, projects]).len() as i64
        })
    }))
}

/// Queues all records of a template again, or only those whose vectors come from another model. Vectors set by
/// callers remain. Returns the number of queued records.
pub fn reembed(template: &Template, other_than: Option<&str>) -> Result<i64, Error> {
    Caller::current().require_admin("embed a template again")?;
    require()?;
    if template.embed.is_empty() {
        return Err(Error::new(
            Code::InvalidValue,
            format!("{} has no embedded attributes", template.full_name()),
        )
        .hint(
            "Name the attributes first: SELECT keyed.alter_template(template, '{\"embed\": [\"title\"]}').",
        ));
    }
    Ok(as_owner(|| {
        connected(|spi| {
            lock(spi);
            let sql = format!(
                "update {TABLE} set text_hash = null, attempts = 0, claim = null, due_at = now(), error = null, \
                 failed_at = null, state = case when state = 'deleted' then state else 'pending' end \
                 where template_id = $1 and not by_hand and ($2 is null or model is distinct from $2)"
            );
            spi.run_once(&sql, Snapshot::Latest, &params![template.id, other_than]);
            // Records that were written while triggers were disabled are not in the queue.
            if other_than.is_none() {
                definition::enqueue(spi, template, "nothing");
            }
            let count = format!(
                "select count(*) from {TABLE} where template_id = $1 and state in ('pending', 'running')"
            );
            let rows = spi.run_once(&count, Snapshot::Latest, &params![template.id]);
            rows.get::<Option<i64>>(0, 0).unwrap_or_default()
        })
    }))
}

/// Blocks writers of the queue. Many entries are updated, not in the lock order of batches.
fn lock(spi: &Connection) {
    spi.script(&format!("lock table {TABLE} in share row exclusive mode"));
}
