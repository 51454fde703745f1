//! The cost and disclosure of row-level security in plans of plain SQL.

mod policy_attacks;
mod policy_paths;
