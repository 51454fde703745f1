//! Settings of webhooks. Each is one field, and its comment is its help text.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::address::Allowed;
use keyed_service::value::{credential, seconds};

/// The maximum of KEYED_WEBHOOK_TIMEOUT.
const MAX_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings of the worker.
#[derive(Args, Clone)]
#[command(next_help_heading = "Webhooks")]
pub struct WebhookSettings {
    /// The API key of keyed with which this proxy delivers webhooks. Its role must be a member of keyed_admin. Without
    /// it, the proxy delivers no webhooks.
    #[arg(long, env = "KEYED_WEBHOOK_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub webhook_api_key: Option<String>,

    /// A file that contains this API key.
    #[arg(long, env = "KEYED_WEBHOOK_API_KEY_FILE", value_name = "FILE", conflicts_with = "webhook_api_key")]
    pub webhook_api_key_file: Option<PathBuf>,

    /// Networks that are not public, but to which webhooks can be delivered, even without TLS, such as
    /// `10.1.0.0/16,127.0.0.1`. Default: none.
    #[arg(
        long,
        env = "KEYED_WEBHOOK_ALLOW",
        default_value = "",
        hide_default_value = true,
        value_name = "NETWORKS"
    )]
    pub webhook_allow: String,

    /// Seconds within which a receiver must respond completely.
    #[arg(long, env = "KEYED_WEBHOOK_TIMEOUT", default_value = "15", value_parser = seconds, value_name = "SECONDS")]
    pub webhook_timeout: Duration,
}

impl WebhookSettings {
    /// Rejects invalid settings.
    pub fn validate(&self) -> Result<(), String> {
        if self.webhook_timeout > MAX_TIMEOUT {
            return Err(format!("KEYED_WEBHOOK_TIMEOUT is at most {} seconds.", MAX_TIMEOUT.as_secs()));
        }
        self.allowed()?;
        self.worker_key().map(drop)
    }

    /// The networks.
    pub fn allowed(&self) -> Result<Allowed, String> {
        Allowed::parse(&self.webhook_allow).map_err(|message| format!("KEYED_WEBHOOK_ALLOW: {message}."))
    }

    /// The API key of the worker.
    pub fn worker_key(&self) -> Result<Option<String>, String> {
        let (key, file) = (self.webhook_api_key.as_deref(), self.webhook_api_key_file.as_deref());
        credential("KEYED_WEBHOOK_API_KEY", key, file)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        settings: WebhookSettings,
    }

    fn settings(arguments: &[&str]) -> WebhookSettings {
        Only::try_parse_from(["test"].iter().chain(arguments)).expect("well-formed arguments").settings
    }

    #[test]
    fn nothing_is_delivered_without_a_key() {
        assert_eq!(settings(&[]).worker_key(), Ok(None));
        assert_eq!(settings(&[]).validate(), Ok(()));
        assert_eq!(
            settings(&["--webhook-api-key", "keyed_1_x\n"]).worker_key(),
            Ok(Some("keyed_1_x".into()))
        );
    }

    #[test]
    fn invalid_setting_is_named() {
        for (flag, value, name) in [
            ("--webhook-allow", "10.0.0.0/8,home", "KEYED_WEBHOOK_ALLOW"),
            ("--webhook-timeout", "61", "KEYED_WEBHOOK_TIMEOUT"),
            ("--webhook-api-key", "a b", "KEYED_WEBHOOK_API_KEY"),
        ] {
            let message = settings(&[flag, value]).validate().expect_err(flag);
            assert!(message.contains(name), "{message}");
        }
    }
}
