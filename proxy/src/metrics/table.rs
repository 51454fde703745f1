//! The list of all metrics: name, type, labels and help. Tests compare the documentation, dashboards and alerts with it.

use prometheus::{
    CounterVec, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    Opts, Registry,
};

/// Buckets from the lookup of a record to the longest statement.
const REQUEST: [f64; 16] =
    [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Buckets of waits and round trips.
const WAIT: [f64; 11] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0];

/// Buckets of calls of an embedding provider.
const PROVIDER: [f64; 10] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
    /// A read of one record through an index.
    Lookup,
    Read,
    Write,
    /// Part of an import or export.
    File,
}

impl StatementKind {
    pub(super) const ALL: [StatementKind; 4] =
        [StatementKind::Lookup, StatementKind::Read, StatementKind::Write, StatementKind::File];

    pub(super) fn name(self) -> &'static str {
        match self {
            StatementKind::Lookup => "lookup",
            StatementKind::Read => "read",
            StatementKind::Write => "write",
            StatementKind::File => "file",
        }
    }
}

/// One metric.
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) labels: &'static [&'static str],
    pub(super) help: &'static str,
}

/// Declares the metrics: a field of [`Series`] and a line of [`TABLE`] each.
macro_rules! metrics {
    ($(#[doc = $help:literal] $field:ident: $kind:ident $name:literal [$($label:literal),*] $(in $buckets:ident)?;)*) => {
        /// The metrics of the process.
        pub struct Series {
            $(#[doc = $help] pub(crate) $field: $kind,)*
        }

        /// Their list, in the order of the reference page.
        pub(super) static TABLE: &[Definition] = &[$(Definition {
            name: $name,
            kind: kind_of(stringify!($kind)),
            labels: &[$($label),*],
            help: $help.trim_ascii_start(),
        },)*];

        impl Series {
            pub(super) fn new(registry: &Registry) -> Series {
                $(let $field: $kind = New::new(
                    Opts::new($name, $help.trim_ascii_start()),
                    &[$($label),*],
                    <[&[f64]]>::concat(&[$(&$buckets[..])?]).as_slice(),
                );
                let registered = registry.register(Box::new($field.clone()));
                debug_assert!(registered.is_ok(), "{registered:?}");)*
                Series { $($field,)* }
            }
        }
    };
}

const fn kind_of(kind: &str) -> &'static str {
    match kind.as_bytes() {
        [b'I', b'n', b't', b'C', ..] | [b'C', ..] => "counter",
        [b'H', ..] => "histogram",
        _ => "gauge",
    }
}

metrics! {
    /// Completed requests. Status 499: the client disconnected before the response.
    requests: IntCounterVec "keyed_http_requests_total" ["route", "method", "status"];
    /// Time from the head of a request to the end of its response.
    request_seconds: HistogramVec "keyed_http_request_duration_seconds" ["route", "method"] in REQUEST;
    /// Bytes of request bodies.
    request_bytes: IntCounterVec "keyed_http_request_bytes_total" ["route", "method"];
    /// Bytes of response bodies, as sent.
    response_bytes: IntCounterVec "keyed_http_response_bytes_total" ["route", "method"];
    /// Requests in flight.
    in_flight: IntGauge "keyed_http_requests_in_flight" [];
    /// Requests that wait for changes: `GET /changes` with `wait`, or as an event stream.
    listeners: IntGauge "keyed_http_listeners" [];
    /// Requests and connections that a limit rejected.
    rejected: IntCounterVec "keyed_http_rejected_total" ["reason"];
    /// Responses that ended early: the client disconnected (`client`), read too slowly (`slow_client`), or the proxy had an error after the status was sent (`proxy`).
    interrupted: IntCounterVec "keyed_http_responses_interrupted_total" ["by"];
    /// Open connections of clients.
    connections: IntGauge "keyed_http_connections" [];
    /// Accepted connections of clients.
    connections_accepted: IntCounter "keyed_http_connections_accepted_total" [];
    /// Requests that received the stored response of their Idempotency-Key.
    replays: IntCounter "keyed_http_idempotent_replays_total" [];

    /// Connections to the database that are not shared, by state: in_use or idle.
    pool_connections: GaugeVec "keyed_pool_connections" ["state"];
    /// Maximum connections to the database that are not shared.
    pool_limit: Gauge "keyed_pool_connections_limit" [];
    /// Requests that wait for a connection to the database.
    pool_waiting: Gauge "keyed_pool_waiting" [];
    /// Time that requests waited for a connection to the database.
    pool_wait: Histogram "keyed_pool_wait_seconds" [] in WAIT;
    /// Shared connections to the database, by state: usable or stuck.
    shared_connections: GaugeVec "keyed_shared_connections" ["state"];
    /// Lookups that wait for their response on a shared connection.
    shared_queue: Gauge "keyed_shared_queue" [];
    /// Duration of statements of requests, by kind: lookup, read, write, or file for imports and exports.
    statement_seconds: HistogramVec "keyed_database_statement_duration_seconds" ["kind"] in REQUEST;
    /// Errors that the database reported, including those of attempts that were retried.
    database_errors: IntCounterVec "keyed_database_errors_total" ["sqlstate"];
    /// Retried statements, by reason: conflict, connection_lost, read_only, shared_stuck, shared_error or replica: a read that a replica could not answer, sent to the primary.
    retries: IntCounterVec "keyed_database_retries_total" ["reason"];
    /// Reads that a replica could answer, by the server that they were sent to first: replica or primary. Absent without KEYED_READ_URL.
    reads: IntCounterVec "keyed_database_reads_total" ["target"];
    /// Reads with X-Keyed-Position, by outcome: current (a replica had replayed it), replayed (a replica replayed it within KEYED_READ_WAIT) or timed_out (the primary answered). Absent without KEYED_READ_URL.
    position_waits: IntCounterVec "keyed_position_waits_total" ["outcome"];
    /// State of each replica: 1 for its current state, else 0. Absent without KEYED_READ_URL.
    replica_state: GaugeVec "keyed_replica_state" ["replica", "state"];
    /// Lag of each replica: the age of the newest position of the primary that it has replayed, to half a second. Absent while it is unknown.
    replica_lag: GaugeVec "keyed_replica_lag_seconds" ["replica"];
    /// Round trip of a small query on a separate connection, every two seconds.
    round_trip: Histogram "keyed_database_round_trip_seconds" [] in WAIT;
    /// Whether requests are served: 1 if /readyz responds with 200.
    ready: Gauge "keyed_ready" [];

    /// Running imports.
    imports_running: IntGauge "keyed_imports_running" [];
    /// Completed imports, by outcome: complete, rejected or failed.
    imports: IntCounterVec "keyed_imports_total" ["outcome"];
    /// Rows of imports, by outcome: created, updated, unchanged or failed. Includes imports that were rolled back.
    import_rows: IntCounterVec "keyed_import_rows_total" ["outcome"];
    /// Bytes of imported files.
    import_bytes: IntCounter "keyed_import_bytes_total" [];
    /// Running exports.
    exports_running: IntGauge "keyed_exports_running" [];
    /// Completed exports, by outcome: complete or failed.
    exports: IntCounterVec "keyed_exports_total" ["outcome"];
    /// Bytes of exported files, before compression.
    export_bytes: IntCounter "keyed_export_bytes_total" [];
    /// Inbound deliveries, by outcome: accepted, rejected (stored for a replay), unauthorized, invalid (not stored) or failed.
    deliveries: IntCounterVec "keyed_inbound_deliveries_total" ["outcome"];

    /// Texts of records that this process has processed, by outcome: embedded or failed.
    embedded: IntCounterVec "keyed_embedding_texts_total" ["outcome"];
    /// Duration of calls to the embedding provider, by outcome: ok or failed.
    provider_seconds: HistogramVec "keyed_embedding_provider_duration_seconds" ["outcome"] in PROVIDER;

    /// Attempts of this process to deliver webhooks, by outcome: delivered or failed.
    webhooks: IntCounterVec "keyed_webhook_attempts_total" ["outcome"];
    /// Duration of attempts to deliver webhooks, by outcome: delivered or failed.
    webhook_seconds: HistogramVec "keyed_webhook_attempt_duration_seconds" ["outcome"] in PROVIDER;

    /// Age of the measurements of the database, which are omitted after 5 minutes without a response.
    measurements_age: Gauge "keyed_measurements_age_seconds" [];
    /// Whether the last query of measurements succeeded.
    measurements_up: Gauge "keyed_measurements_up" [];

    /// Expiry of the listener's certificate, in seconds since 1970. Absent without TLS.
    certificate_expiry: GaugeVec "keyed_certificate_expiry_timestamp_seconds" [];
    /// Lines of the log that were lost because its reader was too slow.
    log_lost: IntCounter "keyed_log_lines_lost_total" [];
    /// The version of the proxy.
    build: GaugeVec "keyed_build_info" ["version"];
    /// CPU time of the process.
    cpu: CounterVec "process_cpu_seconds_total" [];
    /// Memory of the process.
    resident: Gauge "process_resident_memory_bytes" [];
    /// Virtual memory of the process.
    virtual_memory: Gauge "process_virtual_memory_bytes" [];
    /// Open file descriptors.
    open_fds: Gauge "process_open_fds" [];
    /// Maximum number of open file descriptors.
    max_fds: Gauge "process_max_fds" [];
    /// Threads of the process.
    threads: Gauge "process_threads" [];
    /// Start of the process, in seconds since 1970.
    start_time: Gauge "process_start_time_seconds" [];
}

/// Creates a metric. Names and labels are constant, so a unit test that creates all metrics proves that they are valid.
trait New: Sized {
    fn new(options: Opts, labels: &[&str], buckets: &[f64]) -> Self;
}

macro_rules! new {
    ($($kind:ident: $make:expr;)*) => {$(
        impl New for $kind {
            fn new(options: Opts, labels: &[&str], buckets: &[f64]) -> $kind {
                let make: fn(Opts, &[&str], &[f64]) -> prometheus::Result<$kind> = $make;
                make(options, labels, buckets).expect("constant names and labels, which a test creates")
            }
        }
    )*};
}

new! {
    IntCounter: |options, _, _| IntCounter::with_opts(options);
    IntCounterVec: |options, labels, _| IntCounterVec::new(options, labels);
    CounterVec: |options, labels, _| CounterVec::new(options, labels);
    IntGauge: |options, _, _| IntGauge::with_opts(options);
    Gauge: |options, _, _| Gauge::with_opts(options);
    GaugeVec: |options, labels, _| GaugeVec::new(options, labels);
    Histogram: |options, _, buckets| {
        Histogram::with_opts(HistogramOpts { common_opts: options, buckets: buckets.to_vec() })
    };
    HistogramVec: |options, labels, buckets| {
        HistogramVec::new(HistogramOpts { common_opts: options, buckets: buckets.to_vec() }, labels)
    };
}
