//! Requests that wait for changes.

mod limits;
mod poll;
mod stream;

use harness::{Request, Service, until};
use reqwest::Response;
use serde_json::Value;

/// A proxy with metrics, to count its listeners.
const MEASURED: (&str, &str) = ("KEYED_METRICS_LISTEN", "127.0.0.1:0");

/// Waits until this many requests wait for changes.
async fn until_listening(service: &Service, count: u32) {
    until("they wait for changes", async || {
        service.proxy.metrics().await.sum("keyed_http_listeners", &[]) == f64::from(count)
    })
    .await;
}

/// The cursor after all current changes.
async fn cursor(service: &Service) -> String {
    next_cursor(&service.get("/changes").await.expect(200))
}

fn next_cursor(page: &Value) -> String {
    page["next_cursor"].as_str().expect("a cursor").to_owned()
}

/// An event, or a block without an event.
#[derive(Debug, Default)]
struct Event {
    name: String,
    data: Value,
    id: Option<String>,
}

/// A stream of events.
struct Events {
    response: Response,
    unread: String,
    /// The id of the last block that had one.
    cursor: String,
}

impl Events {
    /// Opens a stream below `/v1`, as administrator in the project `crm`.
    async fn open(service: &Service, path: &str) -> Self {
        Self::of(service.proxy.request("GET", &format!("/v1{path}"))).await
    }

    async fn of(request: Request) -> Self {
        let response = request.header("accept", "text/event-stream").response().await;
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut events = Self { response, unread: String::new(), cursor: String::new() };
        let start = events.block().await.expect("a stream starts with the reconnection delay");
        assert!(start.contains("retry: "), "{start}");
        events
    }

    /// The lines up to the next empty one; none at the end.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.unread = rest;
                for line in block.lines() {
                    if let Some(id) = line.strip_prefix("id: ") {
                        self.cursor = id.to_owned();
                    }
                }
                return Some(block);
            }
            let chunk = self.response.chunk().await.expect("the stream ends properly")?;
            self.unread.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }

    /// The next event, without comments; none at the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                let lines = block.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(": "));
                lines.collect::<Vec<_>>().join("\n")
            };
            if block.starts_with("event: ") {
                let id = Some(field("id")).filter(|id| !id.is_empty());
                let data = serde_json::from_str(&field("data")).expect("JSON");
                return Some(Event { name: field("event"), data, id });
            }
        }
    }

    /// The next event, as its name and the key of its record.
    async fn next_of(&mut self) -> (String, String) {
        let event = self.next().await.expect("the stream goes on");
        (event.name, event.data["external_key"].as_str().unwrap_or_default().to_owned())
    }
}

fn of(name: &str, key: &str) -> (String, String) {
    (name.to_owned(), key.to_owned())
}
