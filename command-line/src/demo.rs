//! `demo`: prints the SQL of the demo, which psql runs. It does not connect to a database: psql's login decides whether
//! roles can be created.

use super::outcome::{Failure, print};

/// The SQL that `make run` executes in a new cluster.
const DEMO: &str = include_str!("../../sql/demo.sql");

pub(crate) fn run() -> Result<(), Failure> {
    print(DEMO)
}
