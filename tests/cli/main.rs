//! The command line of `keyed-proxy`, for administrators.

mod changes;
mod check;
mod demo;
mod doctor;
mod doctor_operation;
mod doctor_remedies;
mod files;
mod formats;
mod interactive;
mod keys;
mod usage;

use harness::{Database, proxy_program};
use serde_json::Value;

/// The exit code and the output of a command.
#[derive(Debug)]
struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Outcome {
    /// Standard output. Asserts that the command succeeded.
    #[track_caller]
    fn expect(self) -> String {
        assert_eq!(self.code, Some(0), "the command failed: {}", self.err);
        self.out
    }

    /// Standard output as JSON. Asserts that the command succeeded.
    #[track_caller]
    fn json(self) -> Value {
        let out = self.expect();
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in {out}"))
    }
}

/// Runs the program as a superuser of the database.
fn keyed(database: &Database, arguments: &[&str]) -> Outcome {
    keyed_as(database, "postgres", arguments)
}

/// Runs the program with the login of a role.
fn keyed_as(database: &Database, role: &str, arguments: &[&str]) -> Outcome {
    let url = database.cluster().url(role, database.name());
    run(proxy_program(arguments).env("KEYED_ADMIN_DATABASE_URL", url))
}

fn run(command: &mut std::process::Command) -> Outcome {
    let output = command.output().expect("the program was built: `.dev/build --quick` does it");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
