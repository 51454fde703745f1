//! The writes of a client.

use crate::crash::client::{Body, Client, Outcome, Reply, pause};
use crate::crash::ledger::{Fate, Group, Ledger, attributes_of, customers_of, name_of, number_of};
use harness::Session;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The rows of a file.
const ROWS: usize = 150;

/// A value that is invalid for its attribute.
const REJECTED: &str = "many";

const CUSTOMERS: &str = "/entities/template/customers/by-key";

/// The possible values of something that a client changes repeatedly.
#[derive(Debug)]
pub(super) struct Own<T> {
    pub(super) id: String,
    /// One value, or two after a change with an unknown outcome.
    pub(super) possible: Vec<T>,
}

/// A request that the service must recognize, and its response.
pub(super) struct Once {
    path: &'static str,
    key: Option<String>,
    body: Body,
    reply: Reply,
}

/// A client. It sends one request at a time, and records its outcome before it sends the next.
pub(super) struct Writer {
    pub(super) number: usize,
    pub(super) client: Client,
    pub(super) ledger: Ledger,
    /// A note with a text to embed.
    pub(super) note: Own<String>,
    /// A customer, which is live or deleted.
    pub(super) customer: Own<bool>,
    /// The last requests that must not have a second effect.
    pub(super) once: Vec<Once>,
    pub(super) vectors: Arc<Vec<Vec<f64>>>,
    pub(super) round: usize,
    pub(super) step: usize,
}

impl Writer {
    /// Writes until it is stopped. `answered` counts acknowledged requests.
    pub(super) async fn run(mut self, stop: Arc<AtomicBool>, answered: Arc<AtomicUsize>) -> Writer {
        while !stop.load(Ordering::Relaxed) {
            let before = self.ledger.acknowledged;
            self.write().await;
            self.step += 1;
            if self.ledger.acknowledged > before {
                answered.fetch_add(1, Ordering::Relaxed);
            } else {
                pause().await;
            }
        }
        self
    }

    async fn write(&mut self) {
        match (self.step + self.number) % 11 {
            0 => self.count_once().await,
            1 => self.count_shared().await,
            2 => self.change_note().await,
            3 => self.delete_or_restore().await,
            4 => self.batch(true).await,
            5 => self.batch(false).await,
            6 => self.import(if (self.step / 11).is_multiple_of(2) { "abort" } else { "skip" }).await,
            7 => self.deliver().await,
            8 => self.upsert("notes", "notes", json!({})).await,
            9 => self.upsert("vectors", "customers", json!({"embedding": self.vector()})).await,
            _ => self.upsert("upserts", "customers", json!({})).await,
        }
    }

    fn keys(&self, count: usize) -> Vec<String> {
        (0..count).map(|it| format!("r{}c{}n{}-{it}", self.round, self.number, self.step)).collect()
    }

    /// Sends a request once, and returns whether it was acknowledged, rejected, not written, or is unknown.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        header: Option<(&str, &str)>,
        body: &Body,
    ) -> Outcome {
        let outcome = self.client.send(method, path, header, body).await;
        match &outcome {
            Outcome::Acknowledged(_) => self.ledger.acknowledged += 1,
            Outcome::NotWritten => self.ledger.not_written += 1,
            Outcome::Unknown => self.ledger.unknown += 1,
            Outcome::Rejected(..) => {}
        }
        outcome
    }

    /// Records the outcome for new records.
    fn write_down(
        &mut self,
        by: &'static str,
        records: Vec<(&'static str, String)>,
        fate: Fate,
        points: u32,
    ) {
        self.ledger.groups.push(Group { by, records, fate, points });
    }

    async fn upsert(&mut self, by: &'static str, template: &'static str, more: Value) {
        let key = self.keys(1).remove(0);
        let mut body = json!({"external_key": key, "attributes": attributes_of(template, &key)});
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        let path = format!("/entities/template/{template}/by-key");
        let outcome = self.send(Method::PUT, &path, None, &Body::Json(body)).await;
        self.write_down(by, vec![(template, key)], fate_of(&outcome), 0);
    }

    /// A vector near one of the centers, which no other record has.
    fn vector(&self) -> Vec<f64> {
        let seed = number_of(&self.keys(1)[0]) as usize;
        let centre = &self.vectors[seed % self.vectors.len()];
        let noise =
            |position: usize| ((seed + 1) * (position + 3) * 2_654_435_761 % 1000) as f64 / 1000.0 - 0.5;
        centre.iter().enumerate().map(|(position, value)| value + 0.02 * noise(position)).collect()
    }

    async fn batch(&mut self, is_atomic: bool) {
        let keys = self.keys(5);
        let (company, customers) = (&keys[..1], &keys[1..4]);
        let upsert = |template: &str, key: &str, mut attributes: Value| {
            if template == "customers" {
                attributes["company"] = json!({"external_key": company[0]});
            }
            json!({"op": "upsert", "template": template, "external_key": key, "attributes": attributes})
        };
        let mut operations: Vec<Value> =
            customers.iter().map(|key| upsert("customers", key, attributes_of("customers", key))).collect();
        operations.push(upsert("companies", &company[0], attributes_of("companies", &company[0])));
        if !is_atomic {
            operations.push(upsert("customers", &keys[4], json!({"visits": REJECTED})));
        }
        let body = Body::Json(json!({"operations": operations, "atomic": is_atomic}));
        let outcome = self.send(Method::POST, "/entities/batch", None, &body).await;
        let fate = fate_of(&outcome);
        let by = if is_atomic { "atomic batches" } else { "batches" };
        let mut written = customers_of(customers);
        written.push(("companies", company[0].clone()));
        self.write_down(by, written, fate, 0);
        self.write_down(by, customers_of(&keys[4..]), Fate::Absent, 0);
    }

    async fn import(&mut self, on_error: &'static str) {
        let keys = self.keys(ROWS);
        let mut rows = "external_key,name,visits\n".to_owned();
        for (position, key) in keys.iter().enumerate() {
            let is_rejected = on_error == "skip" && position == ROWS / 2;
            let number = if is_rejected { REJECTED.to_owned() } else { number_of(key).to_string() };
            rows.push_str(&format!("{key},{},{number}\n", name_of(key)));
        }
        let path = format!("/entities/template/customers/import?on_error={on_error}");
        let body = Body::Csv(rows);
        if on_error == "abort" {
            let outcome = self.send(Method::POST, &path, None, &body).await;
            self.write_down("imports", customers_of(&keys), fate_of(&outcome), 0);
            return;
        }
        // Chunks remain if the rest of the file fails. Importing the file again adds the rest and changes nothing else.
        self.client.send_until_answered(Method::POST, &path, None, &body).await;
        self.ledger.acknowledged += 1;
        let (good, rest) = keys.split_at(ROWS / 2);
        let (rejected, last) = rest.split_at(1);
        self.write_down("imports that skip", customers_of(&[good, last].concat()), Fate::There, 0);
        self.write_down("imports that skip", customers_of(rejected), Fate::Absent, 0);
    }

    /// Increments the client's own number, with an Idempotency-Key.
    async fn count_once(&mut self) {
        let body =
            json!({"external_key": format!("once-{}", self.number), "attributes": {"visits": {"$inc": 1}}});
        let key = self.keys(1).remove(0);
        let body = Body::Json(body);
        let header = Some(("idempotency-key", key.as_str()));
        let reply = self.client.send_until_answered(Method::PUT, CUSTOMERS, header, &body).await;
        self.ledger.acknowledged += 1;
        self.ledger.once += 1;
        self.once.push(Once { path: CUSTOMERS, key: Some(key), body, reply });
    }

    /// Increments the number that all clients share.
    async fn count_shared(&mut self) {
        let body = json!({"external_key": "shared", "attributes": {"visits": {"$inc": 1}}});
        let outcome = self.send(Method::PUT, CUSTOMERS, None, &Body::Json(body)).await;
        match fate_of(&outcome) {
            Fate::There => self.ledger.shared.acknowledged += 1,
            Fate::Either => self.ledger.shared.unknown += 1,
            Fate::Absent => {}
        }
    }

    /// A delivery appends to a series, so a second effect would be visible.
    async fn deliver(&mut self) {
        let keys = self.keys(3);
        let item =
            |key: &String| json!({"id": key, "name": name_of(key), "visits": number_of(key), "mood": 1});
        let payload = json!({"items": keys.iter().map(item).collect::<Vec<_>>()}).to_string();
        let body = Body::Delivery(format!("msg-{}", keys[0]), payload);
        let path = "/inbound/{token}";
        let reply = self.client.send_until_answered(Method::POST, path, None, &body).await;
        assert_eq!(reply.body, json!({"created": 3, "updated": 0}));
        self.ledger.acknowledged += 1;
        self.write_down("deliveries", customers_of(&keys), Fate::There, 1);
        self.once.push(Once { path, key: None, body, reply });
    }

    /// Changes the client's own note, with the version that the client read as precondition.
    async fn change_note(&mut self) {
        let path = format!("/entities/{}", self.note.id);
        let Outcome::Acknowledged(read) = self.client.send(Method::GET, &path, None, &Body::None).await
        else {
            self.ledger.not_written += 1;
            return;
        };
        let text = read.body["attributes"]["text"].as_str().unwrap_or_default().to_owned();
        assert!(self.note.possible.contains(&text), "{text}, not {:?}", self.note.possible);
        let next = format!("Changed {}", self.keys(1)[0]);
        let body = Body::Json(json!({"attributes": {"text": next}}));
        let outcome = self.send(Method::PATCH, &path, Some(("if-match", &read.etag)), &body).await;
        self.note.possible = after(&outcome, text, next);
    }

    async fn delete_or_restore(&mut self) {
        let path = format!("/entities/{}", self.customer.id);
        let whole = format!("{path}?include_deleted=true");
        let Outcome::Acknowledged(read) = self.client.send(Method::GET, &whole, None, &Body::None).await
        else {
            self.ledger.not_written += 1;
            return;
        };
        let is_live = read.body["deleted_at"].is_null();
        assert!(self.customer.possible.contains(&is_live), "{is_live}, not {:?}", self.customer.possible);
        let outcome = if is_live {
            self.send(Method::DELETE, &path, None, &Body::None).await
        } else {
            self.send(Method::POST, &format!("{path}/restore"), None, &Body::Json(json!({}))).await
        };
        self.customer.possible = after(&outcome, is_live, !is_live);
    }

    /// Compares the client's own note and customer with the database.
    pub(super) async fn settle_own(&mut self, session: &Session) {
        let text = session.text("select text from crm.notes where id = $1::uuid", &[&self.note.id]).await;
        assert!(self.note.possible.contains(&text), "{text}, not {:?}", self.note.possible);
        let live = "select deleted_at is null from crm.customers where id = $1::uuid";
        let is_live = session.text(live, &[&self.customer.id]).await == "t";
        assert!(self.customer.possible.contains(&is_live), "{is_live}, not {:?}", self.customer.possible);
    }

    /// Repeats the last requests that must not have a second effect, and returns their number.
    pub(super) async fn repeat(&mut self) -> usize {
        let repeated = self.once.split_off(self.once.len().saturating_sub(20));
        for Once { path, key, body, reply } in &repeated {
            let method = if key.is_some() { Method::PUT } else { Method::POST };
            let header = key.as_deref().map(|key| ("idempotency-key", key));
            let again = self.client.send_until_answered(method, path, header, body).await;
            assert_eq!(again.body, reply.body, "{path} {key:?}");
            assert!(key.is_none() || again.is_replayed, "{path} {key:?} was run again");
        }
        self.once.clear();
        repeated.len()
    }
}

/// The possible values after a change.
fn after<T>(outcome: &Outcome, before: T, next: T) -> Vec<T> {
    match fate_of(outcome) {
        Fate::There => vec![next],
        Fate::Absent => vec![before],
        Fate::Either => vec![before, next],
    }
}

fn fate_of(outcome: &Outcome) -> Fate {
    match outcome {
        Outcome::Acknowledged(_) => Fate::There,
        Outcome::NotWritten => Fate::Absent,
        Outcome::Unknown => Fate::Either,
        Outcome::Rejected(status, problem) => panic!("{status} {problem}"),
    }
}
