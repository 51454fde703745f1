//! Traces: a request as spans of OpenTelemetry, built when the request has ended, so that a request without them costs nothing.

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

/// How long the last spans may take to reach the collector when the proxy stops.
const LAST_EXPORT: Duration = Duration::from_secs(5);

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The most that is taken of either: as much as the specification wants to be passed on. Each span repeats it.
const LONGEST: usize = 512;

/// Whether the environment asks for traces, or why that cannot be.
pub fn is_wanted() -> anyhow::Result<bool> {
    exporter::is_wanted(&environment)
}

/// A variable. An empty one counts as not set.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The traces of this process.
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// The same moment on the clock of spans and on that of requests.
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
    /// The traces that the environment asks for, if any.
    pub fn from_environment() -> anyhow::Result<Option<Traces>> {
        let Some(provider) = exporter::provider(&environment)? else { return Ok(None) };
        let scope =
            InstrumentationScope::builder("keyed-proxy").with_version(env!("CARGO_PKG_VERSION")).build();
        let tracer = provider.tracer_with_scope(scope);
        Ok(Some(Traces { provider, tracer, anchor: (SystemTime::now(), Instant::now()) }))
    }

    /// Hands the spans of a request to the exporter, and returns the trace in which they are. Without a sampled trace, nothing
    /// is exported, and `parts` is not called.
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

    /// Exports what is left. It blocks, so it must not run on a thread that drives connections.
    pub fn shut_down(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST_EXPORT) {
            tracing::warn!(%error, "the last spans may not have reached the collector");
        }
    }
}

impl Parent {
    /// A header that is not well-formed counts as absent.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Parent> {
        if !headers.contains_key(TRACEPARENT) {
            return None;
        }
        let mut context = HeaderMap::new();
        for name in [TRACEPARENT, TRACESTATE] {
            context.extend(headers.get(&name).filter(|it| it.len() <= LONGEST).map(|it| (name, it.clone())));
        }
        let parent =
            TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(&context));
        parent.span().span_context().is_valid().then_some(Parent(parent))
    }

    pub(crate) fn trace(&self) -> TraceId {
        self.0.span().span_context().trace_id()
    }
}
