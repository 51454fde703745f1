//! The listening socket: opened by the service, or passed by systemd, which keeps it open during restarts.

use anyhow::Context;
use listenfd::ListenFd;
use tokio::net::TcpListener;

use keyed_proxy::settings::Settings;

/// The socket passed by the service manager, if any, otherwise a socket at the configured address.
pub(super) async fn listen(settings: &Settings) -> anyhow::Result<TcpListener> {
    let mut handed = ListenFd::from_env();
    if handed.len() > 1 {
        anyhow::bail!("the service manager passed {} sockets: the service needs one", handed.len());
    }
    if handed.len() == 1 {
        let listener =
            handed.take_tcp_listener(0).context("the socket of the service manager is not for TCP")?;
        let listener = listener.context("the socket of the service manager cannot be used")?;
        listener.set_nonblocking(true)?;
        tracing::info!("the service manager passed a socket: KEYED_LISTEN is not used");
        return Ok(TcpListener::from_std(listener)?);
    }
    TcpListener::bind(&settings.listen)
        .await
        .with_context(|| format!("cannot listen on {} (KEYED_LISTEN)", settings.listen))
}
