use super::*;

fn sources(files: &[(&str, &str)]) -> Sources {
    Sources::of_texts(files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect())
}

/// Whether a file in the folder `low` with this text imports from the folder `high`.
fn imports_from_above(text: &str) -> bool {
    let files = [("lib.rs", ""), ("low/mod.rs", ""), ("low/deep.rs", text), ("high/mod.rs", "")];
    let problems = sources(&files).imports_from_above(&["low", "high"]);
    assert!(problems.iter().all(|problem| problem.starts_with("low/deep.rs:")), "{problems:?}");
    !problems.is_empty()
}

#[test]
fn upward_import_is_detected_in_any_form() {
    for text in [
        "use crate::high;",
        "use crate::high::{a, b};",
        "pub(crate) use crate::high::a as b;",
        "use super::super::high;",
        "use crate::{high, low};",
        "use crate::{\n    low::{a, b}, // a comment\n    high::c,\n};",
        "fn run() {\n    crate::high::run::all();\n}",
        "fn run(it: &[crate::high::It]) {}",
        "fn run() {\n    format!(\"{}\", crate::high::it());\n}",
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
        "/// See [`crate::high`].\nfn run() {}",
        "fn run() {\n    my_crate::high::x();\n}",
        "macro_rules! run {\n    () => {\n        $crate::high::x();\n    };\n}",
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
    let problems = sources(&files).imports_from_above(&["low", "gone"]);
    assert_eq!(
        problems,
        ["new.rs: new is not in the order", "gone is in the order, but there is no such folder or file"]
    );
}

#[test]
fn root_is_imported_by_no_folder() {
    let files = [("main.rs", "mod a;\nuse a::b;\nfn run() {\n    a::c();\n}"), ("a.rs", "use crate::Error;")];
    let problems = sources(&files).imports_from_above(&["a"]);
    assert_eq!(problems, ["a.rs:1: imports Error; it may import from "]);
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
    let problems = sources(&files).cycles(&[exception("b.rs", "a.rs"), exception("c.rs", "b.rs")]);
    assert_eq!(problems, ["c.rs -> b.rs: this exception is not needed (why)"]);
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
        ("#[cfg(test)]\nmod tests {\n    const A: Error = error.hint(\"no\");\n}", None),
    ] {
        let text = match code.starts_with('#') {
            true => code.to_owned(),
            false => format!("fn run() {{\n    error{code};\n}}"),
        };
        let problems = sources(&[("a.rs", &text)]).hints_without_sentence();
        assert_eq!(problems, expected.into_iter().collect::<Vec<_>>(), "{code}");
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
    // A reexported name is imported from its original module.
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
        (
            "a.rs",
            "//! Text. Pure\n\nconst A: Time = now();",
            Some("a.rs:3: now() in a file that claims to be pure"),
        ),
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
        let problems = sources(&[(path, text)]).impure(&["value"], &forbidden);
        assert_eq!(problems, expected.into_iter().collect::<Vec<_>>(), "{path} {text}");
    }
}

/// The cycles between `low.rs`, with this text, and `high.rs`, which adds a method to one of its types.
fn cycles_with_methods(low: &str) -> usize {
    let high = "use crate::low::It;\nimpl It {\n    pub fn run(&self) {}\n    pub fn get(&self) {}\n}";
    sources(&[("low.rs", &format!("pub struct It;\n{low}")), ("high.rs", high)]).cycles(&[]).len()
}

#[test]
fn method_call_depends_on_the_file_that_defines_it() {
    for low in [
        "impl It {\n    fn go(&self) {\n        self.run();\n    }\n}",
        "impl It {\n    fn go(self) {\n        self.get();\n    }\n}",
        "impl It {\n    fn go(&self) {\n        Self::run(self);\n    }\n}",
        "fn go(it: &It) {\n    It::run(it);\n}",
        "fn go(all: &[It]) {\n    all.iter().for_each(It::run);\n}",
        "fn go(it: &mut It) {\n    it.get();\n}",
        "impl It {\n    fn go(it: Self) {\n        it.get();\n    }\n}",
        "fn go() {\n    for it in all() {\n        it.run();\n    }\n}",
        "fn go(it: &It) {\n    println!(\"{:?}\", it.get());\n}",
        "fn go(it: &It) {\n    assert!(it.other().run().is_some());\n}",
        "mod inner {\n    fn go(it: &super::It) {\n        it.run();\n    }\n}",
    ] {
        assert_eq!(cycles_with_methods(low), 1, "{low}");
    }
}

#[test]
fn ambiguous_method_call_is_ignored() {
    for low in [
        // A map also has a method with this name.
        "fn go(it: &Map) {\n    it.get();\n}",
        "fn go() {\n    for it in all() {\n        it.get();\n    }\n}",
        // The name is shadowed.
        "fn go(it: &It) {\n    let it = it.map();\n    it.get();\n}",
        "fn go(it: &It) {\n    all(|it| it.get());\n}",
        // The type is another one.
        "fn go() {\n    Other::run();\n}",
        "struct Other;\nimpl Other {\n    fn run(&self) {}\n    fn go(&self) {\n        self.run();\n    }\n}",
        "trait Runs {\n    fn run(&self);\n}\nfn go() {\n    for it in all() {\n        it.run();\n    }\n}",
        // No calls.
        "fn go(it: &It) {\n    it.run = 1;\n}",
        "fn run() {\n    run();\n}",
        "#[cfg(test)]\nmod tests {\n    fn go(it: &super::It) {\n        it.run();\n    }\n}",
    ] {
        assert_eq!(cycles_with_methods(low), 0, "{low}");
    }
}

#[test]
fn imports_distinguish_types_with_the_same_name() {
    let high = ("high.rs", "struct It;\nuse crate::low::go;\nimpl It {\n    fn run(&self) {}\n}");
    for (low, expected) in [
        ("use std::It;\npub fn go(it: It) {\n    it.run();\n}", 0),
        ("struct It;\npub fn go(it: It) {\n    it.run();\n}", 0),
        ("use crate::high::It;\npub fn go(it: It) {\n    it.run();\n}", 1),
    ] {
        assert_eq!(sources(&[("low.rs", low), high]).cycles(&[]).len(), expected, "{low}");
    }
}

#[test]
fn call_of_a_method_in_a_higher_folder_is_an_upward_import() {
    let high = "use crate::low::It;\nimpl It {\n    pub fn run(&self) {}\n}";
    let low = "pub struct It;\nfn go(it: &It) {\n    it.run();\n}";
    let files = [("low.rs", low), ("high.rs", high)];
    assert_eq!(
        sources(&files).imports_from_above(&["low", "high"]),
        ["low.rs:3: imports high::It::run; it may import from "]
    );
}
