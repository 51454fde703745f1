//! Texts become vectors: who does it, and what is asked of them.

/// What a server answers.
mod answer;
/// A bag of words, for demos and tests.
mod hash;
/// A server that speaks OpenAI's protocol.
mod openai;
/// `query_text` in the body of a search.
pub(crate) mod query;
/// What is set by flags and environment.
pub(crate) mod settings;
/// A vector that may be stored.
pub(crate) mod vector;
/// Keeping the vectors of records as their texts are.
pub(crate) mod worker;

use std::borrow::Cow;
use std::time::Duration;

use openai::{Failed, Server};
use settings::{EmbeddingSettings, Provider};
use vector::Vector;

/// How often a request is sent again that a server could not answer.
const TRIES: usize = 3;

/// Turns texts into vectors.
pub(crate) struct Embedder {
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

/// Why there are no vectors: nothing that another text would change.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// How long the server asked to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

/// A vector, or why this very text has none.
pub(crate) type Outcome = Result<Vector, String>;

impl Embedder {
    /// None where embeddings are off.
    pub(crate) fn new(settings: &EmbeddingSettings) -> anyhow::Result<Option<Embedder>> {
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

    /// The name that is kept with each vector. Vectors of two models cannot be compared.
    pub(crate) fn model(&self) -> &str {
        match &self.source {
            Source::Hash => hash::MODEL,
            Source::Server(server) => server.model(),
        }
    }

    /// How many texts go into one call of [`Embedder::documents`].
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// How long one call of [`Embedder::documents`] may take, all its tries and pauses together.
    pub(crate) fn patience(&self) -> Duration {
        let pauses = openai::LONGEST_PAUSE.saturating_mul(TRIES as u32);
        self.timeout.saturating_mul(TRIES as u32 + 2).saturating_add(pauses)
    }

    /// The vectors of texts that are to be found, in their order.
    pub(crate) async fn documents(&self, texts: &[String]) -> Result<Vec<Outcome>, Failure> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<Cow<'_, str>> =
            texts.iter().map(|text| self.prepared(&self.document_prefix, text)).collect();
        match tokio::time::timeout(self.patience(), self.embed(&texts, TRIES)).await {
            Ok(outcomes) => outcomes,
            Err(_) => Err(Failure { message: "the server takes too long".to_owned(), retry_after: None }),
        }
    }

    /// The vector of a text that is looked for. Somebody waits for it, so that it is asked for twice at most.
    pub(crate) async fn query(&self, text: &str) -> Result<Outcome, Failure> {
        let text = self.prepared(&self.query_prefix, text);
        let mut outcomes = self.embed(&[text], 1).await?;
        outcomes.pop().ok_or_else(|| Failure { message: "no answer".to_owned(), retry_after: None })
    }

    async fn embed(&self, texts: &[Cow<'_, str>], tries: usize) -> Result<Vec<Outcome>, Failure> {
        let server = match &self.source {
            Source::Hash => return Ok(texts.iter().map(|text| Ok(hash::embed(text))).collect()),
            Source::Server(server) => server,
        };
        match server.ask(texts, tries).await {
            Ok(outcomes) => Ok(outcomes),
            Err(Failed::Texts(reason)) if texts.len() == 1 => Ok(vec![Err(reason)]),
            // Which of them it is, the server does not say.
            Err(Failed::Texts(_)) => {
                let mut outcomes = Vec::with_capacity(texts.len());
                for text in texts {
                    outcomes.push(match server.ask(std::slice::from_ref(text), 0).await {
                        Ok(mut alone) if alone.len() == 1 => alone.remove(0),
                        Ok(_) => Err("no answer".to_owned()),
                        Err(Failed::Texts(reason)) => Err(reason),
                        Err(failed) => return Err(failed.into_failure()),
                    });
                }
                Ok(outcomes)
            }
            Err(failed) => Err(failed.into_failure()),
        }
    }

    fn prepared<'t>(&self, prefix: &str, text: &'t str) -> Cow<'t, str> {
        let end = text.char_indices().nth(self.max_characters).map_or(text.len(), |(end, _)| end);
        let text = &text[..end];
        if prefix.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prefix}{text}")) }
    }
}
