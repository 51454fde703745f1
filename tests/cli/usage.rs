//! Arguments, exit codes, completion.

use crate::{keyed_as, run};
use harness::{Database, proxy_program};

#[test]
fn default_command_serves_and_reports_missing_settings() {
    let outcome = run(&mut proxy_program(&[]));
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("KEYED_DATABASE_URL is not set"), "{}", outcome.err);
}

#[test]
fn command_without_a_database_names_the_setting() {
    for command in [&["keys", "list"][..], &["keys", "create", "--role", "r"], &["keys", "revoke", "1"]] {
        let outcome = run(&mut proxy_program(command));
        assert_eq!(outcome.code, Some(2), "{command:?}");
        assert!(outcome.err.contains("KEYED_ADMIN_DATABASE_URL is not set"), "{}", outcome.err);
        assert!(
            !outcome.err.contains("keyed_proxy:"),
            "the proxy's login has none of these privileges: {}",
            outcome.err
        );
    }
}

#[test]
fn completions_cover_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&mut proxy_program(&["completions", shell])).expect();
        assert!(script.contains("revoke") && script.contains("expires-at"), "{shell}");
    }
}

#[test]
fn bash_completes_options_of_commands() {
    let script = run(&mut proxy_program(&["completions", "bash"])).expect();
    let words = |line: &str| {
        let ask = format!(
            r#"{script}
            COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            function=$(complete -p keyed-proxy | sed 's/.* -F \([^ ]*\).*/\1/')
            $function keyed-proxy "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
            echo "${{COMPREPLY[@]}}""#
        );
        run(std::process::Command::new("bash").args(["--norc", "-c", &ask])).expect().trim().to_owned()
    };
    for (line, expected) in [
        ("keyed-proxy doc", "doctor"),
        ("keyed-proxy doctor --fail", "--fail-on"),
        ("keyed-proxy keys cre", "create"),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn manual_pages_are_reproducible() {
    let folder = harness::target_folder().join(format!("man-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    run(proxy_program(&["man-pages"]).arg(&folder)).expect();
    let page = |name: &str| {
        std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let commands = page("keyed-proxy.1");
    for command in
        ["serve", "import", "export", "keys", "doctor", "demo", "openapi", "completions", "man-pages"]
    {
        assert!(page(&format!("keyed-proxy-{command}.1")).contains("SYNOPSIS"), "{command}");
        // A hyphen in the text is escaped so that it is not typeset as a dash.
        assert!(
            commands.replace('\\', "").contains(&format!("keyed-proxy-{command}(1)")),
            "{command}: {commands}"
        );
    }
    let serve = page("keyed-proxy-serve.1");
    assert!(serve.contains("KEYED_DATABASE_URL_FILE") && serve.contains("[default: 16MiB]"), "{serve}");
    // The default depends on the number of CPUs of this machine.
    let pool = serve.rsplit(r"\-\-pool\-size").next().and_then(|after| after.split(".TP").next());
    assert!(
        pool.is_some_and(|pool| pool.contains("KEYED_POOL_SIZE") && !pool.contains("[default: ")),
        "{pool:?}"
    );
    std::fs::remove_dir_all(&folder).expect("it was made");
}

#[test]
fn missing_folder_for_manual_pages_is_reported() {
    let outcome = run(&mut proxy_program(&["man-pages", "/nowhere/at/all"]));
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("/nowhere/at/all"), "{}", outcome.err);
}

#[test]
fn unreachable_address_is_reported_with_its_setting() {
    for (url, code, words) in [
        ("127.0.0.1:1", 2, "--url (KEYED_URL) is \"127.0.0.1:1\": it must begin with http://"),
        ("http://127.0.0.1:1", 1, "cannot reach http://127.0.0.1:1, the address of --url (KEYED_URL)"),
    ] {
        let given = ["export", "--template", "crm.customers", "--api-key", "keyed_1_x", "--url", url];
        let outcome = run(&mut proxy_program(&given));
        assert_eq!(outcome.code, Some(code), "{}", outcome.err);
        assert!(outcome.err.contains(words), "{}", outcome.err);
    }
}

#[test]
fn unreachable_database_is_reported_without_its_password() {
    let mut command = proxy_program(&["keys", "list"]);
    command.env("KEYED_ADMIN_DATABASE_URL", "postgres://dba:hidden@127.0.0.1:1/crm");
    let outcome = run(&mut command);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("cannot connect") && !outcome.err.contains("hidden"), "{}", outcome.err);
}

#[tokio::test]
async fn url_can_be_read_from_a_file() {
    let database = Database::new().await;
    let file = harness::target_folder().join(format!("{}.url", database.name()));
    std::fs::write(&file, format!("{}\n", database.cluster().url("postgres", database.name())))
        .expect("the target folder can be written");
    let outcome = run(proxy_program(&["keys", "list", "--json"]).env("KEYED_ADMIN_DATABASE_URL_FILE", &file));
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(outcome.expect().trim(), "[]");
}

#[tokio::test]
async fn error_names_the_privilege_that_a_login_lacks() {
    let database = Database::new().await;
    let role = database.create_role("clerk").await;
    let outcome = keyed_as(&database, &role, &["keys", "create", "--role", "keyed_admin"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""));
    assert!(
        outcome.err.contains("may not issue API keys") && outcome.err.contains("Hint:"),
        "{}",
        outcome.err
    );
}

#[test]
fn help_shows_no_secret_of_the_environment() {
    let secrets = ["KEYED_DATABASE_URL", "KEYED_EMBED_KEY", "KEYED_EMBED_API_KEY"];
    let mut command = proxy_program(&["serve", "--help"]);
    let help = run(command.envs(secrets.map(|name| (name, "very-hidden")))).expect();
    assert!(secrets.iter().all(|name| help.contains(name)) && !help.contains("very-hidden"), "{help}");
}

#[test]
fn invalid_embedding_settings_are_reported_before_anything_starts() {
    for (settings, reported) in [
        (&[("KEYED_EMBED_PROVIDER", "openai")][..], "KEYED_EMBED_URL"),
        (&[("KEYED_EMBED_API_KEY", "keyed_1_x")], "KEYED_EMBED_PROVIDER"),
        (&[("KEYED_EMBED_BATCH", "0")], "KEYED_EMBED_BATCH"),
        (&[("KEYED_EMBED_BATCH", "many")], "must be a whole number"),
        (&[("KEYED_KEY_RATE", "-1")], "must be a whole number"),
        (&[("KEYED_EMBED_DIMENSIONS", "1536")], "KEYED_EMBED_DIMENSIONS"),
    ] {
        let mut command = proxy_program(&["serve"]);
        command.env("KEYED_DATABASE_URL", "postgres://localhost/crm").envs(settings.iter().copied());
        let outcome = run(&mut command);
        assert!(outcome.code == Some(2) && outcome.err.contains(reported), "{reported}: {}", outcome.err);
    }
}

#[tokio::test]
async fn printed_openapi_document_equals_the_one_over_http() {
    let service = harness::Service::start().await;
    let printed = run(&mut proxy_program(&["openapi"])).json();
    assert_eq!(printed["openapi"], "3.1.0");
    let served = service.proxy.request("GET", "/openapi.json").without_key().send().await;
    assert_eq!(served.expect(200), printed);
    let page = service.proxy.request("GET", "/docs").without_key().send().await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(
        page.text.contains("<div id=\"app\">")
            && page.header("content-security-policy").contains("default-src 'none'")
    );
}
