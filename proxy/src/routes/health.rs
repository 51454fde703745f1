//! Liveness and readiness.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use keyed_errors::Code;
use keyed_service::shutdown::Shutdown;
use serde_json::{Value, json};

use crate::database::replica::ReplicaStatus;
use crate::problem::Problem;
use crate::readiness::VERSION;
use crate::response;
use crate::state::App;

/// Liveness: the process runs.
pub(crate) async fn alive() -> Response {
    response::json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned())
}

/// Readiness: the database responds and has the functions of this version.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    require_serving(&app.shutdown)?;
    let extension = app.readiness.extension_version().await?;
    let mut body = json!({"status": "ready", "version": VERSION, "extension_version": extension});
    if app.database.replicas().is_some() {
        body["replicas"] = replicas(&app).into();
    }
    Ok(response::json(StatusCode::OK, body.to_string()))
}

/// Rejects a probe of a service that is stopping.
pub(crate) fn require_serving(shutdown: &Shutdown) -> Result<(), Problem> {
    if !shutdown.has_begun() {
        return Ok(());
    }
    Err(Problem::new(Code::Unavailable, "the service is stopping: send requests to another instance"))
}

/// The replicas of a database.
pub(crate) fn replicas(app: &App) -> Vec<Value> {
    let replicas = app.database.replicas();
    replicas.map(|replicas| replicas.status().iter().map(replica).collect()).unwrap_or_default()
}

fn replica(status: &ReplicaStatus) -> Value {
    let mut replica = json!({"replica": status.number, "state": status.state});
    if let Some(lag) = status.lag {
        replica["lag_seconds"] = json!((lag.as_secs_f64() * 10.0).round() / 10.0);
    }
    replica
}
