//! Tools that people point at the database.

mod bi;
mod sqlalchemy;
