//! Random synonyms, texts and searches, compared with a model in memory.

use super::results::{create_companies, pages, reader_of_gold, search};
use super::synonym_meaning::{COMPANIES, Record, Set, Term, expanded, rank};
use super::words::crm;
use crate::model::random::Random;
use harness::Session;
use harness::customers::DOCUMENTS;
use serde_json::{Value, json};

/// Words; stems are words without a final s. The two-letter word matches as a prefix.
const WORDS: [&str; 12] = [
    "alder", "birch", "cedar", "cedars", "firwood", "dogwood", "elm", "fir", "maple", "maples", "ox", "oxen",
];
fn random_text(random: &mut Random, max: usize) -> String {
    let words: Vec<&str> = (0..random.below(max + 1)).map(|_| *random.pick(&WORDS)).collect();
    words.join(" ")
}

fn random_record(random: &mut Random, number: usize) -> Record {
    Record {
        key: if number == 70 { "alder".to_owned() } else { format!("k{number}") },
        name: random_text(random, 3),
        tag: random_text(random, 4),
        company: random.one_in(5).then(|| random.below(COMPANIES.len())),
        is_gold: random.one_in(4),
        is_live: true,
    }
}

fn random_sets(random: &mut Random) -> Vec<Set> {
    let (mut members, mut sets): (Vec<String>, Vec<Set>) = (Vec::new(), Vec::new());
    for _ in 0..random.below(7) {
        let text = |random: &mut Random| {
            let count = [1, 1, 1, 2, 2, 3][random.below(6)];
            (0..count).map(|_| *random.pick(&WORDS)).collect::<Vec<_>>().join(" ")
        };
        let root = random
            .one_in(3)
            .then(|| text(random))
            .filter(|root| sets.iter().all(|it| it.0.as_ref() != Some(root)));
        let mut others: Vec<String> = Vec::new();
        for _ in 0..2 + random.below(3) {
            let other = text(random);
            let is_free = root.is_some() || !members.contains(&other);
            if is_free && !others.contains(&other) && root.as_ref() != Some(&other) {
                others.push(other);
            }
        }
        if others.len() >= 2 {
            if root.is_none() {
                members.extend(others.iter().cloned());
            }
            sets.push((root, others));
        }
    }
    sets
}

async fn define(session: &Session, sets: &[Set]) {
    let sets: Value =
        sets.iter().map(|(root, synonyms)| json!({"root": root, "synonyms": synonyms})).collect();
    let changes = json!({"synonyms": sets}).to_string();
    session.rows("select keyed.alter_template('crm.customers', $1)", &[&changes]).await;
}

/// Some words, often adjacent words of one synonym set.
fn random_terms(random: &mut Random, sets: &[Set]) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for position in 0..1 + random.below(3) {
        let is_phrase = random.one_in(8);
        let strings = match sets.len() {
            count if count > 0 && !random.one_in(4) => {
                let (root, others) = random.pick(sets);
                root.clone().unwrap_or_else(|| random.pick(others).clone())
            }
            _ => (*random.pick(&["alder", "edar", "ox", "oxe", "apl", "elm", "firs", "maple"])).to_owned(),
        };
        let strings: Vec<&str> = if is_phrase { vec![&strings] } else { strings.split(' ').collect() };
        let is_excluded = position > 0 && strings.len() == 1 && random.one_in(4);
        for text in strings {
            if terms.iter().all(|other| other.text != text) {
                terms.push(Term { text: text.to_owned(), is_phrase, is_excluded });
            }
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

/// The keys of the matching records, in order.
fn expected(
    records: &[Record],
    terms: &[Term],
    sets: &[Set],
    is_found: impl Fn(&Record) -> bool,
) -> Vec<String> {
    let (expanded, key) = (expanded(terms, sets), query(terms));
    let rank = |record: &Record| {
        if record.is_live && record.key == key { Some(5) } else { rank(record, &expanded) }
    };
    let all = records.iter().enumerate().filter(|(_, record)| is_found(record));
    let mut found: Vec<(usize, usize)> =
        all.filter_map(|(number, record)| Some((rank(record)?, number))).collect();
    found.sort_unstable();
    found.into_iter().rev().map(|(_, number)| records[number].key.clone()).collect()
}

async fn write(session: &Session, records: &[Record]) {
    let row = |it: &Record| {
        json!({"key": it.key, "name": it.name, "tag": it.tag, "company": it.company,
               "tier": if it.is_gold { "gold" } else { "silver" }})
    };
    let rows: Value = records.iter().map(row).collect();
    let insert = "insert into crm.customers (external_key, name, tags, tier, company)
         select r ->> 'key', r ->> 'name', array[r ->> 'tag'], array[r ->> 'tier'],
           (select c.id from crm.companies c where c.external_key = 'C' || (r ->> 'company'))
         from jsonb_array_elements($1) with ordinality x (r, n) order by n";
    session.rows(insert, &[&rows.to_string()]).await;
}

/// Changes some records, deletes some, and adds some.
async fn change(session: &Session, random: &mut Random, records: &mut Vec<Record>) {
    for _ in 0..40 {
        let number = random.below(records.len());
        let record = &mut records[number];
        if !record.is_live {
            continue;
        }
        (record.is_live, record.name) = (!random.one_in(4), random_text(random, 3));
        let update =
            "update crm.customers set name = $2, deleted_at = case when $3 = 'true' then null else now() end
             where external_key = $1 and deleted_at is null";
        session.rows(update, &[&record.key, &record.name, &record.is_live.to_string()]).await;
    }
    let more: Vec<Record> = (0..40).map(|position| random_record(random, records.len() + position)).collect();
    write(session, &more).await;
    records.extend(more);
}

#[tokio::test]
async fn searches_with_synonyms_agree_with_the_model() {
    let (database, session) = crm().await;
    let seed = std::env::var("KEYED_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(30);
    println!("KEYED_TEST_SEED={seed}");
    let mut random = Random::new(seed);
    create_companies(&session, &COMPANIES).await;
    let mut records: Vec<Record> = (0..1200).map(|number| random_record(&mut random, number)).collect();
    write(&session, &records).await;
    let (reader, administrator) = (reader_of_gold(&database).await, database.session().await);
    for round in 0..8 {
        let sets = random_sets(&mut random);
        define(&administrator, &sets).await;
        for number in 0..20 {
            let terms = random_terms(&mut random, &sets);
            let limit = [1, 7, 50, 200][number % 4];
            let body =
                json!({"global_search": query(&terms), "limit": limit, "count": "exact", "fields": []});
            let shown = format!("{body} in round {round} with {sets:?}");
            for (session, is_gold) in [(&session, false), (&reader, true)] {
                let all = expected(&records, &terms, &sets, |record| !is_gold || record.is_gold);
                let found = pages(session, &body, 4).await;
                assert_eq!(found, all[..found.len()], "gold {is_gold}: {shown}");
                assert_eq!(found.len(), all.len().min(4 * limit), "gold {is_gold}: {shown}");
                assert_eq!(search(session, &body).await["total"], all.len(), "gold {is_gold}: {shown}");
            }
            if number % 4 == 0 {
                let condition =
                    session.text("select keyed.filter_sql('crm.customers', $1)", &[&body.to_string()]).await;
                let count =
                    format!("select count(*) from crm.customers t where deleted_at is null and {condition}");
                let all = expected(&records, &terms, &sets, |_| true);
                assert_eq!(session.text(&count, &[]).await, all.len().to_string(), "{shown}");
            }
        }
        change(&session, &mut random, &mut records).await;
        match round {
            1 => session.run(&format!("vacuum analyze {DOCUMENTS}")).await,
            3 => session.run("select keyed.rebuild_documents('crm.customers')").await,
            5 => session.run(&format!("drop index {DOCUMENTS}_trigram")).await,
            _ => {}
        }
    }
}
