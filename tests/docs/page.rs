//! A Markdown page as a list of code blocks.
//!
//! Comments in a page control its test:
//! - `<!-- needs: own server, second project -->` anywhere: what the page needs in addition to the service of
//!   `make run`. With `own machine`, the tests of packages run the page.
//! - `<!-- not run: reason -->` before a `sh` or `sql` block: the block cannot be run on a test machine.
//! - `<!-- errors -->` before a `sql` block: some of its statements are rejected, and the output shows the errors.
//! - `<!-- example -->` before a `json` or `text` block: the block is not the output of the block before it.

use harness::repository_folder;
use std::path::Path;

/// A fenced code block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The line of its opening fence, counted from 1.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// The comment directly before it.
    pub(crate) comment: Option<String>,
}

impl Block {
    /// The reason why it is not run, if there is one.
    pub(crate) fn not_run(&self) -> Option<&str> {
        self.comment.as_deref()?.strip_prefix("not run:").map(str::trim)
    }

    /// Whether some of its statements are rejected, as the page shows.
    pub(crate) fn has_errors(&self) -> bool {
        self.comment.as_deref() == Some("errors")
    }

    pub(crate) fn is_example(&self) -> bool {
        self.comment.as_deref() == Some("example")
    }

    /// Whether the test runs blocks in its language.
    pub(crate) fn is_script(&self) -> bool {
        ["sh", "sql"].contains(&self.language.as_str())
    }

    /// Whether it shows an output.
    pub(crate) fn is_output(&self) -> bool {
        ["json", "text"].contains(&self.language.as_str())
    }
}

/// A page of the documentation.
#[derive(Debug)]
pub(crate) struct Page {
    /// The path within the repository.
    pub(crate) path: String,
    /// What the page needs in addition to the service of `make run`.
    pub(crate) needs: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

impl Page {
    pub(crate) fn read(path: &str) -> Self {
        Self::parse(path, &file(path))
    }

    /// Whether the page needs this. `own machine`: the page is about a whole machine, so the tests of packages run it.
    pub(crate) fn needs(&self, what: &str) -> bool {
        self.needs.iter().any(|need| need == what)
    }

    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let comments = text.lines().filter_map(comment);
        let needs = comments.filter_map(|comment| comment.strip_prefix("needs:"));
        let needs = needs.flat_map(|list| list.split(',')).map(|need| need.trim().to_owned()).collect();
        Self { path: path.to_owned(), needs, blocks: blocks(text) }
    }
}

/// The README and all pages of `docs/`.
pub(crate) fn documentation() -> Vec<Page> {
    markdown_files()
        .iter()
        .filter(|path| *path == "README.md" || path.starts_with("docs/"))
        .map(|path| Page::read(path))
        .collect()
}

/// The paths of all Markdown files of the repository, in order.
pub(crate) fn markdown_files() -> Vec<String> {
    let mut found = Vec::new();
    collect(&repository_folder(), "", &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') && !["target", "node_modules"].contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if !is_folder && name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The text of a file of the repository.
pub(crate) fn file(path: &str) -> String {
    std::fs::read_to_string(repository_folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The contents of a line that is a Markdown comment and nothing else.
fn comment(line: &str) -> Option<&str> {
    line.trim().strip_prefix("<!--")?.strip_suffix("-->").map(str::trim)
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut before) = (false, None);
    for (number, line) in text.lines().enumerate() {
        match (open, line.trim_start().strip_prefix("```")) {
            (false, Some(language)) => {
                let (language, comment) = (language.to_owned(), before.take().and_then(comment));
                let comment = comment.map(str::to_owned);
                blocks.push(Block { line: number + 1, language, text: String::new(), comment });
                open = true;
            }
            (true, Some(_)) => open = false,
            (true, None) => {
                let block = blocks.last_mut().expect("an open block");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (false, None) if line.trim().is_empty() => {}
            (false, None) => before = Some(line),
        }
    }
    assert!(!open, "the last block of the page is not closed");
    blocks
}

#[test]
fn comments_declare_needs_and_skipped_blocks() {
    let text = "<!-- needs: own server, database crm -->\n\n<!-- not run: as root -->\n```sh\nx\n```\ny\n```json\n{}\n```\n";
    let page = Page::parse("page.md", text);
    assert_eq!(page.needs, ["own server", "database crm"]);
    assert!(page.needs("own server") && !page.needs("own machine"));
    assert_eq!((page.blocks[0].not_run(), page.blocks[0].line), (Some("as root"), 4));
    assert_eq!((page.blocks[1].not_run(), page.blocks[1].is_example()), (None, false));
}
