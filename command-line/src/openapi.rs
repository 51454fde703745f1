//! `openapi`: prints the OpenAPI document.

use super::outcome::{Failure, print};
use keyed_proxy::openapi;

pub(crate) fn run() -> Result<(), Failure> {
    print(openapi::text())
}
