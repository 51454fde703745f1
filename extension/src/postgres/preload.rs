//! Whether sessions preload keyed's library. Otherwise a session loads it with its first policy or function, and the planner
//! hooks do not apply to earlier statements.

use pgrx::pg_sys;
use std::ffi::CStr;

/// The settings that preload libraries.
const SETTINGS: [&CStr; 2] = [c"shared_preload_libraries", c"session_preload_libraries"];

/// Whether one of these settings names the library in this session.
pub fn is_preloaded() -> bool {
    SETTINGS.iter().any(|name| names_library(&value_of(name)))
}

/// Whether `shared_preload_libraries` names the library.
pub fn is_shared() -> bool {
    names_library(&value_of(SETTINGS[0]))
}

/// The list of libraries with keyed's appended; `None` if the list already contains it.
pub fn with_library(libraries: &str) -> Option<Vec<String>> {
    if names_library(libraries) {
        return None;
    }
    let mut libraries = split(libraries);
    libraries.push("keyed".to_owned());
    Some(libraries)
}

fn names_library(libraries: &str) -> bool {
    let file = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
    split(libraries).iter().map(file).any(|file| file.strip_suffix(".so").unwrap_or(&file) == "keyed")
}

/// Splits a list of files as PostgreSQL does (`SplitDirectoriesString`): commas separate the elements. A quoted element may
/// contain commas, and doubled quotes.
fn split(libraries: &str) -> Vec<String> {
    let (mut elements, mut element, mut quoted) = (Vec::new(), String::new(), false);
    let mut was_quoted = false;
    let mut characters = libraries.chars().peekable();
    let mut end = |element: &mut String, was_quoted: &mut bool| {
        let whole = std::mem::take(element);
        let whole = if std::mem::take(was_quoted) { whole } else { whole.trim().to_owned() };
        if !whole.is_empty() {
            elements.push(whole);
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                element.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if element.trim().is_empty() => {
                (quoted, was_quoted) = (true, true);
                element.clear();
            }
            ',' if !quoted => end(&mut element, &mut was_quoted),
            _ if was_quoted && !quoted => {}
            _ => element.push(character),
        }
    }
    end(&mut element, &mut was_quoted);
    elements
}

/// The value of a setting that only superusers can read. Callers disclose at most a boolean.
fn value_of(setting: &CStr) -> String {
    // SAFETY: the name is NUL-terminated, and the setting exists in every version. The value is copied immediately.
    unsafe {
        let value = pg_sys::GetConfigOption(setting.as_ptr(), true, false);
        if value.is_null() { String::new() } else { CStr::from_ptr(value).to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::{names_library, split, with_library};

    #[test]
    fn library_is_found_in_the_setting() {
        for (libraries, expected) in [
            ("", false),
            ("keyed", true),
            ("auto_explain, keyed", true),
            ("\"$libdir/keyed\",x", true),
            ("keyed_other", false),
            ("notkeyed, \"a,keyed,b\"", false),
            ("/usr/lib/keyed.so", true),
        ] {
            assert_eq!(names_library(libraries), expected, "{libraries}");
        }
    }

    #[test]
    fn quoted_name_may_contain_commas_and_quotes() {
        let listed = split(r#" a b/x , "/tmp/a,b c/y" ,"say ""it""", ,z"#);
        assert_eq!(listed, ["a b/x", "/tmp/a,b c/y", "say \"it\"", "z"]);
        assert_eq!(with_library("auto_explain").expect("a list"), ["auto_explain", "keyed"]);
        assert_eq!(with_library("x, keyed"), None);
    }
}
