//! Full-text search under a scope: a caller finds the visible part of an administrator's results, in the same order.

use crate::model::values::{Value, parse_id};
use crate::model::world::Row;
use crate::model::{Case, Random, World};
use harness::Session;
use serde_json::{Value as Json, json};
use std::collections::HashSet;

/// Case-folded terms in names, notes and lists of some records, and of records that these reference.
const WORDS: [&str; 9] = ["red", "blue", "gold", "silver", "zurich", "say", "wheels", "xxx", "e:0"];

/// One or two terms, and possibly an excluded one.
fn random_words(random: &mut Random) -> Vec<String> {
    let mut words = vec![(*random.pick(&WORDS)).to_owned()];
    if random.one_in(3) {
        words.push((*random.pick(&WORDS)).to_owned());
    }
    if random.one_in(4) {
        words.push(format!("-{}", random.pick(&WORDS)));
    }
    words
}

/// Whether a record has a term in its own text.
fn has(row: &Row, word: &str) -> bool {
    let holds = |text: &String| text.to_lowercase().replace('ü', "u").replace('é', "e").contains(word);
    row.key.as_ref().is_some_and(holds)
        || row.values.values().any(|value| match value {
            Value::Text(text) => holds(text),
            Value::List(list) => list.iter().any(holds),
            _ => false,
        })
}

/// Searches with terms together with the conditions of a case, whose records are those that the session can read.
pub(super) async fn check(
    session: &Session,
    administrator: &Session,
    seen: &World,
    case: &Case,
    random: &mut Random,
) -> Result<usize, String> {
    let words = random_words(random);
    let text = json!(words.join(" "));
    let limit = *random.pick(&[1, 3, 20]);
    let found =
        read_pages(session, &format!(r#"{},"global_search":{text},"limit":{limit}"#, case.condition)).await?;
    let passing: HashSet<u128> = case.expected.iter().copied().collect();
    let mut max = read_pages(administrator, &format!(r#""global_search":{text},"limit":1000"#)).await?;
    max.retain(|id| passing.contains(id));
    // A match by the display of a referenced record depends on the visibility of that record.
    let is_excluded = |word: &&String| word.starts_with('-');
    let least = seen.rows.iter().filter(|row| {
        passing.contains(&row.id)
            && !words.iter().any(|word| is_excluded(&word))
            && words.iter().all(|word| has(row, word))
    });
    let missing = least.filter(|row| !found.contains(&row.id)).count();
    let mut rest = max.iter();
    let is_part = words.iter().any(|word| is_excluded(&word)) && found.iter().all(|id| passing.contains(id))
        || found.iter().all(|id| rest.any(|other| other == id));
    if missing == 0 && is_part {
        return Ok(found.len());
    }
    Err(format!("{text} within {{{}}} finds {found:#x?}\nof {max:#x?}\nand misses {missing}", case.condition))
}

/// The ids on all pages.
async fn read_pages(session: &Session, query: &str) -> Result<Vec<u128>, String> {
    let (mut collected, mut cursor) = (Vec::new(), Json::Null);
    loop {
        let body = format!(r#"{{{query},"fields":["id"],"count":"exact","cursor":{cursor}}}"#);
        let page = session.attempt("select keyed.search('p.things', $1)", &[&body]).await;
        let page = page.map_err(|error| format!("{body} is refused: {error}"))?;
        let page: Json = serde_json::from_str(page[0][0].as_deref().unwrap_or_default()).expect("JSON");
        let ids = page["records"].as_array().into_iter().flatten();
        collected.extend(ids.map(|record| parse_id(record["id"].as_str().unwrap_or_default())));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            let total = page["total"].as_u64();
            return (total == Some(collected.len() as u64))
                .then_some(collected.clone())
                .ok_or_else(|| format!("{body}: {} are shown of {total:?}", collected.len()));
        }
    }
}
