//! Every code block of every page is run, in order, and its output is compared with the page.

use crate::output::compare;
use crate::page::{Block, Page, documentation, file};
use crate::service::Service;
use futures_util::StreamExt as _;

/// The number of pages that run concurrently.
const AT_ONCE: usize = 4;

/// The maximum number of blocks in all pages that are marked as not run.
const MAX_SKIPPED_BLOCKS: usize = 12;

/// Languages of blocks that are neither run nor outputs: diagrams, files, and input of programs that the test does not
/// start.
const OTHER_LANGUAGES: [&str; 5] = ["mermaid", "ini", "yaml", "csv", "conf"];

/// All pages, or those whose path contains the value of `KEYED_DOCS_PAGE`.
fn pages() -> Vec<Page> {
    let part = std::env::var("KEYED_DOCS_PAGE").unwrap_or_default();
    documentation().into_iter().filter(|page| page.path.contains(&part)).collect()
}

#[tokio::test]
async fn blocks_work_when_pasted() {
    let results = futures_util::stream::iter(pages()).map(run).buffer_unordered(AT_ONCE);
    let failures: Vec<String> = results.filter_map(async |result| result.err()).collect().await;
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The tutorial and all how-to pages, in the order of the table of contents, on one service.
#[tokio::test]
async fn pages_work_in_reading_order_on_one_database() {
    let contents = file("docs/README.md");
    let (_, contents) = contents.split_once("## Tutorial").expect("the tutorial");
    let (contents, _) = contents.split_once("## Reference").expect("the reference pages");
    let paths = contents.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')'));
    let pages: Vec<Page> = paths.map(|path| Page::read(&format!("docs/{path}"))).collect();
    assert!(pages.len() > 15, "{} pages", pages.len());
    // A page that starts with a database of an earlier release.
    let pages = pages.into_iter().filter(|page| !page.needs("release") && !scripts_of(page).is_empty());
    let mut service = Service::start_for_all("reading-order").await;
    for page in pages {
        service.prepare(&page);
        let outputs;
        (service, outputs) = outputs_of(service, &page).await;
        let failure = outputs.and_then(|outputs| compare_all(&page, &outputs)).err().unwrap_or_default();
        assert!(failure.is_empty(), "{failure}");
    }
}

/// The blocks that are run.
fn scripts_of(page: &Page) -> Vec<Block> {
    let runs = |block: &&Block| block.is_script() && block.not_run().is_none() && !page.needs("own machine");
    page.blocks.iter().filter(runs).cloned().collect()
}

async fn run(page: Page) -> Result<(), String> {
    if scripts_of(&page).is_empty() {
        return Ok(());
    }
    let service = Service::start(&page).await;
    let (service, outputs) = outputs_of(service, &page).await;
    drop(service);
    compare_all(&page, &outputs?)
}

/// The outputs of the blocks of a page. Other pages run concurrently.
async fn outputs_of(service: Service, page: &Page) -> (Service, Result<Vec<String>, String>) {
    let (scripts, path) = (scripts_of(page), page.path.clone());
    let began = std::time::Instant::now();
    let run = move || {
        let outputs = service.run(&scripts).map_err(|error| format!("{path}: {error}"));
        (service, outputs)
    };
    let outputs = tokio::task::spawn_blocking(run).await.expect("no panic");
    println!("{}: run in {:?}", page.path, began.elapsed());
    outputs
}

/// Compares the output of each block with the page.
fn compare_all(page: &Page, outputs: &[String]) -> Result<(), String> {
    let lines: Vec<usize> = scripts_of(page).iter().map(|block| block.line).collect();
    let mut output = None;
    for block in &page.blocks {
        if block.is_script() {
            let location = lines.iter().position(|line| *line == block.line);
            output = location.and_then(|location| outputs.get(location));
        } else if let Some(output) = output.filter(|_| block.is_output() && !block.is_example()) {
            compare(&block.text, output)
                .map_err(|difference| format!("{}:{}: {difference}", page.path, block.line))?;
        }
    }
    Ok(())
}

#[test]
fn every_block_is_run_or_explained() {
    for page in documentation() {
        let mut script_before = false;
        for block in &page.blocks {
            let location = format!("{}:{}", page.path, block.line);
            let language = block.language.as_str();
            assert!(
                block.is_script() || block.is_output() || OTHER_LANGUAGES.contains(&language),
                "{location}: a block of the language `{language}` is neither run nor compared"
            );
            assert!(
                !block.is_output() || script_before || block.is_example(),
                "{location}: no executed block precedes this output; mark it with `<!-- example -->`"
            );
            if block.is_example() && language == "json" {
                let parsed: Result<serde_json::Value, _> = serde_json::from_str(&block.text);
                assert!(parsed.is_ok(), "{location}: {parsed:?}");
            }
            script_before = block.is_script();
        }
    }
}

#[test]
fn few_blocks_are_skipped() {
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
    assert!(
        not_run.len() <= MAX_SKIPPED_BLOCKS,
        "{} blocks are not run:\n{}",
        not_run.len(),
        not_run.join("\n")
    );
}
