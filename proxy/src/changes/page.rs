//! Pages of the feed. Callers with the same key that request the same page at the same time share one statement.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use futures_util::FutureExt;
use futures_util::future::{Shared, WeakShared};
use keyed_service::statement::{Argument, Statement, flag, number, statement, text};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_postgres::Row;

use super::event;
use crate::admission::{Admitted, ResponseBytes, ResponseKind};
use crate::caller::Caller;
use crate::database::Database;
use crate::database::Effect::PrimaryRead;
use crate::database::transaction::Transaction;
use crate::numbers::Numbers;
use crate::problem::Problem;

const CHANGES: Statement = statement!("changes($4::text, $5::text, $6::int4, $7::bool)");
const CHANGES_UNTIL: Statement = statement!("changes($4::text, $5::text, $6::int4, $7::bool, $8::text)");

/// The representation of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// As the body of a response.
    Json,
    /// As events.
    Events,
}

/// The feed that a caller reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Feed {
    pub(crate) template: Option<String>,
    pub(crate) limit: Option<i32>,
    pub(crate) with_record: bool,
    pub(crate) form: Form,
}

/// The properties in which callers must agree to share pages.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Group {
    token_digest: [u8; 32],
    project: Option<String>,
    numbers: Numbers,
    feed: Feed,
}

impl Group {
    pub(super) fn of(caller: &Caller, feed: &Feed) -> Group {
        Group {
            token_digest: caller.token_digest,
            project: caller.project.clone(),
            numbers: caller.numbers,
            feed: feed.clone(),
        }
    }
}

/// A page.
pub(crate) struct Page {
    /// The page in its representation.
    pub(crate) text: Bytes,
    /// The cursor after it.
    pub(crate) next: String,
    pub(crate) is_empty: bool,
    pub(crate) has_more: bool,
}

/// The text of a page, which counts as a response of its key until it is sent to the last client.
struct CountedText {
    text: String,
    _counted: Option<ResponseBytes>,
}

impl AsRef<[u8]> for CountedText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    changes: Vec<&'a RawValue>,
    #[serde(borrow)]
    next_cursor: Cow<'a, str>,
    has_more: bool,
}

impl Page {
    fn of(row: &Row, caller: &Caller, form: Form) -> Result<Page, Problem> {
        let unexpected = |what: String| Problem::internal(format!("not a page of changes: {what}"));
        let text: String = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
        let counted = caller.admitted.as_ref().and_then(Admitted::take_response);
        // For JSON, the response middleware writes the numbers.
        let text = if form == Form::Events { caller.numbers.write_text(text) } else { text };
        let Body { changes, next_cursor, has_more } =
            serde_json::from_str(&text).map_err(|error| unexpected(error.to_string()))?;
        let (next, is_empty) = (next_cursor.into_owned(), changes.is_empty());
        let text = match form {
            Form::Events => event::events(&changes, &next).map_err(|error| unexpected(error.to_string()))?,
            Form::Json => text,
        };
        let text = Bytes::from_owner(CountedText { text, _counted: counted });
        Ok(Page { text, next, is_empty, has_more })
    }
}

/// A page that is being read: its group, its cursor, and the generation of the project.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Flight {
    group: Group,
    after: Option<String>,
    generation: u64,
}

type Reading = Pin<Box<dyn Future<Output = Result<Arc<Page>, Problem>> + Send>>;

/// The number of pages in flight at which those without a reader are removed.
const MANY: usize = 1000;

/// Reads pages.
pub(super) struct Pages {
    pub(super) database: Arc<Database>,
    flights: Mutex<HashMap<Flight, WeakShared<Reading>>>,
}

impl Pages {
    pub(super) fn new(database: Arc<Database>) -> Pages {
        Pages { database, flights: Mutex::default() }
    }

    /// Reads a page.
    pub(super) async fn read(
        &self,
        caller: &Caller,
        feed: &Feed,
        after: Option<&str>,
    ) -> Result<Page, Problem> {
        read(&self.database, caller, feed, after).await
    }

    /// Reads a page, or shares one that its group reads in the same generation. A statement that starts in a generation
    /// sees the changes that started the generation.
    pub(super) async fn read_shared(
        &self,
        caller: &Arc<Caller>,
        feed: &Feed,
        after: Option<&str>,
        generation: u64,
    ) -> Result<Arc<Page>, Problem> {
        let flight = Flight { group: Group::of(caller, feed), after: after.map(str::to_owned), generation };
        let reading = self.join(&flight, caller, feed);
        let outcome = reading.await;
        // A later caller in the same generation reads the page again.
        self.lock().remove(&flight);
        outcome
    }

    fn join(&self, flight: &Flight, caller: &Arc<Caller>, feed: &Feed) -> Shared<Reading> {
        let mut flights = self.lock();
        if let Some(reading) = flights.get(flight).and_then(WeakShared::upgrade) {
            return reading;
        }
        if flights.len() >= MANY {
            flights.retain(|_, reading| reading.upgrade().is_some());
        }
        let (database, caller, feed) = (Arc::clone(&self.database), Arc::clone(caller), feed.clone());
        let after = flight.after.clone();
        let reading: Reading =
            Box::pin(async move { read(&database, &caller, &feed, after.as_deref()).await.map(Arc::new) });
        let reading = reading.shared();
        if let Some(weak) = reading.downgrade() {
            flights.insert(flight.clone(), weak);
        }
        reading
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Flight, WeakShared<Reading>>> {
        // Nothing that can panic half-way runs under the lock.
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(
    database: &Database,
    caller: &Caller,
    feed: &Feed,
    after: Option<&str>,
) -> Result<Page, Problem> {
    let row = database.call(PrimaryRead, caller, CHANGES, &arguments(feed, &after)).await?;
    Page::of(&row, caller, feed.form)
}

/// Reads a page under the snapshot of a transaction, up to the cursor `until` if there is one.
pub(super) async fn read_within(
    transaction: &mut Transaction<'_>,
    caller: &Caller,
    feed: &Feed,
    after: Option<&str>,
    until: Option<&str>,
) -> Result<Page, Problem> {
    let [template, after, limit, with_record] = arguments(feed, &after);
    let row = transaction.call(CHANGES_UNTIL, &[template, after, limit, with_record, text(&until)]).await?;
    if let Some(admitted) = &caller.admitted {
        admitted.receive(ResponseKind::Read, row.raw_size_bytes())?;
    }
    Page::of(&row, caller, feed.form)
}

fn arguments<'a>(feed: &'a Feed, after: &'a Option<&'a str>) -> [Argument<'a>; 4] {
    [text(&feed.template), text(after), number(&feed.limit), flag(&feed.with_record)]
}
