//! A project with embedded attributes, for tests of embedding workers.

use crate::paintings::VECTORS;
use crate::{Database, EmbeddingServer, PATIENCE, Proxy, Session};
use serde_json::Value;
use std::time::{Duration, Instant};

/// A project `g` whose paintings embed title and medium, and a proxy for it.
pub struct Gallery {
    /// The database.
    pub database: Database,
    /// A session as superuser.
    pub session: Session,
}

impl Gallery {
    /// A new database with the project.
    pub async fn new() -> Self {
        Self::over(Database::new().await).await
    }

    /// Creates the project in an existing database.
    pub async fn over(database: Database) -> Self {
        let session = database.session().await;
        session
            .run(
                r#"select keyed.create_project('g');
                   select keyed.create_template('g', 'paintings', '[
                     {"slug": "title", "type": "string"},
                     {"slug": "medium", "type": "list", "options": [{"value": "oil", "label": "Oil paint"}, "fresco"]},
                     {"slug": "year", "type": "number"}]', embed => '{title,medium}')"#,
            )
            .await;
        Self { database, session }
    }

    /// Starts a proxy whose embeddings are bags of words.
    pub async fn hashing(&self) -> Proxy {
        self.worker(&[("KEYED_EMBED_PROVIDER", "hash")]).await
    }

    /// Starts a proxy that embeds records with this server.
    pub async fn asking(&self, server: &EmbeddingServer, more: &[(&str, &str)]) -> Proxy {
        let url = server.url();
        let settings = [
            ("KEYED_EMBED_PROVIDER", "openai"),
            ("KEYED_EMBED_URL", url.as_str()),
            ("KEYED_EMBED_MODEL", "test-model"),
        ];
        self.worker(&[&settings[..], more].concat()).await
    }

    /// Starts a proxy that embeds records, by default with an administrator's key.
    pub async fn worker(&self, settings: &[(&str, &str)]) -> Proxy {
        let key = self.database.api_key("keyed_admin", &[]).await;
        let defaults = [("KEYED_EMBED_API_KEY", key.as_str()), ("KEYED_EMBED_POLL", "0.05")];
        Proxy::start_with(&self.database, &[&defaults[..], settings].concat()).await.in_project("g")
    }

    /// Writes a painting and returns its id.
    pub async fn paint(&self, key: &str, title: &str) -> String {
        let attributes = serde_json::json!({"title": title}).to_string();
        self.session
            .text("select id from keyed.upsert_by_key('g.paintings', $1, $2)", &[key, &attributes])
            .await
    }

    /// The row of `keyed.embedding_status()` for paintings.
    pub async fn status(&self) -> Value {
        self.session
            .json("select to_jsonb(s) from keyed.embedding_status() s where template = 'g.paintings'", &[])
            .await
    }

    /// The entry of a record in the embedding queue.
    pub async fn job(&self, id: &str) -> Value {
        self.session
            .json("select to_jsonb(j) from keyed_state.embedding_job j where record_id = $1::uuid", &[id])
            .await
    }

    /// The largest component of a record's vector and its index, counted from 0; empty without a vector.
    pub async fn axis(&self, id: &str) -> String {
        self.session
            .rows(
                &format!("select n.place - 1 from {VECTORS} v, unnest(v.embedding::real[]) with ordinality n (x, place)
                 where v.record_id = $1::uuid order by n.x desc limit 1"),
                &[id],
            )
            .await
            .pop()
            .and_then(|mut row| row.pop().flatten())
            .unwrap_or_default()
    }

    /// Waits until the queue meets a condition.
    #[track_caller]
    pub fn until<'a>(
        &'a self,
        what: &'a str,
        mut is_so: impl FnMut(&Value) -> bool + 'a,
    ) -> impl Future<Output = Value> + 'a {
        let location = std::panic::Location::caller();
        async move {
            let began = Instant::now();
            loop {
                let status = self.status().await;
                if is_so(&status) {
                    return status;
                }
                assert!(began.elapsed() < PATIENCE, "{location}: not {what}: {status}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Waits until the queue is empty and this many records are embedded.
    #[track_caller]
    pub fn until_done(&self, done: i64) -> impl Future<Output = Value> + '_ {
        self.until("done", move |status| {
            status["pending"] == 0 && status["running"] == 0 && status["done"] == done
        })
    }
}
