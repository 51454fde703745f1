//! Pages as Server-Sent Events. Pure.

use axum::http::{HeaderMap, header};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::preference::{weight_of, weighted};

/// The member of an entry that determines its event name.
#[derive(Deserialize)]
struct Entry<'a> {
    operation: &'a str,
}

/// Whether a client prefers events to JSON.
pub(crate) fn is_requested(headers: &HeaderMap) -> bool {
    let list = weighted(headers, header::ACCEPT);
    let events = weight_of(&list, &["text/event-stream"]).unwrap_or(0);
    events > 0 && events >= weight_of(&list, &["application/json"]).unwrap_or(0)
}

/// The entries of a page as events. The id of the last event is the cursor after the page, so an interrupted client
/// reads the page again.
pub(super) fn events(entries: &[&RawValue], next: &str) -> Result<String, serde_json::Error> {
    let mut text = String::with_capacity(entries.iter().map(|entry| entry.get().len() + 32).sum());
    for (number, entry) in entries.iter().enumerate() {
        let id = (number + 1 == entries.len()).then_some(next);
        let Entry { operation } = serde_json::from_str(entry.get())?;
        write(&mut text, operation, entry.get(), id);
    }
    Ok(text)
}

/// The beginning of a stream: the delay of reconnections in milliseconds, and the initial cursor.
pub(super) fn start(pause: u64, cursor: Option<&str>) -> String {
    format!("retry: {pause}\n{}\n", cursor.map(id_line).unwrap_or_default())
}

/// A comment that keeps an idle connection open, with the cursor if it has changed.
pub(super) fn comment(cursor: Option<&str>) -> String {
    format!(": waiting\n{}\n", cursor.map(id_line).unwrap_or_default())
}

/// The event that ends a stream, with a problem as its data.
pub(super) fn error(problem: &str) -> String {
    let mut text = String::new();
    write(&mut text, "error", problem, None);
    text
}

fn id_line(cursor: &str) -> String {
    format!("id: {cursor}\n")
}

fn write(text: &mut String, event: &str, data: &str, id: Option<&str>) {
    text.push_str("event: ");
    text.push_str(event);
    // Line breaks between JSON values would end the field.
    for line in data.split(['\n', '\r']) {
        text.push_str("\ndata: ");
        text.push_str(line);
    }
    text.push('\n');
    if let Some(id) = id {
        text.push_str(&id_line(id));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn each_entry_is_an_event_and_the_last_has_the_cursor() {
        let entries: Vec<&RawValue> = serde_json::from_str(
            "[{\"operation\":\"create\",\"n\":1.10},\n{\"operation\":\"gone\",\n\"id\":\"a\"}]",
        )
        .expect("entries");
        assert_eq!(
            events(&entries, "AQ").expect("operations"),
            "event: create\ndata: {\"operation\":\"create\",\"n\":1.10}\n\n\
             event: gone\ndata: {\"operation\":\"gone\",\ndata: \"id\":\"a\"}\nid: AQ\n\n"
        );
        assert_eq!(events(&[], "AQ").expect("nothing"), "");
    }

    #[test]
    fn block_without_data_sets_the_cursor() {
        assert_eq!(start(1000, Some("AQ")), "retry: 1000\nid: AQ\n\n");
        assert_eq!(
            (comment(None), comment(Some("AQ"))),
            (": waiting\n\n".into(), ": waiting\nid: AQ\n\n".into())
        );
        assert_eq!(error("{}"), "event: error\ndata: {}\n\n");
    }

    #[test]
    fn events_are_sent_to_clients_that_prefer_them() {
        for (accept, expected) in [
            ("text/event-stream", true),
            ("text/event-stream, application/json;q=0.5", true),
            ("application/json, text/event-stream;q=0.9", false),
            ("text/event-stream;q=0", false),
            ("*/*", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(is_requested(&headers), expected, "{accept}");
        }
    }
}
