//! The Dockerfile and the compose file use files of this tree, and their build script builds the images that they use.
//! No test builds an image: see the page.

use crate::page::file;
use harness::{Cluster, Database, Durability, repository_folder, target_folder};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

const DOCKERFILE: &str = "packages/docker/Dockerfile";

fn compose() -> Value {
    serde_saphyr::from_str(&file("packages/docker/compose.yaml")).expect("YAML")
}

/// The keys of an object, or the strings of a list.
fn names(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => members.keys().map(String::as_str).collect(),
        Value::Array(elements) => elements.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The text after these words in a line of the Dockerfile.
fn after<'a>(dockerfile: &'a str, words: &str) -> Vec<&'a str> {
    dockerfile.lines().filter_map(|line| line.strip_prefix(words)).collect()
}

#[test]
fn images_are_built_from_files_of_this_tree() {
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
    // The build stage puts the files that .dev/deb writes into target/deb.
    assert!(file(".dev/deb").contains("$CLONE/target/deb"));
    assert!(dockerfile.contains(" AS packages\nCOPY --from=build /keyed/target/deb/*.deb /\n"));
    assert_eq!(dockerfile.matches("RUN --mount=type=bind,from=packages,target=/packages ").count(), 2);
    for package in ["postgresql-${PG}-keyed", "keyed-proxy"] {
        assert!(dockerfile.contains(&format!("/packages/{package}_*.deb")));
        let package = package.replace("${PG}", "@PG@");
        assert!(file("packages/debian/control.in").contains(&format!("\nPackage: {package}\n")), "{package}");
    }
}

#[test]
fn services_use_declared_images_secrets_and_volumes() {
    let (compose, dockerfile) = (compose(), file(DOCKERFILE));
    assert_eq!(names(&compose["services"]), ["database", "proxy"]);
    for (name, service) in compose["services"].as_object().expect("services") {
        let target = service["build"]["target"].as_str().expect("a target");
        assert!(dockerfile.contains(&format!(" AS {target}\n")), "{name}: {target}");
        assert_eq!(service["build"]["dockerfile"], DOCKERFILE);
        assert_eq!(service["image"], format!("keyed-{target}"));
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
}

/// A clone with only the files that `packages/docker/build` reads.
struct Images {
    clone: PathBuf,
}

impl Images {
    fn new(name: &str) -> Self {
        let clone = target_folder().join(format!("{name}-{}", std::process::id()));
        let folder = clone.join("packages/docker");
        std::fs::create_dir_all(&folder).expect("the target folder can be written");
        std::fs::copy(repository_folder().join("packages/docker/build"), folder.join("build"))
            .expect("a file");
        Self { clone }
    }

    /// Runs the script with a replacement for Docker that prints its arguments.
    fn run(&self, variables: &[(&str, &str)]) -> Output {
        let mut script = Command::new("bash");
        script.arg(self.clone.join("packages/docker/build")).env_remove("PG").env_remove("DEB");
        script.env("DOCKER", "echo").envs(variables.iter().copied());
        script.output().expect("bash is installed")
    }

    /// The arguments of Docker, a line for each image.
    fn build(&self, variables: &[(&str, &str)]) -> Vec<String> {
        let output = self.run(variables);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// The error of the script.
    fn error(&self, variables: &[(&str, &str)]) -> String {
        let output = self.run(variables);
        assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn file(&self, path: &str) -> PathBuf {
        self.clone.join("packages/docker").join(path)
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.clone);
    }
}

fn mode(path: &Path) -> u32 {
    let metadata = std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    metadata.permissions().mode() & 0o777
}

#[test]
fn build_makes_both_images_and_the_secrets_of_the_compose_file() {
    let images = Images::new("images");
    let called = images.build(&[]);
    let expected = ["database", "proxy"].map(|target| {
        format!(
            "build --file {DOCKERFILE} --target {target} --tag keyed-{target} \
             --build-arg PG=17 --build-arg DEBIAN=trixie ."
        )
    });
    assert_eq!(called, expected);

    let (compose, page) = (compose(), file("docs/how-to/run-in-containers.md"));
    for (name, secret) in compose["secrets"].as_object().expect("secrets") {
        assert_eq!(mode(&images.file(secret["file"].as_str().expect("a file"))), 0o644, "{name}");
        assert!(page.contains(&format!("\n| `{name}` |")), "{name}");
    }
    assert_eq!(mode(&images.file("secrets")), 0o700);
    let read = |name: &str| std::fs::read_to_string(images.file(name)).expect("a secret");
    let (password, url) = (read("secrets/proxy.password"), read("secrets/database.url"));
    assert!(password.trim().len() == 48 && password != read("secrets/postgres.password"), "{password}");
    assert_eq!(url, format!("postgres://keyed_proxy:{}@database/crm\n", password.trim()));

    let called = images.build(&[("PG", "15")]).concat();
    assert_eq!(called.matches("--build-arg PG=15 --build-arg DEBIAN=bookworm .").count(), 2, "{called}");
    assert_eq!(read("secrets/database.url"), url, "a database knows the password");
}

#[test]
fn build_installs_packages_of_a_folder() {
    let images = Images::new("images-of-packages");
    let folder = images.clone.join("target/deb");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    for package in ["postgresql-15-keyed", "postgresql-15-keyed-dbgsym", "keyed-proxy", "keyed-proxy-dbgsym"]
    {
        std::fs::write(folder.join(format!("{package}_0.2.0_amd64.deb")), "").expect("it can be written");
    }
    let called = images.build(&[("PG", "15"), ("DEB", "target/deb")]).concat();
    assert_eq!(called.matches(" --build-context packages=/").count(), 2, "{called}");
    let error = images.error(&[("DEB", "target/deb")]);
    assert!(error.contains("and has 1. Run 'make deb PG=17'"), "{error}");
}

#[test]
fn build_rejects_versions_without_an_image() {
    let images = Images::new("no-images");
    assert!(images.error(&[("PG", "18")]).contains("There is no image for PG=18. Set PG=15 or PG=17."));
    assert!(images.error(&[("DOCKER", "false")]).contains("false does not answer"));
    assert!(images.error(&[("DOCKER", "no-docker")]).contains("no-docker is missing"));
    assert!(!images.file("secrets").exists());
}

#[test]
fn proxy_containers_are_unprivileged_and_read_only() {
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
async fn script_of_the_image_sets_up_a_database() {
    let cluster = Arc::new(Cluster::start(Durability::None));
    let database = Database::empty_in(&cluster).await;
    let secret = target_folder().join(format!("{}.password", database.name()));
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
