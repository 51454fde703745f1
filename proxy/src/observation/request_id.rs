//! The id of a request in the logs of caller, proxy and database.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a caller's id.
const MAX_LENGTH: usize = 128;

/// The id of a request, and the `instance` of its problem.
#[derive(Clone)]
pub(crate) struct RequestId {
    /// As the caller sent it, so that a text search finds it in all logs.
    pub(crate) header: HeaderValue,
    /// The `instance` of a problem: the id if it is a UUID, otherwise a random one.
    pub(crate) instance: Uuid,
}

impl RequestId {
    /// The id from the caller if it has 1 to 128 visible ASCII characters, otherwise a random one.
    pub(crate) fn of(headers: &HeaderMap) -> RequestId {
        let given = headers.get(REQUEST_ID).filter(|value| is_acceptable(value.as_bytes()));
        match given {
            Some(header) => RequestId {
                header: header.clone(),
                instance: Uuid::try_parse_ascii(header.as_bytes()).unwrap_or_else(|_| random()),
            },
            None => RequestId::random(),
        }
    }

    pub(crate) fn random() -> RequestId {
        let instance = random();
        let header = HeaderValue::from_str(instance.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
        RequestId { header: header.unwrap_or(HeaderValue::from_static("")), instance }
    }

    pub(crate) fn as_str(&self) -> &str {
        self.header.to_str().unwrap_or_default()
    }

    /// The instance, if it differs from the id.
    pub(crate) fn other_instance(&self) -> Option<Uuid> {
        let is_same = Uuid::try_parse_ascii(self.header.as_bytes()).is_ok_and(|id| id == self.instance);
        (!is_same).then_some(self.instance)
    }
}

fn is_acceptable(id: &[u8]) -> bool {
    (1..=MAX_LENGTH).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

/// It need not be unpredictable, so a fast generator is used.
fn random() -> Uuid {
    uuid::Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id_of(value: &[u8]) -> RequestId {
        let header = HeaderValue::from_bytes(value).expect("a value");
        RequestId::of(&HeaderMap::from_iter([(REQUEST_ID, header)]))
    }

    #[test]
    fn uuid_request_id_is_also_the_instance() {
        for value in ["0192f0c1-2222-7abc-8def-0123456789ab", "0192F0C122227ABC8DEF0123456789AB"] {
            let id = id_of(value.as_bytes());
            assert_eq!(id.header, value);
            assert_eq!(id.instance.to_string(), "0192f0c1-2222-7abc-8def-0123456789ab");
            assert_eq!(id.other_instance(), None);
        }
    }

    #[test]
    fn visible_ascii_request_id_gets_a_separate_instance() {
        for value in ["42", "deploy/7:import#3", &"x".repeat(128)] {
            let (one, two) = (id_of(value.as_bytes()), id_of(value.as_bytes()));
            assert_eq!(one.header, value);
            assert_eq!(one.other_instance(), Some(one.instance));
            assert_ne!(one.instance, two.instance);
        }
    }

    #[test]
    fn invalid_request_id_is_replaced() {
        for value in ["", "not visible", "tab\there", "caf\u{e9}", &"x".repeat(129)] {
            let id = id_of(value.as_bytes());
            assert_eq!(id.as_str(), id.instance.to_string(), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn request_id_is_from_the_caller_or_random(value in prop_oneof![
            prop::collection::vec(prop_oneof![0x20..=0x7e_u8, 0x80..=0xff_u8], 0..140),
            "[!-~]{1,140}".prop_map(String::into_bytes),
            any::<u128>().prop_map(|it| Uuid::from_u128(it).hyphenated().to_string().into_bytes()),
        ]) {
            let id = id_of(&value);
            let is_kept = (1..=128).contains(&value.len()) && value.iter().all(|byte| (b'!'..=b'~').contains(byte));
            prop_assert_eq!(id.header.as_bytes() == value.as_slice(), is_kept);
            prop_assert!(is_kept || Uuid::parse_str(id.as_str()).is_ok_and(|uuid| uuid == id.instance));
        }
    }
}
