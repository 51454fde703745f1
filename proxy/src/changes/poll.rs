//! A request that waits until there is something to answer.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::listener::Listener;
use super::page::Page;
use crate::problem::Problem;

/// The first page that is not empty; after this time, or when the service ends, the one that there is.
pub(crate) async fn poll(
    mut listener: Listener,
    after: Option<String>,
    wait: Duration,
    end: impl Future<Output = ()>,
) -> Result<Arc<Page>, Problem> {
    let (mut end, deadline) = (pin!(end), Instant::now() + wait);
    let mut after = after;
    loop {
        let turn = listener.turn();
        let page = listener.page(after.as_deref(), turn).await?;
        if !page.is_empty || Instant::now() >= deadline {
            return Ok(page);
        }
        after = Some(page.next.clone());
        if page.has_more {
            continue;
        }
        tokio::select! {
            () = listener.moved(turn) => {}
            // Once more: whether the key is still valid.
            () = sleep_until(deadline) => {}
            () = &mut end => return Ok(page),
        }
    }
}
