//! Settings that carry the caller's identity through a transaction.

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;
use std::ffi::{CStr, CString};

/// Who is asking, as `authenticate` found it. Superuser-only, so that no SQL user can forge it; not reset by
/// RESET ALL; rolled back with savepoints; copied to parallel workers.
static PRINCIPAL: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);

/// Registers the settings; called once when the library is loaded.
pub fn register() {
    GucRegistry::define_string_guc(
        c"keyed.principal",
        c"The API key in whose name this transaction acts.",
        c"Set by keyed.authenticate for the current transaction; reading it elsewhere than in keyed proves nothing.",
        &PRINCIPAL,
        GucContext::Suset,
        GucFlags::NO_SHOW_ALL | GucFlags::NO_RESET_ALL | GucFlags::DISALLOW_IN_FILE,
    );
}

/// Lends the principal of this transaction, when one was set.
pub fn principal() -> Option<CString> {
    PRINCIPAL.get().filter(|value| !value.is_empty())
}

/// Sets the principal until the end of the transaction.
pub fn set_principal(value: &str) {
    if let Ok(value) = CString::new(value) {
        set_until_commit(c"keyed.principal", &value);
    }
}

/// Sets a setting until the end of the transaction, one of a superuser's as well.
pub fn set_until_commit(name: &CStr, value: &CStr) {
    // SAFETY: both strings are NUL-terminated and copied; GUC_ACTION_LOCAL undoes the change with the transaction.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_LOCAL,
            true,
            0,
            false,
        );
    }
}
