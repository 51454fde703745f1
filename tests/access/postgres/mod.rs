//! What row-level security costs and shows in plans of plain SQL.

mod policy_attacks;
mod policy_paths;
