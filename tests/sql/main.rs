//! Rules as a user of SQL meets them.

mod alter;
mod api_keys;
mod direct;
mod external_key;
mod history;
mod history_table;
mod hostile_input;
mod lookups;
mod metrics;
mod numbers;
mod principal;
mod records;
mod references;
mod required;
mod restore;
mod rights;
mod sessions;
mod setup;
mod slugs;
mod strangers;
mod templates;
mod text;
mod text_upkeep;
mod texts;
mod times;
mod upsert;
