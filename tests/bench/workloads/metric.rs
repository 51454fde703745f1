//! A point of a metric and an increment of a counter, in one upsert of an existing record.

use super::{Run, sql};
use crate::rounds::{Claim, Contender, Quantity, WRITES, Workload};

const ATTRIBUTES: &str =
    r#"[{"slug": "visits", "type": "number"}, {"slug": "temperature", "type": "metric"}]"#;

/// Few enough that each is written many times.
const SENSORS: u32 = 1_000;

pub(super) fn run(run: &mut Run) {
    let database = &run.bed.database;
    let prepare = |statement: &str| run.bed.cluster.sql(database.name(), statement);
    prepare(&format!("select keyed.create_template('bench', 'sensors', '{ATTRIBUTES}')"));
    prepare(include_str!("../sensors.sql"));
    prepare(&format!(
        "select count(*) from generate_series(1, {SENSORS}) as n, \
         keyed.upsert_by_key('bench.sensors', 'A-' || n, '{{\"visits\": 0, \"temperature\": 20}}')"
    ));
    let columns = "id, external_key, created_at, updated_at, visits, temperature";
    prepare(&format!("insert into plain.sensors ({columns}) select {columns} from bench.sensors"));

    let by_script = |script| sql(database, script, 8, &[("records", SENSORS)]);
    let claim = |against, gate, aim| {
        let (about, quantity) = ("keyed in SQL", Quantity::Rate);
        Claim { about, against, quantity, gate, aim }
    };
    run.measure(&Workload {
        name: "metric point and increment",
        commits: WRITES,
        contenders: vec![
            Contender::new("keyed in SQL", by_script(include_str!("../scripts/metric_keyed.sql"))),
            Contender::new(
                "hand-written SQL, same writes",
                by_script(include_str!("../scripts/metric_same.sql")),
            ),
            Contender::new(
                "hand-written SQL, no history",
                by_script(include_str!("../scripts/metric_plain.sql")),
            ),
        ],
        claims: vec![
            claim("hand-written SQL, no history", Some(0.5), Some(0.75)),
            claim("hand-written SQL, same writes", None, None),
        ],
    });
    check_sums(run);
}

/// Every acknowledged increment and every point must exist, exactly once.
fn check_sums(run: &mut Run) {
    let ask = |question: &str| run.bed.cluster.sql(run.bed.database.name(), question);
    let template = ask("select id from keyed_state.template where slug = 'sensors'");
    let points = ask(&format!("select count(*) - {SENSORS} from keyed_state.metric_{template}"));
    let visits = ask("select sum(visits) from bench.sensors");
    if points != visits {
        run.report.fail(&format!("{visits} increments were made, but {points} points were appended"));
    }
}
