//! Third-party tools that connect to the database.

mod bi;
mod sqlalchemy;
