//! Settings of embeddings. Each is one field, and its comment is its help text.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use hyper::Uri;

use keyed_service::value::{credential, seconds, whole};

/// The length of a vector.
pub const DIMENSION: usize = 768;

/// The embedding provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Provider {
    /// No embeddings.
    Off,
    /// A bag of words, computed by the proxy; for demos and tests.
    Hash,
    /// A server with OpenAI's POST /v1/embeddings, such as Ollama, vLLM, Text Embeddings Inference or OpenAI.
    Openai,
}

/// The settings of providers and of the worker.
#[derive(Args, Clone)]
#[command(next_help_heading = "Embeddings")]
pub struct EmbeddingSettings {
    /// The embedding provider, for `query_text` in searches and for the records of templates with `embed`.
    #[arg(long, env = "KEYED_EMBED_PROVIDER", default_value = "off", value_name = "PROVIDER")]
    pub embed_provider: Provider,

    /// The base URL of the server, for example `http://localhost:11434`; `/v1/embeddings` is appended.
    ///
    /// With https, its certificate is verified against the system's root certificates or those in the file
    /// SSL_CERT_FILE. HTTP_PROXY and similar variables are ignored.
    #[arg(long, env = "KEYED_EMBED_URL", value_name = "URL")]
    pub embed_url: Option<String>,

    /// The model, which must return vectors of 768 numbers, for example `nomic-embed-text`.
    #[arg(long, env = "KEYED_EMBED_MODEL", value_name = "NAME")]
    pub embed_model: Option<String>,

    /// The API key of the server, if it requires one.
    #[arg(long, env = "KEYED_EMBED_KEY", hide_env_values = true, value_name = "KEY")]
    pub embed_key: Option<String>,

    /// A file that contains the API key of the server.
    #[arg(long, env = "KEYED_EMBED_KEY_FILE", value_name = "FILE", conflicts_with = "embed_key")]
    pub embed_key_file: Option<PathBuf>,

    /// Request vectors of this length, for models with a variable length. Must be 768.
    #[arg(long, env = "KEYED_EMBED_DIMENSIONS", value_name = "N", value_parser = whole::<usize>)]
    pub embed_dimensions: Option<usize>,

    /// Prefix that the model requires for a document, for example `search_document: `.
    #[arg(long, env = "KEYED_EMBED_DOCUMENT_PREFIX", default_value = "", value_name = "TEXT")]
    pub embed_document_prefix: String,

    /// Prefix that the model requires for a query, for example `search_query: `.
    #[arg(long, env = "KEYED_EMBED_QUERY_PREFIX", default_value = "", value_name = "TEXT")]
    pub embed_query_prefix: String,

    /// Maximum number of characters of a text. Longer texts are truncated.
    #[arg(long, env = "KEYED_EMBED_MAX_CHARACTERS", default_value_t = 8000, value_name = "N", value_parser = whole::<usize>)]
    pub embed_max_characters: usize,

    /// Maximum number of texts in one request.
    #[arg(long, env = "KEYED_EMBED_BATCH", default_value_t = 32, value_name = "N", value_parser = whole::<usize>)]
    pub embed_batch: usize,

    /// Timeout of one request to the server, in seconds.
    #[arg(long, env = "KEYED_EMBED_TIMEOUT", default_value = "30", value_parser = seconds, value_name = "SECONDS")]
    pub embed_timeout: Duration,

    /// The API key of keyed with which this proxy embeds records. Without it, the proxy embeds only `query_text`.
    ///
    /// The worker has the privileges of the key's role, which needs `read` and `update` on the templates to embed.
    #[arg(long, env = "KEYED_EMBED_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub embed_api_key: Option<String>,

    /// A file that contains this API key.
    #[arg(long, env = "KEYED_EMBED_API_KEY_FILE", value_name = "FILE", conflicts_with = "embed_api_key")]
    pub embed_api_key_file: Option<PathBuf>,

    /// Seconds between two checks of the worker when there is nothing to embed.
    #[arg(long, env = "KEYED_EMBED_POLL", default_value = "1", value_parser = seconds, value_name = "SECONDS")]
    pub embed_poll: Duration,
}

impl EmbeddingSettings {
    /// Rejects settings that contradict each other.
    pub fn validate(&self) -> Result<(), String> {
        if !(1..=2048).contains(&self.embed_batch) {
            return Err("KEYED_EMBED_BATCH must be between 1 and 2048.".into());
        }
        if !(1..=1_000_000).contains(&self.embed_max_characters) {
            return Err("KEYED_EMBED_MAX_CHARACTERS must be between 1 and 1000000.".into());
        }
        if self.embed_dimensions.is_some_and(|dimensions| dimensions != DIMENSION) {
            return Err(format!("KEYED_EMBED_DIMENSIONS can only be {DIMENSION}."));
        }
        let worker = self.worker_key()?;
        match self.embed_provider {
            Provider::Off if worker.is_some() => {
                Err("KEYED_EMBED_API_KEY is set, but KEYED_EMBED_PROVIDER is off: set the provider or remove the key."
                    .into())
            }
            Provider::Off | Provider::Hash => Ok(()),
            Provider::Openai => {
                self.address()?;
                self.model()?;
                self.key().map(drop)
            }
        }
    }

    /// The URL of the embedding server. Messages never repeat it, because it may contain a password.
    pub fn address(&self) -> Result<Uri, String> {
        let invalid = "KEYED_EMBED_URL must be the address of a server, for example http://localhost:11434.";
        let base = self.embed_url.as_deref().unwrap_or_default().trim().trim_end_matches('/');
        // Servers document the URL with the version, so it is accepted too.
        let base = base.strip_suffix("/embeddings").unwrap_or(base);
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let address: Uri = format!("{base}/v1/embeddings").parse().map_err(|_| invalid.to_owned())?;
        let authority = address.authority().map(|authority| authority.as_str()).unwrap_or_default();
        if !matches!(address.scheme_str(), Some("http" | "https")) || base.contains(['?', '#']) {
            return Err(invalid.into());
        }
        if authority.contains('@') {
            return Err("KEYED_EMBED_URL must not contain a password: set KEYED_EMBED_KEY.".into());
        }
        Ok(address)
    }

    /// The name of the model.
    pub fn model(&self) -> Result<String, String> {
        let model = self.embed_model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        match model {
            Some(model) if model.chars().count() > 200 => {
                Err("KEYED_EMBED_MODEL is longer than 200 characters.".into())
            }
            Some(model) => Ok(model.to_owned()),
            None => Err("KEYED_EMBED_MODEL is not set. An example is nomic-embed-text.".into()),
        }
    }

    /// The server's API key.
    pub fn key(&self) -> Result<Option<String>, String> {
        credential("KEYED_EMBED_KEY", self.embed_key.as_deref(), self.embed_key_file.as_deref())
    }

    /// The API key of keyed with which records are embedded.
    pub fn worker_key(&self) -> Result<Option<String>, String> {
        credential("KEYED_EMBED_API_KEY", self.embed_api_key.as_deref(), self.embed_api_key_file.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        settings: EmbeddingSettings,
    }

    fn settings(arguments: &[&str]) -> EmbeddingSettings {
        Only::try_parse_from(["test"].iter().chain(arguments)).expect("well-formed arguments").settings
    }

    #[test]
    fn embeddings_are_off_by_default() {
        assert_eq!(settings(&[]).embed_provider, Provider::Off);
        assert_eq!(settings(&[]).validate(), Ok(()));
        assert_eq!(settings(&["--embed-provider", "hash"]).validate(), Ok(()));
        assert!(settings(&["--embed-api-key", "keyed_1_x"]).validate().is_err());
    }

    #[test]
    fn server_needs_an_address_and_a_model() {
        let with = |more: &[&str]| settings(&[&["--embed-provider", "openai"], more].concat()).validate();
        assert!(with(&[]).is_err_and(|message| message.contains("KEYED_EMBED_URL")));
        let url = ["--embed-url", "http://localhost:1"];
        assert!(with(&url).is_err_and(|message| message.contains("KEYED_EMBED_MODEL")));
        assert_eq!(with(&[&url[..], &["--embed-model", "m"]].concat()), Ok(()));
        assert!(with(&[&url[..], &["--embed-model", "m", "--embed-dimensions", "512"]].concat()).is_err());
    }

    #[test]
    fn address_has_several_accepted_forms() {
        for url in ["http://host:1", "http://host:1/", "http://host:1/v1", " http://host:1/v1/embeddings "] {
            let address = settings(&["--embed-url", url]).address().expect(url);
            assert_eq!(address.to_string(), "http://host:1/v1/embeddings");
        }
        let address = settings(&["--embed-url", "https://host/openai"]).address().expect("an address");
        assert_eq!(address.to_string(), "https://host/openai/v1/embeddings");
        for url in ["", "host", "ftp://host", "host:1", "http://", "http://u:secret@host", "http://h/?a=b"] {
            let message = settings(&["--embed-url", url]).address().expect_err(url);
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn key_is_never_disclosed() {
        let message = settings(&["--embed-key", "se cret", "--embed-provider", "openai"]).key();
        assert!(message.is_err_and(|message| !message.contains("cret")));
        let key = settings(&["--embed-key", "secret\n"]).key();
        assert_eq!(key, Ok(Some("secret".into())));
    }
}
