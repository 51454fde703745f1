use super::*;

fn sources(files: &[(&str, &str)]) -> Sources {
    Sources::of_texts(files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect())
}

/// Whether a file of the folder `low` with this text imports from the folder `high`.
fn imports_from_above(text: &str) -> bool {
    let files = [("lib.rs", ""), ("low/mod.rs", ""), ("low/deep.rs", text), ("high/mod.rs", "")];
    let faults = sources(&files).imports_from_above(&["low", "high"]);
    assert!(faults.iter().all(|fault| fault.starts_with("low/deep.rs:")), "{faults:?}");
    !faults.is_empty()
}

#[test]
fn upward_import_is_found_in_any_form() {
    for text in [
        "use crate::high;",
        "use crate::high::{a, b};",
        "pub(crate) use crate::high::a as b;",
        "use super::super::high;",
        "use crate::{high, low};",
        "use crate::{\n    low::{a, b}, // a comment\n    high::c,\n};",
        "    crate::high::run::all();",
        "fn run(it: &[crate::high::It]) {}",
        "format!(\"{}\", crate::high::it());",
        "#[cfg(test)]\nmod tests;\nuse crate::high;",
        "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n\nuse crate::high;",
    ] {
        assert!(imports_from_above(text), "{text}");
    }
}

#[test]
fn comments_and_test_modules_are_ignored() {
    for text in [
        "use crate::low::high;",
        "use super::high;",
        "// crate::high::a",
        "/// See [`crate::high`].",
        "my_crate::high::x()",
        "$crate::high::x()",
        "use std::{high, low};",
        "#[cfg(test)]\nuse crate::high;",
        "#[cfg(test)]\nmod tests {\n    use crate::high;\n\n    fn a() {}\n}",
        "impl It {\n    #[cfg(test)]\n    fn it() {\n        crate::high::a();\n    }\n}",
    ] {
        assert!(!imports_from_above(text), "{text}");
    }
}

#[test]
fn test_module_can_import_anything() {
    let files =
        [("low.rs", "#[cfg(test)]\nmod tests;\n"), ("low/tests.rs", "use crate::high;"), ("high.rs", "")];
    assert_eq!(sources(&files).imports_from_above(&["low", "high"]), [""; 0]);
}

#[test]
fn unlisted_and_missing_folders_are_reported() {
    let files = [("low.rs", ""), ("new.rs", "use crate::low;")];
    let faults = sources(&files).imports_from_above(&["low", "gone"]);
    assert_eq!(
        faults,
        ["new.rs: new is not in the order", "gone is in the order, but there is no such folder or file"]
    );
}

#[test]
fn root_is_imported_by_no_folder() {
    let files = [("main.rs", "mod a;\nuse a::b;\na::c();"), ("a.rs", "use crate::Error;")];
    let faults = sources(&files).imports_from_above(&["a"]);
    assert_eq!(faults, ["a.rs:1: imports Error; it may import from "]);
}

#[test]
fn cycle_is_reported_with_its_lines() {
    let files = [
        ("a/mod.rs", "mod b;\nmod c;\n"),
        ("a/b.rs", "\nuse super::c::C;"),
        ("a/c.rs", "use super::d::D;"),
        ("a/d.rs", "use super::b::B;"),
        ("a/e.rs", "use super::b::B;"),
    ];
    assert_eq!(
        sources(&files).cycles(&[]),
        [
            "3 files import from each other:\n    a/b.rs:2: a/c.rs (a::c::C)\n    a/c.rs:1: a/d.rs (a::d::D)\n    a/d.rs:1: a/b.rs (a::b::B)"
        ]
    );
}

#[test]
fn file_and_its_folder_can_form_a_cycle() {
    for text in ["use b::B;", "use self::b::B;", "fn a() {\n    b::c();\n}"] {
        let text = format!("mod b;\n{text}\n");
        let files = [("a/mod.rs", text.as_str()), ("a/b.rs", "use super::A;")];
        assert_eq!(sources(&files).cycles(&[]).len(), 1, "{text}");
    }
    assert_eq!(sources(&[("a/mod.rs", "mod b;"), ("a/b.rs", "use super::A;")]).cycles(&[]), [""; 0]);
}

#[test]
fn exception_must_be_needed() {
    let files = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;"), ("c.rs", "use crate::b::B;")];
    let exception = |from, to| Exception { from, to, reason: "why" };
    assert_eq!(sources(&files).cycles(&[exception("b.rs", "a.rs")]), [""; 0]);
    let faults = sources(&files).cycles(&[exception("b.rs", "a.rs"), exception("c.rs", "b.rs")]);
    assert_eq!(faults, ["c.rs -> b.rs: this exception is not needed (why)"]);
}

#[test]
fn long_file_is_reported() {
    let files = [("a.rs", "\n\n\n"), ("b.rs", "\n\n"), ("c/d.rs", "\n\n\n\n")];
    assert_eq!(sources(&files).longer_than(2, &["c"]), ["a.rs: 3 lines, at most 2"]);
}

#[test]
fn hint_without_capital_or_full_stop_is_reported() {
    for (code, expected) in [
        (r#".hint("send it.")"#, Some("a.rs: send it.")),
        (r#".hint("Send it")"#, Some("a.rs: Send it")),
        ("    .hint(\n        \"send \\\n         {}.\",\n    )", Some("a.rs: send {}.")),
        (r#".with_hint(&format!("send {name}."))"#, Some("a.rs: send {name}.")),
        (r#".hint("Send \"it\".")"#, None),
        (".hint(text) + body.size_hint()", None),
        ("#[cfg(test)]\nmod tests {\n    .hint(\"no\")\n}", None),
    ] {
        let faults = sources(&[("a.rs", code)]).hints_without_sentence();
        assert_eq!(faults, expected.into_iter().collect::<Vec<_>>(), "{code}");
    }
}

#[test]
fn reexporting_file_is_in_no_cycle() {
    let files = [
        ("a/mod.rs", "mod b;\nmod c;\npub use b::B;\n"),
        ("a/b.rs", "use super::c::C;"),
        ("a/c.rs", ""),
        ("d.rs", "use crate::a::B;"),
    ];
    assert_eq!(sources(&files).cycles(&[]), [""; 0]);
    // What is passed on is imported from where it is.
    let files = [files[0], files[1], ("a/c.rs", "use super::B;")];
    assert_eq!(
        sources(&files).cycles(&[]),
        ["2 files import from each other:\n    a/b.rs:1: a/c.rs (a::c::C)\n    a/c.rs:1: a/b.rs (a::b::B)"]
    );
}

#[test]
fn impure_file_is_reported() {
    let forbidden = ["pgrx", "now()"];
    for (path, text, expected) in [
        ("a.rs", "//! Text: pure.\nuse pgrx::x;", Some("a.rs:2: pgrx in a file that claims to be pure")),
        ("a.rs", "//! Text. Pure\n\nlet a = now();", Some("a.rs:3: now() in a file that claims to be pure")),
        (
            "value/a.rs",
            "//! Text.\nuse pgrx::x;",
            Some("value/a.rs:2: pgrx in a file that claims to be pure"),
        ),
        ("value.rs", "use pgrx::x;", Some("value.rs:1: pgrx in a file that claims to be pure")),
        ("a.rs", "//! Text.\nuse pgrx::x;", None),
        ("a.rs", "//! Pure.\n// not pgrx\n#[cfg(test)]\nuse pgrx::x;", None),
        ("values.rs", "use pgrx::x;", None),
    ] {
        let faults = sources(&[(path, text)]).impure(&["value"], &forbidden);
        assert_eq!(faults, expected.into_iter().collect::<Vec<_>>(), "{path} {text}");
    }
}
