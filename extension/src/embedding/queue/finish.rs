//! Results of claims: stored, failed, or released.

use super::claim::check_model;
use super::{MAX_ATTEMPTS, TABLE, require, source};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::embedding::require_writable;
use crate::record::read;
use crate::template::Template;
use crate::value::vector::{Embedding, Vector};
use crate::vectors::write;
use std::rc::Rc;
use uuid::Uuid;

/// The maximum number of stored characters of a reason.
const MAX_REASON: usize = 500;

/// Stores the vector of a claimed record, or none for a record without text. Returns false, and stores nothing, if the claim
/// has expired or the text has changed.
pub fn store(
    caller: &Caller,
    claim: Uuid,
    record: Uuid,
    hash: &str,
    model: &str,
    vector: Option<Vec<f32>>,
) -> Result<bool, Error> {
    let template = template_of(caller, record)?;
    check_model(model)?;
    let embedding = match vector {
        None => Embedding::Null,
        Some(numbers) => {
            let numbers: Vec<f64> = numbers.into_iter().map(f64::from).collect();
            Embedding::Value(Rc::new(Vector::of(&numbers, "/vector")?))
        }
    };
    // Locks the record before its entry, as every write does.
    match require_writable(caller, &template, record) {
        Err(error) if error.code == Code::NotFound => return Ok(false),
        outcome => outcome?,
    }
    let current = current_hash(&template, record);
    if current.as_ref().map(source::hex).as_deref() != Some(hash) {
        // The trigger has already cancelled the claim, unless triggers were disabled.
        let again = format!(
            "update {TABLE} set state = 'pending', claim = null, due_at = now() where record_id = $1 and claim = $2"
        );
        update(&template, &again, &params![record, claim]);
        return Ok(false);
    }
    let settled = format!(
        "update {TABLE} set state = 'done', claim = null, attempts = 0, error = null, failed_at = null, \
         text_hash = decode($3, 'hex'), model = $4, embedded_at = now() where record_id = $1 and claim = $2"
    );
    if update(&template, &settled, &params![record, claim, hash, model]) == 0 {
        return Ok(false);
    }
    write::put(&template, record, &embedding)?;
    Ok(true)
}

/// Releases a record whose text could not be embedded. It is retried with increasing delay, up to the maximum number of
/// attempts.
pub fn fail(caller: &Caller, claim: Uuid, record: Uuid, reason: &str) -> Result<bool, Error> {
    let template = template_of(caller, record)?;
    let sql = format!(
        "update {TABLE} set claim = null, error = left($3, {MAX_REASON}), failed_at = now(), \
         state = case when attempts >= {MAX_ATTEMPTS} then 'failed' else 'pending' end, \
         due_at = now() + least(5 * 2 ^ attempts, 3600) * (0.75 + random() / 2) * interval '1 second' \
         where record_id = $1 and claim = $2"
    );
    Ok(update(&template, &sql, &params![record, claim, reason]) > 0)
}

/// Releases the unfinished records of a claim without counting an attempt. The claim id is sufficient
/// authorization.
pub fn release(claim: Uuid, reason: Option<&str>, rest: i32) -> Result<i32, Error> {
    require()?;
    if !(0..=86_400).contains(&rest) {
        return Err(Error::at(Code::InvalidValue, "/rest", "rest must be between 0 and 86400 seconds"));
    }
    // Skips locked entries, whose records are getting new text. Waiting for one while holding others
    // could deadlock.
    let sql = format!(
        "with mine as materialized (select j.record_id from {TABLE} j where j.claim = $1 for no key update skip locked) \
         update {TABLE} j set state = 'pending', claim = null, attempts = greatest(j.attempts - 1, 0), \
           due_at = now() + $3 * interval '1 second', error = coalesce(left($2, {MAX_REASON}), j.error), \
           failed_at = case when $2 is null then j.failed_at else now() end \
         from mine where j.record_id = mine.record_id"
    );
    let released = || {
        as_owner(|| {
            connected(|spi| spi.run_once(&sql, Snapshot::Latest, &params![claim, reason, rest]).len() as i32)
        })
    };
    // Skipped entries become due when the lease ends.
    Ok(without_waiting(released).unwrap_or(0))
}

/// The template of a record that the caller can embed.
fn template_of(caller: &Caller, record: Uuid) -> Result<Rc<Template>, Error> {
    require()?;
    let template = read::template_of(caller, record, Action::Update)?;
    caller.require(Action::Read, &template)?;
    Ok(template)
}

/// The hash of the current text of a live record.
fn current_hash(template: &Template, record: Uuid) -> Option<[u8; 32]> {
    let columns = source::columns(template);
    let sql = format!("select {columns} from {} t where t.id = $1", template.table_sql());
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &params![record]);
            (!rows.is_empty() && !template.embed.is_empty())
                .then(|| source::hash(&source::text_of(template, &rows, 0)))
        })
    })
}

fn update(template: &Template, sql: &str, arguments: &[Parameter]) -> usize {
    as_owner(|| connected(|spi| template.run(spi, sql, Snapshot::Latest, arguments).len()))
}
