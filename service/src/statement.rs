//! Statements for the database: a function call on behalf of a caller, with its arguments.

use sha2::{Digest, Sha256};
use tokio_postgres::types::{ToSql, Type};

/// The source of a caller's changes, as the history of records names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// A program: `api`.
    #[default]
    Api,
    /// A user of the web application: `app`.
    Application,
}

/// The SHA-256 that is sent to the database instead of an API key or a delivery token.
pub fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// An argument of a statement, and its type, which an unprepared statement must name.
pub type Argument<'a> = (&'a (dyn ToSql + Sync), Type);

/// A `text` argument.
pub fn text<T: ToSql + Sync>(value: &T) -> Argument<'_> {
    (value, Type::TEXT)
}

/// A `boolean` argument.
pub fn flag<T: ToSql + Sync>(value: &T) -> Argument<'_> {
    (value, Type::BOOL)
}

/// An `integer` argument.
pub fn number<T: ToSql + Sync>(value: &T) -> Argument<'_> {
    (value, Type::INT4)
}

/// A call of a function in the schema `keyed_http` after authentication. [`statement!`] creates it.
#[derive(Clone, Copy)]
pub struct Statement {
    /// The call, with its schema.
    pub call: &'static str,
    /// For changes by programs.
    pub from_api: Framed,
    /// For changes in the web application.
    pub from_application: Framed,
}

/// The number of arguments before the arguments of the function: the caller's digest and project, and the request id.
pub const FIRST: usize = 3;

/// The parts of a statement that depend on the source of a change.
#[derive(Clone, Copy)]
pub struct Framed {
    /// The call that sets the principal.
    pub authentication: &'static str,
    /// The call without idempotency.
    pub plain: &'static str,
}

/// A [`Statement`]: `$1` and `$2` are the digest and the project of the caller, `$3` is the request id or empty, and
/// `$4` is the first argument of the function. The history shows the source; by default, it is the caller's source.
#[doc(hidden)]
#[macro_export]
macro_rules! __statement {
    ($call:literal) => {
        $crate::statement::Statement {
            call: concat!("keyed_http.", $call),
            from_api: $crate::statement::statement!(@ $call, "api"),
            from_application: $crate::statement::statement!(@ $call, "app"),
        }
    };
    ($call:literal, source: $source:literal) => {
        $crate::statement::Statement {
            call: concat!("keyed_http.", $call),
            from_api: $crate::statement::statement!(@ $call, $source),
            from_application: $crate::statement::statement!(@ $call, $source),
        }
    };
    (@ $call:literal, $source:literal) => {
        $crate::statement::Framed {
            authentication: concat!("keyed.authenticate($1::bytea, $2::text, '", $source, " ' operator(pg_catalog.||) $3::text)"),
            plain: concat!(
                "select keyed_http.", $call,
                " from keyed.authenticate($1::bytea, $2::text, '", $source, " ' operator(pg_catalog.||) $3::text)"
            ),
        }
    };
}
pub use __statement as statement;

impl Statement {
    /// The name of the function.
    pub fn function(self) -> &'static str {
        function_of(self.call)
    }

    fn framed(self, source: Source) -> Framed {
        match source {
            Source::Api => self.from_api,
            Source::Application => self.from_application,
        }
    }

    /// The call without idempotency.
    pub fn plain(self, source: Source) -> &'static str {
        self.framed(source).plain
    }

    /// The call, wrapped in a statement that returns the stored response of its Idempotency-Key, or runs the call and
    /// stores its response. Key and fingerprint are the parameters after the first `count`.
    pub fn once(self, count: usize, source: Source) -> String {
        let (call, Framed { authentication, .. }) = (self.call, self.framed(source));
        let (key, fingerprint) = (format!("${}::text", count + 1), format!("${}::bytea", count + 2));
        // The second function takes the result of the first as an argument, which determines the order of execution.
        format!(
            "select case when s.answer is null then keyed_http.store_answer({key}, {fingerprint}, {call}) \
                         else s.answer end, s.answer is not null \
             from {authentication} a (ok), \
                  keyed_http.stored_answer(a.ok, {key}, {fingerprint}) s (answer)"
        )
    }
}

/// The name of the function in a call of the schema `keyed_http`.
fn function_of(call: &'static str) -> &'static str {
    let name = call.strip_prefix("keyed_http.").unwrap_or(call);
    name.split('(').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_authenticates_first() {
        let from = "from keyed.authenticate($1::bytea, $2::text";
        assert_eq!(
            statement!("batch($4::text)").plain(Source::Api),
            format!("select keyed_http.batch($4::text) {from}, 'api ' operator(pg_catalog.||) $3::text)")
        );
        assert_eq!(
            statement!("batch($4::text)").plain(Source::Application),
            format!("select keyed_http.batch($4::text) {from}, 'app ' operator(pg_catalog.||) $3::text)")
        );
        for source in [Source::Api, Source::Application] {
            assert_eq!(
                statement!("import_rows($4::text)", source: "csv").plain(source),
                format!(
                    "select keyed_http.import_rows($4::text) {from}, 'csv ' operator(pg_catalog.||) $3::text)"
                )
            );
        }
    }

    #[test]
    fn digest_is_sha_256() {
        assert_eq!(digest(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn statement_is_named_after_its_function() {
        assert_eq!(statement!("batch($4::text)").function(), "batch");
        assert_eq!(statement!("export_next()").function(), "export_next");
    }

    #[test]
    fn idempotent_call_stores_its_response() {
        assert_eq!(
            statement!("batch($4::text)").once(4, Source::Api),
            "select case when s.answer is null \
             then keyed_http.store_answer($5::text, $6::bytea, keyed_http.batch($4::text)) \
             else s.answer end, s.answer is not null \
             from keyed.authenticate($1::bytea, $2::text, 'api ' operator(pg_catalog.||) $3::text) a (ok), \
             keyed_http.stored_answer(a.ok, $5::text, $6::bytea) s (answer)"
        );
    }
}
