//! The Dockerfile and the compose file name what is in this tree. No test builds them: see the page.

use crate::page::file;
use harness::{Cluster, Database, Durability, repository_folder};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const DOCKERFILE: &str = "packages/docker/Dockerfile";

fn compose() -> Value {
    serde_saphyr::from_str(&file("packages/docker/compose.yaml")).expect("YAML")
}

/// The keys of an object, or the texts of a list.
fn names(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => members.keys().map(String::as_str).collect(),
        Value::Array(elements) => elements.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// What follows these words in a line of the Dockerfile.
fn after<'a>(dockerfile: &'a str, words: &str) -> Vec<&'a str> {
    dockerfile.lines().filter_map(|line| line.strip_prefix(words)).collect()
}

#[test]
fn the_images_are_built_of_what_this_tree_needs_and_has() {
    let dockerfile = file(DOCKERFILE);
    let rust = file("Cargo.toml");
    let rust = rust
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .expect("a version")
        .trim_matches('"');
    assert!(dockerfile.contains(&format!("FROM rust:{rust}-${{DEBIAN}} AS build\n")), "Rust {rust}");
    let major = after(&dockerfile, "ARG PG=").concat();
    assert!(file("extension/Cargo.toml").contains(&format!("\npg{major} = ")), "PostgreSQL {major}");
    for copied in after(&dockerfile, "COPY packages/") {
        let (source, _) = copied.split_once(' ').expect("a source and a target");
        assert!(repository_folder().join("packages").join(source).is_file(), "{source}");
    }
    // What the build stage leaves in target/deb is what .dev/deb writes there.
    assert!(
        file(".dev/deb").contains("$CLONE/target/deb") && dockerfile.contains("source=/keyed/target/deb,")
    );
    for package in ["postgresql-${PG}-keyed", "keyed-proxy"] {
        assert!(dockerfile.contains(&format!("/packages/{package}_*.deb")));
        let package = package.replace("${PG}", "@PG@");
        assert!(file("packages/debian/control.in").contains(&format!("\nPackage: {package}\n")), "{package}");
    }
}

#[test]
fn the_services_use_images_secrets_and_volumes_that_are_declared() {
    let (compose, dockerfile) = (compose(), file(DOCKERFILE));
    assert_eq!(names(&compose["services"]), ["database", "proxy"]);
    for (name, service) in compose["services"].as_object().expect("services") {
        let target = service["build"]["target"].as_str().expect("a target");
        assert!(dockerfile.contains(&format!(" AS {target}\n")), "{name}: {target}");
        assert_eq!(service["build"]["dockerfile"], DOCKERFILE);
        for secret in names(&service["secrets"]) {
            assert!(names(&compose["secrets"]).contains(&secret), "{name}: {secret}");
        }
        for (variable, value) in service["environment"].as_object().expect("variables") {
            if let Some(secret) = value.as_str().and_then(|path| path.strip_prefix("/run/secrets/")) {
                assert!(names(&service["secrets"]).contains(&secret), "{name}: {variable}");
            }
        }
        for volume in names(&service["volumes"]) {
            let (volume, _) = volume.split_once(':').expect("a volume and a path");
            assert!(names(&compose["volumes"]).contains(&volume), "{name}: {volume}");
        }
    }
    // The page makes these.
    let page = file("docs/how-to/run-in-containers.md");
    for secret in compose["secrets"].as_object().expect("secrets").values() {
        let path = secret["file"].as_str().expect("a file");
        let made =
            page.contains(&format!("packages/docker/{path}")) || page.contains("secrets/$name.password");
        assert!(made, "{path}");
    }
}

#[test]
fn no_container_of_the_proxy_is_root_or_writes_its_image() {
    let (proxy, dockerfile) = (&compose()["services"]["proxy"], file(DOCKERFILE));
    let stage = dockerfile.split(" AS proxy\n").nth(1).expect("the image of the proxy");
    let user: u32 = after(stage, "USER ")
        .concat()
        .split(':')
        .next()
        .and_then(|user| user.parse().ok())
        .expect("a number");
    assert!(user > 0);
    assert_eq!((&proxy["read_only"], names(&proxy["cap_drop"])), (&Value::Bool(true), vec!["ALL"]));
}

#[tokio::test]
async fn the_script_of_the_image_sets_up_a_database() {
    let cluster = Arc::new(Cluster::start(Durability::None));
    let database = Database::empty_in(&cluster).await;
    let secret = harness::target_folder().join(format!("{}.password", database.name()));
    std::fs::write(&secret, "it's a \\ secret\n").expect("the target folder can be written");
    let mut script = Command::new(repository_folder().join("packages/docker/keyed.sh"));
    let psql = cluster.program("psql");
    script.envs(psql.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let programs = Path::new(psql.get_program()).parent().expect("a folder").display();
    script.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap_or_default()));
    script.env("POSTGRES_USER", "postgres").env("POSTGRES_DB", database.name());
    let output = script.env("KEYED_PROXY_PASSWORD_FILE", &secret).output().expect("it is a program");
    std::fs::remove_file(&secret).expect("it was written");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let set_up = "select rolpassword like 'SCRAM-SHA-256$%', cardinality(keyed.pending_migrations()) \
                  from pg_authid where rolname = 'keyed_proxy'";
    assert_eq!(cluster.sql(database.name(), set_up), "t|0");
}
