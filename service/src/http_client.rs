//! The HTTP client, for embedding providers and for commands that call a proxy.

use std::time::Duration;

use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::tls;

/// A client that keeps its connections. It connects directly and ignores HTTP_PROXY and similar variables.
pub type HttpClient<B> = Client<HttpsConnector<HttpConnector>, B>;

/// Creates a client. Without `connect_timeout`, the default of the operating system applies.
pub fn http_client<B: Body<Data: Send> + Send>(
    connect_timeout: Option<Duration>,
) -> anyhow::Result<HttpClient<B>> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(connect_timeout);
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls::client()?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}
