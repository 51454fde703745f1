//! Definitions of projects and templates: create, change and remove.

mod alter;
mod dry_run;
mod embed;
mod format;
mod many_templates;
mod project_removal;
mod setup;
mod shard;
mod synonyms;
mod templates;
