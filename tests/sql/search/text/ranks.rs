//! The ranking of matches: which records come first, however frequent the words are, page by page.

use super::results::{create_companies, keys, pages, reader_of_gold, search};
use super::words::crm;
use crate::model::random::Random;
use harness::Session;
use harness::customers::DOCUMENTS;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Words, each with its percentage of names and of tags. Stems are words without a final s.
const WORDS: [(&str, usize, usize); 10] = [
    ("alder", 50, 50),
    ("birch", 0, 60),
    ("cedar", 1, 50),
    ("cedars", 0, 20),
    ("cedarwood", 30, 10),
    ("dogwood", 2, 2),
    ("elm", 40, 0),
    ("fir", 0, 1),
    ("maple", 30, 30),
    ("maples", 1, 1),
];
/// The searched terms.
const PARTS: [&str; 6] = ["edar", "wood", "lde", "apl", "irc", "nothing"];

#[derive(Clone)]
struct Record {
    key: String,
    name: String,
    tags: Vec<String>,
    /// The index of its company in [`COMPANIES`].
    company: Option<usize>,
    is_gold: bool,
    is_live: bool,
}

/// The names of companies, which match too.
const COMPANIES: [&str; 4] = ["dogwood fir", "maples and cedarwood", "yew alder", "other"];

fn random_text(random: &mut Random, number: usize, share: fn(&(&str, usize, usize)) -> usize) -> String {
    let mut words: Vec<&str> =
        WORDS.iter().filter(|word| random.below(100) < share(word)).map(|word| word.0).collect();
    // Only the oldest records have this word.
    words.extend((number < 150).then_some("yew"));
    for position in (1..words.len()).rev() {
        words.swap(position, random.below(position + 1));
    }
    words.join(" ")
}

fn random_record(random: &mut Random, number: usize) -> Record {
    Record {
        key: if number == 700 { "alder".to_owned() } else { format!("k{number}") },
        name: random_text(random, number, |word| word.1),
        tags: (0..2).map(|_| random_text(random, number, |word| word.2)).collect(),
        company: random.one_in(3).then(|| random.below(COMPANIES.len())),
        is_gold: random.one_in(10),
        is_live: true,
    }
}

#[derive(Debug)]
struct Term {
    text: String,
    is_phrase: bool,
    is_excluded: bool,
}

fn random_terms(random: &mut Random) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for position in 0..1 + random.below(3) {
        let word = |random: &mut Random| random.pick(&WORDS).0;
        let is_phrase = random.one_in(6);
        let text = match random.below(6) {
            _ if is_phrase => format!("{} {}", word(random), word(random)),
            0 => (*random.pick(&PARTS)).to_owned(),
            1 => "yew".to_owned(),
            _ => word(random).to_owned(),
        };
        if terms.iter().all(|other| other.text != text) {
            terms.push(Term { text, is_phrase, is_excluded: position > 0 && random.one_in(5) });
        }
    }
    terms
}

fn query(terms: &[Term]) -> String {
    let shown = |term: &Term| {
        let text = if term.is_phrase { format!("\"{}\"", term.text) } else { term.text.clone() };
        format!("{}{text}", if term.is_excluded { "-" } else { "" })
    };
    terms.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// The rank of a record; none if it does not match.
fn rank(record: &Record, terms: &[Term]) -> Option<usize> {
    let name = vec![record.key.as_str(), record.name.as_str()];
    let all: Vec<&str> = name.iter().copied().chain(record.tags.iter().map(String::as_str)).collect();
    let stem = |word: &str| word.trim_end_matches('s').to_owned();
    let has_word = |strings: &[&str], term: &Term| {
        let mut words = strings.iter().flat_map(|text| text.split(' '));
        words.any(|word| stem(word) == stem(&term.text))
    };
    let has_part = |strings: &[&str], term: &Term| strings.iter().any(|text| text.contains(&term.text));
    let has_phrase = |strings: &[&str], term: &Term| {
        strings.iter().any(|text| format!(" {text} ").contains(&format!(" {} ", term.text)))
    };
    let is_in =
        |strings: &[&str], term: &Term| has_part(strings, term) || !term.is_phrase && has_word(strings, term);
    let company = record.company.map(|company| COMPANIES[company]);
    let is_met = |term: &Term| is_in(&all, term) || is_in(company.as_slice(), term);
    let is_whole = |strings: &[&str]| {
        let mut expected = terms.iter().filter(|term| !term.is_excluded);
        expected.all(|term| if term.is_phrase { has_phrase(strings, term) } else { has_word(strings, term) })
    };
    let matches = record.is_live && terms.iter().all(|term| is_met(term) != term.is_excluded);
    let expected: Vec<&str> = terms.iter().filter(|it| !it.is_excluded).map(|it| it.text.as_str()).collect();
    let expected = expected.join(" ");
    let stems = |text: &str| text.split(' ').map(stem).collect::<BTreeSet<String>>();
    let title = match () {
        () if name.contains(&expected.as_str()) => 4,
        () if name.iter().any(|name| stems(name) == stems(&expected)) => 3,
        () => 2,
    };
    let whole = if is_whole(&name) { title } else { usize::from(is_whole(&all)) };
    let is_holder = record.is_live && record.key == query(terms);
    if is_holder { Some(5) } else { matches.then_some(whole) }
}

/// The keys of the matching records, in order.
fn expected(records: &[Record], terms: &[Term], is_found: impl Fn(&Record) -> bool) -> Vec<String> {
    let mut found: Vec<(usize, usize)> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| is_found(record))
        .filter_map(|(number, record)| Some((rank(record, terms)?, number)))
        .collect();
    found.sort_unstable();
    found.into_iter().rev().map(|(_, number)| records[number].key.clone()).collect()
}

async fn write(session: &Session, records: &[Record]) {
    let rows: Vec<Value> = records
        .iter()
        .map(|it| json!({"key": it.key, "name": it.name, "tags": it.tags, "tier": if it.is_gold { "gold" } else { "silver" }, "company": it.company}))
        .collect();
    session
        .rows(
            "insert into crm.customers (external_key, name, tags, tier, company)
             select r ->> 'key', r ->> 'name', array(select jsonb_array_elements_text(r -> 'tags')), array[r ->> 'tier'],
               (select c.id from crm.companies c where c.external_key = 'C' || (r ->> 'company'))
             from jsonb_array_elements($1) with ordinality x (r, n) order by n",
            &[&Value::from(rows).to_string()],
        )
        .await;
}

/// Changes some records, and deletes some.
async fn change(session: &Session, random: &mut Random, records: &mut Vec<Record>) {
    for _ in 0..60 {
        let number = random.below(records.len());
        let mut record = records[number].clone();
        if random.one_in(4) {
            record.is_live = false;
        } else {
            record.name = random_text(random, number, |word| word.1);
        }
        session
            .rows(
                "update crm.customers set name = $2, deleted_at = case when $3 = 'true' then null else now() end
                 where external_key = $1 and deleted_at is null",
                &[&record.key, &record.name, &record.is_live.to_string()],
            )
            .await;
        if records[number].is_live {
            records[number] = record;
        }
    }
    let more: Vec<Record> = (0..40).map(|position| random_record(random, records.len() + position)).collect();
    write(session, &more).await;
    records.extend(more);
}

#[tokio::test]
async fn ranked_pages_equal_a_plain_sort() {
    let (database, session) = crm().await;
    let seed = std::env::var("KEYED_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(21);
    println!("KEYED_TEST_SEED={seed}");
    let mut random = Random::new(seed);
    create_companies(&session, &COMPANIES).await;
    let mut records: Vec<Record> = (0..3000).map(|number| random_record(&mut random, number)).collect();
    write(&session, &records).await;
    let reader = reader_of_gold(&database).await;
    for round in 0..4 {
        for number in 0..25 {
            let terms = random_terms(&mut random);
            let limit = [1, 7, 50, 200][number % 4];
            let body =
                json!({"global_search": query(&terms), "limit": limit, "count": "exact", "fields": []});
            let all = expected(&records, &terms, |_| true);
            let found = pages(&session, &body, 5).await;
            let shown = format!("{body} in round {round}");
            assert_eq!(found, all[..found.len()], "{shown}");
            assert_eq!(found.len(), all.len().min(5 * limit), "{shown}");
            assert_eq!(search(&session, &body).await["total"], all.len(), "{shown}");

            let gold = expected(&records, &terms, |record| record.is_gold);
            let mut filtered = body.clone();
            filtered["filters"] = json!([{"field": "tier", "operator": "in", "value": "gold"}]);
            for (session, body) in [(&reader, &body), (&session, &filtered)] {
                let found = pages(session, body, 3).await;
                assert_eq!(found, gold[..found.len()], "{shown}: gold");
                assert_eq!(found.len(), gold.len().min(3 * limit), "{shown}: gold");
            }
            let counted = search(&reader, &body).await;
            assert_eq!(counted["total"], gold.len(), "{shown}: gold");

            let mut sorted = body.clone();
            sorted["sort"] = json!("external_key");
            sorted["facets"] = json!(["tier"]);
            let result = search(&session, &sorted).await;
            let mut in_order = all.clone();
            in_order.sort_unstable();
            in_order.truncate(limit);
            assert_eq!(keys(&result), in_order, "{shown}: sorted");
            let facets = result["facets"]["tier"].as_array().expect("values").iter();
            let golden = facets.filter(|it| it["value"] == "gold").map(|it| it["count"].clone());
            let golden: Vec<Value> = golden.collect();
            let expected = if gold.is_empty() { vec![] } else { vec![json!(gold.len())] };
            assert_eq!(golden, expected, "{shown}: facets");
        }
        change(&session, &mut random, &mut records).await;
        match round {
            0 => session.run(&format!("vacuum analyze {DOCUMENTS}")).await,
            1 => session.run(&format!("reindex table {DOCUMENTS}")).await,
            _ => session.run("select keyed.rebuild_documents('crm.customers')").await,
        }
    }
}

#[tokio::test]
async fn cursor_of_an_older_ranking_is_rejected() {
    let (_database, session) = crm().await;
    session
        .run("insert into crm.customers (external_key, name) select 'k' || n, 'oak' from generate_series(1, 3) n")
        .await;
    let body = json!({"global_search": "oak", "limit": 1});
    let cursor = search(&session, &body).await["next_cursor"].clone();
    // The rank is the last value in the cursor.
    let changed = session
        .text(
            "select rtrim(translate(encode(convert_to(regexp_replace(convert_from(decode(rpad(translate($1, '-_', '+/'),
               (length($1) + 3) / 4 * 4, '='), 'base64'), 'utf8'), '4]$', '-1]'), 'utf8'), 'base64'), E'+/\\n', '-_'), '=')",
            &[cursor.as_str().expect("a cursor")],
        )
        .await;
    let earlier = json!({"global_search": "oak", "limit": 1, "cursor": changed}).to_string();
    let error = session.error("select keyed.search('crm.customers', $1)", &[&earlier]).await;
    assert_eq!((error.state.as_str(), error.pointers()), ("22023", vec!["/cursor"]), "{error}");
}
