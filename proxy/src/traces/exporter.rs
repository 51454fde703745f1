//! The exporter of spans: OTLP over HTTP, configured by OpenTelemetry's environment variables.
//!
//! The specification: OpenTelemetry, "OTLP Exporter Configuration" and "Environment Variable Specification".

use std::time::Duration;

use anyhow::{Context, bail};
use async_trait::async_trait;
use axum::body::Body;
use http_body_util::{BodyExt, Limited};
use opentelemetry_http::{Bytes, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tokio::time::timeout;

use keyed_service::http_client::{HttpClient, http_client};

/// The timeout of the collector's response. The environment can set a shorter one.
const PATIENCE: Duration = Duration::from_secs(30);

/// The maximum size of a response from the collector.
const MAX_RESPONSE: usize = 64 << 10;

/// The variables that enable the export. The one for traces takes precedence.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// The sampler. The library treats an unknown value as the default, which exports all spans.
const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// Reads an environment variable.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The provider of spans; `None` if the export is not enabled.
pub(super) fn provider(environment: Environment<'_>) -> anyhow::Result<Option<SdkTracerProvider>> {
    if !is_enabled(environment)? {
        return Ok(None);
    }
    let client = Client { client: http_client(Some(Duration::from_secs(5)))?, runtime: Handle::current() };
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .build()
        .context("the export of traces cannot begin; check the variables OTEL_EXPORTER_OTLP_…")?;
    // The environment detector runs later, so OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    let resource = Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_service_name(environment("OTEL_SERVICE_NAME").unwrap_or_else(|| "keyed-proxy".to_owned()))
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_detector(Box::new(EnvResourceDetector::new()))
        .build();
    Ok(Some(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
}

/// Whether the environment enables traces.
pub(super) fn is_enabled(environment: Environment<'_>) -> anyhow::Result<bool> {
    let is_off = environment("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"))
        || environment("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "none");
    let Some((name, endpoint)) = ENDPOINTS.iter().find_map(|name| Some((name, environment(name)?))) else {
        return Ok(false);
    };
    if is_off {
        return Ok(false);
    }
    if !endpoint
        .parse::<axum::http::Uri>()
        .is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some())
    {
        bail!("{name} must be a URL such as http://127.0.0.1:4318");
    }
    for name in PROTOCOLS {
        match environment(name).as_deref() {
            None | Some("http/protobuf") => {}
            Some(other) => bail!(
                "{name} is {other:?}, but traces are exported only with http/protobuf. Remove it, and use the HTTP port of \
                 the collector, usually 4318"
            ),
        }
    }
    if let Some(sampler) = environment(SAMPLER)
        && !SAMPLERS.contains(&sampler.as_str())
    {
        bail!("{SAMPLER} is {sampler:?}, but must be one of {}", SAMPLERS.join(", "));
    }
    Ok(true)
}

/// The HTTP client of the exporter.
///
/// The exporter runs on a separate thread, outside of the runtime that drives connections.
#[derive(Debug)]
struct Client {
    client: HttpClient<Body>,
    runtime: Handle,
}

#[async_trait]
impl opentelemetry_http::HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let exchange = async move {
            let response = client.request(request.map(Body::from)).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MAX_RESPONSE).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(head, body))
        };
        // The timeout also needs the runtime.
        self.runtime.spawn(async move { timeout(PATIENCE, exchange).await }).await??
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enabled(variables: &[(&str, &str)]) -> Result<bool, String> {
        let environment = |name: &str| {
            variables.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned())
        };
        is_enabled(&environment).map_err(|error| error.to_string())
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");

    #[test]
    fn traces_are_exported_when_the_environment_names_an_endpoint() {
        assert_eq!(enabled(&[]), Ok(false));
        assert_eq!(enabled(&[ENDPOINT]), Ok(true));
        assert_eq!(enabled(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c/v1/traces")]), Ok(true));
        assert_eq!(enabled(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")]), Ok(false));
        assert_eq!(enabled(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), Ok(false));
    }

    #[test]
    fn unsupported_protocol_and_invalid_endpoint_are_rejected() {
        let message = enabled(&[ENDPOINT, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).expect_err("no gRPC");
        assert!(message.contains("http/protobuf"), "{message}");
        for endpoint in ["collector:4318", "grpc://collector:4317", "http:///v1", ""] {
            let message = enabled(&[(ENDPOINT.0, endpoint)]).expect_err(endpoint);
            assert!(message.contains("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL"), "{message}");
        }
    }

    #[test]
    fn unknown_sampler_is_rejected() {
        for sampler in SAMPLERS {
            assert_eq!(enabled(&[ENDPOINT, (SAMPLER, sampler)]), Ok(true));
        }
        let message = enabled(&[ENDPOINT, (SAMPLER, "traceidration")]).expect_err("no such sampler");
        assert!(
            message.contains("OTEL_TRACES_SAMPLER is") && message.contains("traceidratio, "),
            "{message}"
        );
    }
}
