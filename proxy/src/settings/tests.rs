//! What is accepted as a setting.

use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};

fn settings(arguments: &[&str]) -> Settings {
    let arguments = ["keyed-proxy", "serve"].iter().chain(arguments);
    match Cli::try_parse_from(arguments).and_then(Cli::command).expect("the arguments are well-formed") {
        Command::Serve(settings) => *settings,
        _ => panic!("serve is what was asked for"),
    }
}

#[test]
fn the_defaults_need_only_a_database() {
    let defaults = settings(&["--database-url", "postgres://localhost/crm"]);
    assert_eq!(defaults.validate(), Ok(()));
    assert_eq!(defaults.body_limit, 16 << 20);
    assert!(defaults.prepared_statements);
}

/// Where nothing means no limit, no time, or none of them.
const ZERO_IS_MEANT: [&str; 5] =
    ["KEYED_KEY_RATE", "KEYED_PUBLIC_RATE", "KEYED_AUTH_FAILURES", "KEYED_TRUSTED_PROXIES", "KEYED_DRAIN"];

#[test]
fn a_setting_out_of_its_range_is_refused_by_its_name() {
    let command = Settings::augment_args(clap::Command::new("keyed-proxy"));
    for argument in command.get_arguments() {
        let (Some(long), Some(variable)) = (argument.get_long(), argument.get_env()) else { continue };
        let variable = variable.to_string_lossy();
        let kind = argument.get_value_names().and_then(|names| names.first()).expect("a kind of value");
        for value in
            ["0", "-1", "18446744073709551615", "340282366920938463463374607431768211456", "", "rubbish"]
        {
            let given = [
                "keyed-proxy".to_owned(),
                "--database-url=host=/run".to_owned(),
                format!("--{long}={value}"),
            ];
            let given = if long.starts_with("database-url") {
                [&given[..1], &given[2..]].concat()
            } else {
                given.to_vec()
            };
            let outcome = command.clone().try_get_matches_from(given).map_err(named);
            let outcome = match outcome {
                Ok(matches) => Settings::from_arg_matches(&matches).expect("they were parsed").validate(),
                Err(error) => Err(error.to_string()),
            };
            match outcome {
                Err(message) => assert!(message.contains(&*variable), "{variable}={value:?}: {message}"),
                Ok(()) => {
                    let is_number = ["N", "SIZE", "SECONDS"].contains(&kind.as_str());
                    let is_meant = value == "0" && ZERO_IS_MEANT.contains(&&*variable);
                    assert!(!is_number || is_meant, "{variable}={value:?} is accepted");
                }
            }
        }
    }
}

#[test]
fn sessions_get_timeouts_and_a_fixed_search_path() {
    let url = "postgres://localhost/crm?options=-c%20work_mem%3D8MB";
    let config =
        settings(&["--database-url", url, "--statement-timeout", "0.5"]).database().expect("a good URL");
    assert_eq!(
        config.config.get_options(),
        Some(
            "-c work_mem=8MB -c statement_timeout=500 -c lock_timeout=250 \
             -c idle_in_transaction_session_timeout=500 -c search_path=pg_catalog,pg_temp"
        )
    );
    assert_eq!(config.config.get_application_name(), Some("keyed-proxy"));
}

#[test]
fn pgbouncer_gets_no_options() {
    let url = "postgres://localhost/crm";
    let config = settings(&["--database-url", url, "--prepared-statements", "false"]).database();
    assert_eq!(config.expect("a good URL").config.get_options(), None);
}

#[test]
fn a_bad_url_is_refused_without_showing_it() {
    for url in ["postgres://u:secret@localhost:port/crm", "host=localhost sslmode=secret", "user=secret"] {
        let message = settings(&["--database-url", url]).validate().expect_err(url);
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn metrics_need_an_address_of_their_own() {
    let given = ["--database-url", "host=/run", "--listen", "127.0.0.1:8080", "--metrics-listen"];
    let with = |address| settings(&[&given[..], &[address]].concat()).validate();
    assert_eq!(with("127.0.0.1:9464"), Ok(()));
    assert!(with("127.0.0.1:8080").is_err_and(|message| message.contains("KEYED_METRICS_LISTEN")));
}

#[test]
fn a_statement_must_end_before_its_request() {
    let url = "postgres://localhost/crm";
    let message = settings(&["--database-url", url, "--request-timeout", "30"]).validate();
    assert!(message.is_err_and(|message| message.contains("KEYED_STATEMENT_TIMEOUT")));
}
