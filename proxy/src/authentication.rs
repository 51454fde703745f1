//! Authentication of requests: the first request with a credential looks it up in the database.

use std::sync::Arc;

use axum::http::request::Parts;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::admission::{self, Admitted, CredentialKind};
use crate::caller::Admit;
use crate::database::Database;
use crate::observation::Identity;
use crate::problem::Problem;
use crate::state::App;

/// Admits or rejects a request. `digest` is the digest of `token`.
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

/// Whether an API key is known to be valid, without asking the database of `app`.
pub(crate) fn has_valid_key(app: &App, digest: &[u8; 32]) -> bool {
    admission::is_remembered(&app.admission, CredentialKind::ApiKey, digest)
}

/// Whether the database of `app` knows an API key. `trusted`: the key is valid in another database of the service.
pub(crate) async fn knows_key(
    app: &App,
    parts: &Parts,
    token: &[u8],
    digest: [u8; 32],
    trusted: bool,
) -> Result<bool, Problem> {
    let kind = CredentialKind::ApiKey;
    let ask = || {
        let database = Arc::clone(&app.database);
        async move { identify(&database, kind, &digest).await }
    };
    admission::is_known(&app.admission, parts, kind, token, digest, trusted, ask).await
}

/// The owner of the key or token with this digest; `None` if it is invalid.
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
    match database.run_somewhere(statement, &[(&digest, Type::BYTEA)]).await {
        Ok(row) => read(kind, &row).map(|identity| identity.map(Arc::new)),
        Err(problem) if kind.is_rejection(&problem) => Ok(None),
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

impl Admit for App {
    async fn admit_key(
        &self,
        parts: &mut Parts,
        token: &[u8],
        digest: [u8; 32],
    ) -> Result<Admitted, Problem> {
        admit(self, parts, CredentialKind::ApiKey, token, digest).await
    }
}
