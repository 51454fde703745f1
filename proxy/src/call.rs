//! A request that one statement answers, as most routes are.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::Response;
use tokio_postgres::Row;

use crate::answer;
use crate::caller::Caller;
use crate::conditional::Conditions;
use crate::database::Effect::{self, PrimaryRead, Read, Write};
use crate::problem::Problem;
use crate::query::{self, Prefix, Segments};
use crate::state::App;
use keyed_service::statement::{Argument, Statement};

/// The caller, and the `N` path parameters.
pub(crate) struct Call<const N: usize> {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    segments: [String; N],
    prefix: Prefix,
    /// Until its parameters are read.
    uri: Option<Uri>,
    /// Until they are used.
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
    /// The values in the path, in their order.
    pub(crate) fn segments(&self) -> &[String; N] {
        &self.segments
    }

    /// The parameters of the address. A route that does not ask for them accepts none.
    pub(crate) fn parameters<const P: usize>(
        &mut self,
        accepted: [&str; P],
    ) -> Result<[Option<Cow<'static, str>>; P], Problem> {
        let uri = self.uri.take().unwrap_or_default();
        let values = query::parameters(&uri, accepted)?;
        Ok(values.map(|value| value.map(|text| Cow::Owned(text.into_owned()))))
    }

    /// The conditions of the request. A write that does not ask for them is not run under any.
    pub(crate) fn conditions(&mut self) -> Conditions {
        std::mem::take(&mut self.conditions)
    }

    /// The row that a statement gives.
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

    /// The answer of a read.
    pub(crate) async fn read(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        answer::read(&self.ask(Read, statement, arguments).await?)
    }

    /// The answer of a read that only the primary answers.
    pub(crate) async fn read_primary(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        answer::read(&self.ask(PrimaryRead, statement, arguments).await?)
    }

    /// The answer of a write.
    pub(crate) async fn write(
        &self,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        answer::written(&self.ask(Write, statement, arguments).await?, None)
    }

    /// The answer of a write that may create something, with an address below `noun`.
    pub(crate) async fn create(
        &self,
        noun: &str,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Response, Problem> {
        answer::written(&self.ask(Write, statement, arguments).await?, Some((self.prefix, noun)))
    }
}
