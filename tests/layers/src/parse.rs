//! The paths that a source file names. The file must be formatted by rustfmt.

/// The names of the modules that are declared only for tests.
pub(crate) fn test_modules(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]").filter_map(|pair| {
        let name = pair[1].strip_suffix(';')?.rsplit_once("mod ")?.1;
        Some(name.to_owned())
    });
    declared.collect::<Vec<_>>().into_iter()
}

/// A path that a file names.
pub(crate) struct Named {
    pub(crate) line: usize,
    pub(crate) path: Vec<String>,
    /// In a `use` declaration: the local name.
    pub(crate) name: Option<String>,
}

/// The paths with more than one segment, without test code.
pub(crate) fn paths(text: &str) -> Vec<Named> {
    let mut paths = Vec::new();
    let mut lines = without_tests(text).into_iter();
    while let Some((line, content)) = lines.next() {
        let Some(tree) = use_tree(content) else {
            let inline = inline_paths(code(content)).into_iter();
            paths.extend(inline.map(|path| Named { line, path, name: None }));
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';')
            && let Some((_, further)) = lines.next()
        {
            tree.push_str(code(further));
        }
        let tree = tree.split(';').next().unwrap_or_default();
        paths.extend(leaves(tree).into_iter().map(|leaf| Named {
            line,
            path: segments(&leaf),
            name: Some(given_name(&leaf)),
        }));
    }
    paths
}

/// The lines, numbered from 1, without items under `#[cfg(test)]`.
fn without_tests(text: &str) -> Vec<(usize, &str)> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut kept = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push((number + 1, line));
            continue;
        }
        let ends = |further: &str| {
            indentation(further) == indentation(line) && further.trim_end().ends_with([';', '}', ','])
        };
        lines.by_ref().find(|(_, further)| ends(further));
    }
    kept
}

/// The lines, numbered from 1, without comments and test code.
pub(crate) fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    without_tests(text).into_iter().map(|(number, line)| (number, code(line)))
}

/// The text without test code.
pub(crate) fn outside_of_tests(text: &str) -> String {
    without_tests(text).into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// The part of a line after `use`.
fn use_tree(line: &str) -> Option<&str> {
    let line = code(line).trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, rest)) => rest.trim_start(),
            None => rest.trim_start(),
        },
        None => line,
    };
    line.strip_prefix("use ")
}

/// The paths of `a::{b, c::{d, e}}`.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inner)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) else {
        return vec![tree.to_owned()];
    };
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (position, character) in inner.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(part).into_iter().map(|leaf| format!("{before}{leaf}"))).collect()
}

/// The segments of a path, without a final `self`, `*` or a rename.
fn segments(path: &str) -> Vec<String> {
    let path = path.split(" as ").next().unwrap_or_default();
    let mut segments: Vec<String> = path.split("::").map(|it| it.trim().to_owned()).collect();
    if segments.len() > 1 && segments.last().is_some_and(|last| ["self", "*"].contains(&last.as_str())) {
        segments.pop();
    }
    segments
}

/// The local name of a leaf of a `use`.
fn given_name(leaf: &str) -> String {
    match leaf.split_once(" as ") {
        Some((_, name)) => name.trim().to_owned(),
        None => segments(leaf).pop().unwrap_or_default(),
    }
}

/// The paths within code.
fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let (mut paths, mut rest, mut before) = (Vec::new(), code, ' ');
    while let Some(character) = rest.chars().next() {
        if !is_part(character) {
            before = character;
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let mut path = Vec::new();
        loop {
            let (name, further) = rest.split_at(rest.find(|it| !is_part(it)).unwrap_or(rest.len()));
            path.push(name.to_owned());
            rest = further;
            match further.strip_prefix("::").filter(|it| it.starts_with(is_part)) {
                Some(further) => rest = further,
                None => break,
            }
        }
        // `$crate` is another crate, and a path that starts with `::` or `.` is not a module of this one.
        if path.len() > 1 && !['$', ':', '.'].contains(&before) {
            paths.push(path);
        }
        before = ' ';
    }
    paths
}
