//! An OpenTelemetry collector: POST /v1/traces, OTLP over HTTP in protobuf.

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::span;
use prost::Message;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

/// A received span.
#[derive(Clone, Debug)]
pub struct Span {
    /// The attributes of the service that sent the span.
    pub resource: Vec<(String, String)>,
    /// The span itself.
    pub span: opentelemetry_proto::tonic::trace::v1::Span,
}

impl Span {
    /// The value of an attribute, as text.
    pub fn attribute(&self, name: &str) -> Option<String> {
        strings(&self.span.attributes).into_iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }

    /// The trace id in hexadecimal.
    pub fn trace_id(&self) -> String {
        self.span.trace_id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the span is a server's handling of a request.
    pub fn is_of_server(&self) -> bool {
        self.span.kind() == span::SpanKind::Server
    }
}

fn strings(attributes: &[KeyValue]) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let value = |it: &KeyValue| it.value.as_ref().and_then(|any| any.value.as_ref()).map(text);
    attributes.iter().map(|it| (it.key.clone(), value(it).unwrap_or_default())).collect()
}

/// The collector. It ends when it is dropped.
pub struct Collector {
    address: SocketAddr,
    spans: Arc<Mutex<Vec<Span>>>,
    bodies: Arc<Mutex<Vec<u8>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Collector {
    /// Starts a collector.
    pub async fn start() -> Self {
        let (spans, bodies) = (Arc::<Mutex<Vec<Span>>>::default(), Arc::<Mutex<Vec<u8>>>::default());
        let (arrived, raw) = (Arc::clone(&spans), Arc::clone(&bodies));
        let take = async move |body: Bytes| -> StatusCode {
            let Ok(request) = ExportTraceServiceRequest::decode(body.clone()) else {
                return StatusCode::BAD_REQUEST;
            };
            raw.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&body);
            let mut arrived = arrived.lock().unwrap_or_else(PoisonError::into_inner);
            for group in request.resource_spans {
                let resource = strings(&group.resource.map(|it| it.attributes).unwrap_or_default());
                let spans = group.scope_spans.into_iter().flat_map(|scope| scope.spans);
                arrived.extend(spans.map(|span| Span { resource: resource.clone(), span }));
            }
            StatusCode::OK
        };
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let task = tokio::spawn(async move {
            let router = Router::new().route("/v1/traces", post(take));
            axum::serve(listener, router).await.expect("the collector runs until it is dropped");
        });
        Self { address, spans, bodies, task }
    }

    /// The base URL, for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans received so far.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bytes of all requests received so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the span of the request with this id, and returns it with its child spans, ordered by time.
    pub async fn request(&self, request_id: &str) -> (Span, Vec<Span>) {
        let mut found = None;
        crate::until("the collector has the request", async || {
            let spans = self.spans();
            let is_it = |span: &&Span| span.attribute("keyed.request_id").as_deref() == Some(request_id);
            found = spans.iter().find(is_it).cloned();
            found.is_some()
        })
        .await;
        let request = found.expect("the record was found");
        let mut parts = self.spans();
        parts.retain(|span| span.span.parent_span_id == request.span.span_id);
        parts.sort_by_key(|span| span.span.start_time_unix_nano);
        (request, parts)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}
