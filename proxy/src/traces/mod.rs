//! Traces: OpenTelemetry spans of requests. They are built when a request has ended, so requests without tracing have no cost.

/// The exporter of spans.
mod exporter;

use std::borrow::Cow;
use std::time::{Duration, Instant, SystemTime};

use axum::http::{HeaderMap, HeaderName};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt, TraceId, Tracer, TracerProvider};
use opentelemetry::{Context, InstrumentationScope, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

/// The maximum time for exporting the last spans at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The maximum accepted length of either header, which each span repeats. The specification requires support for this length.
const MAX_LENGTH: usize = 512;

/// Whether the environment enables traces; an error if its variables are invalid.
pub fn is_enabled() -> anyhow::Result<bool> {
    exporter::is_enabled(&environment)
}

/// Reads a variable. An empty one counts as not set.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The traces of this process.
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// One moment on the clock of spans and on the clock of requests.
    anchor: (SystemTime, Instant),
}

/// The trace that a request continues, from its headers `traceparent` and `tracestate` (W3C Trace Context).
pub(crate) struct Parent(Context);

/// A period of a request.
pub(crate) struct Span {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: SpanKind,
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) status: Status,
}

impl Traces {
    /// The traces, if the environment enables them.
    pub fn from_environment() -> anyhow::Result<Option<Traces>> {
        let Some(provider) = exporter::provider(&environment)? else { return Ok(None) };
        let scope =
            InstrumentationScope::builder("keyed-proxy").with_version(env!("CARGO_PKG_VERSION")).build();
        let tracer = provider.tracer_with_scope(scope);
        Ok(Some(Traces { provider, tracer, anchor: (SystemTime::now(), Instant::now()) }))
    }

    /// Passes the spans of a request to the exporter, and returns their trace. If the trace is not sampled, nothing is
    /// exported, and `parts` is not called.
    pub(crate) fn export(
        &self,
        parent: Option<&Parent>,
        request: Span,
        parts: impl FnOnce() -> Vec<Span>,
    ) -> Option<TraceId> {
        let ended = request.ended;
        let nothing = Context::new();
        let mut root = self.start(request, parent.map_or(&nothing, |parent| &parent.0));
        let context = root.span_context().clone();
        if context.is_sampled() {
            let within = Context::new().with_remote_span_context(context.clone());
            for part in parts() {
                let ended = part.ended;
                self.start(part, &within).end_with_timestamp(self.time(ended));
            }
        }
        root.end_with_timestamp(self.time(ended));
        context.is_valid().then(|| context.trace_id())
    }

    fn start(&self, span: Span, parent: &Context) -> opentelemetry_sdk::trace::Span {
        let mut started = self
            .tracer
            .span_builder(span.name)
            .with_kind(span.kind)
            .with_start_time(self.time(span.started))
            .with_attributes(span.attributes)
            .start_with_context(&self.tracer, parent);
        started.set_status(span.status);
        started
    }

    fn time(&self, at: Instant) -> SystemTime {
        let (time, instant) = self.anchor;
        match at.checked_duration_since(instant) {
            Some(later) => time + later,
            None => time - instant.duration_since(at),
        }
    }

    /// Exports the remaining spans. It blocks, so it must not run on a thread that drives connections.
    pub fn shut_down(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT) {
            tracing::warn!(%error, "the last spans may not have reached the collector");
        }
    }
}

impl Parent {
    /// Parses the headers. A malformed header counts as absent.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Parent> {
        if !headers.contains_key(TRACEPARENT) {
            return None;
        }
        let mut context = HeaderMap::new();
        for name in [TRACEPARENT, TRACESTATE] {
            context
                .extend(headers.get(&name).filter(|it| it.len() <= MAX_LENGTH).map(|it| (name, it.clone())));
        }
        let parent =
            TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(&context));
        parent.span().span_context().is_valid().then_some(Parent(parent))
    }

    pub(crate) fn trace(&self) -> TraceId {
        self.0.span().span_context().trace_id()
    }
}
