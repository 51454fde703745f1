//! Links have targets, and the index lists every page.

use crate::page::{file, markdown_files};
use harness::repository_folder;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The lines of a page outside code blocks, without code spans.
fn prose(text: &str) -> String {
    let (mut open, mut prose) = (false, String::new());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            open = !open;
        } else if !open {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let parts = prose.split("](").skip(1);
    parts.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchors that GitHub generates for the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in prose(text).lines().filter(|line| line.starts_with('#')) {
        let name: String = heading
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|anchor| !anchors.contains(anchor));
        anchors.extend(free);
    }
    anchors
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// The target of a link: a path within the repository, and an anchor, which may be empty.
fn target(page: &str, link: &str) -> (String, String) {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let path = if path.is_empty() { PathBuf::from(page) } else { normal(&folder.join(path)) };
    (path.to_string_lossy().into_owned(), anchor.to_owned())
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    let mut count = 0;
    for page in markdown_files() {
        for link in links(&file(&page)) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            count += 1;
            let (path, anchor) = target(&page, &link);
            let is_there = repository_folder().join(&path).exists();
            if !is_there || !anchor.is_empty() && !anchors(&file(&path)).contains(&anchor) {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(count > 50, "links were found: {count}");
    assert!(broken.is_empty(), "these links have no target:\n{}", broken.join("\n"));
}

#[test]
fn index_links_every_page_once() {
    // The decisions have an index of their own.
    let indexes = ["docs/README.md", "docs/explanation/decisions/README.md"];
    let linked = indexes.map(|index| links(&file(index)).into_iter().map(|link| target(index, &link).0));
    let linked: Vec<String> = linked.into_iter().flatten().collect();
    for page in markdown_files().iter().filter(|page| page.starts_with("docs/") && *page != indexes[0]) {
        let times = linked.iter().filter(|path| *path == page).count();
        let is_decision = page.starts_with("docs/explanation/decisions/");
        assert!(times == 1 || !is_decision && times > 1, "the indexes link {page} {times} times");
    }
}

/// The code spans of a page that are paths in this repository: with a folder, and the name of a source file or page.
fn paths_named(text: &str) -> Vec<String> {
    let prose = prose(text);
    let spans = prose.split('`').skip(1).step_by(2);
    let endings = [".rs", ".sql", ".md", ".py", ".sh"];
    let is_path = |span: &&str| {
        span.contains('/')
            && endings.iter().any(|ending| span.ends_with(ending))
            && span.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_-.".contains(letter))
    };
    spans.filter(is_path).map(str::to_owned).collect()
}

#[test]
fn paths_named_by_pages_exist() {
    // Pages about one part of the code omit its folder.
    let folders = ["", "extension/src/", "proxy/src/", "tests/"];
    let mut missing = Vec::new();
    let mut count = 0;
    for page in markdown_files() {
        for path in paths_named(&file(&page)) {
            count += 1;
            if !folders.iter().any(|folder| repository_folder().join(folder).join(&path).exists()) {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    assert!(count > 50, "paths were found: {count}");
    assert!(missing.is_empty(), "these paths do not exist:\n{}", missing.join("\n"));
}

#[test]
fn readme_is_short() {
    assert!(file("README.md").len() <= 6 * 1024, "the README has {} bytes", file("README.md").len());
}

#[test]
fn anchors_equal_those_of_github() {
    let page = "# A `b`, c_d\n## A `b`, c_d\n```\n# no heading\n```\n";
    assert_eq!(anchors(page), ["a-b-c_d", "a-b-c_d-1"].map(str::to_owned).into());
    assert_eq!(target("docs/how-to/a.md", "../reference/b.md#c"), ("docs/reference/b.md".into(), "c".into()));
}
