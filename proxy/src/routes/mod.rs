//! The routes, one module per resource. Each handler names the statement that it runs.

pub(crate) mod access;
pub(crate) mod administration;
pub(crate) mod background;
pub(crate) mod batch;
pub(crate) mod by_key;
pub(crate) mod changes;
pub(crate) mod entities;
pub(crate) mod export;
pub(crate) mod health;
pub(crate) mod import;
pub(crate) mod import_end;
pub(crate) mod inbound;
pub(crate) mod search;
pub(crate) mod series;
pub(crate) mod templates;
pub(crate) mod views;
pub(crate) mod webhooks;
