//! Settings from flags and environment. Every setting is one field of a struct, and its comment is its help text.

/// The web application.
pub mod application;
/// Limits.
pub mod bounds;
/// Read replicas.
pub mod replicas;
/// Shards.
mod shards;

use std::path::{Path, PathBuf};
use std::time::Duration;

use application::ApplicationSettings;
use bounds::Bounds;
use clap::{ArgAction, Args, ValueEnum};
use keyed_embedding_worker::settings::EmbeddingSettings;
use keyed_service::database_url::{self, DatabaseUrl};
use keyed_service::value::{bytes, cores, seconds, seconds_or_none, value_or_file, whole};
use keyed_webhook_worker::settings::WebhookSettings;
use replicas::ReplicaSettings;

use crate::cors;
use crate::shard::Shard;
use shards::ShardSettings;

/// The default log level.
pub const DEFAULT_LOG: &str = "info";

/// The format of the log.
#[derive(Clone, Copy, ValueEnum)]
pub enum LogFormat {
    /// Plain text lines.
    Text,
    /// One JSON object per line.
    Json,
}

/// The settings of the service.
#[derive(Args, Clone)]
pub struct Settings {
    /// Check the settings, the files that they name, the address to listen on and the database, and exit. Serves no requests.
    ///
    /// Prints errors and how to fix them. The exit code is 0 if the service could start, otherwise 1.
    #[arg(long)]
    pub check: bool,

    /// The address and port to listen on.
    #[arg(long, env = "KEYED_LISTEN", default_value = "127.0.0.1:8080", value_name = "HOST:PORT")]
    pub listen: String,

    /// A PEM file with the certificate of the listener, followed by those of intermediate authorities. Requires
    /// KEYED_TLS_KEY. Without them the listener speaks plain HTTP.
    ///
    /// SIGHUP reloads both files.
    #[arg(long, env = "KEYED_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// A PEM file with the private key of the listener.
    #[arg(long, env = "KEYED_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// The address and port of /metrics, for Prometheus. Nothing else is served there. Default: none.
    ///
    /// It needs no key and speaks plain HTTP: choose an address that only your monitoring reaches.
    #[arg(long, env = "KEYED_METRICS_LISTEN", value_name = "HOST:PORT")]
    pub metrics_listen: Option<String>,

    /// The database, as a URL or as keywords. A host that begins with / is the directory of a Unix socket.
    ///
    /// For example `postgres://keyed_proxy:secret@localhost/crm` or `host=/run/postgresql dbname=crm user=keyed_proxy`.
    /// sslmode, sslrootcert, sslcert, sslkey, sslcrl, sslnegotiation and channel_binding mean what they mean to psql.
    /// For a server on another machine, use sslmode=verify-full. PGSSLMODE and similar variables are ignored.
    #[arg(long, env = "KEYED_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,

    /// A file that contains the database URL, to keep the password out of the environment.
    #[arg(long, env = "KEYED_DATABASE_URL_FILE", value_name = "FILE", conflicts_with = "database_url")]
    pub database_url_file: Option<PathBuf>,

    /// The shard whose database this is; none if the service has one database.
    #[arg(skip)]
    pub shard: Option<Shard>,

    /// Shards.
    #[command(flatten)]
    pub sharding: ShardSettings,

    /// Maximum connections to the database. Default: four per core, at most 32.
    #[arg(long, env = "KEYED_POOL_SIZE", default_value_t = default_pool_size(), value_name = "N", value_parser = whole::<usize>)]
    pub pool_size: usize,

    /// Number of threads that serve requests. Default: half of the cores, because a database on the same machine does
    /// more work for each request than the proxy. Use one per core if the proxy has its own machine.
    #[arg(long, env = "KEYED_WORKERS", default_value_t = default_workers(), value_name = "N", value_parser = whole::<usize>)]
    pub workers: usize,

    /// Seconds that a request waits for a free connection before it gets 503.
    #[arg(long, env = "KEYED_POOL_WAIT", default_value = "2", value_parser = seconds, value_name = "SECONDS")]
    pub pool_wait: Duration,

    /// Maximum age in seconds of a connection to the database. New connections follow a change of the database's address.
    #[arg(long, env = "KEYED_CONNECTION_AGE", default_value = "1800", value_parser = seconds, value_name = "SECONDS")]
    pub connection_age: Duration,

    /// Seconds that the proxy waits for the body of a request, and then for the response of the database.
    #[arg(long, env = "KEYED_REQUEST_TIMEOUT", default_value = "35", value_parser = seconds, value_name = "SECONDS")]
    pub request_timeout: Duration,

    /// Seconds after which the database cancels a statement (504). Must be shorter than the request timeout.
    #[arg(long, env = "KEYED_STATEMENT_TIMEOUT", default_value = "30", value_parser = seconds, value_name = "SECONDS")]
    pub statement_timeout: Duration,

    /// Seconds for which requests are still served after SIGTERM, while /readyz returns 503 and every response closes
    /// its connection. Set it to the time within which a load balancer detects this.
    #[arg(long, env = "KEYED_DRAIN", default_value = "0", value_parser = seconds_or_none, value_name = "SECONDS")]
    pub drain: Duration,

    /// Seconds after KEYED_DRAIN within which requests in flight must finish. Default: KEYED_REQUEST_TIMEOUT.
    #[arg(long, env = "KEYED_SHUTDOWN_TIMEOUT", value_parser = seconds, value_name = "SECONDS")]
    pub shutdown_timeout: Option<Duration>,

    /// Maximum size of a request body, in bytes or with a unit, such as `16MiB` or `512KiB`.
    #[arg(long, env = "KEYED_BODY_LIMIT", default_value = "16MiB", value_parser = bytes, value_name = "SIZE")]
    pub body_limit: usize,

    /// Origins whose pages may call the API from a browser (CORS), such as `https://app.example.com`, separated by
    /// commas; `*` for all. Default: none.
    #[arg(
        long,
        env = "KEYED_CORS_ORIGINS",
        default_value = "",
        hide_default_value = true,
        value_name = "ORIGINS"
    )]
    pub cors_origins: String,

    /// Log level, and levels of targets: `info`, `warn,keyed_proxy=debug`, or `info,access=off` to disable the access log.
    #[arg(long, env = "KEYED_LOG", default_value = DEFAULT_LOG, value_name = "FILTER")]
    pub log: String,

    /// A settings file with one NAME=value per line, from which SIGHUP reads KEYED_LOG. It is not read at startup,
    /// because the service manager sets the environment from it.
    #[arg(long, env = "KEYED_ENVIRONMENT_FILE", value_name = "FILE")]
    pub environment_file: Option<PathBuf>,

    /// Format of the log on standard error.
    #[arg(long, env = "KEYED_LOG_FORMAT", default_value = "text", value_name = "FORMAT")]
    pub log_format: LogFormat,

    /// Use prepared statements.
    ///
    /// Set it to false for PgBouncer in transaction mode. The proxy then does not set timeouts either, because
    /// PgBouncer refuses them: set them with ALTER ROLE keyed_proxy SET statement_timeout = '30s'.
    #[arg(long, env = "KEYED_PREPARED_STATEMENTS", default_value_t = true, action = ArgAction::Set, value_name = "BOOL")]
    pub prepared_statements: bool,

    /// Read replicas.
    #[command(flatten)]
    pub replicas: ReplicaSettings,

    /// The web application.
    #[command(flatten)]
    pub application: ApplicationSettings,

    /// Limits.
    #[command(flatten)]
    pub bounds: Bounds,

    /// Embeddings.
    #[command(flatten)]
    pub embedding: EmbeddingSettings,

    /// Webhooks.
    #[command(flatten)]
    pub webhooks: WebhookSettings,
}

impl Settings {
    /// Rejects settings that contradict each other.
    pub fn validate(&self) -> Result<(), String> {
        for settings in self.databases()? {
            settings.database()?;
            settings.replicas()?;
        }
        self.replicas.validate(self.request_timeout)?;
        self.listener_files().map(drop)?;
        for (name, number) in [("KEYED_POOL_SIZE", self.pool_size), ("KEYED_WORKERS", self.workers)] {
            if !(1..=1024).contains(&number) {
                return Err(format!("{name} must be between 1 and 1024."));
            }
        }
        // Otherwise, the proxy would time out first, and the database would continue unnecessary work.
        if self.statement_timeout >= self.request_timeout {
            return Err("KEYED_STATEMENT_TIMEOUT must be shorter than KEYED_REQUEST_TIMEOUT.".into());
        }
        self.own_metrics_address()?;
        self.bounds.validate(self.body_limit)?;
        cors::origins(&self.cors_origins).map_err(|message| format!("KEYED_CORS_ORIGINS: {message}."))?;
        self.application.validate()?;
        self.webhooks.validate()?;
        self.embedding.validate()
    }

    fn own_metrics_address(&self) -> Result<(), String> {
        // Port 0 selects a different port each time.
        let is_same = self.metrics_listen.as_ref() == Some(&self.listen) && !self.listen.ends_with(":0");
        if is_same { Err("KEYED_METRICS_LISTEN must differ from KEYED_LISTEN.".into()) } else { Ok(()) }
    }

    /// The time for requests in flight to finish at shutdown.
    pub fn shutdown_timeout(&self) -> Duration {
        self.shutdown_timeout.unwrap_or(self.request_timeout)
    }

    /// The files of certificate and key, if the listener uses TLS.
    pub fn listener_files(&self) -> Result<Option<(&Path, &Path)>, String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            (Some(_), None) => {
                Err("KEYED_TLS_CERT is set and KEYED_TLS_KEY is not: set both or neither.".into())
            }
            (None, Some(_)) => {
                Err("KEYED_TLS_KEY is set and KEYED_TLS_CERT is not: set both or neither.".into())
            }
        }
    }

    /// The connection settings. Messages never repeat the URL, because it may contain a password.
    pub fn database(&self) -> Result<DatabaseUrl, String> {
        let (url, file) = (self.database_url.as_deref(), self.database_url_file.as_deref());
        Ok(self.with_session_options(database_url::read(&self.database_name(), url, file)?))
    }

    /// The same of the replicas that answer reads.
    pub fn replicas(&self) -> Result<Vec<DatabaseUrl>, String> {
        let (url, file) = (self.database_url.as_deref(), self.database_url_file.as_deref());
        let urls = self.replicas.urls(&database_url::read(&self.database_name(), url, file)?)?;
        Ok(urls.into_iter().map(|url| self.with_session_options(url)).collect())
    }

    /// The name of the database URL in messages.
    fn database_name(&self) -> String {
        self.shard
            .map_or_else(|| "KEYED_DATABASE_URL".to_owned(), |shard| format!("KEYED_SHARDS (shard {shard})"))
    }

    fn with_session_options(&self, mut database: DatabaseUrl) -> DatabaseUrl {
        let config = &mut database.config;
        if self.prepared_statements {
            let given = config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
            config.options(format!("{given}{}", self.session_options()));
        }
        database
    }

    /// The settings of each database of the service: one, or one for each shard, in the order of the shards.
    pub fn databases(&self) -> Result<Vec<Settings>, String> {
        let Some(shards) = self.sharding.read()? else { return Ok(vec![self.clone()]) };
        let (url, file) = (self.database_url.as_deref(), self.database_url_file.as_deref());
        if value_or_file("KEYED_DATABASE_URL", url, file)?.is_some_and(|url| !url.trim().is_empty()) {
            return Err("KEYED_SHARDS and KEYED_DATABASE_URL are both set: set one of them.".into());
        }
        let bounds = self.bounds.clone().divided(shards.len(), self.body_limit);
        let numbers: Vec<Shard> = shards.iter().map(|(shard, _)| *shard).collect();
        let replicas = self.replicas.by_shard(&numbers)?;
        let of_shard = |((shard, url), replicas)| Settings {
            shard: Some(shard),
            sharding: ShardSettings::default(),
            database_url: Some(url),
            database_url_file: None,
            bounds: bounds.clone(),
            replicas,
            ..self.clone()
        };
        Ok(shards.into_iter().zip(replicas).map(of_shard).collect())
    }

    fn session_options(&self) -> String {
        let statement = self.statement_timeout.as_millis();
        // Half of the statement timeout remains for the work after waiting for a lock.
        let lock = statement.div_ceil(2);
        format!(
            "-c statement_timeout={statement} -c lock_timeout={lock} \
             -c idle_in_transaction_session_timeout={statement} -c search_path=pg_catalog,pg_temp"
        )
    }
}

fn default_pool_size() -> usize {
    (cores() * 4).min(32)
}

fn default_workers() -> usize {
    cores().div_ceil(2)
}

#[cfg(test)]
impl Settings {
    /// Parses settings from flags.
    pub(crate) fn of_arguments(arguments: &[&str]) -> Settings {
        use clap::FromArgMatches;

        let command = Settings::augment_args(clap::Command::new("keyed-proxy").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).expect("well-formed arguments");
        Settings::from_arg_matches(&matches).expect("the arguments of all settings")
    }
}

#[cfg(test)]
mod tests;
