//! Content negotiation: the weighted lists of Accept and Accept-Encoding (RFC 9110, 12.5).

use axum::http::{HeaderMap, HeaderName};

/// An entry of a list, in lower case and without parameters, and its weight in thousandths. 0 means not acceptable.
pub(crate) type Weighted = (String, u16);

/// The entries of a list, in order. Repeated headers form one list. An entry with an invalid weight is ignored.
pub(crate) fn weighted(headers: &HeaderMap, name: HeaderName) -> Vec<Weighted> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(entry).collect()
}

fn entry(text: &str) -> Option<Weighted> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
    let weight = parts.filter_map(|parameter| parameter.split_once('=')).find_map(|(name, value)| {
        name.trim_end().eq_ignore_ascii_case("q").then(|| thousandths(value.trim_start()))
    });
    Some((name, weight.unwrap_or(Some(1000))?))
}

/// Parses `0.5` as 500.
fn thousandths(text: &str) -> Option<u16> {
    let weight: f32 = text.parse().ok().filter(|_| text.len() <= 5 && text.starts_with(['0', '1']))?;
    (0.0..=1.0).contains(&weight).then(|| (weight * 1000.0).round() as u16)
}

/// The weight of the first pattern that is in the list, the most specific pattern first; `None` if none is.
pub(crate) fn weight_of(list: &[Weighted], patterns: &[&str]) -> Option<u16> {
    let weight = |pattern: &&str| list.iter().find(|(name, _)| name == pattern).map(|(_, weight)| *weight);
    patterns.iter().find_map(weight)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header};

    use proptest::prelude::*;

    use super::*;

    fn read(values: &[&'static str]) -> Vec<Weighted> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        weighted(&headers, header::ACCEPT)
    }

    #[test]
    fn weight_is_read_in_every_form() {
        let list = read(&["text/html, Application/JSON;q=0.9;x=1", "*/*; Q=0, a;q=1.000 , ,b; q = 0.001"]);
        let list: Vec<(&str, u16)> = list.iter().map(|(name, weight)| (name.as_str(), *weight)).collect();
        assert_eq!(list, [("text/html", 1000), ("application/json", 900), ("*/*", 0), ("a", 1000), ("b", 1)]);
    }

    #[test]
    fn invalid_weight_drops_the_entry() {
        for value in ["a;q=2", "a;q=-1", "a;q=", "a;q=x", "a;q=nan", "a;q=0.00001", ";q=1"] {
            assert_eq!(read(&[value]), [], "{value}");
        }
    }

    #[test]
    fn most_specific_pattern_decides() {
        let list = read(&["*/*;q=0.1, text/*;q=0.5, text/csv;q=0"]);
        assert_eq!(weight_of(&list, &["text/csv", "text/*", "*/*"]), Some(0));
        assert_eq!(weight_of(&list, &["text/html", "text/*", "*/*"]), Some(500));
        assert_eq!(weight_of(&list, &["image/png", "image/*"]), None);
    }

    proptest! {
        #[test]
        fn weight_of_any_list_is_in_range(value in prop_oneof!["[ -~]{0,40}", "([a*/]{0,3} ?; ?[qx] ?= ?[-0-9.e]{0,5},?){0,4}"]) {
            let value = HeaderValue::from_str(&value).expect("a value");
            for (name, weight) in weighted(&HeaderMap::from_iter([(header::ACCEPT, value)]), header::ACCEPT) {
                prop_assert!(weight <= 1000 && !name.is_empty() && !name.contains([',', ';']));
                prop_assert_eq!(name.to_ascii_lowercase(), name);
            }
        }

        #[test]
        fn weight_round_trips(weight in 0..=1000_u16) {
            let value = format!("a;q={}.{:03}", weight / 1000, weight % 1000);
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_str(&value).expect("a value"))]);
            prop_assert_eq!(weighted(&headers, header::ACCEPT), [("a".to_owned(), weight)]);
        }
    }
}
