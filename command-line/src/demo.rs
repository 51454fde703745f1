//! `demo`: prints the SQL of the demo, which psql runs. It needs no database: who may create a role there is psql's to say.

use super::outcome::{Failure, print};

/// What `make run` runs in a new cluster.
const DEMO: &str = include_str!("../../sql/demo.sql");

pub(crate) fn run() -> Result<(), Failure> {
    print(DEMO)
}
