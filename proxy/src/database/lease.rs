//! A pooled connection for the time of one statement.
//!
//! Dropping the future of a statement does not stop it: the next user of the connection would wait behind it. So a
//! connection whose statement was abandoned (the caller hung up, the answer took too long) does not return to the pool
//! before the statement has ended.

use std::ops::Deref;
use std::time::{Duration, Instant};

use deadpool_postgres::{Client, ClientWrapper, Object};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::pools::Pools;
use keyed_service::tls::database::Connector;

/// How long an abandoned statement may take to end. Nearly all do, and their connections are kept.
const GRACE: Duration = Duration::from_millis(50);

/// How long a cancelled statement may take to end.
const END: Duration = Duration::from_secs(30);

const HELD: &str = "a lease is not used after its release, which consumes it";

pub(crate) struct Lease<'a> {
    /// Empty only once the connection was given back.
    client: Option<Client>,
    connector: &'a Connector,
    pools: &'a Pools,
    /// The first query on an abandoned connection: it queues behind the abandoned statement, and rolls back a
    /// transaction of several statements.
    cleanup: &'static str,
}

impl<'a> Lease<'a> {
    pub(super) fn new(client: Client, connector: &'a Connector, pools: &'a Pools) -> Lease<'a> {
        Lease { client: Some(client), connector, pools, cleanup: "" }
    }

    /// When the connection was opened.
    pub(crate) fn opened(&self) -> Instant {
        Object::metrics(self).created
    }

    /// Says that a transaction of several statements is about to begin.
    pub(crate) fn begin(&mut self) {
        self.cleanup = "rollback";
    }

    /// Gives the connection back, the statement having ended.
    pub(crate) fn release(mut self) {
        if let Some(client) = self.client.take() {
            self.pools.give_back(client);
        }
    }

    /// Takes the connection out of the pool, which may open another in its place.
    pub(crate) fn detach(mut self) -> ClientWrapper {
        Object::take(self.client.take().expect(HELD))
    }

    /// Gives the connection up.
    pub(crate) fn discard(mut self) {
        drop(self.client.take().map(Object::take));
    }
}

impl Deref for Lease<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect(HELD)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let (Some(client), Ok(runtime)) = (self.client.take(), Handle::try_current()) {
            runtime.spawn(clean_up(client, self.connector.clone(), self.pools.clone(), self.cleanup));
        }
    }
}

/// Waits for an abandoned statement to end, or makes it.
async fn clean_up(client: Client, connector: Connector, pools: Pools, cleanup: &'static str) {
    // Once it is answered, nothing of the abandoned statement is left: it was a transaction of its own, or is undone.
    match timeout(GRACE, client.simple_query(cleanup)).await {
        Ok(Ok(_)) => return pools.give_back(client),
        Ok(Err(_)) => {}
        Err(_) => {
            if let Ok(Err(error)) = timeout(END, connector.cancel(client.cancel_token())).await {
                tracing::warn!(%error, "cannot cancel an abandoned statement");
            }
            // The connection stays in the pool until then, so that there are never more statements than connections.
            let _ = timeout(END, client.simple_query("")).await;
        }
    }
    // A cancellation applies to a connection, not to a statement. A late one could cancel a statement of the next
    // user, so the connection is closed.
    drop(Object::take(client));
}
