//! Where a database is: a URL or keywords, given as such or in a file.

use std::path::Path;
use std::time::Duration;

use tokio_postgres::Config;

/// Reads a URL, or the file that holds it. `name` is the environment variable that messages speak of; they never repeat
/// the URL, since it may hold a password.
pub(crate) fn read(name: &str, url: Option<&str>, file: Option<&Path>) -> Result<Config, String> {
    let url = match (url, file) {
        (Some(url), _) => url.to_owned(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| format!("{name}_FILE {}: {error}.", file.display()))?,
        (None, None) => {
            // The proxy's own login may do nothing of what an administrator wants.
            let login = if name.contains("ADMIN") { "dba" } else { "keyed_proxy" };
            return Err(format!("{name} is not set. An example is postgres://{login}:secret@localhost/crm."));
        }
    };
    // The client library knows three of the modes; ours checks the certificate in every mode that encrypts.
    let url = url
        .trim()
        .replace("sslmode=verify-full", "sslmode=require")
        .replace("sslmode=verify-ca", "sslmode=require");
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let reason = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        // In a URL with a password that should have been encoded, a part of that looks like an option.
        let reason = match reason.starts_with("unknown option") {
            true => "an option is not known (a password with other signs than letters and digits must be percent-encoded, or quoted)",
            false => &reason,
        };
        format!("{name} cannot be read: {reason}.")
    })?;
    if config.get_hosts().is_empty() {
        return Err(format!("{name} names no host."));
    }
    if config.get_application_name().is_none() {
        config.application_name("keyed-proxy");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    config.keepalives_idle(Duration::from_secs(60));
    Ok(config)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_message_repeats_a_password(
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
        fn whatever_is_taken_names_a_host(url in prop_oneof![any::<String>(), "(postgres(ql)?://)?[a-z:@/?=&%0-9 ]{0,30}"]) {
            if let Ok(config) = read("KEYED_DATABASE_URL", Some(&url), None) {
                prop_assert!(!config.get_hosts().is_empty() && config.get_application_name().is_some());
            }
        }
    }
}
