//! Embeds texts with the configured provider.

use std::borrow::Cow;
use std::time::Duration;

use crate::isolation::{Isolation, Outcomes};
use crate::openai::{self, Server};
use crate::outcome::{Failed, Failure, Outcome};
use tokio::time::{Instant, timeout_at};

use crate::hash;
use crate::settings::{EmbeddingSettings, Provider};

/// The maximum number of retries.
const TRIES: usize = 3;

/// The number of texts whose individual requests may each use the full timeout.
const SLOW_TEXTS: usize = 4;

/// A text that every model accepts. If the server embeds it and fails for other texts, the other texts are invalid.
const PROBE: &str = "A short sentence.";

/// Turns texts into vectors.
pub struct Embedder {
    source: Source,
    document_prefix: String,
    query_prefix: String,
    max_characters: usize,
    batch: usize,
    timeout: Duration,
}

enum Source {
    Hash,
    Server(Box<Server>),
}

impl Embedder {
    /// `None` if embeddings are off.
    pub fn new(settings: &EmbeddingSettings) -> anyhow::Result<Option<Embedder>> {
        let source = match settings.embed_provider {
            Provider::Off => return Ok(None),
            Provider::Hash => Source::Hash,
            Provider::Openai => Source::Server(Box::new(Server::new(settings)?)),
        };
        Ok(Some(Embedder {
            source,
            document_prefix: settings.embed_document_prefix.clone(),
            query_prefix: settings.embed_query_prefix.clone(),
            max_characters: settings.embed_max_characters,
            batch: settings.embed_batch,
            timeout: settings.embed_timeout,
        }))
    }

    /// The model name that is stored with each vector. Vectors of different models cannot be compared.
    pub fn model(&self) -> &str {
        match &self.source {
            Source::Hash => hash::MODEL,
            Source::Server(server) => server.model(),
        }
    }

    /// Replaces the API key of the server. Returns whether it differs.
    pub fn replace_key(&self, key: Option<String>) -> bool {
        match &self.source {
            Source::Hash => false,
            Source::Server(server) => server.replace_key(key),
        }
    }

    /// The maximum number of texts in one call of [`Embedder::documents`].
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// The timeout of one call of [`Embedder::documents`], including retries and pauses.
    pub fn patience(&self) -> Duration {
        let pauses = openai::MAX_PAUSE.saturating_mul(TRIES as u32);
        self.timeout.saturating_mul((1 + TRIES + SLOW_TEXTS) as u32).saturating_add(pauses)
    }

    /// Embeds documents.
    pub async fn documents(&self, texts: &[String]) -> Outcomes {
        let texts: Vec<Cow<'_, str>> =
            texts.iter().map(|text| self.prepared(&self.document_prefix, text)).collect();
        let server = match &self.source {
            Source::Hash => {
                return Outcomes::complete(texts.iter().map(|text| Ok(hash::embed(text))).collect());
            }
            Source::Server(server) => server,
        };
        if texts.is_empty() {
            return Outcomes::complete(Vec::new());
        }
        let deadline = Instant::now() + self.patience();
        let too_long =
            || Failure { message: "the server did not respond in time".to_owned(), retry_after: None };
        match timeout_at(deadline, server.request_vectors(&texts, TRIES)).await {
            Ok(Ok(outcomes)) => Outcomes::complete(outcomes),
            // The server does not report which text it rejects.
            Ok(Err(failed)) if failed.may_depend_on_text() => {
                let mut isolation = Isolation::new(texts.len());
                let failure = if texts.len() == 1 {
                    isolation.settle(0, Err(failed));
                    None
                } else {
                    let alone = Embedder::isolate(server, &texts, &mut isolation);
                    timeout_at(deadline, alone).await.unwrap_or_else(|_| Some(too_long()))
                };
                if failure.is_none() && !isolation.has_vector() {
                    let probe = [self.prepared(&self.document_prefix, PROBE)];
                    let result = timeout_at(deadline, server.request_vectors(&probe, 0)).await;
                    isolation
                        .record_probe(matches!(result, Ok(Ok(vectors)) if matches!(vectors[..], [Ok(_)])));
                }
                isolation.finish(failure)
            }
            Ok(Err(failed)) => Outcomes::none(texts.len(), failed.into_failure()),
            Err(_) => Outcomes::none(texts.len(), too_long()),
        }
    }

    /// Sends the texts one by one. Returns a failure that does not depend on the text, if one occurs.
    async fn isolate(server: &Server, texts: &[Cow<'_, str>], isolation: &mut Isolation) -> Option<Failure> {
        let mut positions: Vec<usize> = (0..texts.len()).collect();
        // In random order, so that the last texts are not always the ones that time out.
        fastrand::shuffle(&mut positions);
        for position in positions {
            match server.request_vectors(std::slice::from_ref(&texts[position]), 0).await {
                Err(failed) if !failed.may_depend_on_text() => return Some(failed.into_failure()),
                result => isolation.settle(position, result),
            }
        }
        None
    }

    /// The vector of a query text. The request is retried only once, because a client waits for it.
    pub async fn query(&self, text: &str) -> Result<Outcome, Failed> {
        let text = self.prepared(&self.query_prefix, text);
        let server = match &self.source {
            Source::Hash => return Ok(Ok(hash::embed(&text))),
            Source::Server(server) => server,
        };
        match server.request_vectors(&[text], 1).await {
            Ok(mut outcomes) => {
                outcomes.pop().ok_or_else(|| Failed::Permanent("no vector for the text".to_owned()))
            }
            Err(Failed::Texts(reason)) => Ok(Err(reason)),
            Err(failed) => Err(failed),
        }
    }

    fn prepared<'t>(&self, prefix: &str, text: &'t str) -> Cow<'t, str> {
        let end = text.char_indices().nth(self.max_characters).map_or(text.len(), |(end, _)| end);
        let text = &text[..end];
        if prefix.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prefix}{text}")) }
    }
}
