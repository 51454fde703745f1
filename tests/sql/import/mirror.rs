//! Imports that delete the records missing in the file: `mode=mirror`.

use super::{counts, number, problems};
use harness::{Database, Session, SqlError};
use serde_json::{Value, json};

/// A running import, in the open transaction of a session.
struct File<'s> {
    session: &'s Session,
    template: String,
    options: Value,
}

impl<'s> File<'s> {
    /// A file of customers with these columns, imported with these additional options.
    async fn begin(session: &'s Session, columns: &[&str], further: Value) -> File<'s> {
        let mut options = json!({"format": "csv", "header": columns, "mode": "mirror", "is_whole": true});
        options.as_object_mut().expect("an object").extend(further.as_object().expect("an object").clone());
        let template = number(session, "customers").await;
        session.run("begin").await;
        File { session, template, options }
    }

    fn options(&self, ends_after: Option<u64>) -> String {
        let mut options = self.options.clone();
        options["ends_after"] = json!(ends_after);
        options.to_string()
    }

    async fn rows(&self, rows: &str) -> Value {
        self.session.json(IMPORT, &[&self.template, &self.options(None), rows]).await
    }

    async fn rejected_rows(&self, rows: &str) -> SqlError {
        self.session.error(IMPORT, &[&self.template, &self.options(None), rows]).await
    }

    /// Deletes the other records, and commits.
    async fn end(&self, rows: u64) -> Value {
        loop {
            let report = self.session.json(IMPORT, &[&self.template, &self.options(Some(rows)), ""]).await;
            if report["is_complete"] == true {
                self.session.run("commit").await;
                return report;
            }
        }
    }

    async fn rejected_end(&self, rows: u64) -> SqlError {
        let error = self.session.error(IMPORT, &[&self.template, &self.options(Some(rows)), ""]).await;
        self.session.run("rollback").await;
        error
    }
}

const IMPORT: &str = "select keyed_http.import_rows($1, $2, $3)";

/// Customers with these keys, visits and names, and one without a key.
async fn crm(customers: &[(&str, u64)]) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for (key, visits) in customers {
        let attributes = json!({"visits": visits}).to_string();
        session.rows("select keyed.upsert_by_key('crm.customers', $1, $2)", &[key, &attributes]).await;
    }
    session.run("select keyed.create_record('crm.customers', '{\"visits\": 1}')").await;
    (database, session)
}

/// The keys and visits of all live customers.
async fn all(session: &Session) -> String {
    let sql = "select string_agg(concat(coalesce(external_key, '-'), '=', visits), ' ' order by external_key) \
               from crm.customers where deleted_at is null";
    session.text(sql, &[]).await
}

fn share(share: f64) -> Value {
    json!({"max_deleted_share": share})
}

#[tokio::test]
async fn mirror_deletes_records_missing_in_the_file() {
    let (_database, session) = crm(&[("a", 1), ("b", 2), ("c", 3)]).await;
    for (deleted, matching, keys) in [(2, 3, json!(["a", "c"])), (0, 2, json!([]))] {
        let file = File::begin(&session, &["external_key", "visits"], share(0.67)).await;
        file.rows("").await;
        file.rows("d,4\n").await;
        file.rows("b,2\n").await;
        let report = file.end(2).await;
        assert_eq!(
            (&report["deleted"], &report["matching"]),
            (&json!(deleted), &json!(matching)),
            "{report}"
        );
        assert_eq!((&report["keys"], &report["exceeds"]), (&keys, &json!(false)), "{report}");
        assert_eq!(all(&session).await, "b=2 d=4 -=1");
    }
    // The deletion has history and releases the key, like any other.
    for key in ["a", "c"] {
        let ended = "select ended_by from keyed.key_history('crm.customers', $1)";
        assert_eq!(session.text(ended, &[key]).await, "delete", "{key}");
    }
}

#[tokio::test]
async fn mirror_deletes_within_its_filter() {
    let (_database, session) = crm(&[("a", 1), ("b", 2), ("c", 7), ("d", 8)]).await;
    let filter = json!({"filters": [{"field": "visits", "operator": "lt", "value": 5}]});
    let options = json!({"max_deleted_share": 0.5, "filter": filter});
    let file = File::begin(&session, &["external_key", "visits"], options.clone()).await;
    let report = file.rows("b,3\nd,4\n").await;
    assert_eq!(counts(&report), [0, 2, 0]);
    let report = file.end(2).await;
    assert_eq!((&report["deleted"], &report["matching"]), (&json!(1), &json!(2)), "{report}");
    assert_eq!(all(&session).await, "b=3 c=7 d=4 -=1");
    // No later file would delete a record outside the filter.
    let file = File::begin(&session, &["external_key", "visits"], options).await;
    let report = file.rows("b,3\nd,5\ne,6\n").await;
    assert_eq!(problems(&report), [json!([1, null, "invalid_value"]), json!([2, null, "invalid_value"])]);
    let error = file.rejected_end(3).await;
    assert!(error.message.contains("rows were rejected"), "{error}");
    assert_eq!(all(&session).await, "b=3 c=7 d=4 -=1");
    for (filter, pointer) in [
        (json!({"filters": [{"field": "size", "operator": "eq", "value": 1}]}), "/filter/filters/0/field"),
        (json!({"filters": 1}), "/filter/filters"),
        (json!([{"field": "visits", "operator": "like", "value": 1}]), "/filter/0/operator"),
    ] {
        let options = json!({"max_deleted_share": 1, "filter": filter});
        let file = File::begin(&session, &["external_key"], options).await;
        let error = file.rejected_rows("").await;
        session.run("rollback").await;
        assert_eq!((error.state.as_str(), error.pointers()), ("22023", vec![pointer]), "{error}");
    }
}

#[tokio::test]
async fn mirror_rejects_a_deletion_share_above_its_limit() {
    let (_database, session) = crm(&[("a", 1), ("b", 2), ("c", 3), ("d", 4)]).await;
    let file = File::begin(&session, &["external_key", "visits"], share(0.5)).await;
    file.rows("a,9\ne,5\n").await;
    let error = file.rejected_end(2).await;
    assert_eq!(error.codes(), ("55000", "precondition_failed"), "{error}");
    assert!(error.message.contains("delete 3 of 4 records, a share of 0.75"), "{error}");
    assert_eq!(all(&session).await, "a=1 b=2 c=3 d=4 -=1");
    // Records that the file creates do not reduce the share.
    let file = File::begin(&session, &["external_key"], share(0.5)).await;
    file.rows(&(0..100).map(|row| format!("n{row}\n")).collect::<String>()).await;
    assert!(file.rejected_end(100).await.message.contains("delete 4 of 4 records"));

    for (options, deleted, exceeds) in [
        (json!({"dry_run": true}), 3, false),
        (json!({"dry_run": true, "max_deleted_share": 0.75}), 3, false),
        (json!({"dry_run": true, "max_deleted_share": 0.74}), 3, true),
    ] {
        let file = File::begin(&session, &["external_key"], options).await;
        file.rows("a\n").await;
        let report = session.json(IMPORT, &[&file.template, &file.options(Some(1)), ""]).await;
        assert_eq!((&report["deleted"], &report["share"]), (&json!(deleted), &json!(0.75)), "{report}");
        assert_eq!((&report["exceeds"], &report["keys"]), (&json!(exceeds), &json!(["b", "c", "d"])));
        session.run("rollback").await;
    }
    for options in [json!({}), share(1.1), share(-0.1), json!({"max_deleted_share": "1"})] {
        let file = File::begin(&session, &["external_key"], options).await;
        let error = file.rejected_rows("").await;
        assert_eq!((error.codes().1, error.pointers()), ("invalid_value", vec!["/max_deleted_share"]));
        session.run("rollback").await;
    }
    assert_eq!(all(&session).await, "a=1 b=2 c=3 d=4 -=1");
}

#[tokio::test]
async fn incomplete_file_deletes_nothing() {
    let (_database, session) = crm(&[("a", 1), ("b", 2), ("c", 3)]).await;
    // A file in two transactions.
    let first = File::begin(&session, &["external_key"], share(1.0)).await;
    first.rows("a\n").await;
    session.run("commit").await;
    let second = File::begin(&session, &["external_key"], share(1.0)).await;
    second.rows("b\n").await;
    let error = second.rejected_end(2).await;
    assert!(error.message.contains("2 rows, and this transaction has imported 1"), "{error}");
    // A file without rows.
    let empty = File::begin(&session, &["external_key"], share(1.0)).await;
    empty.rows("").await;
    assert!(empty.rejected_end(0).await.message.contains("no rows"));
    // A rejected row, whatever its key.
    let faulty = File::begin(&session, &["external_key", "visits"], share(1.0)).await;
    faulty.rows("a,1\nb,x\n").await;
    assert!(faulty.rejected_end(2).await.message.contains("rejected"));
    // Rows that are rolled back.
    let undone = File::begin(&session, &["external_key"], share(1.0)).await;
    undone.rows("a\n").await;
    session.run("savepoint s").await;
    let error = undone.rejected_rows("b\n").await;
    assert!(error.hint.contains("without savepoints"), "{error}");
    session.run("rollback to s").await;
    assert!(undone.rejected_end(2).await.message.contains("imported 0"));
    // Another filter than that of the earlier rows.
    let changed = File::begin(&session, &["external_key"], share(1.0)).await;
    changed.rows("a\n").await;
    let other = File {
        options: json!({"max_deleted_share": 0.5, "mode": "mirror", "is_whole": true, "format": "ndjson"}),
        ..changed
    };
    let error = other.rejected_end(1).await;
    assert!(error.message.contains("another import"), "{error}");
    // Chunks in separate transactions.
    let template = number(&session, "customers").await;
    let options = json!({"mode": "mirror", "max_deleted_share": 1}).to_string();
    let error = session.error(IMPORT, &[&template, &options, ""]).await;
    assert_eq!((error.codes().1, error.pointers()), ("invalid_value", vec!["/mode"]), "{error}");
    for (name, value) in [("filter", json!([])), ("max_deleted_share", json!(1)), ("ends_after", json!(1))] {
        let options = json!({"is_whole": true, name: value}).to_string();
        let error = session.error(IMPORT, &[&template, &options, ""]).await;
        assert!(error.message.contains("requires mode=mirror"), "{error}");
    }
    assert_eq!(all(&session).await, "a=1 b=2 c=3 -=1");
}

#[tokio::test]
async fn mirror_needs_rows_that_identify_records() {
    let (_database, session) = crm(&[("a", 1), ("b", 2)]).await;
    let id = session.text("select id::text from crm.customers where external_key = 'a'", &[]).await;
    let file = File::begin(&session, &["id", "visits"], share(0.5)).await;
    file.rows(&format!("{id},5\n")).await;
    assert_eq!(file.end(1).await["deleted"], 1);
    assert_eq!(all(&session).await, "a=5 -=1");
    let file = File::begin(&session, &["visits"], share(1.0)).await;
    let error = file.rejected_rows("1\n").await;
    assert!(error.message.contains("mode=mirror"), "{error}");
    session.run("rollback").await;
    let options = json!({"format": "ndjson", "header": null, "max_deleted_share": 1});
    let report = File::begin(&session, &[], options).await.rows("{\"attributes\":{\"visits\":1}}\n").await;
    assert_eq!(problems(&report), [json!([0, "external_key", "invalid_external_key"])]);
    session.run("rollback").await;
}

#[tokio::test]
async fn caller_with_a_scope_deletes_within_it() {
    let (database, session) = crm(&[("a", 1), ("b", 2), ("c", 3), ("d", 4)]).await;
    let role = database.create_role("clerk").await;
    let below = |value: u64| json!({"field": "visits", "operator": "lt", "value": value});
    database.grant_within(&role, "crm.customers", "read, create, update", &below(4)).await;
    let clerk = database.session_as(&role).await;
    let template = number(&session, "customers").await;
    let options = json!({"format": "csv", "header": ["external_key", "visits"], "mode": "mirror", "is_whole": true,
        "max_deleted_share": 1});
    let error = clerk.error(IMPORT, &[&template, &options.to_string(), ""]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"), "{error}");
    database.grant_within(&role, "crm.customers", "read, create, update, delete", &below(3)).await;
    let clerk = database.session_as(&role).await;
    let import = async |ends_after: Option<u64>, rows: &str| {
        let mut options = options.clone();
        options["ends_after"] = json!(ends_after);
        clerk.json(IMPORT, &[&template, &options.to_string(), rows]).await
    };
    clerk.run("begin").await;
    import(None, "b,2\n").await;
    let report = import(Some(1), "").await;
    clerk.run("commit").await;
    assert_eq!((&report["deleted"], &report["keys"]), (&json!(1), &json!(["a"])), "{report}");
    assert_eq!(all(&session).await, "b=2 c=3 d=4 -=1");
}

#[tokio::test]
async fn mirror_with_a_key_prefix_deletes_records_with_this_prefix() {
    let (_database, session) = crm(&[("erp:a", 1), ("erp:b", 2), ("a", 3), ("old:erp:b", 4)]).await;
    let options = json!({"max_deleted_share": 0.5, "key_prefix": " erp:"});
    let file = File::begin(&session, &["external_key", "visits"], options).await;
    file.rows("a,1\n").await;
    let report = file.end(1).await;
    assert_eq!((&report["keys"], &report["matching"]), (&json!(["erp:b"]), &json!(2)), "{report}");
    assert_eq!(all(&session).await, "a=3 erp:a=1 old:erp:b=4 -=1");
}

#[tokio::test]
async fn record_whose_key_a_trigger_rewrites_stays() {
    let (_database, session) = crm(&[("a", 1), ("b", 2)]).await;
    session
        .run(
            "update crm.customers set external_key = upper(external_key);
             create function public.upper_key() returns trigger language plpgsql as
               'begin new.external_key := upper(new.external_key); return new; end';
             create trigger upper_key before insert on crm.customers for each row execute function public.upper_key()",
        )
        .await;
    let file = File::begin(&session, &["external_key", "visits"], share(0.5)).await;
    let report = file.rows("a,1\nn,3\n").await;
    assert_eq!(problems(&report), [json!([0, null, "invalid_value"])]);
    file.rejected_end(2).await;
    assert_eq!(all(&session).await, "A=1 B=2 -=1");
    let file = File::begin(&session, &["external_key", "visits"], share(0.5)).await;
    file.rows("n,3\nA,1\n").await;
    assert_eq!(file.end(2).await["keys"], json!(["B"]));
    assert_eq!(all(&session).await, "A=1 N=3 -=1");
}

#[tokio::test]
async fn many_records_are_deleted_by_several_calls() {
    let (_database, session) = crm(&[]).await;
    session.run("insert into crm.customers (external_key, visits) select 'k' || lpad(g::text, 5, '0'), g from generate_series(1, 6000) g").await;
    let file = File::begin(&session, &["external_key"], share(1.0)).await;
    let rows: String = (1..=6000).step_by(10).map(|key| format!("k{key:05}\n")).collect();
    assert_eq!(counts(&file.rows(&rows).await), [0, 0, 600]);
    let step = session.json(IMPORT, &[&file.template, &file.options(Some(600)), ""]).await;
    assert_eq!((&step["is_complete"], &step["deleted"]), (&json!(false), &json!(2000)), "{step}");
    let report = file.end(600).await;
    assert_eq!((&report["deleted"], &report["matching"]), (&json!(5400), &json!(6000)), "{report}");
    let keys = report["keys"].as_array().expect("keys");
    assert_eq!((keys.len(), &keys[0], &keys[9]), (100, &json!("k00002"), &json!("k00012")));
    let left = "select count(*) || ' ' || count(*) filter (where visits % 10 = 1) from crm.customers where deleted_at is null";
    assert_eq!(session.text(left, &[]).await, "601 601");
    let error = session.error(IMPORT, &[&file.template, &file.options(Some(600)), ""]).await;
    assert!(error.message.contains("imported 0"), "an ended import does not continue: {error}");
}

#[tokio::test]
async fn deletion_that_a_trigger_drops_is_an_error() {
    let (_database, session) = crm(&[("a", 1), ("b", 2)]).await;
    session
        .run(
            "create function public.keeps() returns trigger language plpgsql as
               'begin if new.deleted_at is not null then return null; end if; return new; end';
             create trigger keeps before update on crm.customers for each row execute function public.keeps()",
        )
        .await;
    let file = File::begin(&session, &["external_key"], share(1.0)).await;
    file.rows("a\n").await;
    let error = file.rejected_end(1).await;
    assert!(error.message.contains("dropped the write"), "{error}");
    assert_eq!(all(&session).await, "a=1 b=2 -=1");
}
