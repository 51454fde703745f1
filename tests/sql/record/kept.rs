//! Values that a record can keep but not get, such as removed options. A record can be written back as it was read.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

/// The customers `A-1` and `A-2` of the company `C-1`, which is then deleted. Both have the tiers gold and silver, and
/// only gold is still an option, because both were deleted when silver was removed.
struct Customers {
    _database: Database,
    session: Session,
    companies: Vec<String>,
}

const READ: &str = "select keyed.get_by_key('crm.customers', $1)";

impl Customers {
    async fn new() -> Customers {
        let database = Database::with_crm().await;
        let session = database.session().await;
        let mut companies = Vec::new();
        for key in ["C-1", "C-2"] {
            let sql = "select keyed.create_record('crm.companies', '{\"name\": \"ACME\"}', $1)";
            companies.push(id_of(&session.json(sql, &[key]).await).to_owned());
        }
        for key in ["A-1", "A-2"] {
            let attributes =
                json!({"name": key, "company": companies[0], "tier": ["gold", "silver"]}).to_string();
            session.rows("select keyed.upsert_by_key('crm.customers', $1, $2)", &[key, &attributes]).await;
        }
        for company in &companies {
            session.rows("select keyed.delete_record($1)", &[company]).await;
        }
        let ids = "select string_agg(id::text, ',') from crm.customers";
        let ids = session.text(ids, &[]).await;
        for id in ids.split(',') {
            session.rows("select keyed.delete_record($1)", &[id]).await;
        }
        session
            .run("select keyed.alter_attribute('crm.customers', 'tier', '{\"options\": [{\"value\": \"gold\", \"label\": \"Gold card\"}]}')")
            .await;
        for id in ids.split(',') {
            session.rows("select keyed.restore_record($1)", &[id]).await;
        }
        Customers { _database: database, session, companies }
    }

    async fn read(&self, key: &str) -> Value {
        self.session.json(READ, &[key]).await
    }

    /// The version of a record, and the number of its history entries.
    async fn version(&self, key: &str) -> String {
        let record = self.read(key).await;
        let sql = "select keyed.record_version($1) || ' ' || jsonb_array_length(keyed.history_page($1) -> 'history')";
        self.session.text(sql, &[id_of(&record)]).await
    }

    /// Every way to write these attributes of a record.
    fn writes(record: &Value, attributes: &Value) -> Vec<(&'static str, Vec<String>)> {
        let (id, key) = (id_of(record), record["external_key"].as_str().expect("a key"));
        let body = json!({"attributes": attributes});
        let by_id = json!({"op": "update", "template": "crm.customers", "id": id, "attributes": attributes});
        let by_key = |op: &str| json!({"op": op, "template": "crm.customers", "external_key": key, "attributes": attributes});
        let batch = "select keyed.batch($1::jsonb, true)";
        let strings = |values: &[&dyn ToString]| values.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        let rows = "select keyed_http.import_rows(t.id::text, $1, $2)::jsonb #> '{errors,0}' \
                    from keyed_state.template t where t.slug = 'customers'";
        let ndjson = json!({"format": "ndjson", "is_last": true});
        vec![
            ("select keyed.patch_record($1, $2)", strings(&[&id, &body])),
            ("select keyed.replace_attributes($1, $2)", strings(&[&id, attributes])),
            ("select keyed.upsert_by_key('crm.customers', $1, $2)", strings(&[&key, attributes])),
            (batch, strings(&[&json!([by_id])])),
            (batch, strings(&[&json!([by_key("update")])])),
            (batch, strings(&[&json!([by_key("upsert")])])),
            (rows, strings(&[&ndjson, &json!({"external_key": key, "attributes": attributes})])),
            (rows, strings(&[&ndjson, &json!({"id": id, "attributes": attributes})])),
        ]
    }

    /// The error of a write, or an empty text. An import returns its error in the report.
    async fn rejection(&self, sql: &str, strings: &[String]) -> String {
        let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
        match self.session.attempt(sql, &strings).await {
            Err(error) => error.codes().1.to_owned(),
            Ok(rows) if sql.contains("import_rows") => {
                let error: Option<Value> =
                    rows[0][0].as_deref().map(|error| serde_json::from_str(error).expect("JSON"));
                error.map(|error| error["code"].as_str().expect("a code").to_owned()).unwrap_or_default()
            }
            Ok(_) => String::new(),
        }
    }
}

#[tokio::test]
async fn record_keeps_a_deleted_target_and_a_removed_option() {
    let customers = Customers::new().await;
    let (record, version) = (customers.read("A-1").await, customers.version("A-1").await);
    assert_eq!(record["attributes"]["tier"], json!(["gold", "silver"]));
    let mut attributes = record["attributes"].clone();
    attributes.as_object_mut().expect("attributes").remove("mood");
    for (sql, strings) in Customers::writes(&record, &attributes) {
        assert_eq!(customers.rejection(sql, &strings).await, "", "{sql} with {strings:?}");
        assert_eq!(customers.version("A-1").await, version, "{sql} with {strings:?}");
    }
    // If another value changes as well, only that one is written.
    for (position, (sql, strings)) in Customers::writes(&record, &attributes).into_iter().enumerate() {
        let name = format!("Name {position}");
        let strings: Vec<String> = strings
            .iter()
            .map(|text| text.replace("\"name\":\"A-1\"", &format!("\"name\":\"{name}\"")))
            .collect();
        assert_eq!(customers.rejection(sql, &strings).await, "", "{sql}");
        let now = customers.read("A-1").await;
        assert_eq!(now["attributes"]["name"], json!(name), "{sql}");
        assert_eq!(now["attributes"]["company"], record["attributes"]["company"]);
        assert_eq!(now["attributes"]["tier"], record["attributes"]["tier"]);
    }
}

#[tokio::test]
async fn assigning_a_deleted_target_or_removed_option_is_rejected() {
    let customers = Customers::new().await;
    let record = customers.read("A-1").await;
    let version = customers.version("A-1").await;
    for (attributes, code) in [
        (json!({"company": customers.companies[1]}), "reference_not_found"),
        (json!({"company": {"external_key": "C-1"}}), "reference_not_found"),
        (json!({"tier": ["bronze"]}), "invalid_value"),
        (json!({"tier": ["gold", "silver", "bronze"]}), "invalid_value"),
        (json!({"tier": "bronze", "company": customers.companies[0]}), "invalid_value"),
    ] {
        for (sql, strings) in Customers::writes(&record, &attributes) {
            assert_eq!(customers.rejection(sql, &strings).await, code, "{sql} with {strings:?}");
            assert_eq!(customers.version("A-1").await, version, "{sql} with {strings:?}");
        }
    }
    // A value that one record keeps cannot be given to another.
    let plain = json!({"name": "x"}).to_string();
    customers.session.rows("select keyed.upsert_by_key('crm.customers', 'B-1', $1)", &[&plain]).await;
    for attributes in [json!({"company": customers.companies[0]}), json!({"tier": "silver"})] {
        let other = customers.read("B-1").await;
        for (sql, strings) in Customers::writes(&other, &attributes) {
            assert_ne!(customers.rejection(sql, &strings).await, "", "{sql} with {strings:?}");
        }
        let attributes = attributes.to_string();
        for sql in [
            "select keyed.create_record('crm.customers', $1)",
            "select keyed.upsert_by_key('crm.customers', 'B-2', $1)",
        ] {
            customers.session.error(sql, &[&attributes]).await;
        }
    }
    let direct = "update crm.customers set tier = '{silver}' where external_key = 'B-1'";
    assert_eq!(customers.session.error(direct, &[]).await.codes(), ("22023", "invalid_value"));
}

#[tokio::test]
async fn list_with_a_removed_option_loses_and_gains_others() {
    let customers = Customers::new().await;
    for tier in [json!(["silver", "gold", "gold"]), json!(["silver"])] {
        for key in ["A-1", "A-2"] {
            let record = customers.read(key).await;
            let attributes = json!({"tier": tier, "company": customers.companies[0], "name": key});
            for (sql, strings) in Customers::writes(&record, &attributes) {
                let before = "update crm.customers set tier = '{gold,silver}' where external_key = $1";
                // A superuser disables triggers, as a restore does: the record has the option again.
                let off = format!(
                    "set session_replication_role = replica; {before}; reset session_replication_role"
                );
                customers.session.rows(&off, &[key]).await;
                assert_eq!(customers.rejection(sql, &strings).await, "", "{sql} with {strings:?}");
                assert_eq!(customers.read(key).await["attributes"]["tier"], tier, "{sql}");
            }
        }
    }
    let direct = "update crm.customers set tier = tier || 'gold'::text where external_key = 'A-1'";
    customers.session.run(direct).await;
    assert_eq!(customers.read("A-1").await["attributes"]["tier"], json!(["silver", "gold"]));
    // A value that the record has lost cannot be set again.
    let patch = "select keyed.patch_record(id, $2) from crm.customers where external_key = $1";
    customers.session.rows(patch, &["A-2", r#"{"attributes": {"tier": ["gold"]}}"#]).await;
    let error =
        customers.session.error(patch, &["A-2", r#"{"attributes": {"tier": ["gold", "silver"]}}"#]).await;
    assert_eq!(error.pointers(), ["/attributes/tier/1"]);
}

#[tokio::test]
async fn batch_and_import_keep_existing_values() {
    let customers = Customers::new().await;
    let mut rows = Vec::new();
    for key in ["A-1", "A-2"] {
        let mut attributes = customers.read(key).await["attributes"].clone();
        attributes.as_object_mut().expect("attributes").remove("mood");
        rows.push((key, attributes));
    }
    let versions = [customers.version("A-1").await, customers.version("A-2").await];
    let mut operations: Vec<Value> = rows
        .iter()
        .map(|(key, attributes)| json!({"op": "upsert", "template": "crm.customers", "external_key": key, "attributes": attributes}))
        .collect();
    operations.insert(
        1,
        json!({"op": "upsert", "template": "crm.customers", "external_key": "A-15",
               "attributes": {"company": customers.companies[0]}}),
    );
    for atomic in ["false", "true"] {
        if atomic == "true" {
            operations.remove(1);
        }
        let batch = format!("select keyed.batch($1, {atomic}) -> 'results'");
        let results = customers.session.json(&batch, &[&json!(operations).to_string()]).await;
        let statuses: Vec<u64> =
            results.as_array().into_iter().flatten().filter_map(|it| it["status"].as_u64()).collect();
        assert_eq!(
            statuses,
            if atomic == "true" { vec![200, 200] } else { vec![200, 422, 200] },
            "{results}"
        );
    }
    let lines: String = rows
        .iter()
        .map(|(key, attributes)| json!({"external_key": key, "attributes": attributes}).to_string() + "\n")
        .collect();
    let import = "select keyed_http.import_rows(t.id::text, '{\"format\": \"ndjson\", \"is_last\": true}', $1) \
                  from keyed_state.template t where t.slug = 'customers'";
    let report = customers.session.json(import, &[&lines]).await;
    assert_eq!((&report["unchanged"], &report["errors"]), (&json!(2), &json!([])), "{report}");
    assert_eq!([customers.version("A-1").await, customers.version("A-2").await], versions);
}

#[tokio::test]
async fn later_row_keeps_only_values_left_by_earlier_rows() {
    let customers = Customers::new().await;
    let create = "select keyed.create_record('crm.companies', '{\"name\": \"Live\"}', 'C-3')";
    let live = id_of(&customers.session.json(create, &[]).await).to_owned();
    let row = |attributes: Value| json!({"external_key": "A-1", "attributes": attributes}).to_string() + "\n";
    let harmless = |count: usize| (0..count).map(|n| row(json!({"name": n.to_string()}))).collect::<String>();
    let import = "select keyed_http.import_rows(t.id::text, '{\"format\": \"ndjson\", \"is_last\": true}', $1) \
                  from keyed_state.template t where t.slug = 'customers'";
    // More rows for one record than the number of rounds of an import.
    for count in [0, 20] {
        let back = "update crm.customers set company = $1::text::uuid where external_key = 'A-1'";
        customers.session.rows("select keyed.restore_record($1)", &[&customers.companies[0]]).await;
        customers.session.rows(back, &[&customers.companies[0]]).await;
        customers.session.rows("select keyed.delete_record($1)", &[&customers.companies[0]]).await;
        let kept = row(json!({"company": customers.companies[0]}));
        let lines = harmless(count) + &kept + &row(json!({"company": live})) + &kept;
        let report = customers.session.json(import, &[&lines]).await;
        assert_eq!(report["errors"].as_array().map(Vec::len), Some(1), "{report}");
        assert_eq!(report["errors"][0]["code"], "reference_not_found", "{report}");
        assert_eq!(customers.read("A-1").await["attributes"]["company"], live);
    }
}
