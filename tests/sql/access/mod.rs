//! What roles and keys may see and do.

mod api_keys;
mod grants;
mod principal;
mod privileges;
mod stored_credentials;
mod unprivileged;
