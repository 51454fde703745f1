//! Roles with scopes. The cost of a scope is compared with the same condition written by hand; its gain, with a login
//! whose plain SELECT has the same scope as a policy.

use super::{OURS, Run, THEIRS, responses, roles};
use crate::bed::Bed;
use crate::load::{Load, Sql};
use crate::report::Figure;
use crate::rounds::{self, Claim, Contender, Quantity, READS, Workload};

const LOGIN: &str = "a BI login";

/// The number of records.
const RECORDS: u32 = 500_000;

/// A query, as the statement of the proxy and by hand.
struct Query {
    /// The names of the workloads in which a quarter of the records is visible, and in which one in a hundred is.
    names: [&'static str; 2],
    ours: &'static str,
    /// With `:scope` among its conditions.
    theirs: &'static str,
    /// The query of a login that cannot read documents; equal to the query above if it reads none.
    login: Option<&'static str>,
    /// The required and the desired speedup over such a login.
    gain: Option<[f64; 2]>,
}

const QUERIES: [Query; 5] = [
    Query {
        names: ["lookup by key within 25 %", "lookup by key within 1 %"],
        ours: include_str!("../scripts/scoped_lookup_proxy.sql"),
        theirs: include_str!("../scripts/scoped_lookup_plain.sql"),
        login: None,
        gain: None,
    },
    Query {
        names: ["list of 50 within 25 %: a range of prices", "list of 50 within 1 %: a range of prices"],
        ours: include_str!("../scripts/scoped_range_proxy.sql"),
        theirs: include_str!("../scripts/scoped_range_plain.sql"),
        login: None,
        gain: None,
    },
    Query {
        names: ["list of 50 within 25 %: one city, by price", "list of 50 within 1 %: one city, by price"],
        ours: include_str!("../scripts/scoped_list_proxy.sql"),
        theirs: include_str!("../scripts/scoped_list_plain.sql"),
        login: None,
        gain: None,
    },
    Query {
        names: ["list within 25 %: a substring of the title", "list within 1 %: a substring of the title"],
        ours: include_str!("../scripts/scoped_like_proxy.sql"),
        theirs: include_str!("../scripts/scoped_like_plain.sql"),
        login: None,
        gain: Some([30.0, 100.0]),
    },
    Query {
        names: ["search for two words within 25 %", "search for two words within 1 %"],
        ours: include_str!("../scripts/scoped_words_proxy.sql"),
        theirs: include_str!("../scripts/scoped_words_plain.sql"),
        login: Some(include_str!("../scripts/scoped_words_login.sql")),
        gain: Some([8.0, 12.0]),
    },
];

/// Searches that find a large part of the records, for a role and for an administrator: the cost of a scope if few of
/// the matches are visible.
const FREQUENT: [([&str; 2], &str); 2] = [
    (
        [
            "search for a frequent word and two digits within 25 %",
            "search for a frequent word and two digits within 1 %",
        ],
        include_str!("../scripts/scoped_short_proxy.sql"),
    ),
    (
        ["search for two letters within 25 %", "search for two letters within 1 %"],
        include_str!("../scripts/scoped_frequent_proxy.sql"),
    ),
];

/// A role that can read this share of the records.
struct Share {
    percent: u32,
    role: String,
    /// The hash of its key, in SQL syntax.
    hash: String,
}

pub(super) async fn run(run: &mut Run<'_>) {
    run.bed.works().await;
    for (number, percent) in [25, 1].into_iter().enumerate() {
        let share = Share::grant(run.bed, percent).await;
        for query in &QUERIES {
            measure(run, query, query.names[number], &share).await;
        }
        for (names, script) in FREQUENT {
            against_administrator(run, script, names[number], &share).await;
        }
        if number == 0 {
            authentication(run, &share).await;
        }
    }
    roles::run(run).await;
}

async fn measure(run: &mut Run<'_>, query: &Query, name: &'static str, share: &Share) {
    let written = share.script(query.ours);
    let plain_sql = share.script(&query.theirs.replace(":scope", &share.condition()));
    let by_login = share.script(&query.login.unwrap_or(query.theirs).replace(":scope", "true"));
    responses::compare(run, &written, &plain_sql, None).await;
    responses::compare(run, &written, &by_login, Some(&share.role)).await;
    let claim = |about, against, quantity, gate, aim| Claim { about, against, quantity, gate, aim };
    let mut claims = vec![
        claim(OURS, THEIRS, Quantity::Latency, Some(1.3), Some(1.1)),
        claim(LOGIN, THEIRS, Quantity::Latency, None, None),
    ];
    if let Some([gate, aim]) = query.gain {
        claims.push(claim(OURS, LOGIN, Quantity::Speed, Some(gate), Some(aim)));
    }
    let contenders = vec![
        Contender::new(OURS, asking(run.bed, written, None).await).lasting(0.5),
        Contender::new(THEIRS, asking(run.bed, plain_sql, None).await).lasting(0.5),
        Contender::new(LOGIN, asking(run.bed, by_login, Some(&share.role)).await).lasting(0.5),
    ];
    run.measure_warm(&Workload { name, commits: READS, contenders, claims }).await;
}

async fn against_administrator(run: &mut Run<'_>, script: &str, name: &'static str, share: &Share) {
    let administrator = "an administrator";
    let hash = format!("select quote_literal(sha256('{}'))", run.bed.proxy.key());
    let hash = run.bed.cluster.sql(run.bed.database.name(), &hash);
    let contenders = vec![
        Contender::new(OURS, asking(run.bed, share.script(script), None).await).lasting(0.5),
        Contender::new(administrator, asking(run.bed, script.replace(":hash", &hash), None).await)
            .lasting(0.5),
    ];
    let claims = vec![Claim {
        about: OURS,
        against: administrator,
        quantity: Quantity::Latency,
        gate: None,
        aim: Some(5.0),
    }];
    run.measure_warm(&Workload { name, commits: READS, contenders, claims }).await;
}

/// The cost that checking a key adds to a request.
async fn authentication(run: &mut Run<'_>, share: &Share) {
    let names = ["with its key", "as the role itself"];
    let itself = include_str!("../scripts/scoped_lookup_itself.sql");
    let with_key = share.script(&itself.replace(';', " from keyed.authenticate(:hash, 'bench');"));
    let itself = share.script(itself);
    let contenders = vec![
        Contender::new(names[0], asking(run.bed, with_key, None).await),
        Contender::new(names[1], asking(run.bed, itself, Some(&share.role)).await),
    ];
    let name = "lookup by key, with and without authentication";
    let workload = Workload { name, commits: READS, contenders, claims: Vec::new() };
    let outcome = rounds::run(run.bed, &workload, run.arguments);
    let added = outcome.scores[0][0].excess_over(&outcome.scores[1][0]);
    run.report.add(&workload, outcome);
    run.report.add_figure(&Figure {
        name: "cost of authentication per request".to_owned(),
        value: added * 1000.0,
        unit: " µs",
        related: Vec::new(),
        more_is_better: false,
        gate: Some(40.0),
        aim: Some(15.0),
    });
}

async fn asking(bed: &Bed, script: String, role: Option<&str>) -> Load {
    let variables = vec![("template", bed.works().await.template)];
    let role = role.map(str::to_owned);
    Load::Sql(Sql { role, variables, ..Sql::new(script, bed.database.name()) })
}

impl Share {
    /// Creates the role, which can also read the countries that works reference, and asserts the share.
    async fn grant(bed: &Bed, percent: u32) -> Self {
        let database = &bed.database;
        let role = database.create_role(&format!("share_{percent}")).await;
        let scope = serde_json::json!({ "field": "amount", "operator": "lt", "value": percent });
        database.grant_within(&role, "bench.works", "read", &scope).await;
        database.grant(&role, "bench.countries", "read").await;
        let key = database.api_key(&role, &["bench"]).await;
        let hash = bed.cluster.sql(database.name(), &format!("select quote_literal(sha256('{key}'))"));
        let seen = database.client_as(&role).await.query_one("select count(*) from bench.works", &[]).await;
        let seen: i64 = seen.expect("the role may read").get(0);
        let expected = i64::from(RECORDS * percent / 100);
        assert_eq!(seen, expected, "{role} must see {percent} % of the records");
        Self { percent, role, hash }
    }

    /// The scope in handwritten SQL.
    fn condition(&self) -> String {
        format!("amount < {}", self.percent)
    }

    /// A script with the role's key.
    fn script(&self, script: &str) -> String {
        script.replace(":hash", &self.hash)
    }
}
