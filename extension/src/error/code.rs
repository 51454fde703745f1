//! The names of refusals, and what each becomes: one enum, one table.

use pgrx::prelude::*;

/// Every refusal of the product, by the name that `code` has in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The text is not JSON, or not of the outer shape that the request must have.
    MalformedRequest,
    /// A template was named by slug and no project was chosen.
    ProjectRequired,
    /// The API key is missing, unknown, revoked or expired.
    Unauthorized,
    /// The caller's role lacks the right.
    Forbidden,
    /// Missing, deleted or out of the caller's sight.
    NotFound,
    /// A live record of the template already holds the key.
    ExternalKeyTaken,
    /// The project has as much as it may have.
    QuotaExceeded,
    /// Something of that name exists, or is still in use.
    Conflict,
    /// The same request is being run at this moment.
    RequestInProgress,
    /// The Idempotency-Key came with another request before.
    IdempotencyKeyReused,
    /// The record is in another state than the request was made for.
    PreconditionFailed,
    /// More than a limit allows.
    PayloadTooLarge,
    /// The key breaks a rule of external keys.
    InvalidExternalKey,
    /// The name does not have the form of a slug.
    InvalidSlug,
    /// The name belongs to a standard field or to PostgreSQL.
    ReservedSlug,
    /// The template has no attribute of that name.
    UnknownAttribute,
    /// The body has a member that the operation does not know.
    UnknownField,
    /// The operator does not apply to fields of this type.
    OperatorNotAllowed,
    /// The value does not fit the attribute.
    InvalidValue,
    /// A vector has another number of numbers than it must have.
    VectorDimension,
    /// A required attribute was left out or set to null.
    RequiredAttribute,
    /// The record that a reference names does not exist, as far as the caller can see.
    ReferenceNotFound,
    /// What would have to be kept finds no room at the moment.
    StorageFull,
    /// Others have locked what is needed, and did not give it back in time.
    Busy,
    /// Concurrent transactions got in each other's way; the same request may succeed next time.
    SerializationFailure,
    /// The installation itself is not as the extension expects it.
    Internal,
}

impl Code {
    const ALL: &[Code] = &[
        Code::MalformedRequest,
        Code::ProjectRequired,
        Code::Unauthorized,
        Code::Forbidden,
        Code::NotFound,
        Code::ExternalKeyTaken,
        Code::QuotaExceeded,
        Code::Conflict,
        Code::RequestInProgress,
        Code::IdempotencyKeyReused,
        Code::PreconditionFailed,
        Code::PayloadTooLarge,
        Code::InvalidExternalKey,
        Code::InvalidSlug,
        Code::ReservedSlug,
        Code::UnknownAttribute,
        Code::UnknownField,
        Code::OperatorNotAllowed,
        Code::InvalidValue,
        Code::VectorDimension,
        Code::RequiredAttribute,
        Code::ReferenceNotFound,
        Code::StorageFull,
        Code::Busy,
        Code::SerializationFailure,
        Code::Internal,
    ];

    /// The code of that name.
    pub fn parse(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.row().0 == name)
    }

    /// The name in answers, the standard SQLSTATE it is raised with, and the HTTP status. PostgreSQL's own states only: others
    /// become XX000 on their way through Rust.
    pub const fn row(self) -> (&'static str, PgSqlErrorCode, u16) {
        use PgSqlErrorCode as State;
        match self {
            Code::MalformedRequest => ("malformed_request", State::ERRCODE_INVALID_JSON_TEXT, 400),
            Code::ProjectRequired => ("project_required", State::ERRCODE_INVALID_SCHEMA_NAME, 400),
            Code::Unauthorized => ("unauthorized", State::ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION, 401),
            Code::Forbidden => ("forbidden", State::ERRCODE_INSUFFICIENT_PRIVILEGE, 403),
            Code::NotFound => ("not_found", State::ERRCODE_NO_DATA_FOUND, 404),
            Code::ExternalKeyTaken => ("external_key_taken", State::ERRCODE_UNIQUE_VIOLATION, 409),
            Code::QuotaExceeded => ("quota_exceeded", State::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, 403),
            Code::Conflict => ("conflict", State::ERRCODE_UNIQUE_VIOLATION, 409),
            Code::RequestInProgress => ("request_in_progress", State::ERRCODE_OBJECT_IN_USE, 409),
            Code::IdempotencyKeyReused => {
                ("idempotency_key_reused", State::ERRCODE_INVALID_PARAMETER_VALUE, 422)
            }
            Code::PreconditionFailed => {
                ("precondition_failed", State::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, 412)
            }
            Code::PayloadTooLarge => ("payload_too_large", State::ERRCODE_PROGRAM_LIMIT_EXCEEDED, 413),
            Code::InvalidExternalKey => ("invalid_external_key", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::InvalidSlug => ("invalid_slug", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::ReservedSlug => ("reserved_slug", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::UnknownAttribute => ("unknown_attribute", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::UnknownField => ("unknown_field", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::OperatorNotAllowed => ("operator_not_allowed", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::InvalidValue => ("invalid_value", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::VectorDimension => ("vector_dimension", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::RequiredAttribute => ("required_attribute", State::ERRCODE_INVALID_PARAMETER_VALUE, 422),
            Code::ReferenceNotFound => ("reference_not_found", State::ERRCODE_FOREIGN_KEY_VIOLATION, 422),
            Code::StorageFull => ("unavailable", State::ERRCODE_DISK_FULL, 503),
            Code::Busy => ("unavailable", State::ERRCODE_LOCK_NOT_AVAILABLE, 503),
            Code::SerializationFailure => ("unavailable", State::ERRCODE_T_R_SERIALIZATION_FAILURE, 503),
            Code::Internal => ("internal", State::ERRCODE_INTERNAL_ERROR, 500),
        }
    }
}
