//! The answer of a function that writes, of which the proxy makes an HTTP response.

use super::subject::Subject;
use crate::json_write::to_json;
use std::fmt::Display;

/// The answer of a write. Each says what it is about, because a repeated request with an Idempotency-Key is shown it again.
pub struct Written {
    status: u16,
    address: Option<String>,
    body: Option<String>,
    tag: Option<String>,
    subject: Subject,
    stored_body: Option<String>,
}

impl Written {
    /// An answer with a body about `subject`.
    pub fn new(status: u16, body: String, subject: Subject) -> Written {
        Written { status, address: None, body: Some(body), tag: None, subject, stored_body: None }
    }

    /// The answer 204, without a body.
    pub fn no_content() -> Written {
        Written { body: None, ..Written::new(204, String::new(), Subject::Nothing) }
    }

    /// The same, with the last part of the address of what was created.
    pub fn created(mut self, address: Option<impl Display>) -> Written {
        self.address = address.map(|it| it.to_string());
        self
    }

    /// The same, with the entity tag of the record that the body shows.
    pub fn tagged(mut self, tag: Option<String>) -> Written {
        self.tag = tag;
        self
    }

    /// The same, of whose body a secret is not stored: a repeated request is shown `body`.
    pub fn stored_as(mut self, body: String) -> Written {
        self.stored_body = Some(body);
        self
    }

    /// `{status, address, body, entity tag, subject}`, and where another body is stored, that.
    pub fn into_texts(self) -> Vec<Option<String>> {
        let Written { status, address, body, tag, subject, stored_body } = self;
        let texts = [Some(status.to_string()), address, body, tag, Some(to_json(&subject))];
        texts.into_iter().chain(stored_body.map(Some)).collect()
    }
}
