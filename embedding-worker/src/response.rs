//! Parses and checks the response of an embedding server. Pure.

use std::time::Duration;

use hyper::{HeaderMap, header};
use serde::Deserialize;

use crate::outcome::{Failed, Outcome};
use crate::vector::{Vector, VectorError};

/// The maximum length of a server's error message in our errors.
const MAX_MESSAGE: usize = 200;

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<Option<f64>>,
}

/// The vectors of a response, in the order of the texts.
pub(crate) fn read(body: &[u8], texts: usize) -> Result<Vec<Outcome>, Failed> {
    let response = parse(body).map_err(|error| {
        Failed::Permanent(format!("not a response of /v1/embeddings: {error}: {}", beginning(body)))
    })?;
    if response.data.len() != texts {
        return Err(Failed::Permanent(format!("{} vectors for {texts} texts", response.data.len())));
    }
    let mut outcomes: Vec<Option<Outcome>> = (0..texts).map(|_| None).collect();
    for (position, item) in response.data.into_iter().enumerate() {
        let Some(slot) = outcomes.get_mut(item.index.unwrap_or(position)).filter(|slot| slot.is_none())
        else {
            return Err(Failed::Permanent("the vectors are not numbered from 0, each once".to_owned()));
        };
        *slot = Some(match Vector::check(&item.embedding) {
            Ok(vector) => Ok(vector),
            Err(VectorError::Numbers(reason)) => Err(reason.to_owned()),
            Err(VectorError::Length(length)) => {
                return Err(Failed::Length(length));
            }
        });
    }
    Ok(outcomes.into_iter().flatten().collect())
}

/// Some Python servers write NaN and Infinity, which are not valid JSON.
fn parse(body: &[u8]) -> serde_json::Result<Response> {
    serde_json::from_slice(body).or_else(|error| {
        let text = String::from_utf8_lossy(body);
        if !text.contains("NaN") && !text.contains("Infinity") {
            return Err(error);
        }
        let text = text.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null");
        serde_json::from_str(&text)
    })
}

/// The Retry-After of a response.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    // A date or an invalid value is ignored.
    Duration::try_from_secs_f64(seconds).ok().filter(|pause| *pause <= Duration::from_secs(3600))
}

/// The beginning of a response body, on one line.
pub(crate) fn beginning(body: &[u8]) -> String {
    let head = &body[..body.len().min(4 * MAX_MESSAGE)];
    let text = String::from_utf8_lossy(head);
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    line.join(" ").chars().take(MAX_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use proptest::prelude::*;

    use super::*;
    use crate::settings::DIMENSION;

    fn item(index: &str, first: &str) -> String {
        format!("{{\"object\":\"embedding\",{index}\"embedding\":[{first}{}]}}", ",0".repeat(DIMENSION - 1))
    }

    fn response(items: &[String]) -> String {
        format!("{{\"object\":\"list\",\"data\":[{}],\"model\":\"m\"}}", items.join(","))
    }

    fn firsts(body: &str, texts: usize) -> Result<Vec<Result<f32, String>>, Failed> {
        let outcomes = read(body.as_bytes(), texts)?;
        Ok(outcomes.into_iter().map(|outcome| outcome.map(|vector| vector.numbers()[0])).collect())
    }

    #[test]
    fn vectors_have_the_order_of_their_texts() {
        let body = response(&[item("\"index\":1,", "-2"), item("\"index\":0,", "1")]);
        assert_eq!(firsts(&body, 2), Ok(vec![Ok(1.0), Ok(-1.0)]));
        let body = response(&[item("", "1"), item("", "-2")]);
        assert_eq!(firsts(&body, 2), Ok(vec![Ok(1.0), Ok(-1.0)]));
    }

    #[test]
    fn mismatched_response_is_rejected() {
        let twice = response(&[item("\"index\":0,", "1"), item("\"index\":0,", "1")]);
        let beyond = response(&[item("\"index\":1,", "1")]);
        let short = r#"{"data":[{"index":0,"embedding":[1,2,3]}]}"#;
        for (body, texts) in [
            (twice.as_str(), 2),
            (beyond.as_str(), 1),
            (r#"{"data":[]}"#, 1),
            ("<html>busy</html>", 1),
            ("", 1),
            (r#"{"error":"no"}"#, 1),
        ] {
            assert!(matches!(read(body.as_bytes(), texts), Err(Failed::Permanent(_))), "{body:.60}");
        }
        assert_eq!(read(short.as_bytes(), 1).err(), Some(Failed::Length(3)));
        let message = Failed::Length(3).into_failure().message;
        assert!(message.contains("3 numbers"), "{message}");
    }

    #[test]
    fn invalid_vector_fails_only_its_text() {
        for bad in ["NaN", "null", "-Infinity", "1e200", "0"] {
            let body = response(&[item("\"index\":0,", "1"), item("\"index\":1,", bad)]);
            let firsts = firsts(&body, 2).expect("a response");
            assert_eq!(firsts[0], Ok(1.0));
            assert!(firsts[1].is_err(), "{bad}");
        }
    }

    #[test]
    fn retry_after_is_read() {
        let pause = |value: &str| {
            retry_after(&HeaderMap::from_iter([(
                header::RETRY_AFTER,
                HeaderValue::from_str(value).expect("a value"),
            )]))
        };
        assert_eq!(pause("2"), Some(Duration::from_secs(2)));
        for value in ["", "-1", "Wed, 21 Oct 2015 07:28:00 GMT", "1e9", "NaN"] {
            assert_eq!(pause(value), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_response_is_complete_or_rejected(
            body in prop_oneof![
                any::<Vec<u8>>(),
                "\\{\"data\":\\[(\\{(\"index\":-?[0-9],)?\"embedding\":(\\[(1|null|NaN|1e400)?\\]|null)\\},?){0,2}\\]\\}"
                    .prop_map(String::into_bytes),
            ],
            texts in 0..4_usize,
        ) {
            if let Ok(outcomes) = read(&body, texts) {
                prop_assert_eq!(outcomes.len(), texts);
            }
        }

        #[test]
        fn error_excerpt_is_one_short_line(body in any::<Vec<u8>>()) {
            let line = beginning(&body);
            prop_assert!(line.chars().count() <= MAX_MESSAGE && !line.contains(char::is_control));
        }

        #[test]
        fn retry_after_is_at_most_an_hour(value in prop_oneof!["[ -~]{0,20}", "-?[0-9]{1,9}(\\.[0-9]{1,3})?(e[0-9]{1,3})?"]) {
            let value = HeaderValue::from_str(&value).expect("a value");
            let pause = retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, value)]));
            prop_assert!(pause.is_none_or(|pause| pause <= Duration::from_secs(3600)));
        }
    }
}
