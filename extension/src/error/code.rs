//! Error codes. Their table is `extension/errors/src/lib.rs`.

pub use keyed_errors::Code;
use serde::Serializer;

/// Serializes a code as its name.
pub(super) fn as_name<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}
