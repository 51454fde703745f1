//! Inbound endpoints and their deliveries.

mod deliveries;
mod log_capacity;
