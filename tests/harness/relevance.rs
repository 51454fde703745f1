//! Forty searches, each with the record that a user expects first, to measure the rank of that record.

use crate::Session;
use serde_json::{Value, json};

/// The template of the project that this module creates.
const TEMPLATE: &str = r#"
    select keyed.create_project('desk');
    select keyed.create_template('desk', 'cards', '[
      {"slug": "name", "type": "string"}, {"slug": "email", "type": "string"}, {"slug": "phone", "type": "string"},
      {"slug": "notes", "type": "string"}, {"slug": "drawer", "type": "string"}
    ]')"#;

/// A search, and the record that a user expects first.
pub struct Query {
    /// The typed text.
    pub text: &'static str,
    /// The name of the expected record.
    pub expected: &'static str,
}

const fn query(text: &'static str, expected: &'static str) -> Query {
    Query { text, expected }
}

/// The searches.
pub const QUERIES: [Query; 40] = [
    // Names of people and places, with and without accents, in other orders.
    query("Ada Lovelace", "Ada Lovelace"),
    query("lovelace ada", "Ada Lovelace"),
    query("Zürich", "Zürich"),
    query("zurich", "Zürich"),
    query("muller", "Müller"),
    query("O'Brien", "O’Brien"),
    query("san jose", "San José"),
    query("The Who", "The Who"),
    query("Bolt", "Bolt"),
    // Part numbers, in names and keys.
    query("6204-2RS", "6204-2RS"),
    query("1n4148", "1N4148"),
    query("M8x20", "M8x20"),
    query("AB-1200", "Angle bracket"),
    query("ab-1200", "Angle bracket"),
    query("P/N 77-01", "P/N 77-01"),
    // E-mail addresses and substrings of them.
    query("grace@example.org", "Grace Hopper"),
    query("g.hopper@navy.example", "Rear Admiral Hopper"),
    query("sales@bolts.example", "Bolt sales"),
    query("@turing.example", "Alan Turing"),
    // Telephone numbers.
    query("+41 44 668 18 00", "Reception"),
    query("668 18 00", "Reception"),
    query("(555) 010-4477", "Night desk"),
    query("010-4477", "Night desk"),
    // Plurals and singulars.
    query("bolts", "Bolt"),
    query("batteries", "Battery"),
    query("washing machines", "Washing machine"),
    query("spare part", "Spare parts"),
    // Hyphens.
    query("e-mail", "E-mail"),
    query("t-shirt", "T-shirt"),
    query("wi-fi", "Wi-Fi"),
    query("co-op", "Co-op"),
    // Versions.
    query("Widget 2.1", "Widget 2.1"),
    query("PostgreSQL 15", "PostgreSQL 15"),
    query("v1.0", "v1.0"),
    // Products with special characters.
    query("C++", "C++"),
    query("c#", "C#"),
    query("AT&T", "AT&T"),
    query("R&D", "R&D"),
    query(".NET", ".NET"),
    query("50% off", "50% off"),
];

/// Records, oldest first: the key, the name, the e-mail address, the telephone number and notes.
const CARDS: [[&str; 5]; 84] = [
    ["C-1", "Ada Lovelace", "ada@example.org", "", "Countess"],
    ["C-2", "Zürich", "", "", "Town on the Limmat"],
    ["C-3", "Müller", "mueller@example.org", "", ""],
    ["C-4", "O’Brien", "", "", ""],
    ["C-5", "San José", "", "", "Capital of Costa Rica"],
    ["C-6", "The Who", "", "", "Band"],
    ["C-7", "Bolt", "", "", "Fastens"],
    ["C-8", "6204-2RS", "", "", "Ball bearing, sealed"],
    ["C-9", "1N4148", "", "", "Diode"],
    ["C-10", "M8x20", "", "", "Screw"],
    ["AB-1200", "Angle bracket", "", "", "Galvanised"],
    ["C-12", "P/N 77-01", "", "", ""],
    ["C-13", "Grace Hopper", "grace@example.org", "", ""],
    ["C-14", "Rear Admiral Hopper", "g.hopper@navy.example", "", ""],
    ["C-15", "Bolt sales", "sales@bolts.example", "", ""],
    ["C-16", "Alan Turing", "alan@turing.example", "", ""],
    ["C-17", "Reception", "", "+41 44 668 18 00", ""],
    ["C-18", "Night desk", "", "+1 (555) 010-4477", ""],
    ["C-19", "Battery", "", "", ""],
    ["C-20", "Washing machine", "", "", ""],
    ["C-21", "Spare parts", "", "", ""],
    ["C-22", "E-mail", "", "", "A way to write"],
    ["C-23", "T-shirt", "", "", ""],
    ["C-24", "Wi-Fi", "", "", ""],
    ["C-25", "Co-op", "", "", ""],
    ["C-26", "Widget 2.1", "", "", ""],
    ["C-27", "PostgreSQL 15", "", "", ""],
    ["C-28", "v1.0", "", "", ""],
    ["C-29", "C++", "", "", ""],
    ["C-30", "C#", "", "", ""],
    ["C-31", "AT&T", "", "", ""],
    ["C-32", "R&D", "", "", ""],
    ["C-33", ".NET", "", "", ""],
    ["C-34", "50% off", "", "", ""],
    // Records with the same words.
    ["D-1", "Ada Lovelace Foundation", "", "", ""],
    ["D-2", "Lovelace Street", "", "", "Named after Ada Lovelace"],
    ["D-3", "Zürich Airport", "", "", ""],
    ["D-4", "Zürich Oerlikon", "", "", ""],
    ["D-5", "Müller & Söhne", "", "", ""],
    ["D-6", "Erika Müller", "", "", ""],
    ["D-7", "O'Brien Ltd", "", "", ""],
    ["D-8", "San José Airport", "", "", ""],
    ["D-9", "The Guess Who", "", "", "Like The Who, a band"],
    ["D-10", "Bolt cutter", "", "", ""],
    ["D-11", "Bolts and nuts", "", "", ""],
    ["D-12", "Bearing 6204-2RS C3", "", "", ""],
    ["D-13", "6204-2RSH", "", "", ""],
    ["D-14", "1N4148W", "", "", "Replaces 1N4148"],
    ["D-15", "1N4148 reel", "", "", ""],
    ["D-16", "M8x20 zinc", "", "", ""],
    ["D-17", "M8x200", "", "", ""],
    ["AB-1200-X", "Angle bracket, long", "", "", "Longer than AB-1200"],
    ["AB-12000", "Anchor", "", "", ""],
    ["D-20", "Kit P/N 77-01 and P/N 77-02", "", "", ""],
    ["D-21", "Grace Kelly", "grace.kelly@example.org", "", "not grace@example.organic"],
    ["D-22", "Sales of bolts", "presales@bolts.example", "", ""],
    ["D-23", "Turing Street", "", "", "alan@turing.examples"],
    ["D-24", "Reception, fax", "", "+41 44 668 18 001", ""],
    ["D-25", "Porter", "", "+1 (555) 010-44770", ""],
    ["D-26", "Battery charger", "", "", ""],
    ["D-27", "Batteries, box of 12", "", "", ""],
    ["D-28", "Washing machine hose", "", "", ""],
    ["D-29", "Spare part list", "", "", ""],
    ["D-30", "Spare wheel", "", "", "A part"],
    ["D-31", "E-mail archive", "", "", ""],
    ["D-32", "Mail", "", "", "Not e-mail"],
    ["D-33", "T-shirt, blue", "", "", ""],
    ["D-34", "Wi-Fi router", "", "", ""],
    ["D-35", "Co-op Bank", "", "", ""],
    ["D-36", "Widget 2.1 manual", "", "", ""],
    ["D-37", "Widget 2.10", "", "", ""],
    ["D-38", "Widget 2.1.3", "", "", ""],
    ["D-39", "PostgreSQL 15 handbook", "", "", ""],
    ["D-40", "PostgreSQL 15.2", "", "", ""],
    ["D-41", "v1.0 beta", "", "", ""],
    ["D-42", "v1.0.1", "", "", ""],
    ["D-43", "C", "", "", ""],
    ["D-44", "C++ primer", "", "", ""],
    ["D-45", "C# in depth", "", "", ""],
    ["D-46", "AT&T Wireless", "", "", ""],
    ["D-47", "R&D budget", "", "", ""],
    ["D-48", ".NET Core", "", "", ""],
    ["D-49", "150% off", "", "", "50% off, or more"],
    ["D-50", "50% off shoes", "", "", ""],
];

/// This many newer records contain each of these words in their names.
const FREQUENT: &str = "
    insert into desk.cards (external_key, name, notes, drawer)
    select 'F-' || n, (array['Bolt', 'Battery', 'Zürich', 'Lovelace', 'Widget', 'C', 'Washing', 'Part'])[n % 8 + 1] || ' no. ' || n,
      'Ada, e-mail, machine', case when n % 3 = 0 then 'open' else 'locked' end
    from generate_series(1, 4000) n";

/// Creates the project and its records. Every other record that is not expected is in another drawer.
pub async fn fill(session: &Session) {
    session.run(TEMPLATE).await;
    let card = |(number, card): (usize, &[&str; 5])| {
        let [key, name, email, phone, notes] = card;
        let is_expected = QUERIES.iter().any(|query| query.expected == *name);
        let drawer = if is_expected || number % 2 == 0 { "open" } else { "locked" };
        json!({"key": key, "name": name, "email": email, "phone": phone, "notes": notes, "drawer": drawer})
    };
    let cards: Vec<Value> = CARDS.iter().enumerate().map(card).collect();
    session
        .rows(
            "insert into desk.cards (external_key, name, email, phone, notes, drawer)
             select c ->> 'key', c ->> 'name', c ->> 'email', c ->> 'phone', c ->> 'notes', c ->> 'drawer'
             from jsonb_array_elements($1) with ordinality x (c, n) order by n",
            &[&Value::from(cards).to_string()],
        )
        .await;
    session.run(FREQUENT).await;
}

/// The records of the open drawer, as a scope.
pub fn open_drawer() -> Value {
    json!({"filters": [{"field": "drawer", "operator": "eq", "value": "open"}]})
}

/// The rank of the expected record on the first page of each search, counted from 1.
pub async fn ranks(session: &Session) -> Vec<(&'static Query, Option<usize>)> {
    let mut ranks = Vec::new();
    for query in &QUERIES {
        let body = json!({"global_search": query.text, "limit": 10}).to_string();
        let page = session.json("select keyed.search('desk.cards', $1)", &[&body]).await;
        let records = page["records"].as_array().expect("records");
        let rank = records.iter().position(|record| record["attributes"]["name"] == query.expected);
        ranks.push((query, rank.map(|rank| rank + 1)));
    }
    ranks
}

/// The mean reciprocal rank. A record that is not on the first page counts as 0.
pub fn mean_reciprocal_rank(ranks: &[(&Query, Option<usize>)]) -> f64 {
    let sum: f64 = ranks.iter().filter_map(|(_, rank)| Some(1.0 / (*rank)? as f64)).sum();
    sum / ranks.len() as f64
}
