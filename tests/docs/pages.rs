//! Every block of every page is run, in order, and what a page shows of an answer is there.

use crate::answer::compare;
use crate::page::{Block, Page, documentation, file};
use crate::service::Service;
use futures_util::StreamExt as _;

/// How many pages are run at once.
const AT_ONCE: usize = 4;

/// The most blocks of all pages together that may say that they are not run.
const MOST_NOT_RUN: usize = 9;

/// Blocks that are neither run nor answers: pictures, files, and what is fed to programs that a test does not start.
const OTHER_LANGUAGES: [&str; 5] = ["mermaid", "ini", "yaml", "csv", "conf"];

/// All pages, or the one that `KEYED_DOCS_PAGE` names by a part of its path.
fn pages() -> Vec<Page> {
    let part = std::env::var("KEYED_DOCS_PAGE").unwrap_or_default();
    documentation().into_iter().filter(|page| page.path.contains(&part)).collect()
}

#[tokio::test]
async fn every_block_works_when_pasted_and_answers_what_the_page_shows() {
    let results = futures_util::stream::iter(pages()).map(run).buffer_unordered(AT_ONCE);
    let failures: Vec<String> = results.filter_map(async |result| result.err()).collect().await;
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

async fn run(page: Page) -> Result<(), String> {
    let runs = |block: &&Block| block.is_script() && block.not_run().is_none() && !page.needs_own_machine();
    let scripts: Vec<Block> = page.blocks.iter().filter(runs).cloned().collect();
    if scripts.is_empty() {
        return Ok(());
    }
    let lines: Vec<usize> = scripts.iter().map(|block| block.line).collect();
    let began = std::time::Instant::now();
    let service = Service::start(&page).await;
    let started = began.elapsed();
    // Other pages go on meanwhile.
    let answers = tokio::task::spawn_blocking(move || service.run(&scripts)).await;
    println!("{}: started in {started:?}, run in {:?}", page.path, began.elapsed() - started);
    let answers = answers.expect("no panic").map_err(|error| format!("{}: {error}", page.path))?;
    let mut answer = None;
    for block in &page.blocks {
        if block.is_script() {
            let place = lines.iter().position(|line| *line == block.line);
            answer = place.and_then(|place| answers.get(place));
        } else if let Some(answer) = answer.filter(|_| block.is_answer() && !block.is_example()) {
            compare(&block.text, answer)
                .map_err(|difference| format!("{}:{}: {difference}", page.path, block.line))?;
        }
    }
    Ok(())
}

#[test]
fn every_block_is_run_or_shows_an_answer_or_says_why_not() {
    for page in documentation() {
        let mut script_before = false;
        for block in &page.blocks {
            let place = format!("{}:{}", page.path, block.line);
            let language = block.language.as_str();
            assert!(
                block.is_script() || block.is_answer() || OTHER_LANGUAGES.contains(&language),
                "{place}: a block of the language `{language}` is neither run nor compared"
            );
            assert!(
                !block.is_answer() || script_before || block.is_example(),
                "{place}: no block that is run stands before this answer; `<!-- example -->` marks others"
            );
            if block.is_example() && language == "json" {
                let parsed: Result<serde_json::Value, _> = serde_json::from_str(&block.text);
                assert!(parsed.is_ok(), "{place}: {parsed:?}");
            }
            script_before = block.is_script();
        }
    }
}

#[test]
fn a_page_with_customers_names_the_quickstart_that_makes_them() {
    for page in documentation().iter().filter(|page| page.needs.iter().any(|need| need == "customers")) {
        assert!(file(&page.path).contains("](../../README.md#quickstart)"), "{}", page.path);
    }
}

#[test]
fn the_quickstart_makes_the_customers_of_the_pages() {
    let attributes = |path: &str| -> serde_json::Value {
        let text = file(path);
        let (_, rest) = text.split_once("keyed.create_template('crm', 'customers', '").expect("a template");
        serde_json::from_str(rest.split_once("');").expect("its end").0).expect("JSON")
    };
    assert_eq!(attributes("README.md"), attributes("tests/docs/needs/customers.sql"));
}

#[test]
fn few_blocks_are_not_run_and_each_says_why() {
    let pages = documentation();
    let blocks = pages.iter().flat_map(|page| page.blocks.iter().map(move |block| (page, block)));
    let not_run: Vec<String> = blocks
        .filter_map(|(page, block)| {
            let reason = block.not_run()?;
            assert!(block.is_script(), "{}:{}: only scripts are run", page.path, block.line);
            assert!(reason.len() > 10, "{}:{} gives no reason", page.path, block.line);
            Some(format!("{}:{}: {reason}", page.path, block.line))
        })
        .collect();
    println!("{}", not_run.join("\n"));
    assert!(not_run.len() <= MOST_NOT_RUN, "{} blocks are not run:\n{}", not_run.len(), not_run.join("\n"));
}
