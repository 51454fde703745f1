//! The statements of BI tools, as logins under row-level security, and as a superuser with equivalent conditions.

use super::Run;
use crate::load::{Load, Sql};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};
use harness::Database;
use harness::bi::{Statement, Visibility, fill, statements};

const RECORDS: u32 = 500_000;

/// The maximum cost of a policy: a login takes at most this many times as long as the superuser.
const GATE: f64 = 1.5;

/// A login, and the superuser with equivalent conditions, with their names in the report.
struct Pair {
    visibility: Visibility,
    login: String,
    names: [&'static str; 2],
}

pub(super) async fn run(run: &mut Run<'_>) {
    eprintln!("Filling a template with {RECORDS} orders …");
    let database = Database::new_in(&run.bed.cluster).await;
    fill(&database.session().await, RECORDS).await;
    let sql = |statement: &str| run.bed.cluster.sql(database.name(), statement);
    sql(&format!("alter database {} set session_preload_libraries = keyed", database.name()));
    sql("create extension pg_prewarm");
    sql("checkpoint");
    let mut pairs = Vec::new();
    for (visibility, names) in [
        (Visibility::Scoped, ["login with a scope", "superuser, scope in the statement"]),
        (Visibility::All, ["login without a scope", "superuser, live records in the statement"]),
    ] {
        pairs.push(Pair { visibility, login: visibility.login(&database).await, names });
    }
    for statement in statements() {
        // The operating system may have evicted the tables, and disks are not measured.
        sql(
            "select count(pg_prewarm(indexrelid, 'read')), count(pg_prewarm(indrelid, 'read')) from pg_index \
             where indrelid in ('crm.orders'::regclass, 'crm.customers'::regclass)",
        );
        let mut workload =
            Workload { name: statement.name, commits: READS, contenders: Vec::new(), claims: Vec::new() };
        for pair in &pairs {
            compare(run, &database, &statement, pair).await;
            let [about, against] = pair.names;
            let ours = asking(&database, statement.sql.to_owned(), Some(&pair.login));
            let theirs = asking(&database, statement.by_hand(pair.visibility), None);
            workload.contenders.push(Contender::new(about, ours).lasting(0.5));
            workload.contenders.push(Contender::new(against, theirs).lasting(0.5));
            let (quantity, gate) = (Quantity::Latency, Some(GATE));
            workload.claims.push(Claim { about, against, quantity, gate, aim: Some(1.1) });
        }
        run.measure(&workload);
    }
}

/// Both must find the same. For a list with a limit and no order, they may find different records.
async fn compare(run: &mut Run<'_>, database: &Database, statement: &Statement, pair: &Pair) {
    let session = database.session_as(&pair.login).await;
    let mut found = session.rows(statement.sql, &[]).await;
    let mut expected = database.session().await.rows(&statement.by_hand(pair.visibility), &[]).await;
    found.sort();
    expected.sort();
    let is_any = statement.sql.contains("LIMIT 2001") && found.len() == expected.len();
    if found != expected && !is_any {
        let (login, superuser) = (found.len(), expected.len());
        let name = statement.name;
        run.report.fail(&format!("{name}: the login finds {login} rows, and not the {superuser} expected"));
    }
}

/// A tool sends simple queries, which are planned each time.
fn asking(database: &Database, script: String, role: Option<&str>) -> Load {
    let role = role.map(str::to_owned);
    Load::Sql(Sql { role, protocol: "simple", ..Sql::new(script, database.name()) })
}
