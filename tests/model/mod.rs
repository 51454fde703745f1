//! A second implementation of filters and sorts, without SQL: random records, in the database and in memory, and random
//! searches among them. The kinds of test that need it include it.

mod case;
mod closest;
pub(crate) mod condition;
mod operand;
mod order;
pub(crate) mod random;
pub(crate) mod time;
pub(crate) mod values;
pub(crate) mod world;

pub(crate) use case::Case;
pub(crate) use random::Random;
pub(crate) use world::World;

use std::time::{SystemTime, UNIX_EPOCH};

/// The variable with the seed of a failed run, to repeat it.
const SEED: &str = "KEYED_TEST_SEED";

/// The seed, printed so that a failure can be repeated.
pub(crate) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64;
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(now >> 10);
    println!("{SEED}={seed}");
    seed
}
