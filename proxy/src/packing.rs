//! The compression threads. They are separate from the threads that serve lookups, have a lower priority, and process
//! one response of a key at a time.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

/// The size of the pieces in which a body is compressed.
const PIECE: usize = 16 << 10;

/// The number of keys at which those without a response are removed.
const MANY: usize = 1000;

/// The nice value of these threads.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// `None` if the threads cannot be started. Responses are then compressed on the sending thread.
static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(cores).thread_name("packing").on_thread_start(|| {
        // Affects only this thread. If it fails, the priority does not change.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(NICE);
    });
    builder.build().inspect_err(|error| tracing::warn!(%error, "no threads to compress responses")).ok()
});

static SEMAPHORES: LazyLock<Mutex<HashMap<String, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// The semaphore of a caller, which each of its responses acquires.
fn semaphore(caller: String) -> Arc<Semaphore> {
    let mut semaphore = SEMAPHORES.lock().unwrap_or_else(PoisonError::into_inner);
    if semaphore.len() > MANY {
        semaphore.retain(|_, semaphore| semaphore.strong_count() > 0);
    }
    if let Some(known) = semaphore.get(&caller).and_then(Weak::upgrade) {
        return known;
    }
    let new = Arc::new(Semaphore::new(1));
    semaphore.insert(caller, Arc::downgrade(&new));
    new
}

/// A body that is produced by the compression threads. Responses in memory of the same known caller are compressed one
/// at a time; others are not limited.
pub(crate) fn offload(mut body: Body, is_in_memory: bool, caller: Option<String>) -> Body {
    let Some(runtime) = &*RUNTIME else { return body };
    if body.is_end_stream() {
        return body;
    }
    let semaphore = caller.filter(|_| is_in_memory).map(semaphore);
    let (sender, receiver) = mpsc::channel(1);
    runtime.spawn(async move {
        let work = async {
            loop {
                let turn = match &semaphore {
                    Some(semaphore) => semaphore.acquire().await.ok(),
                    None => None,
                };
                let (piece, is_over) = piece(&mut body).await;
                drop(turn);
                if piece.as_ref().is_ok_and(Bytes::is_empty) && is_over {
                    break;
                }
                if sender.send(piece).await.is_err() || is_over {
                    break;
                }
            }
        };
        tokio::select! {
            () = work => {}
            // The client has stopped reading.
            () = sender.closed() => {}
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

/// The next bytes, and whether they are the last.
async fn piece(body: &mut Body) -> (Result<Bytes, axum::Error>, bool) {
    let mut piece = Vec::new();
    while piece.len() < PIECE {
        match body.frame().await {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    if piece.is_empty() && data.len() >= PIECE {
                        return (Ok(data), false);
                    }
                    piece.extend_from_slice(&data);
                }
            }
            Some(Err(error)) => return (Err(error), true),
            None => return (Ok(piece.into()), true),
        }
    }
    (Ok(piece.into()), false)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use axum::body::to_bytes;
    use futures_util::{StreamExt as _, stream};

    use super::*;

    fn named(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    #[tokio::test]
    async fn compression_thread_keeps_the_body() {
        for size in [0, 1, PIECE, 10 * PIECE + 7] {
            let content: Vec<u8> = (0..size).map(|number| number as u8).collect();
            let pieces: Vec<Result<Bytes, axum::Error>> =
                content.chunks(1000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
            let body = offload(Body::from_stream(stream::iter(pieces)), true, named("a"));
            assert_eq!(to_bytes(body, usize::MAX).await.expect("no errors"), content);
        }
    }

    #[tokio::test]
    async fn error_follows_the_earlier_chunks() {
        let pieces = [Ok(Bytes::from_static(&[b'x'; PIECE])), Err(axum::Error::new("broken"))];
        let body = offload(Body::from_stream(stream::iter(pieces)), true, None);
        let mut stream = body.into_data_stream();
        assert_eq!(stream.next().await.map(|piece| piece.map(|bytes| bytes.len()).ok()), Some(Some(PIECE)));
        assert!(stream.next().await.is_some_and(|piece| piece.is_err()));
    }

    #[tokio::test]
    async fn caller_compresses_one_response_at_a_time() {
        let waits = || Body::from_stream(stream::once(pending::<Result<Bytes, axum::Error>>()));
        let first = offload(waits(), true, named("busy"));
        while semaphore("busy".to_owned()).available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let whole = || Body::from_stream(stream::iter([Ok::<_, axum::Error>(Bytes::from_static(b"x"))]));
        let mut second = offload(whole(), true, named("busy")).into_data_stream();
        let other = to_bytes(offload(whole(), true, named("other")), 10).await.expect("no errors");
        assert_eq!(other, "x");
        assert!(
            futures_util::FutureExt::now_or_never(second.next()).is_none(),
            "it waits for the first response"
        );
        drop(first);
        assert!(second.next().await.is_some_and(|piece| piece.is_ok()), "the first response is complete");
    }
}
