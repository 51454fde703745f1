//! Tests of the module structure of a crate.
//!
//! They read `use` declarations, paths within the code, and method calls. Test code may import anything.
//!
//! A method call depends on the file that defines the method in an inherent `impl`, even if the type is in another
//! file. The receiver's type is known for `self`, `Self::`, `Type::` and parameters. For other receivers, the method's
//! name decides. It identifies a file if, among the types that the calling file names, only types with the method in
//! that one file have it, no trait has it, and it is not a method name of types in other crates (`method::OF_OTHERS`).
//! The tests ignore calls that remain ambiguous, calls on types that the file does not name, calls through a trait, and
//! field accesses.

mod cycle;
mod hint;
mod method;
mod parse;

use method::Methods;
use parse::Named;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of lines of a file.
pub const MAX_LINES: usize = 500;

/// The tests of every crate, and `SOURCES`, which they read: `rules!(ORDER, EXCEPTIONS)`. `ORDER` lists folders and
/// top-level files in import order; `EXCEPTIONS` lists the allowed cycles.
#[macro_export]
macro_rules! rules {
    ($order:expr, $exceptions:expr) => {
        /// Read once for all tests.
        static SOURCES: std::sync::LazyLock<$crate::Sources> =
            std::sync::LazyLock::new(|| $crate::Sources::of_crate(env!("CARGO_MANIFEST_DIR")));

        #[test]
        fn folders_import_only_from_lower_folders() {
            let problems = SOURCES.imports_from_above(&$order);
            assert!(problems.is_empty(), "{}", problems.join("\n"));
        }

        #[test]
        fn dependencies_have_no_cycles() {
            let cycles = SOURCES.cycles(&$exceptions);
            assert!(cycles.is_empty(), "{}", cycles.join("\n"));
        }

        #[test]
        fn hints_are_sentences() {
            let problems = SOURCES.hints_without_sentence();
            assert!(
                problems.is_empty(),
                "A hint begins with a capital and ends with a full stop:\n{}",
                problems.join("\n")
            );
        }

        #[test]
        fn files_are_short() {
            let long = SOURCES.longer_than($crate::MAX_LINES, &[]);
            assert!(long.is_empty(), "A long file often has two topics:\n{}", long.join("\n"));
        }
    };
}

/// The source files of a crate.
pub struct Sources {
    files: Vec<File>,
}

struct File {
    /// The path below `src`.
    path: PathBuf,
    /// The segments of the module path; empty for the root of the crate.
    module: Vec<String>,
    text: String,
    imports: Vec<Import>,
}

/// A use of a path or method that another file defines.
struct Import {
    line: usize,
    /// The path from the root of the crate.
    path: Vec<String>,
    /// The file that defines it.
    file: usize,
}

/// Two files, of which the first may depend on the second although this closes a cycle.
pub struct Exception {
    /// The importing file, below `src`.
    pub from: &'static str,
    /// The imported file, below `src`.
    pub to: &'static str,
    /// The reason for the cycle.
    pub reason: &'static str,
}

impl Sources {
    /// Reads the folder `src` of the crate whose manifest is in this folder: `env!("CARGO_MANIFEST_DIR")`.
    pub fn of_crate(manifest_folder: &str) -> Sources {
        let root = Path::new(manifest_folder).join("src");
        let (mut folders, mut strings) = (vec![root.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder of the source") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).expect("a source file");
                    strings.push((path.strip_prefix(&root).expect("below the root").to_owned(), text));
                }
            }
        }
        Sources::of_texts(strings)
    }

    fn of_texts(mut strings: Vec<(PathBuf, String)>) -> Sources {
        strings.sort();
        let modules: Vec<Vec<String>> = strings.iter().map(|(path, _)| module(path)).collect();
        let known: BTreeMap<&[String], usize> =
            modules.iter().enumerate().map(|(file, module)| (module.as_slice(), file)).collect();
        let for_tests: Vec<Vec<String>> = strings
            .iter()
            .zip(&modules)
            .flat_map(|((_, text), module)| parse::test_modules(text).map(|name| below(module, name)))
            .collect();
        let named: Vec<Vec<Named>> = strings
            .iter()
            .zip(&modules)
            .map(|((_, text), module)| match for_tests.iter().any(|tests| module.starts_with(tests)) {
                true => Vec::new(),
                false => parse::paths(text)
                    .into_iter()
                    .filter_map(|it| Some(Named { path: from_the_root(module, &it.path, &known)?, ..it }))
                    .collect(),
            })
            .collect();
        // Local names of imports with their paths; no path for imports from other crates.
        let uses: Vec<Vec<(String, Option<Vec<String>>)>> = strings
            .iter()
            .zip(&modules)
            .map(|((_, text), module)| {
                let uses = parse::paths(text).into_iter().filter_map(|it| Some((it.name?, it.path)));
                uses.map(|(name, path)| (name, from_the_root(module, &path, &known))).collect()
            })
            .collect();
        let given: Vec<HashMap<&str, &[String]>> = named
            .iter()
            .map(|named| named.iter().filter_map(|it| Some((it.name.as_deref()?, &*it.path))).collect())
            .collect();
        let methods: Vec<Methods> = strings
            .iter()
            .zip(&modules)
            .map(|((path, text), module)| match for_tests.iter().any(|tests| module.starts_with(tests)) {
                true => Methods::default(),
                false => method::read(text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display())),
            })
            .collect();
        let origins: Vec<method::Origins> = (0..strings.len())
            .map(|own| {
                let imported = uses[own].iter().map(|(name, path)| {
                    let path = path.as_ref().map(|path| origin(path.clone(), &known, &given));
                    (name.as_str(), path.and_then(|path| Some(holder(&path, &known)?.0)))
                });
                imported.chain(methods[own].types.iter().map(|name| (name.as_str(), Some(own)))).collect()
            })
            .collect();
        let index = method::Index::new(&methods, &origins);
        let files = strings.iter().zip(&modules).enumerate().map(|(own, ((path, text), module))| {
            let called = methods[own].calls.iter().filter_map(|call| {
                let (file, of) = index.definition(own, call)?;
                let path = [&modules[file][..], &[of.to_owned(), call.method.clone()]].concat();
                Some(Import { line: call.line(text), path, file })
            });
            let imports = named[own]
                .iter()
                .filter_map(|it| {
                    let path = origin(it.path.clone(), &known, &given);
                    Some(Import { line: it.line, file: holder(&path, &known)?.0, path })
                })
                .chain(called)
                .filter(|import| import.file != own)
                .collect();
            File { path: path.clone(), module: module.clone(), text: text.clone(), imports }
        });
        Sources { files: files.collect() }
    }

    /// Folders and top-level files that import from one that is not before them in `order`. The root of the crate can
    /// import from all, and none can import from it.
    pub fn imports_from_above(&self, order: &[&str]) -> Vec<String> {
        let position = |module: &[String]| match module.first() {
            Some(first) => order.iter().position(|it| it == first),
            None => Some(order.len()),
        };
        let mut problems = Vec::new();
        for file in &self.files {
            let Some(own) = position(&file.module) else {
                if !file.imports.is_empty() {
                    problems.push(format!("{}: {} is not in the order", file.path.display(), file.module[0]));
                }
                continue;
            };
            for import in &file.imports {
                if position(&self.files[import.file].module).is_some_and(|position| position > own) {
                    let (path, line) = (file.path.display(), import.line);
                    let (from, before) = (import.path.join("::"), order[..own].join(", "));
                    problems.push(format!("{path}:{line}: imports {from}; it may import from {before}"));
                }
            }
        }
        problems.extend(
            order
                .iter()
                .filter(|name| !self.files.iter().any(|it| it.module.first().is_some_and(|it| it == *name)))
                .map(|name| format!("{name} is in the order, but there is no such folder or file")),
        );
        problems
    }

    /// Files in import cycles without an exception, and exceptions that are not needed.
    pub fn cycles(&self, exceptions: &[Exception]) -> Vec<String> {
        let name = |file: usize| self.files[file].path.display().to_string();
        let all: Vec<BTreeSet<usize>> =
            self.files.iter().map(|file| file.imports.iter().map(|import| import.file).collect()).collect();
        let is_exception = |from: usize, to: usize| {
            exceptions.iter().position(|it| it.from == name(from) && it.to == name(to))
        };
        let counted: Vec<BTreeSet<usize>> = all
            .iter()
            .enumerate()
            .map(|(from, to)| to.iter().copied().filter(|to| is_exception(from, *to).is_none()).collect())
            .collect();
        let mut problems = Vec::new();
        for members in cycle::cycles(&counted) {
            let mut lines = vec![format!("{} files import from each other:", members.len())];
            for (from, to) in members.iter().flat_map(|from| members.iter().map(move |to| (*from, *to))) {
                let import = self.files[from].imports.iter().find(|it| it.file == to);
                if let Some(import) = import.filter(|_| counted[from].contains(&to)) {
                    let path = import.path.join("::");
                    lines.push(format!("    {}:{}: {} ({path})", name(from), import.line, name(to)));
                }
            }
            problems.push(lines.join("\n"));
        }
        let with_exceptions = cycle::cycles(&all);
        let needed: BTreeSet<usize> = (0..all.len())
            .flat_map(|from| all[from].iter().map(move |to| (from, *to)))
            .filter(|(from, to)| with_exceptions.iter().any(|it| it.contains(from) && it.contains(to)))
            .filter_map(|(from, to)| is_exception(from, to))
            .collect();
        let needless = exceptions.iter().enumerate().filter(|(position, _)| !needed.contains(position));
        problems.extend(needless.map(|(_, it)| {
            format!("{} -> {}: this exception is not needed ({})", it.from, it.to, it.reason)
        }));
        problems
    }

    /// Files that are declared pure but use impure code. A file is declared pure by the word in its first lines, or by
    /// its folder.
    pub fn impure(&self, folders: &[&str], forbidden: &[&str]) -> Vec<String> {
        let claims = |file: &File| {
            // The first lines of the root declare all modules.
            if file.module.is_empty() {
                return false;
            }
            let docs = file.text.lines().take_while(|line| line.starts_with("//!"));
            let mut words = docs.flat_map(|line| line.split(|it: char| !it.is_alphabetic()));
            words.any(|word| word.eq_ignore_ascii_case("pure"))
                || folders.iter().any(|folder| file.path.with_extension("").starts_with(folder))
        };
        let mut problems = Vec::new();
        for file in self.files.iter().filter(|file| claims(file)) {
            for (line, code) in parse::code_lines(&file.text) {
                for name in forbidden.iter().filter(|name| code.contains(*name)) {
                    problems.push(format!(
                        "{}:{line}: {name} in a file that claims to be pure",
                        file.path.display()
                    ));
                }
            }
        }
        problems
    }

    /// The lines of code that start with this text, each with its location.
    pub fn lines_with(&self, beginning: &str) -> Vec<(String, String)> {
        let lines = |file: &'_ File| {
            let lines = parse::code_lines(&file.text).filter(|(_, code)| code.starts_with(beginning));
            let position = |number| format!("{}:{number}", file.path.display());
            lines.map(|(number, code)| (position(number), code.trim_end().to_owned())).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(lines).collect()
    }

    /// Literal hints that do not start with a capital letter or do not end with a full stop, each with its file.
    pub fn hints_without_sentence(&self) -> Vec<String> {
        let problems = |file: &'_ File| {
            let hints = hint::literals(&parse::outside_of_tests(&file.text)).into_iter();
            let faulty = hints.filter(|text| !hint::is_sentence(text));
            faulty.map(|text| format!("{}: {text}", file.path.display())).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(problems).collect()
    }

    /// Files with more than this many lines, except those in these folders.
    pub fn longer_than(&self, max: usize, except: &[&str]) -> Vec<String> {
        self.files
            .iter()
            .filter(|file| !except.iter().any(|folder| file.path.starts_with(folder)))
            .map(|file| (file.path.display(), file.text.lines().count()))
            .filter(|(_, lines)| *lines > max)
            .map(|(path, lines)| format!("{path}: {lines} lines, at most {max}"))
            .collect()
    }
}

/// The module of a file.
fn module(path: &Path) -> Vec<String> {
    let steps = path.with_extension("");
    let mut module: Vec<String> = steps.iter().map(|step| step.to_string_lossy().into_owned()).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// The full path of a name that a file uses; none if it belongs to another crate or to the file itself.
fn from_the_root(
    module: &[String],
    path: &[String],
    known: &BTreeMap<&[String], usize>,
) -> Option<Vec<String>> {
    let first = path.first()?;
    match first.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let steps = path.iter().take_while(|it| *it == "super").count();
            Some([module.get(..module.len().checked_sub(steps)?)?, &path[steps..]].concat())
        }
        _ if known.contains_key(below(module, first.clone()).as_slice()) => Some([module, path].concat()),
        _ => None,
    }
}

/// The file that a path leads to, and how many segments of the path are its module.
fn holder(path: &[String], known: &BTreeMap<&[String], usize>) -> Option<(usize, usize)> {
    (0..=path.len()).rev().find_map(|end| known.get(&path[..end]).map(|file| (*file, end)))
}

/// The original path of a reexported name (`pub use`). A file that only declares modules and reexports their contents
/// is in no cycle.
fn origin(
    mut path: Vec<String>,
    known: &BTreeMap<&[String], usize>,
    given: &[HashMap<&str, &[String]>],
) -> Vec<String> {
    // A longer chain of reexports is a cycle.
    for _ in 0..8 {
        let passed_on = holder(&path, known).and_then(|(file, end)| {
            let from = given[file].get(path.get(end)?.as_str())?;
            Some([from, &path[end + 1..]].concat())
        });
        match passed_on {
            Some(further) => path = further,
            None => break,
        }
    }
    path
}

fn below(module: &[String], name: String) -> Vec<String> {
    [module, &[name]].concat()
}

#[cfg(test)]
mod tests;
