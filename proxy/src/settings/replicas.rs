//! Settings of read replicas. Each is one field, and its comment is its help text.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::shards::parse;
use crate::shard::Shard;
use keyed_service::database_url::{self, DatabaseUrl};
use keyed_service::value::{seconds, seconds_or_none, value_or_file};
use tokio_postgres::config::TargetSessionAttrs;

/// The name of the setting in messages.
const NAME: &str = "KEYED_READ_URL";

/// What a URL, or keywords, begin with.
const BEGINNINGS: [&str; 4] = ["postgres://", "postgresql://", "host=", "hostaddr="];

/// The maximum number of replicas.
const MAX_REPLICAS: usize = 16;

/// Replicas that answer reads.
#[derive(Args, Clone)]
#[command(next_help_heading = "Read replicas")]
pub struct ReplicaSettings {
    /// The streaming replicas that answer reads, as URLs or keywords, separated by commas. Default: none, the primary answers.
    ///
    /// Each names one host. KEYED_POOL_SIZE connections are opened to each. With KEYED_SHARDS, there is an entry for each shard
    /// with replicas, `3=<URL>,<URL>`, separated by spaces or line breaks.
    #[arg(long, env = "KEYED_READ_URL", hide_env_values = true, value_name = "URLS")]
    pub read_url: Option<String>,

    /// A file that contains these URLs, to keep passwords out of the environment. KEYED_READ_URL comes first.
    #[arg(long, env = "KEYED_READ_URL_FILE", value_name = "FILE")]
    pub read_url_file: Option<PathBuf>,

    /// Seconds that a read with X-Keyed-Position waits for a replica to replay that position, before the primary answers it.
    #[arg(long, env = "KEYED_READ_WAIT", default_value = "0.1", value_parser = seconds_or_none, value_name = "SECONDS")]
    pub read_wait: Duration,

    /// Maximum lag in seconds of a replica that answers reads. The primary cannot be asked during an outage, so the lag grows
    /// then, and replicas answer reads for this time.
    #[arg(long, env = "KEYED_READ_LAG", default_value = "10", value_parser = seconds, value_name = "SECONDS")]
    pub read_lag: Duration,
}

impl ReplicaSettings {
    /// The URLs of the replicas. `primary` is the URL of the primary, which is none.
    pub(super) fn urls(&self, primary: &DatabaseUrl) -> Result<Vec<DatabaseUrl>, String> {
        let text = value_or_file(NAME, self.read_url.as_deref(), self.read_url_file.as_deref())?;
        let urls: Vec<&str> = split(text.as_deref().unwrap_or_default());
        if urls.len() > MAX_REPLICAS {
            return Err(format!("{NAME} names {} replicas: the maximum is {MAX_REPLICAS}.", urls.len()));
        }
        urls.into_iter().map(|url| one(url, primary)).collect()
    }

    /// The settings for each of these shards. The value then has an entry for each shard with replicas: `3=<URL>,<URL>`.
    pub(super) fn by_shard(&self, shards: &[Shard]) -> Result<Vec<ReplicaSettings>, String> {
        let text = value_or_file(NAME, self.read_url.as_deref(), self.read_url_file.as_deref())?;
        let entries = match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => parse(NAME, &text)?,
            None => Vec::new(),
        };
        if let Some((shard, _)) = entries.iter().find(|(shard, _)| !shards.contains(shard)) {
            return Err(format!("{NAME} names shard {shard}, and KEYED_SHARDS does not."));
        }
        let urls = |shard| entries.iter().find(|(entry, _)| *entry == shard).map(|(_, urls)| urls.clone());
        let of_shard =
            |shard: &Shard| ReplicaSettings { read_url: urls(*shard), read_url_file: None, ..self.clone() };
        Ok(shards.iter().map(of_shard).collect())
    }

    pub(super) fn validate(&self, request_timeout: Duration) -> Result<(), String> {
        if self.read_wait >= request_timeout {
            return Err("KEYED_READ_WAIT must be shorter than KEYED_REQUEST_TIMEOUT.".into());
        }
        // The primary is sampled every half second, which is the precision of a lag.
        if self.read_lag < Duration::from_secs(2) {
            return Err("KEYED_READ_LAG must be at least 2 seconds.".into());
        }
        Ok(())
    }
}

fn one(url: &str, primary: &DatabaseUrl) -> Result<DatabaseUrl, String> {
    let url = database_url::read(NAME, Some(url), None)?;
    let config = &url.config;
    if config.get_hosts().len().max(config.get_hostaddrs().len()) > 1 {
        return Err(format!("{NAME}: a URL names several hosts. Give each replica a URL of its own."));
    }
    if config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite {
        return Err(format!(
            "{NAME}: a URL has target_session_attrs=read-write, and a replica is read-only."
        ));
    }
    if config.get_dbname() != primary.config.get_dbname() {
        return Err(format!(
            "{NAME} names another database than KEYED_DATABASE_URL: a replica has the database of its primary."
        ));
    }
    if url.config == primary.config {
        return Err(format!("{NAME} is KEYED_DATABASE_URL: name a replica of it, or leave the setting out."));
    }
    Ok(url)
}

/// Splits at commas before a URL or keywords; other commas belong to a value.
fn split(text: &str) -> Vec<&str> {
    let begins = |rest: &str| BEGINNINGS.iter().any(|beginning| rest.trim_start().starts_with(beginning));
    let mut urls = Vec::new();
    let mut start = 0;
    for (comma, _) in text.match_indices([',', '\n']) {
        if begins(&text[comma + 1..]) {
            urls.push(&text[start..comma]);
            start = comma + 1;
        }
    }
    urls.push(&text[start..]);
    urls.into_iter()
        .map(|url| url.trim().trim_end_matches(',').trim_end())
        .filter(|url| !url.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Settings;

    fn replicas(arguments: &[&str]) -> Result<usize, String> {
        let given = ["--database-url", "postgres://keyed_proxy:secret@db1/crm"];
        let settings = Settings::of_arguments(&[&given[..], arguments].concat());
        settings.validate()?;
        settings.replicas().map(|urls| urls.len())
    }

    #[test]
    fn urls_are_separated_by_commas_and_lines() {
        for (urls, count) in [
            ("", 0),
            (" , ", 0),
            ("postgres://db2/crm", 1),
            ("postgres://u:a,b@db2/crm", 1),
            ("postgres://db2/crm,postgresql://db3/crm", 2),
            ("postgres://db2/crm ,\n host=db3 dbname=crm\n", 2),
            ("host=/run dbname=crm password='a,b',host=db3 dbname=crm", 2),
        ] {
            assert_eq!(replicas(&["--read-url", urls]), Ok(count), "{urls:?}");
        }
    }

    #[test]
    fn url_that_is_no_replica_is_rejected_and_not_disclosed() {
        for (url, reason) in [
            ("postgres://u:secret@db2:port/crm", "cannot be read"),
            ("postgres://u:secret@db2,db3/crm", "a URL of its own"),
            ("postgres://u:secret@db2/crm?target_session_attrs=read-write", "read-only"),
            ("postgres://u:secret@db2/shop", "another database"),
            ("postgres://keyed_proxy:secret@db1/crm", "is KEYED_DATABASE_URL"),
            ("secret", "KEYED_READ_URL"),
        ] {
            let message = replicas(&["--read-url", url]).expect_err(url);
            assert!(message.contains("KEYED_READ_URL") && message.contains(reason), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn replicas_of_shards_have_entries_by_shard() {
        let settings = |urls: &str| {
            let shards = "0=postgres://db0/crm 3=postgres://db3/crm";
            let settings = Settings::of_arguments(&["--shards", shards, "--read-url", urls]);
            let counts =
                |of: Vec<Settings>| of.iter().map(|it| it.replicas().map(|urls| urls.len())).collect();
            settings.databases().and_then(counts)
        };
        assert_eq!(settings(""), Ok(vec![0, 0]));
        assert_eq!(settings("3=postgres://a/crm,postgres://b/crm"), Ok(vec![0, 2]));
        assert_eq!(settings("3=postgres://a/crm 0=postgres://b/crm"), Ok(vec![1, 1]));
        for (urls, reason) in [
            ("5=postgres://a/crm", "names shard 5, and KEYED_SHARDS does not"),
            ("postgres://secret@a/crm", "entry 1 is not <shard>=<URL>"),
            ("3=postgres://secret@db3/shop", "another database"),
        ] {
            let message = settings(urls).expect_err(urls);
            assert!(
                message.contains(reason) && !message.replace("keyed_proxy:secret", "").contains("secret"),
                "{message}"
            );
        }
    }

    #[test]
    fn times_of_replicas_have_bounds() {
        assert_eq!(replicas(&["--read-wait", "0"]), Ok(0));
        for arguments in [["--read-wait", "35"], ["--read-lag", "1"]] {
            assert!(
                replicas(&arguments).is_err_and(|message| message.starts_with("KEYED_READ_")),
                "{arguments:?}"
            );
        }
    }
}
