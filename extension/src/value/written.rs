//! Results of functions that write, from which the proxy makes HTTP responses.
//!
//! Each has a subject, because a stored response is repeated only if the caller can still see its subject. Pure.

use crate::json_write::to_json;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use uuid::Uuid;

/// The result of a write.
pub struct Written {
    status: u16,
    address: Option<String>,
    body: Option<String>,
    tag: Option<String>,
    subject: Subject,
    stored_body: Option<String>,
}

impl Written {
    /// A result with a body.
    pub fn new(status: u16, body: String, subject: Subject) -> Written {
        Written { status, address: None, body: Some(body), tag: None, subject, stored_body: None }
    }

    /// A result with status 204 and without a body.
    pub fn no_content() -> Written {
        Written { body: None, ..Written::new(204, String::new(), Subject::Nothing) }
    }

    /// Adds the last segment of the URL of a created resource.
    pub fn created(mut self, address: Option<impl Display>) -> Written {
        self.address = address.map(|it| it.to_string());
        self
    }

    /// Adds the entity tag of the record in the body.
    pub fn tagged(mut self, tag: Option<String>) -> Written {
        self.tag = tag;
        self
    }

    /// Stores `body` for repeated requests instead of a body that contains a secret.
    pub fn stored_as(mut self, body: String) -> Written {
        self.stored_body = Some(body);
        self
    }

    /// `{status, address, body, entity tag, subject}`, and the stored body if it differs.
    pub fn into_texts(self) -> Vec<Option<String>> {
        let Written { status, address, body, tag, subject, stored_body } = self;
        let texts = [Some(status.to_string()), address, body, tag, Some(to_json(&subject))];
        texts.into_iter().chain(stored_body.map(Some)).collect()
    }
}

/// The subject of a response, stored with it as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A response without a body. It is always repeated.
    Nothing,
    /// A record. Requires the privilege to read it.
    Record(Id),
    /// A template. Requires any privilege on it.
    Template(i32),
    /// A view of the template with this id. Requires the privilege to search the template.
    View(i32),
    /// An inbound endpoint. Requires the privilege to configure it.
    Endpoint(i32),
    /// A delivery to an endpoint. Requires the privilege to configure the endpoint.
    Delivery(i64),
    /// Data for administrators only.
    Administration,
    /// A batch, with the operations whose results have an error or a record, which are shown or withheld one by one. The other
    /// results contain only an id.
    Batch(Vec<OperationSubject>),
    /// A secret. Only the request is stored, and a repeated request is rejected.
    Secret,
    /// A request without effect. The response is not stored, and a repeated request runs again.
    NotStored,
}

impl Subject {
    /// Parses a stored subject.
    pub fn parse(text: &str) -> Option<Subject> {
        serde_json::from_str(text).ok()
    }
}

/// The subject of an operation of a batch: of its error, or of the record in its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSubject {
    /// Its position in the request.
    pub index: usize,
    /// The template of its record.
    pub template: i32,
    /// Its record, if it is identified by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The key of its record, if it is identified by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_key: Option<String>,
    /// The record in the result, or another one in the error. Requires the privilege to read it.
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

    #[test]
    fn stored_subject_round_trips() {
        let id = Id(Uuid::from_u128(7));
        let failed =
            |index| OperationSubject { index, template: 2, id: None, external_key: None, existing_id: None };
        for subject in [
            Subject::Nothing,
            Subject::Record(id),
            Subject::Template(1),
            Subject::View(2),
            Subject::Endpoint(3),
            Subject::Delivery(4),
            Subject::Administration,
            Subject::Batch(vec![
                OperationSubject { id: Some(id), ..failed(0) },
                OperationSubject {
                    external_key: Some("a\"b".to_owned()),
                    existing_id: Some(id),
                    ..failed(3)
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
