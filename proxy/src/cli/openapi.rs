//! `openapi`: prints the OpenAPI document.

use super::outcome::{Failure, print};
use crate::openapi;

pub(crate) fn run() -> Result<(), Failure> {
    print(openapi::text())
}
