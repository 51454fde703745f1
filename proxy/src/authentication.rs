//! Authentication of a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::admission::{self, Admitted, CredentialKind};
use crate::caller::{Caller, caller};
use crate::database::Database;
use crate::database::Effect::Lookup;
use crate::idempotency::Idempotency;
use crate::numbers::Numbers;
use crate::observation::{Identity, Observation};
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
        async move { identify(&database, kind, &digest).await }
    };
    admission::admit(&app.admission, parts, kind, token, digest, ask).await
}

/// Whose a key or a token is, by its digest, if the database knows it.
async fn identify(
    database: &Database,
    kind: CredentialKind,
    digest: &[u8; 32],
) -> Result<Option<Arc<Identity>>, Problem> {
    let statement = match kind {
        CredentialKind::ApiKey => "select keyed_http.key_owner() from keyed.authenticate($1::bytea)",
        CredentialKind::DeliveryToken => "select keyed_http.identify_delivery_token($1::bytea)",
    };
    let digest = digest.as_slice();
    match database.run(Lookup, statement, &[(&digest, Type::BYTEA)]).await {
        Ok(row) => read(kind, &row).map(|identity| identity.map(Arc::new)),
        Err(problem) if kind.is_refusal(&problem) => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn read(kind: CredentialKind, row: &Row) -> Result<Option<Identity>, Problem> {
    let unexpected = |what: String| Problem::internal(format!("not the owner of a credential: {what}"));
    let names: Option<Vec<Option<String>>> = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
    let Some(names) = names else { return Ok(None) };
    let mut names = names.into_iter();
    let first = names.next().flatten().ok_or_else(|| unexpected("no elements".to_owned()))?;
    Ok(Some(match kind {
        CredentialKind::ApiKey => {
            Identity::Key { id: first, role: names.next().flatten(), project: names.next().flatten() }
        }
        CredentialKind::DeliveryToken => Identity::Endpoint { slug: first, project: names.next().flatten() },
    }))
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Caller, Problem> {
        let (token, caller) = caller(&parts.headers)?;
        let token = token.to_owned();
        let numbers = Numbers::of(&parts.uri)?;
        if let (Some(observation), Some(project)) = (Observation::find(&parts.extensions), &caller.project) {
            observation.names_project(project);
        }
        let admitted = admit(app, parts, CredentialKind::ApiKey, &token, caller.token_digest).await?;
        Ok(Caller { numbers, idempotency: Idempotency::of(parts)?, admitted: Some(admitted), ..caller })
    }
}
