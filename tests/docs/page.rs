//! A Markdown page as a list of code blocks, and comparison with an answer that it shows.

use harness::repository_folder;

/// A fenced block: its language, its text, and the heading it stands under.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) heading: String,
    pub(crate) language: String,
    pub(crate) text: String,
}

/// The text of a file of the repository.
pub(crate) fn file(path: &str) -> String {
    std::fs::read_to_string(repository_folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The fenced blocks of a page, in order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut heading, mut open) = (String::new(), false);
    for line in page.lines() {
        match (open, line.strip_prefix("```")) {
            (false, Some(language)) => {
                blocks.push(Block {
                    heading: heading.clone(),
                    language: language.to_owned(),
                    text: String::new(),
                });
                open = true;
            }
            (true, Some(_)) => open = false,
            (true, None) => {
                let block = blocks.last_mut().expect("an open block");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (false, None) if line.starts_with('#') => {
                heading = line.trim_start_matches('#').trim().to_owned();
            }
            (false, None) => {}
        }
    }
    blocks
}

/// The only block of a language under a heading.
pub(crate) fn block<'a>(blocks: &'a [Block], heading: &str, language: &str) -> &'a str {
    let mut found = blocks.iter().filter(|block| block.heading == heading && block.language == language);
    let block = found.next_back().unwrap_or_else(|| panic!("no {language} block under {heading}"));
    &block.text
}

/// Asserts that the lines of `answer` are those shown, where `…` stands for anything and runs of spaces are one.
pub(crate) fn assert_shows(shown: &str, answer: &str) {
    let lines = |text: &str| -> Vec<String> {
        let one_space = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(one_space).filter(|line| !line.is_empty() && !is_rule(line)).collect()
    };
    let (shown, answered) = (lines(shown), lines(answer));
    assert_eq!(shown.len(), answered.len(), "shown:\n{shown:#?}\nanswered:\n{answered:#?}");
    for (pattern, line) in shown.iter().zip(&answered) {
        assert!(matches(pattern, line), "shown:    {pattern}\nanswered: {line}");
    }
}

/// The line under a table's head, whose length depends on what the table holds.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '+'))
}

fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (position, part) in parts.iter().enumerate() {
        if position + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(found) => rest = &rest[found + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[test]
fn an_ellipsis_stands_for_anything() {
    assert!(matches("a … c", "a bb c") && matches("{\"id\":\"…\",\"x\":1}", "{\"id\":\"7\",\"x\":1}"));
    assert!(!matches("a … c", "a bb d") && !matches("a", "ab") && !matches("a…", "ba"));
}
