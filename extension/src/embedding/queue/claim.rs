//! Claims: leases of records with missing or outdated vectors, to workers that can read and update these
//! records.

use super::{MAX_ATTEMPTS, TABLE, require, source};
use crate::access::privilege::Privilege;
use crate::access::visibility::{WriteScope, and};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::random;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::{Template, catalog};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;
use uuid::Uuid;

/// The maximum number of records in a claim.
const MAX_TEXTS: i32 = 2048;
/// The maximum lease in seconds.
const MAX_LEASE: i32 = 3600;
/// The maximum total size of the text in a claim. The remaining records are released.
const MAX_BYTES: usize = 16 << 20;
/// The number of attempts if the statement has to wait for an entry.
const ATTEMPTS: usize = 3;
/// The number of records in a chunk. Their text can be long, and the chunk can contain text that is not
/// embedded.
const CHUNK: usize = 64;

/// The result of a claim.
struct Claim {
    token: Uuid,
    /// The entries as JSON, separated by commas.
    entries: String,
    count: i32,
    /// Whether due entries were settled without a new vector.
    is_settled: bool,
}

/// Claims up to `max_texts` records for some seconds, for a worker with this model.
///
/// Returns `{claim, entries: [{record, hash, text}], settled}`. Records that the caller cannot both read and update are
/// skipped. Each claim counts as an attempt.
pub fn claim(caller: &Caller, model: &str, max_texts: i32, lease: i32) -> Result<String, Error> {
    require()?;
    check_model(model)?;
    for (name, number, range) in [("max_texts", max_texts, 1..=MAX_TEXTS), ("lease", lease, 1..=MAX_LEASE)] {
        if !range.contains(&number) {
            let message = format!("{name} must be between {} and {}", range.start(), range.end());
            return Err(Error::at(Code::InvalidValue, format!("/{name}"), message));
        }
    }
    let mut random = [0u8; 16];
    random::fill(&mut random);
    let token = uuid::Builder::from_random_bytes(random).into_uuid();
    let mut claim = Claim { token, entries: String::new(), count: 0, is_settled: false };
    let templates = due(caller);
    for (position, template) in templates.iter().enumerate() {
        // Each template gets a share, so that none starves.
        let left = (templates.len() - position) as i32;
        let share = ((max_texts - claim.count) / left).max(1);
        if claim.count < max_texts {
            as_owner(|| connected(|spi| claim.take(spi, caller, template, model, share, lease)));
        }
    }
    Ok(format!("{{\"claim\":\"{token}\",\"entries\":[{}],\"settled\":{}}}", claim.entries, claim.is_settled))
}

/// Rejects an invalid model name.
pub fn check_model(model: &str) -> Result<(), Error> {
    if (1..=200).contains(&model.chars().count()) {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, "/model", "the name of a model has 1 to 200 characters"))
}

/// The templates with due entries that the caller can embed.
fn due(caller: &Caller) -> Vec<Rc<Template>> {
    let ids: Vec<i32> = as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                &format!(
                    "select t.id from keyed_state.template t where t.embed is not null and exists (select from {TABLE} j \
                     where j.template_id = t.id and j.state in ('pending', 'running') and j.due_at <= now()) order by t.id"
                ),
                Snapshot::Latest,
                &[],
            );
            rows.column::<i32>().collect()
        })
    });
    let may_work = |template: &Rc<Template>| {
        [Privilege::Read, Privilege::Update].into_iter().all(|privilege| caller.holds(privilege, template))
            && template.vector_schema.is_some()
            && !template.embed.is_empty()
    };
    ids.into_iter().filter_map(catalog::by_id).filter(may_work).collect()
}

impl Claim {
    /// Claims up to `max_texts` records of a template.
    fn take(
        &mut self,
        spi: &Connection,
        caller: &Caller,
        template: &Template,
        model: &str,
        max_texts: i32,
        lease: i32,
    ) {
        // Workers crashed on these entries. Locked entries are skipped here and below, because waiting for one while holding
        // others could deadlock with a batch.
        let fail_exhausted = format!(
            "with lost as materialized (select j.record_id from {TABLE} j where j.template_id = $1 \
               and j.state = 'running' and j.due_at <= now() and j.attempts >= {MAX_ATTEMPTS} \
               for no key update skip locked) \
             update {TABLE} j set state = 'failed', claim = null, failed_at = now(), \
               error = coalesce(j.error, 'no worker that claimed the text came back') \
             from lost where j.record_id = lost.record_id"
        );
        without_waiting(|| template.run(spi, &fail_exhausted, Snapshot::Latest, &params![template.id]).len());
        let within = and(WriteScope::of(caller, Action::Update, template).writable.as_deref());
        let claim = format!(
            "with due as materialized (select j.record_id from {TABLE} j \
               join {} t on t.id = j.record_id and t.deleted_at is null{within} \
               where j.template_id = $1 and j.state in ('pending', 'running') and j.due_at <= now() \
               order by j.due_at limit $2 for no key update of j skip locked) \
             update {TABLE} j set state = 'running', claim = $3, attempts = j.attempts + 1, \
               due_at = now() + $4 * interval '1 second' \
             from due where j.record_id = due.record_id \
             returning j.record_id, j.text_hash, j.model",
            template.table_sql()
        );
        let arguments = params![template.id, max_texts, self.token, lease];
        // The hash of the text of each record's vector, if the model is the same.
        let claimed = || -> HashMap<Uuid, Vec<u8>> {
            let rows = template.run(spi, &claim, Snapshot::Latest, &arguments);
            let made_of = rows.iter::<(Uuid, Option<Vec<u8>>, Option<String>)>();
            let is_same_model = |made_by: Option<String>| made_by.as_deref() == Some(model);
            let made_of = made_of.map(|(record, hash, made_by)| {
                (record, hash.filter(|_| is_same_model(made_by)).unwrap_or_default())
            });
            made_of.collect()
        };
        let made_of = (0..ATTEMPTS).find_map(|_| without_waiting(claimed)).unwrap_or_default();
        let records: Vec<Uuid> = made_of.keys().copied().collect();
        let mut portions = records.chunks(CHUNK);
        for portion in portions.by_ref() {
            pgrx::check_for_interrupts!();
            self.add_texts(spi, template, portion, &made_of);
            if self.entries.len() > MAX_BYTES {
                break;
            }
        }
        let rest: Vec<Uuid> = portions.flatten().copied().collect();
        if !rest.is_empty() {
            let sql = format!(
                "update {TABLE} set state = 'pending', claim = null, attempts = attempts - 1, due_at = now() \
                 where record_id = any ($1)"
            );
            template.run(spi, &sql, Snapshot::Latest, &params![rest]);
        }
    }

    /// Adds the text of each claimed record to the result, and settles records whose text is
    /// unchanged.
    fn add_texts(
        &mut self,
        spi: &Connection,
        template: &Template,
        records: &[Uuid],
        made_of: &HashMap<Uuid, Vec<u8>>,
    ) {
        let columns = source::columns(template);
        let sql = format!("select {columns} from {} t where t.id = any ($1)", template.table_sql());
        let rows = template.run(spi, &sql, Snapshot::Latest, &params![records]);
        let mut unchanged = Vec::new();
        for row in 0..rows.len() {
            let Some(record) = rows.get::<Option<Uuid>>(row, 0) else { continue };
            let text = source::text_of(template, &rows, row);
            let hash = source::hash(&text);
            if made_of.get(&record).is_some_and(|made_of| made_of[..] == hash) {
                unchanged.push(record);
                continue;
            }
            if self.count > 0 {
                self.entries.push(',');
            }
            self.count += 1;
            let hash = source::hex(&hash);
            let _ = write!(self.entries, "{{\"record\":\"{record}\",\"hash\":\"{hash}\",\"text\":");
            json::write_string(&mut self.entries, &text);
            self.entries.push('}');
        }
        if !unchanged.is_empty() {
            self.is_settled = true;
            let sql = format!(
                "update {TABLE} set state = 'done', claim = null, attempts = 0, error = null, failed_at = null \
                 where record_id = any ($1)"
            );
            template.run(spi, &sql, Snapshot::Latest, &params![unchanged]);
        }
    }
}
