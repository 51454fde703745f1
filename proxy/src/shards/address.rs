//! What the head of a request says of its shard. Pure.

use std::borrow::Cow;

use axum::http::Uri;
use percent_encoding::percent_decode_str;
use uuid::Uuid;

use super::directory::Object;
use crate::query;
use crate::shard::{Shard, template_of_record};

/// What a request names in its address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    Nothing,
    /// By its id.
    Object(Object),
    /// The project of the target of a grant.
    Project(String),
}

/// What the address names.
pub(super) fn named(uri: &Uri) -> Named {
    let Some(path) = below_prefix(uri.path()) else { return Named::Nothing };
    let mut segments = path.split('/').map(decoded);
    let [first, second, third] = std::array::from_fn(|_| segments.next().unwrap_or_default());
    let object = match (first.as_ref(), second.as_ref()) {
        ("entities", "template" | "search") => number(&third).map(Object::Template),
        ("entities", id) => Uuid::parse_str(id).ok().and_then(template_of_record).map(Object::Template),
        ("templates", template) => number(template).map(Object::Template),
        ("changes", _) | ("embeddings", _) => {
            parameter(uri, "template").and_then(|template| number(&template)).map(Object::Template)
        }
        ("inbound", token) => id_in(token, "in_").map(Object::InboundEndpoint),
        ("inbound-endpoints", endpoint) => number(endpoint).map(Object::InboundEndpoint),
        ("webhook-endpoints", endpoint) => number(endpoint).map(Object::WebhookEndpoint),
        ("grants", _) => {
            return parameter(uri, "target").map_or(Named::Nothing, |target| project_of_target(&target));
        }
        _ => None,
    };
    object.map_or(Named::Nothing, Named::Object)
}

/// The project of the target of a grant: `crm`, or that of the template `crm.customers`.
pub(super) fn project_of_target(target: &str) -> Named {
    Named::Project(target.split('.').next().unwrap_or_default().trim_matches('"').to_owned())
}

/// The shard that issued an API key.
pub(super) fn home_of_key(token: &[u8]) -> Option<Shard> {
    id_in(std::str::from_utf8(token).ok()?, "keyed_").and_then(Shard::of_integer)
}

/// The id of `keyed_<id>_<secret>` and `in_<id>_<secret>`.
fn id_in(token: &str, prefix: &str) -> Option<u64> {
    number(token.strip_prefix(prefix)?.split_once('_')?.0)
}

/// The path below `/v1` or `/api/v1`.
pub(super) fn below_prefix(path: &str) -> Option<&str> {
    path.strip_prefix("/api").unwrap_or(path).strip_prefix("/v1/")
}

fn decoded(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8_lossy()
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<Cow<'a, str>> {
    // The route rejects a query string that is malformed.
    query::parameter(uri, name).ok().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(uri: &str) -> Named {
        super::named(&uri.parse().expect("a URI"))
    }

    #[test]
    fn address_names_its_object() {
        let record = "0192f0c1-2222-8abc-8018-000040abcdef";
        let template = Uuid::parse_str(record).ok().and_then(template_of_record).expect("a record");
        let of = |object| Named::Object(object);
        for (path, wanted) in [
            ("/v1/entities/template/393217/by-key?key=a", of(Object::Template(393_217))),
            ("/api/v1/entities/search/393217", of(Object::Template(393_217))),
            ("/v1/templates/393217/views/mine", of(Object::Template(393_217))),
            ("/v1/templates/%3393217", of(Object::Template(393_217))),
            ("/v1/changes?wait=1&template=393217", of(Object::Template(393_217))),
            ("/v1/embeddings/failures?template=7", of(Object::Template(7))),
            (&format!("/v1/entities/{record}/history"), of(Object::Template(template))),
            ("/v1/inbound/in_50331649_abc", of(Object::InboundEndpoint(50_331_649))),
            ("/v1/inbound-endpoints/50331649/deliveries", of(Object::InboundEndpoint(50_331_649))),
            ("/v1/webhook-endpoints/50331649", of(Object::WebhookEndpoint(50_331_649))),
            ("/v1/grants?role=r&target=crm.customers", Named::Project("crm".to_owned())),
            ("/v1/grants?target=crm", Named::Project("crm".to_owned())),
        ] {
            assert_eq!(named(path), wanted, "{path}");
        }
    }

    #[test]
    fn slug_or_foreign_id_names_nothing() {
        for path in [
            "/v1/entities/template/customers",
            "/v1/entities/0192f0c1-2222-7abc-8def-0123456789ab",
            "/v1/entities/batch",
            "/v1/entities/semantic-search",
            "/v1/inbound/in_abc",
            "/v1/inbound-endpoints/shop",
            "/v1/grants?role=r",
            "/v1/changes?template=%",
            "/v1",
            "/",
            "/healthz",
            "/templates/393217",
        ] {
            assert_eq!(named(path), Named::Nothing, "{path}");
        }
    }

    #[test]
    fn key_says_which_shard_issued_it() {
        assert_eq!(home_of_key(b"keyed_50331649_abc"), Shard::new(3));
        assert_eq!(home_of_key(b"keyed_12_abc"), Shard::new(0));
        for token in [&b"keyed_x_abc"[..], b"keyed_12", b"in_12_abc", b"", b"keyed_99999999999_a", b"\xff"] {
            assert_eq!(home_of_key(token), None);
        }
    }

    proptest! {
        #[test]
        fn any_address_is_understood(path in "(/[a-z0-9%_-]{0,12}){0,5}", query in "[a-z0-9=&%+]{0,20}") {
            if let Ok(uri) = format!("{path}?{query}").parse::<Uri>() {
                let _ = super::named(&uri);
            }
        }
    }
}
