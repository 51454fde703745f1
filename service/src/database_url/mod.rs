//! The database URL, or keywords, given directly or in a file.

/// The hosts of a URL, one by one.
pub mod hosts;
/// TLS of the connections.
pub mod tls;
/// The TLS parameters of a URL.
mod words;

use std::path::Path;
use std::time::Duration;

use tls::DatabaseTls;
use tokio_postgres::Config;
use words::take;

use crate::value::value_or_file;

/// The location of a database, and the connection settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseUrl {
    /// The settings of the client library.
    pub config: Config,
    /// TLS of the connections.
    pub tls: DatabaseTls,
}

/// Reads a URL, or the file that contains it. `name` is the environment variable that messages name. They never repeat
/// the URL, because it may contain a password.
pub fn read(name: &str, url: Option<&str>, file: Option<&Path>) -> Result<DatabaseUrl, String> {
    let url = match value_or_file(name, url, file)? {
        Some(url) if !url.trim().is_empty() => url,
        _ => {
            // The proxy's own login lacks the privileges of an administrator.
            let login = if name.contains("ADMIN") { "dba" } else { "keyed_proxy" };
            let missing = match file {
                Some(file) => format!("{name}_FILE {} is empty", file.display()),
                None => format!("{name} is not set"),
            };
            return Err(format!("{missing}. An example is postgres://{login}:secret@localhost/crm."));
        }
    };
    let (url, words) = take(url.trim());
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let reason = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        // In a URL with a password that should have been encoded, a part of the password looks like an option.
        let reason = match reason.starts_with("unknown option") {
            true => {
                "an option is unknown (a password with characters other than letters and digits must be \
            percent-encoded or quoted)"
            }
            false => &reason,
        };
        format!("{name} cannot be read: {reason}.")
    })?;
    if config.get_hosts().is_empty() {
        return Err(format!("{name} has no host."));
    }
    let tls = tls::read(&words, &config).map_err(|reason| format!("{name} cannot be read: {reason}."))?;
    if config.get_application_name().is_none() {
        config.application_name("keyed-proxy");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    // Keepalive detects a dead server (a crash, a cut cable) within half a minute, unless the URL sets other values.
    // The library cannot distinguish its default from a setting.
    if !url.contains("keepalives_idle") {
        config.keepalives_idle(Duration::from_secs(20));
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(Duration::from_secs(5));
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(2);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    Ok(DatabaseUrl { config, tls })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn message_does_not_contain_the_password(
            password in "[A-Z]{12}",
            before in "[-a-z0-9:/@%=& ']{0,6}",
            after in "[-a-z0-9:/@%=& ']{0,6}",
            form in prop::sample::select(vec![
                "postgres://keyed_proxy:{}@localhost:port/crm",
                "postgres://keyed_proxy:{}@localhost/crm?sslmode=no",
                "host=localhost password={} sslmode=no",
                "password='{}",
                "{}",
            ]),
        ) {
            let url = form.replace("{}", &format!("{before}{password}{after}"));
            if let Err(message) = read("KEYED_DATABASE_URL", Some(&url), None) {
                prop_assert!(!message.contains(&password), "{message}");
            }
        }

        #[test]
        fn accepted_url_has_a_host(url in prop_oneof![any::<String>(), "(postgres(ql)?://)?[a-z:@/?=&%0-9 ]{0,30}"]) {
            if let Ok(DatabaseUrl { config, .. }) = read("KEYED_DATABASE_URL", Some(&url), None) {
                prop_assert!(!config.get_hosts().is_empty() && config.get_application_name().is_some());
            }
        }
    }

    #[test]
    fn error_names_the_empty_file() {
        let empty = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&empty, "\n").expect("it is our file");
        let message = read("KEYED_DATABASE_URL", None, Some(empty.path())).expect_err("it holds nothing");
        let expected = format!("KEYED_DATABASE_URL_FILE {} is empty. An example is", empty.path().display());
        assert!(message.starts_with(&expected), "{message}");
        let message = read("KEYED_DATABASE_URL", Some(" "), None).expect_err("it holds nothing");
        assert!(message.starts_with("KEYED_DATABASE_URL is not set."), "{message}");
    }

    #[test]
    fn keepalive_options_of_the_url_apply() {
        let read = |url: &str| read("KEYED_DATABASE_URL", Some(url), None).expect("a good URL").config;
        let plain = read("postgres://localhost/crm");
        assert_eq!(plain.get_tcp_user_timeout(), Some(&Duration::from_secs(30)));
        assert_eq!(plain.get_keepalives_idle(), Duration::from_secs(20));
        let given = "keepalives_idle=7&keepalives_interval=8&keepalives_retries=9&tcp_user_timeout=10&connect_timeout=11";
        let given = read(&format!("postgres://localhost/crm?{given}"));
        assert_eq!(given.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(given.get_keepalives_interval(), Some(Duration::from_secs(8)));
        assert_eq!(given.get_keepalives_retries(), Some(9));
        assert_eq!(given.get_tcp_user_timeout(), Some(&Duration::from_secs(10)));
        assert_eq!(given.get_connect_timeout(), Some(&Duration::from_secs(11)));
        assert!(!read("postgres://localhost/crm?keepalives=0").get_keepalives());
    }
}
