//! A request with `wait`.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::listener::Listener;
use super::page::Page;
use crate::problem::Problem;

/// Returns the first page that is not empty. After the timeout or when the service stops, returns the current page.
pub(crate) async fn poll(
    mut listener: Listener,
    after: Option<String>,
    wait: Duration,
    end: impl Future<Output = ()>,
) -> Result<Arc<Page>, Problem> {
    let (mut end, deadline) = (pin!(end), Instant::now() + wait);
    let mut after = after;
    loop {
        let generation = listener.generation();
        let page = listener.page(after.as_deref(), generation).await?;
        if !page.is_empty || Instant::now() >= deadline {
            return Ok(page);
        }
        after = Some(page.next.clone());
        if page.has_more {
            continue;
        }
        tokio::select! {
            () = listener.moved(generation) => {}
            // The last read also verifies that the key is still valid.
            () = sleep_until(deadline) => {}
            () = &mut end => return Ok(page),
        }
    }
}
