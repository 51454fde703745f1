//! Error codes. The extension, the proxy, the OpenAPI document and the tests of the documentation share this table. A second
//! table maps PostgreSQL's own errors to codes.

/// Defines [`Code`] and the table of its rows.
macro_rules! codes {
    ($($variant:ident $name:literal $status:literal $retryable:ident $sqlstate:tt $meaning:literal;)*) => {
        /// An error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];
        }

        const TABLE: &[Row] = &[$(Row {
            name: $name,
            status: $status,
            is_retryable: codes!(@retryable $retryable),
            sqlstate: codes!(@sqlstate $sqlstate),
            meaning: $meaning,
        },)*];
    };
    (@retryable yes) => { true };
    (@retryable no) => { false };
    (@sqlstate none) => { None };
    (@sqlstate $sqlstate:literal) => { Some($sqlstate) };
}

struct Row {
    name: &'static str,
    status: u16,
    is_retryable: bool,
    sqlstate: Option<&'static str>,
    meaning: &'static str,
}

// Columns: the name in responses, the HTTP status, whether a retry can succeed, the SQLSTATE that the extension raises (`none`
// for errors of the proxy), and the meaning. SQLSTATEs are PostgreSQL's own, because pgrx maps others to XX000.
codes! {
    MalformedRequest     "malformed_request"      400 no  "22032" "The body is not valid JSON or does not have the structure that the request requires.";
    ProjectRequired      "project_required"       400 no  "3F000" "The request refers to a template by slug but does not specify a project.";
    Unauthorized         "unauthorized"           401 no  "28000" "The API key is missing, unknown, revoked or expired.";
    Forbidden            "forbidden"              403 no  "42501" "The caller's role lacks the required privilege.";
    QuotaExceeded        "quota_exceeded"         403 no  "53400" "The project has reached a quota.";
    NotFound             "not_found"              404 no  "P0002" "The object does not exist, was deleted, or is not visible to the caller.";
    ExternalKeyTaken     "external_key_taken"     409 no  "23505" "Another live record of the template has this external key.";
    Conflict             "conflict"               409 no  "23505" "An object with this name already exists, or the object is still in use.";
    RequestInProgress    "request_in_progress"    409 yes "55006" "A request with the same Idempotency-Key is in progress.";
    ImportInProgress     "import_in_progress"     409 yes "55006" "Another import into the template, in one transaction, is in progress.";
    ResyncRequired       "resync_required"        410 no  "24000" "The cursor was issued before a restore, a failover or a change of access: read the feed of changes again from start.";
    PreconditionFailed   "precondition_failed"    412 no  "55000" "The records are not in the state that the request requires.";
    PayloadTooLarge      "payload_too_large"      413 no  "54000" "The request exceeds a limit.";
    InvalidExternalKey   "invalid_external_key"   422 no  "22023" "The external key violates a rule for external keys.";
    InvalidSlug          "invalid_slug"           422 no  "22023" "The name is not a valid slug.";
    ReservedSlug         "reserved_slug"          422 no  "22023" "The name is reserved for a standard field or by PostgreSQL.";
    UnknownAttribute     "unknown_attribute"      422 no  "22023" "The template has no attribute with this name.";
    UnknownField         "unknown_field"          422 no  "22023" "The body has an unknown member.";
    OperatorNotAllowed   "operator_not_allowed"   422 no  "22023" "The operator does not support fields of this type.";
    InvalidValue         "invalid_value"          422 no  "22023" "The value is not valid for the attribute or the parameter.";
    VectorDimension      "vector_dimension"       422 no  "22023" "The vector has the wrong number of dimensions.";
    RequiredAttribute    "required_attribute"     422 no  "22023" "A required attribute was omitted or set to null.";
    ReferenceNotFound    "reference_not_found"    422 no  "23503" "The referenced record does not exist, or is not visible to the caller.";
    IdempotencyKeyReused "idempotency_key_reused" 422 no  "22023" "The Idempotency-Key was already used for a different request.";
    StorageFull          "unavailable"            503 yes "53100" "There is no capacity left for data that must be stored.";
    Busy                 "unavailable"            503 yes "55P03" "Another transaction did not release a lock in time.";
    SerializationFailure "unavailable"            503 yes "40001" "The transaction conflicted with a concurrent transaction.";
    Internal             "internal"               500 no  "XX000" "An internal error occurred. The log contains the reason, with the same instance.";

    InvalidCsv           "invalid_csv"            422 no  none    "A row of a CSV file violates the quoting rules.";
    MethodNotAllowed     "method_not_allowed"     405 no  none    "The route does not support this method.";
    RequestTimeout       "request_timeout"        408 yes none    "The client did not send the request body or read the response in time.";
    UnsupportedMediaType "unsupported_media_type" 415 no  none    "The route does not support the media type of the body.";
    RateLimited          "rate_limited"           429 yes none    "The caller exceeded a limit.";
    Unavailable          "unavailable"            503 yes none    "The database, or another required service, is temporarily unavailable.";
    Timeout              "timeout"                504 yes none    "The database did not respond in time.";
}

impl Code {
    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name in responses: `external_key_taken`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        self.row().status
    }

    /// Whether a later retry of the same request can succeed.
    pub const fn is_retryable(self) -> bool {
        self.row().is_retryable
    }

    /// The SQLSTATE that the extension raises; `None` for an error of the proxy.
    pub const fn sqlstate(self) -> Option<&'static str> {
        self.row().sqlstate
    }

    /// A sentence for the documentation.
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// The first code with this name.
    pub fn parse(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// The code for a SQLSTATE that PostgreSQL or the extension raised.
    pub fn of_sqlstate(sqlstate: &str) -> Code {
        let own = || Code::ALL.iter().copied().find(|code| code.sqlstate() == Some(sqlstate));
        Code::of_postgres(sqlstate).or_else(own).unwrap_or(Code::Internal)
    }

    /// The code for a SQLSTATE that PostgreSQL raised; `None` for internal errors.
    pub fn of_postgres(sqlstate: &str) -> Option<Code> {
        let matches = |state: &str| state == sqlstate || (state.len() == 2 && sqlstate.starts_with(state));
        POSTGRES.iter().find(|(state, _)| matches(state)).map(|(_, code)| *code)
    }
}

/// PostgreSQL's SQLSTATE classes.
const CLASSES: [&str; 44] = [
    "00", "01", "02", "03", "08", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "10", "20", "21", "22", "23",
    "24", "25", "26", "27", "28", "2B", "2D", "2F", "34", "38", "39", "3B", "3D", "3F", "40", "42", "44",
    "53", "54", "55", "57", "58", "72", "F0", "HV", "P0", "XX",
];

/// Whether a SQLSTATE has a class that PostgreSQL does not define, as from a user's trigger. pgrx maps it to XX000.
pub fn is_user_defined(sqlstate: &str) -> bool {
    sqlstate.len() == 5 && sqlstate.get(..2).is_some_and(|class| !CLASSES.contains(&class))
}

/// The message for missing, deleted and invisible objects, which discloses nothing. Other 404 messages name the object.
pub const NOT_FOUND: &str = "not found: it does not exist, was deleted, or is not visible to this caller";

/// The title of a problem: `quota_exceeded` reads "Quota exceeded".
pub fn title(name: &str) -> String {
    let mut title = name.replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}

/// Codes of PostgreSQL's own errors, by SQLSTATE or two-character class. All others are internal. A SQLSTATE of the
/// extension is listed only if PostgreSQL raises it for the same reason.
#[rustfmt::skip]
pub const POSTGRES: &[(&str, Code)] = &[
    ("22032", Code::MalformedRequest),  // invalid JSON text
    ("54001", Code::MalformedRequest),  // nested too deeply
    ("3F000", Code::ProjectRequired),   // invalid schema name
    ("28000", Code::Unauthorized),      // invalid authorization
    ("42501", Code::Forbidden),         // insufficient privilege
    ("53400", Code::QuotaExceeded),     // configuration limit exceeded
    ("P0002", Code::NotFound),          // no data found
    ("23505", Code::Conflict),          // unique violation
    ("55006", Code::RequestInProgress), // object in use
    ("54000", Code::PayloadTooLarge),   // program limit exceeded
    ("22001", Code::InvalidValue),      // string data right truncation
    ("22003", Code::InvalidValue),      // number out of range
    ("22007", Code::InvalidValue),      // invalid datetime format
    ("22008", Code::InvalidValue),      // date or time out of range
    ("22021", Code::InvalidValue),      // character not in repertoire
    ("22023", Code::InvalidValue),      // invalid parameter value
    ("22P02", Code::InvalidValue),      // invalid text representation
    ("22P05", Code::InvalidValue),      // untranslatable character
    ("23502", Code::InvalidValue),      // not-null violation
    ("23503", Code::InvalidValue),      // foreign key violation
    ("23514", Code::InvalidValue),      // check violation
    ("42P17", Code::InvalidValue),      // invalid definition
    ("P0001", Code::InvalidValue),      // RAISE EXCEPTION of a user's trigger
    ("40001", Code::Unavailable),       // serialization failure, after three tries
    ("40P01", Code::Unavailable),       // deadlock, after three tries
    ("55P03", Code::Unavailable),       // lock not available
    ("25006", Code::Unavailable),       // read-only transaction, such as on a standby
    ("53100", Code::Unavailable),       // disk full
    ("53200", Code::Unavailable),       // out of memory
    ("53300", Code::Unavailable),       // too many connections
    ("57P01", Code::Unavailable),       // shutting down
    ("57P02", Code::Unavailable),       // crash shutdown
    ("57P03", Code::Unavailable),       // starting up
    ("57P04", Code::Unavailable),       // the database was dropped
    ("57P05", Code::Unavailable),       // idle session timeout
    ("08",    Code::Unavailable),       // connection exception
    ("57014", Code::Timeout),           // statement timeout
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_code_keeps_its_status_over_http() {
        for code in Code::ALL {
            let Some(sqlstate) = code.sqlstate() else { continue };
            let response = Code::of_sqlstate(sqlstate);
            assert_eq!(
                (response.status(), response.is_retryable()),
                (code.status(), code.is_retryable()),
                "{code:?} is raised with {sqlstate}, which maps to {response:?}: use another SQLSTATE"
            );
        }
    }

    #[test]
    fn codes_with_one_name_have_one_status() {
        for code in Code::ALL {
            let first = Code::parse(code.name()).expect("a code of this name");
            assert_eq!(
                (first.status(), first.is_retryable()),
                (code.status(), code.is_retryable()),
                "{code:?}"
            );
        }
    }

    #[test]
    fn class_covers_its_states_and_others_are_internal() {
        assert_eq!(Code::of_sqlstate("08006"), Code::Unavailable);
        assert_eq!(Code::of_sqlstate("23505"), Code::Conflict);
        assert!(["45000", "ZZ999"].into_iter().all(is_user_defined));
        assert!(!["23505", "P0001", "XX000", "", "é"].into_iter().any(is_user_defined));
        for state in ["XX000", "42P01", "22012", "P0004", ""] {
            assert_eq!(Code::of_sqlstate(state), Code::Internal, "{state}");
        }
    }

    #[test]
    fn title_is_the_name_in_words() {
        assert_eq!(title("external_key_taken"), "External key taken");
        assert_eq!(title(""), "");
    }
}
