//! Authentication of a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio_postgres::types::Type;

use crate::admission::{self, Admitted, CredentialKind};
use crate::caller::{Caller, caller};
use crate::database::Database;
use crate::database::Effect::Lookup;
use crate::idempotency::Idempotency;
use crate::problem::Problem;
use crate::state::App;

/// Admits a request, or refuses it. `digest` is the digest of `token`.
pub(crate) async fn admit(
    app: &App,
    parts: &mut Parts,
    kind: CredentialKind,
    token: &[u8],
    digest: [u8; 32],
) -> Result<Admitted, Problem> {
    let ask = || {
        let database = Arc::clone(&app.database);
        async move { knows(&database, kind, &digest).await }
    };
    admission::admit(&app.admission, parts, kind, token, digest, ask).await
}

/// Whether the database knows a key or a token, by its digest.
async fn knows(database: &Database, kind: CredentialKind, digest: &[u8; 32]) -> Result<bool, Problem> {
    let statement = match kind {
        CredentialKind::ApiKey => "select keyed.authenticate($1::bytea)",
        CredentialKind::DeliveryToken => "select keyed_http.knows_delivery_token($1::bytea)",
    };
    let digest = digest.as_slice();
    match database.run(Lookup, statement, &[(&digest, Type::BYTEA)]).await {
        Ok(row) => row.try_get(0).map_err(|error| Problem::internal(format!("not a yes or no: {error}"))),
        Err(problem) if kind.is_refusal(&problem) => Ok(false),
        Err(problem) => Err(problem),
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Caller, Problem> {
        let (token, caller) = caller(&parts.headers)?;
        let token = token.to_owned();
        let admitted = admit(app, parts, CredentialKind::ApiKey, &token, caller.token_digest).await?;
        Ok(Caller { idempotency: Idempotency::of(parts)?, admitted: Some(admitted), ..caller })
    }
}
