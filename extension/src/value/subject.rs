//! What the answer of a write is about: a repeated request is shown its stored answer as far as the caller may still see
//! that.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What an answer is about. It is stored with the answer as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Nothing that needs a privilege: an answer without body. It is always shown.
    Nothing,
    /// A record. It needs the privilege to read it.
    Record(Id),
    /// A template. It needs any privilege on it.
    Template(i32),
    /// A view of the template of that number. It needs the right to search the template.
    View(i32),
    /// An inbound endpoint. It needs the right to configure it.
    Endpoint(i32),
    /// A delivery to an endpoint. It needs the right to configure the endpoint.
    Delivery(i64),
    /// What only administrators see.
    Administration,
    /// The results of a batch: the refused operations, whose errors are each shown or withheld. Of the others, a result has
    /// no more than the id.
    Batch(Vec<RefusedOperation>),
    /// A secret. The answer is not stored, but the request is: when it is repeated, it is refused and not run again.
    Secret,
    /// The request has no effect, so its answer is not stored, and it runs again when it is repeated.
    NotStored,
}

impl Subject {
    /// A subject as it is stored.
    pub fn parse(text: &str) -> Option<Subject> {
        serde_json::from_str(text).ok()
    }
}

/// An operation of a batch that was refused, and what its error is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOperation {
    /// Its position in the request.
    pub index: usize,
    /// The template of its record.
    pub template: i32,
    /// Its record, if it is named by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The key of the record that it was to change, if it is named by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    /// Another record that the error names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing_id: Option<Id>,
}

/// The id of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Id(pub Uuid);

impl From<Id> for String {
    fn from(id: Id) -> String {
        id.0.to_string()
    }
}

impl TryFrom<String> for Id {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<Id, uuid::Error> {
        Uuid::parse_str(&text).map(Id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_write::to_json;

    #[test]
    fn a_subject_is_stored_and_read_back() {
        let id = Id(Uuid::from_u128(7));
        let refused =
            |index| RefusedOperation { index, template: 2, id: None, external_key: None, existing_id: None };
        for subject in [
            Subject::Nothing,
            Subject::Record(id),
            Subject::Template(1),
            Subject::View(2),
            Subject::Endpoint(3),
            Subject::Delivery(4),
            Subject::Administration,
            Subject::Batch(vec![
                RefusedOperation { id: Some(id), ..refused(0) },
                RefusedOperation {
                    external_key: Some("a\"b".to_owned()),
                    existing_id: Some(id),
                    ..refused(3)
                },
            ]),
            Subject::Secret,
            Subject::NotStored,
        ] {
            let stored = to_json(&subject);
            assert_eq!(Subject::parse(&stored), Some(subject), "{stored}");
        }
    }
}
