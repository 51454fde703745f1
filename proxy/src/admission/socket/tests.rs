//! The timeouts of connections.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;

impl Outgoing for DuplexStream {
    fn is_sent(&self) -> bool {
        true
    }

    fn poll_end(&self, _: &mut Context<'_>) -> Poll<io::Result<bool>> {
        Poll::Ready(Ok(true))
    }
}

const SOON: Duration = Duration::from_millis(50);

fn watched(bytes_per_second: usize, stall: Duration) -> (Watched<DuplexStream>, DuplexStream, HeadReceived) {
    let (ours, theirs) = duplex(1000);
    let head_received = HeadReceived::default();
    let rate = MinRate { bytes_per_second, stall };
    (Watched::new(ours, rate, 3 * SOON, SOON, head_received.clone(), Link::default()), theirs, head_received)
}

#[tokio::test]
async fn unfinished_request_head_closes_the_connection() {
    let (mut ours, mut theirs, _) = watched(1, SOON);
    let mut byte = [0];
    // Before its first byte, a connection may be idle.
    assert!(tokio::time::timeout(2 * SOON, ours.read(&mut byte)).await.is_err());
    theirs.write_all(b"GET").await.expect("there is room");
    while ours.read(&mut byte).await.is_ok() {}
}

#[tokio::test]
async fn idle_connection_is_closed() {
    let (mut ours, _theirs, _) = watched(1, SOON);
    assert!(ours.read(&mut [0]).await.is_err());
}

#[tokio::test]
async fn tls_handshake_restarts_the_idle_timeout() {
    let (mut ours, mut theirs, _) = watched(1, SOON);
    theirs.write_all(b"x").await.expect("there is room");
    let mut byte = [0];
    ours.read_exact(&mut byte).await.expect("a byte came");
    ours.restart_timeouts(20 * SOON);
    assert!(tokio::time::timeout(3 * SOON, ours.read(&mut byte)).await.is_err());
}

#[tokio::test]
async fn request_body_has_no_idle_timeout() {
    let (mut ours, mut theirs, head_received) = watched(1, SOON);
    theirs.write_all(b"x").await.expect("there is room");
    let mut byte = [0];
    ours.read_exact(&mut byte).await.expect("a byte came");
    head_received.set();
    assert!(tokio::time::timeout(3 * SOON, ours.read(&mut byte)).await.is_err());
}

#[tokio::test]
async fn unread_response_closes_the_connection() {
    let (mut ours, _theirs, _) = watched(1_000_000, SOON);
    assert!(ours.write_all(&[0; 100_000]).await.is_err());
}

#[tokio::test]
async fn response_may_be_read_at_the_minimum_rate() {
    let (mut ours, mut theirs, _) = watched(1, SOON);
    let reader = tokio::spawn(async move {
        let mut taken = vec![0; 1000];
        for _ in 0..10 {
            sleep(SOON / 2).await;
            theirs.read_exact(&mut taken).await.expect("the response continues");
        }
    });
    ours.write_all(&[0; 10_000]).await.expect("it is taken");
    reader.await.expect("all of it came");
}

#[tokio::test]
async fn response_ends_the_half_closed_timeout() {
    let (mut ours, _theirs, _) = watched(1, SOON);
    ours.link.asked();
    ours.flush().await.expect("it may still read");
    assert!(ours.half_closed.is_some());
    ours.link.responded();
    ours.flush().await.expect("it may still read");
    assert!(ours.half_closed.is_none());
}
