//! Responses to refused connections, which are written directly, without the router.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use uuid::Uuid;

use crate::admission::connections::Full;
use crate::observation::access_log;
use crate::problem::Problem;

/// The timeout of the response.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// 503: a connection over the limit.
pub(super) async fn full(stream: impl AsyncRead + AsyncWrite + Unpin, full: Full, id: Uuid) {
    let head = format!("503 Service Unavailable\r\nretry-after: {}", fastrand::u8(1..=3));
    write_response(stream, &head, &Problem::unavailable(full.message(), String::new()), id).await;
}

/// 400: plain HTTP on a TLS listener.
pub(super) async fn plain(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let problem = Problem::malformed("this port requires TLS, but the request is plain HTTP: use https");
    let id = Uuid::from_u128(fastrand::u128(..));
    access_log::connection(id, 400, None);
    write_response(stream, "400 Bad Request", &problem, id).await;
}

async fn write_response(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    head: &str,
    problem: &Problem,
    id: Uuid,
) {
    let body = problem.render(id);
    let response = format!(
        "HTTP/1.1 {head}\r\ncontent-type: application/problem+json\r\n\
         content-length: {}\r\nx-request-id: {id}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let written = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await?;
        // Closing a connection with unread data sends a reset instead of the response.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    let _ = tokio::time::timeout(PATIENCE, written).await;
}
