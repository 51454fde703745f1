//! A request that is served by one statement, as in most routes.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::Response;
use tokio_postgres::Row;

use crate::caller::Caller;
use crate::conditional::Conditions;
use crate::database::Effect::{self, PrimaryRead, Read, Write};
use crate::problem::Problem;
use crate::query::{self, Prefix, Segments};
use crate::response;
use crate::state::App;
use keyed_service::statement::{Argument, Statement};

/// The caller, and the `N` path parameters.
pub(crate) struct Call<const N: usize> {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    segments: [String; N],
    prefix: Prefix,
    /// Taken when the parameters are parsed.
    uri: Option<Uri>,
    /// Taken when the conditions are applied.
    conditions: Conditions,
}

impl<const N: usize> FromRequestParts<Arc<App>> for Call<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let Segments(segments) = Segments::from_request_parts(parts, app).await?;
        let prefix = Prefix::from_request_parts(parts, app).await?;
        let conditions = Conditions::of(&parts.headers)?;
        Ok(Call { app: Arc::clone(app), caller, segments, prefix, uri: Some(parts.uri.clone()), conditions })
    }
}

impl<const N: usize> Call<N> {
    /// The path parameters, in order.
    pub(crate) fn segments(&self) -> &[String; N] {
        &self.segments
    }

    /// Parses the query parameters. A route that does not call this accepts none.
    pub(crate) fn parameters<const P: usize>(
        &mut self,
        accepted: [&str; P],
    ) -> Result<[Option<Cow<'static, str>>; P], Problem> {
        let uri = self.uri.take().unwrap_or_default();
        let values = query::parameters(&uri, accepted)?;
        Ok(values.map(|value| value.map(|text| Cow::Owned(text.into_owned()))))
    }

    /// Takes the conditions of the request. A write that does not call this rejects a request with conditions.
    pub(crate) fn conditions(&mut self) -> Conditions {
        std::mem::take(&mut self.conditions)
    }

    /// Runs a statement and returns its row.
    pub(crate) async fn ask(
        &self,
        effect: Effect,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Row, Problem> {
        if let Some(uri) = &self.uri {
            let [] = query::parameters(uri, [])?;
        }
        if effect == Write && !self.conditions.is_empty() {
            return Err(Problem::malformed(
                "this route does not accept If-Match and If-None-Match, which apply to requests for one record",
            ));
        }
        self.app.database.call(effect, &self.caller, statement, arguments).await
    }

    /// The response of a read.
    pub(crate) async fn read(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        response::read(&self.ask(Read, statement, arguments).await?)
    }

    /// The response of a read that only the primary can answer.
    pub(crate) async fn read_primary(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        response::read(&self.ask(PrimaryRead, statement, arguments).await?)
    }

    /// The response of a write.
    pub(crate) async fn write(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        response::written(&self.ask(Write, statement, arguments).await?, None)
    }

    /// The response of a write that can create an object, whose Location is below `noun`.
    pub(crate) async fn create(
        &self,
        noun: &str,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        response::written(&self.ask(Write, statement, arguments).await?, Some((self.prefix, noun)))
    }
}
