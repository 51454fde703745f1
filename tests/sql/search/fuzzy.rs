//! Typo tolerance.

use super::text::words::{crm, upsert};
use harness::Session;
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn search(session: &Session, query: Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
}

fn keys(result: &Value) -> String {
    let records = result["records"].as_array().expect("records").iter();
    records.filter_map(|record| record["external_key"].as_str()).collect::<Vec<_>>().join(" ")
}

/// The found keys and the corrected search.
async fn found(session: &Session, words: &str) -> (String, Value) {
    let result = search(session, json!({"global_search": words, "fuzzy": "auto"})).await;
    let meant = result.get("did_you_mean").cloned();
    assert_eq!(result.get("fuzzy").is_some(), meant.is_some(), "{result}");
    (keys(&result), meant.unwrap_or_else(|| json!("no")))
}

#[tokio::test]
async fn fuzzy_search_finds_words_with_one_typo() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-9', '{"name": "Rembrandt"}')"#).await;
    let attributes = json!({"name": "Girl with a Pearl Earring", "tags": ["Vermeer", "oil"], "visits": 4711});
    upsert(&session, "1665", attributes).await;
    upsert(&session, "47123", json!({"name": "Zürich", "company": {"external_key": "C-9"}})).await;
    for (words, keys, meant) in [
        ("vermer", "1665", "Vermeer"),
        ("VERMEEER", "1665", "Vermeer"),
        ("wermeer", "1665", "Vermeer"),
        ("evrmeer", "1665", "Vermeer"),
        ("vermere", "1665", "Vermeer"),
        ("perl", "", "no"),
        ("peark", "1665", "Pearl"),
        ("paerl", "1665", "Pearl"),
        ("girl vermer pearl", "1665", "girl Vermeer pearl"),
        ("vermer.", "1665", "Vermeer."),
        ("(girl, 'vermer')", "1665", "(girl, 'Vermeer')"),
        ("girl -vermer, nothing", "", "no"),
        ("gril vermer", "", "no"),
        ("vrmr", "", "no"),
        ("zürihc", "47123", "Zürich"),
        ("47124", "", "no"),
        ("rembrant", "47123", "Rembrandt"),
        ("\"vermer\"", "", "no"),
        ("girl -pearrl", "1665", "no"),
        ("zurich vermer", "", "no"),
        ("nothing", "", "no"),
        ("pearl nothing", "", "no"),
        ("4712 vermer", "", "no"),
    ] {
        assert_eq!(found(&session, words).await, (keys.to_owned(), json!(meant)), "{words}");
    }
    for query in [json!({"global_search": "vermer"}), json!({"global_search": "vermer", "fuzzy": "off"})] {
        assert_eq!(keys(&search(&session, query).await), "");
    }
}

#[tokio::test]
async fn key_is_not_a_spelling_of_a_display_term() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'kodaly', '{"name": "Kodály"}')"#).await;
    upsert(&session, "1", json!({"name": "map", "company": {"external_key": "kodaly"}})).await;
    assert_eq!(found(&session, "kodalx").await, ("1".to_owned(), json!("Kodály")));
}

#[tokio::test]
async fn search_with_results_is_not_fuzzy() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "houses"})).await;
    upsert(&session, "2", json!({"name": "mouse"})).await;
    assert_eq!(found(&session, "house").await, ("1".to_owned(), json!("no")));
    assert_eq!(
        found(&session, "houxe").await,
        ("".to_owned(), json!("no")),
        "no match: houses has an edit distance of two"
    );
    upsert(&session, "3", json!({"name": "house"})).await;
    assert_eq!(
        found(&session, "houxe").await,
        ("3 1".to_owned(), json!("house")),
        "with the inflection of the correction"
    );
}

/// A word that has matches is corrected only if the records of the other words lack it.
#[tokio::test]
async fn existing_words_are_corrected_last() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "Garten Mauer"})).await;
    upsert(&session, "2", json!({"name": "Garden"})).await;
    upsert(&session, "3", json!({"name": "Karten Mauer"})).await;
    for (words, keys, meant) in [
        ("garten maurr", "1", json!("garten Mauer")),
        ("garden maurr", "1", json!("garden Mauer")),
        ("garden mauer", "1", Value::Null),
        ("garden maurrr", "", json!("no")),
    ] {
        assert_eq!(found(&session, words).await, (keys.to_owned(), meant), "{words}");
    }
}

#[tokio::test]
async fn fuzzy_search_honors_all_other_options() {
    let (_database, session) = crm().await;
    for number in 1..=5 {
        upsert(&session, &number.to_string(), json!({"name": "Vermeer", "visits": number})).await;
    }
    let filters = json!([{"field": "visits", "operator": "gt", "value": 1}]);
    let mut query = json!({"global_search": "vermer", "fuzzy": "auto", "filters": filters, "limit": 2,
                           "count": "exact", "highlight": true, "facets": ["visits"]});
    for sort in [Value::Null, json!("visits")] {
        query["sort"] = sort;
        query["cursor"] = Value::Null;
        let mut all = String::new();
        loop {
            let page = search(&session, query.clone()).await;
            assert_eq!((&page["fuzzy"], &page["did_you_mean"]), (&json!(true), &json!("Vermeer")));
            assert_eq!(
                (&page["total"], page["facets"]["visits"].as_array().map(Vec::len)),
                (&json!(4), Some(4))
            );
            assert_eq!(page["records"][0]["highlights"], json!({"name": ["<mark>Vermeer</mark>"]}));
            all += &keys(&page);
            // Records added in the meantime do not change the terms of the next page.
            upsert(&session, "near", json!({"name": "vermers", "visits": 0})).await;
            query["cursor"] = page["next_cursor"].clone();
            if page["has_more"] == false {
                break;
            }
        }
        assert_eq!(all, if query["sort"].is_null() { "5 43 2" } else { "2 34 5" });
        session.run("select keyed.delete_record(id) from crm.customers where external_key = 'near'").await;
    }
    let save = "select keyed.save_view('crm.customers', 'near', $1)";
    session.rows(save, &[&json!({"global_search": "vermer", "fuzzy": "auto"}).to_string()]).await;
    let page = search(&session, json!({"view": "near", "limit": 1})).await;
    assert_eq!(
        (keys(&page).as_str(), &page["did_you_mean"]),
        ("5", &Value::Null),
        "the terms are those of the view"
    );
}

#[tokio::test]
async fn fuzzy_rejects_incompatible_options() {
    let (_database, session) = crm().await;
    let vector = vec![1; 768];
    for (query, pointer) in [
        (json!({"fuzzy": true}), "/fuzzy"),
        (json!({"fuzzy": "on"}), "/fuzzy"),
        (json!({"fuzzy": "auto", "global_search": "x", "query_vector": vector}), "/fuzzy"),
        (json!({"fuzzy": "auto", "global_search": "x", "cursor": "abc.def"}), "/cursor"),
    ] {
        let error = session.error("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
        assert_eq!(error.pointers(), [pointer], "{query}");
    }
}

/// The edit distance, in which two adjacent letters can be transposed.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![(0..=other.len()).collect::<Vec<usize>>()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j] {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[tokio::test]
async fn fuzzy_words_have_an_edit_distance_of_one() {
    let (_database, session) = crm().await;
    // A Lehmer random number generator: the same words in each run.
    let mut seed: u64 = 4711;
    let mut next = |max: u64| {
        seed = seed * 48271 % 2_147_483_647;
        seed % max
    };
    let mut word = |shortest: u64| -> String {
        let letters: &[char] = if next(2) == 0 { &['b', 'd', 'o', 'ö'] } else { &['б', 'д', 'о'] };
        (0..shortest + next(5)).map(|_| letters[next(letters.len() as u64) as usize]).collect()
    };
    let names: Vec<String> = (0..150).map(|_| format!("{} ({})", word(4), word(4))).collect();
    let queries: Vec<String> = (0..150).map(|_| word(5)).collect();
    for (number, name) in names.iter().enumerate() {
        upsert(&session, &number.to_string(), json!({"name": name})).await;
    }
    let folded = |text: &str| text.replace('ö', "o");
    let vocabulary: BTreeSet<String> = names
        .iter()
        .flat_map(|name| folded(name).split([' ', '(', ')']).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut fuzzy = 0;
    for query in &queries {
        let typed = folded(query);
        let near: Vec<&String> = vocabulary.iter().filter(|word| distance(word, &typed) == 1).collect();
        let is_found = names.iter().any(|name| folded(name).contains(&typed));
        if is_found || near.len() > 10 {
            continue;
        }
        let expected: BTreeSet<String> = (0..names.len())
            .filter(|number| near.iter().any(|word| folded(&names[*number]).contains(word.as_str())))
            .map(|number| number.to_string())
            .collect();
        let (found, meant) = found(&session, query).await;
        assert_eq!(
            found.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>(),
            expected,
            "{query}: {near:?}"
        );
        fuzzy += usize::from(!expected.is_empty());
        let meant = folded(meant.as_str().expect("a text"));
        assert!(near.iter().any(|word| **word == meant) || near.is_empty(), "{query}: {meant}");
    }
    assert!(fuzzy > 20, "{fuzzy} of the words were near to others");
}
