//! Whether a session loads the library of keyed when it begins. One that loads it later, with its first policy or function,
//! has its statements before planned without it.

use pgrx::pg_sys;
use std::ffi::CStr;

/// The settings that load libraries when the server or a session begins.
const SETTINGS: [&CStr; 2] = [c"shared_preload_libraries", c"session_preload_libraries"];

/// Whether one of these settings names the library, for this session.
pub fn is_preloaded() -> bool {
    SETTINGS.iter().any(|name| names_library(&value_of(name)))
}

/// The libraries that sessions of this database load, as a list for `ALTER DATABASE … SET`, with that of keyed.
pub fn with_library() -> String {
    let libraries = value_of(c"session_preload_libraries");
    let others = libraries.split(',').map(str::trim).filter(|library| !library.is_empty());
    others.chain(["keyed"]).collect::<Vec<_>>().join(", ")
}

fn names_library(libraries: &str) -> bool {
    let names = libraries.split(',').map(|library| library.trim().trim_matches('"'));
    names.map(|library| library.strip_prefix("$libdir/").unwrap_or(library)).any(|name| name == "keyed")
}

/// A setting that only superusers may read, of which callers learn a boolean at most.
fn value_of(setting: &CStr) -> String {
    // SAFETY: the name ends with a zero, the setting exists in every version, and the text it answers is copied before
    // anything could change the setting.
    unsafe {
        let value = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
        if value.is_null() { String::new() } else { CStr::from_ptr(value).to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::names_library;

    #[test]
    fn the_library_is_found_among_others() {
        for (libraries, expected) in [
            ("", false),
            ("keyed", true),
            ("auto_explain, keyed", true),
            ("\"$libdir/keyed\",x", true),
            ("keyed_other", false),
            ("notkeyed, plugins/keyed", false),
        ] {
            assert_eq!(names_library(libraries), expected, "{libraries}");
        }
    }
}
