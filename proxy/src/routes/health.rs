//! Liveness and readiness.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use keyed_errors::Code;
use serde_json::{Value, json};

use crate::answer;
use crate::database::replica::ReplicaStatus;
use crate::problem::Problem;
use crate::readiness::VERSION;
use crate::state::App;

/// The process lives.
pub(crate) async fn alive() -> Response {
    answer::json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned())
}

/// The database answers, and has the functions.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    if app.shutdown.has_begun() {
        return Err(Problem::new(
            Code::Unavailable,
            "the service drains and is about to stop: send requests to another instance",
        ));
    }
    let extension = app.readiness.extension_version().await?;
    let mut body = json!({"status": "ready", "version": VERSION, "extension_version": extension});
    if let Some(replicas) = app.database.replicas() {
        body["replicas"] = replicas.status().iter().map(replica).collect();
    }
    Ok(answer::json(StatusCode::OK, body.to_string()))
}

fn replica(status: &ReplicaStatus) -> Value {
    let mut replica = json!({"replica": status.number, "state": status.state});
    if let Some(lag) = status.lag {
        replica["lag_seconds"] = json!((lag.as_secs_f64() * 10.0).round() / 10.0);
    }
    replica
}
