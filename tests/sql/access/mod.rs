//! Visibility and privileges of roles and keys.

mod api_keys;
mod grants;
mod principal;
mod privileges;
mod stored_credentials;
mod unprivileged;
