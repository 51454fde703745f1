//! Records: writes, reads, lookups by key, and history.

mod buckets;
mod by_keys;
mod by_text;
mod correction;
mod equal_values;
mod external_key;
mod functions;
mod history;
mod history_table;
mod kept;
mod lookups;
mod references;
mod released_keys;
mod required;
mod restore;
mod unique_index;
mod upsert;
mod versions;
