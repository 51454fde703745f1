//! The shards of the service and their databases.

use std::path::PathBuf;

use clap::Args;
use keyed_service::value::value_or_file;

use super::bounds::Bounds;
use crate::shard::Shard;

/// The shards.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Shards")]
pub struct ShardSettings {
    /// The shards by number, each with the URL of its database, separated by spaces or line breaks, in place of
    /// KEYED_DATABASE_URL.
    ///
    /// For example `0=postgres://keyed_proxy:secret@db0/crm 3=postgres://keyed_proxy:secret@db3/crm`. The number of a database is
    /// the one of its keyed.init(shard => 3). Each shard has KEYED_POOL_SIZE connections, and an equal part of KEYED_MAX_REQUESTS,
    /// KEYED_MAX_LISTENERS, KEYED_BODY_BUDGET and KEYED_RESPONSE_BUDGET.
    #[arg(long, env = "KEYED_SHARDS", hide_env_values = true, value_name = "SHARDS")]
    pub shards: Option<String>,

    /// A file that contains the value of KEYED_SHARDS, to keep the passwords out of the environment.
    ///
    /// SIGHUP reads it again. Another set of shards needs a restart. An empty file means one database.
    #[arg(long, env = "KEYED_SHARDS_FILE", value_name = "FILE", conflicts_with = "shards")]
    pub shards_file: Option<PathBuf>,
}

impl ShardSettings {
    /// The shards and their URLs, by number. None if the service has one database: an empty file is what a service manager passes
    /// that has no such file.
    pub(super) fn read(&self) -> Result<Option<Vec<(Shard, String)>>, String> {
        let text = value_or_file("KEYED_SHARDS", self.shards.as_deref(), self.shards_file.as_deref())?;
        match text {
            Some(text) if self.shards.is_some() || !text.trim().is_empty() => parse(NAME, &text).map(Some),
            _ => Ok(None),
        }
    }
}

impl Bounds {
    /// The limits of one of `count` shards: its part of what the process has.
    pub(super) fn divided(mut self, count: usize, body_limit: usize) -> Bounds {
        self.max_requests = self.max_requests.div_ceil(count);
        self.max_listeners = self.max_listeners.div_ceil(count);
        // Each must have room for one body.
        self.body_budget = self.body_budget.div_ceil(count).max(body_limit);
        self.response_budget = self.response_budget.div_ceil(count).max(MIN_RESPONSES);
        self
    }
}

/// The minimum of KEYED_RESPONSE_BUDGET.
const MIN_RESPONSES: usize = 1 << 20;

/// The name of the setting in messages.
const NAME: &str = "KEYED_SHARDS";

/// The shards of a setting, by number, each with its URL or URLs. Messages never repeat a URL, because it may contain a
/// password.
pub(super) fn parse(name: &str, text: &str) -> Result<Vec<(Shard, String)>, String> {
    let mut shards: Vec<(Shard, String)> = Vec::new();
    for (position, entry) in text.split_whitespace().enumerate() {
        let at = position + 1;
        let Some((number, url)) = entry.split_once('=') else {
            return Err(format!("{name}: entry {at} is not <shard>=<URL>. {EXAMPLE}"));
        };
        let shard = number
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| number.parse().ok().and_then(Shard::new))
            .flatten();
        let Some(shard) = shard else {
            return Err(format!(
                "{name}: entry {at} does not begin with the number of a shard, from 0 to {}. {EXAMPLE}",
                Shard::MAX
            ));
        };
        if !url.contains("://") {
            return Err(format!("{name}: shard {shard} has no URL that begins with postgres://. {EXAMPLE}"));
        }
        if shards.iter().any(|(known, _)| *known == shard) {
            return Err(format!("{name}: shard {shard} is given twice."));
        }
        shards.push((shard, url.to_owned()));
    }
    if shards.is_empty() {
        return Err(format!("{name} names no shard. {EXAMPLE}"));
    }
    shards.sort_unstable_by_key(|(shard, _)| *shard);
    Ok(shards)
}

const EXAMPLE: &str = "An example of an entry is 3=postgres://keyed_proxy:secret@localhost/crm.";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(text: &str) -> Result<Vec<String>, String> {
        parse(NAME, text)
            .map(|shards| shards.into_iter().map(|(shard, url)| format!("{shard} {url}")).collect())
    }

    #[test]
    fn shards_are_separated_by_white_space_and_sorted() {
        let text = "\n 3=postgres://a:b@h1,h2/crm?options=-c%20a%3Db\n\t0=postgresql://h/x  ";
        let expected = ["0 postgresql://h/x", "3 postgres://a:b@h1,h2/crm?options=-c%20a%3Db"];
        assert_eq!(numbers(text), Ok(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn malformed_entry_is_named_without_its_url() {
        for (text, wanted) in [
            ("", "names no shard"),
            ("  ", "names no shard"),
            ("postgres://u:secret@h/x", "entry 1 is not <shard>=<URL>"),
            (
                "0=postgres://h/x one=postgres://u:secret@h/x",
                "entry 2 does not begin with the number of a shard",
            ),
            ("128=postgres://u:secret@h/x", "from 0 to 127"),
            ("+1=postgres://u:secret@h/x", "entry 1 does not begin with the number of a shard"),
            ("3=host=secret", "shard 3 has no URL"),
            ("3=postgres://h/x 3=postgres://u:secret@h/x", "shard 3 is given twice"),
        ] {
            let message = numbers(text).expect_err(text);
            assert!(
                message.contains(wanted) && !message.replace(EXAMPLE, "").contains("secret"),
                "{message}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected_without_its_secret(text in "([0-9]{0,3}|=|postgres://|SECRET| |\n){0,12}") {
            match parse(NAME, &text) {
                Ok(shards) => prop_assert!(!shards.is_empty()),
                Err(message) => prop_assert!(!message.contains("SECRET"), "{}", message),
            }
        }
    }
}
