//! `openapi`: the interface, for programs that generate clients.

use super::outcome::{Failure, print};
use crate::openapi;

pub(crate) fn run() -> Result<(), Failure> {
    print(openapi::text())
}
