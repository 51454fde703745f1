//! Templates: tables with one typed column per attribute.

use harness::{Database, Session, companies, customers};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

async fn create(session: &Session, slug: &str, attributes: Value) -> Value {
    session.json("select keyed.create_template('crm', $1, $2)", &[slug, &attributes.to_string()]).await
}

async fn rejected(session: &Session, attributes: Value) -> harness::SqlError {
    session.error("select keyed.create_template('crm', 'orders', $1)", &[&attributes.to_string()]).await
}

#[tokio::test]
async fn attribute_is_a_typed_column_after_the_standard_ones() {
    let (_database, session) = crm().await;
    let columns = "select string_agg(attname || ' ' || format_type(atttypid, atttypmod)
                     || case when attnotnull then ' not null' else '' end, ', ' order by attnum)
                   from pg_attribute where attrelid = 'crm.customers'::regclass and attnum > 0 and not attisdropped";
    assert_eq!(
        session.text(columns, &[]).await,
        "id uuid not null, external_key text, created_at timestamp with time zone not null, \
         updated_at timestamp with time zone not null, deleted_at timestamp with time zone, _released_key text, \
         name text, visits numeric, mood double precision, tags text[], tier text[], born date, \
         seen timestamp with time zone, company uuid, active boolean"
    );
}

#[tokio::test]
async fn dimension_is_an_alias_of_string() {
    let (_database, session) = crm().await;
    let template = create(&session, "orders", json!([{"slug": "region", "type": "dimension"}])).await;
    assert_eq!(template["attributes"][0]["type"], "string");
}

#[tokio::test]
async fn template_is_returned_completely() {
    let (_database, session) = crm().await;
    let made = session
        .json(
            "select keyed.create_template('crm', 'orders', $1, 'All orders')",
            &[&json!([
                {"slug": "number", "type": "string", "label": "No.", "required": true, "indexed": true},
                {"slug": "state", "type": "list", "options": ["open", {"value": "paid", "label": "Paid"}], "default": ["open"]},
                {"slug": "buyer", "type": "reference", "template": "customers"},
            ]).to_string()],
        )
        .await;
    let number = session.text("select id from keyed_state.template where slug = 'orders'", &[]).await;
    assert_eq!(made["id"], json!(number));
    for (member, value) in [
        ("slug", json!("orders")),
        ("label", json!("All orders")),
        ("project", json!("crm")),
        ("display", json!("number")),
        ("language", json!("english")),
    ] {
        assert_eq!(made[member], value, "{member}");
    }
    assert!(made["created_at"].is_string() && made["updated_at"].is_string());
    let mut attributes = made["attributes"].clone();
    for attribute in attributes.as_array_mut().into_iter().flatten() {
        assert!(attribute["id"].is_string(), "{attribute}");
        attribute.as_object_mut().map(|members| members.remove("id"));
    }
    assert_eq!(
        attributes,
        json!([
            {"slug": "number", "type": "string", "label": "No.", "required": true, "indexed": true},
            {"slug": "state", "type": "list", "label": "state", "required": false, "indexed": false, "default": ["open"],
             "options": [{"value": "open", "label": "open"}, {"value": "paid", "label": "Paid"}]},
            {"slug": "buyer", "type": "reference", "label": "buyer", "required": false, "indexed": false, "template": "customers"},
        ])
    );
}

#[tokio::test]
async fn definition_can_be_sent_back() {
    let (_database, session) = crm().await;
    let definition = json!([
        {"slug": "state", "type": "list", "options": ["open"], "default": ["open"], "required": true},
        {"slug": "buyer", "type": "reference", "template": "customers", "indexed": true},
        {"slug": "total", "type": "number", "default": 0.10, "label": "Total"},
    ]);
    let first = create(&session, "orders", definition).await;
    let second = create(&session, "orders_2", first["attributes"].clone()).await;
    let without_ids = |template: &Value| {
        let mut attributes = template["attributes"].clone();
        attributes.as_array_mut().into_iter().flatten().for_each(|it| it["id"] = Value::Null);
        attributes
    };
    assert_eq!(without_ids(&first), without_ids(&second));
}

#[tokio::test]
async fn errors_of_a_definition_have_pointers() {
    let (_database, session) = crm().await;
    let all = json!([
        {"slug": "ok", "type": "string"},
        {"slug": "a", "type": "text"},
        {"slug": "b"},
        {"type": "string"},
        {"slug": "ok", "type": "number"},
        {"slug": "d", "type": "reference"},
        {"slug": "e", "type": "string", "options": ["x"]},
        {"slug": "f", "type": "list", "options": []},
        {"slug": "g", "type": "list", "options": ["x", "x"]},
        {"slug": "h", "type": "metric", "required": true},
        {"slug": "i", "type": "number", "default": "1"},
        {"slug": "j", "type": "list", "options": ["x"], "default": ["y"]},
        {"slug": "k", "type": "metric", "default": 1},
        {"slug": "l", "type": "number", "default": {"$inc": 1}},
        {"slug": "m", "type": "string", "template": "customers"},
        {"slug": "n", "type": "string", "required": "yes"},
        {"slug": "o", "type": "string", "unique": true},
        "p",
    ]);
    let error = rejected(&session, all).await;
    assert_eq!(error.state, "22023");
    assert_eq!(
        error.pointers(),
        [
            "/attributes/1/type",
            "/attributes/2/type",
            "/attributes/3/slug",
            "/attributes/4/slug",
            "/attributes/5/template",
            "/attributes/6/options",
            "/attributes/7/options",
            "/attributes/8/options/1",
            "/attributes/9/required",
            "/attributes/10/default",
            "/attributes/11/default/0",
            "/attributes/12/default",
            "/attributes/13/default",
            "/attributes/14/template",
            "/attributes/15/required",
            "/attributes/16/unique",
            "/attributes/17",
        ]
    );
}

#[tokio::test]
async fn reference_needs_a_target_that_exists_in_the_project() {
    let (_database, session) = crm().await;
    session.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')").await;
    for target in ["nothing", "goods", "shop.goods", "Customers"] {
        let error = rejected(&session, json!([{"slug": "a", "type": "reference", "template": target}])).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/attributes/0/template"])
        );
    }
}

#[tokio::test]
async fn existing_template_is_not_created_again() {
    let (_database, session) = crm().await;
    session.run("create table crm.notes ()").await;
    for taken in ["customers", "notes"] {
        let error = session.error("select keyed.create_template('crm', $1)", &[taken]).await;
        assert_eq!((error.codes(), error.pointers()), (("23505", "conflict"), vec!["/slug"]), "{taken}");
    }
    assert_eq!(session.text("select count(*) from keyed_state.template", &[]).await, "2");
}

#[tokio::test]
async fn template_has_at_most_500_attributes() {
    let (_database, session) = crm().await;
    let attributes =
        |count| (0..count).map(|n| json!({"slug": format!("a{n}"), "type": "string"})).collect::<Value>();
    let error = rejected(&session, attributes(501)).await;
    assert_eq!((error.codes(), error.pointers()), (("54000", "payload_too_large"), vec!["/attributes"]));
    create(&session, "orders", attributes(500)).await;
    let all: serde_json::Map<String, Value> =
        (0..500).map(|n| (format!("a{n}"), json!("x".repeat(100)))).collect();
    let upsert = "select created from keyed.upsert_by_key('crm.orders', 'k', $1)";
    for created in ["t", "f"] {
        assert_eq!(session.text(upsert, &[&Value::Object(all.clone()).to_string()]).await, created);
    }
}

#[tokio::test]
async fn indexed_attribute_accepts_every_value() {
    let (_database, session) = crm().await;
    let types = ["string", "number", "metric", "list", "date", "datetime"];
    let attributes: Value =
        types.iter().map(|it| json!({"slug": format!("a_{it}"), "type": it, "indexed": true})).collect();
    create(&session, "orders", attributes).await;
    let indexes = "select count(*) from pg_index where indrelid = 'crm.orders'::regclass and indpred is null and not indisunique";
    // A text attribute has a second index, for substrings.
    assert_eq!(session.text(indexes, &[]).await, (types.len() + 1).to_string());
    // Random text, because PostgreSQL would compress repeated text to a size that fits an index.
    let random =
        session.text("select string_agg(md5(n::text), '') from generate_series(1, 1000) n", &[]).await;
    for (slug, value) in [
        ("a_string", json!(random)),
        ("a_list", json!([&random[..2000]])),
        ("a_list", json!((0..500).map(|n| format!("{n}{}", &random[..200])).collect::<Vec<_>>())),
    ] {
        let attributes = json!({slug: value}).to_string();
        let record = session.json("select keyed.create_record('crm.orders', $1)", &[&attributes]).await;
        assert_eq!(record["attributes"][slug], value);
    }
    let digits = session.text("select string_agg(n::text, '') from generate_series(101, 433) n", &[]).await;
    let number = format!(r#"{{"a_number": {digits}}}"#);
    session.rows("select keyed.create_record('crm.orders', $1)", &[&number]).await;
}

#[tokio::test]
async fn labels_change_no_identifier() {
    let (_database, session) = crm().await;
    let hostile = "'; drop table crm.customers; -- \\' \" $1 {} %s";
    let attributes = json!([
        {"slug": "a", "type": "list", "label": hostile, "options": [{"value": hostile, "label": hostile}], "default": [hostile]},
        {"slug": "b", "type": "string", "default": hostile},
    ]);
    let create = "select keyed.create_template('crm', 'orders', $1, $2)";
    let made = session.json(create, &[&attributes.to_string(), hostile]).await;
    assert_eq!((&made["label"], &made["attributes"][0]["label"]), (&json!(hostile), &json!(hostile)));
    let record = session.json("select keyed.create_record('crm.orders')", &[]).await;
    assert_eq!(record["attributes"], json!({"a": [hostile], "b": hostile}));
    let comments =
        "select obj_description('crm.orders'::regclass), col_description('crm.orders'::regclass, 7)";
    assert_eq!(session.rows(comments, &[]).await, [[Some(hostile.to_owned()), Some(hostile.to_owned())]]);
    session.run("select from crm.customers").await;
}

#[tokio::test]
async fn side_tables_are_named_by_template_id() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let beside = [
        ("companies", [companies::HISTORY, companies::SERIES, companies::DOCUMENTS, companies::VECTORS]),
        ("customers", [customers::HISTORY, customers::SERIES, customers::DOCUMENTS, customers::VECTORS]),
    ];
    for (template, tables) in beside {
        let number = "select id from keyed_state.template where slug = $1";
        let number = session.text(number, &[template]).await;
        for table in tables {
            assert!(table.ends_with(&format!("_{number}")), "{table} of {template}");
        }
        // A template without metrics has no metric table.
        let there = tables.into_iter().filter(|table| template == "customers" || *table != companies::SERIES);
        for table in there {
            assert_eq!(session.text("select to_regclass($1)", &[table]).await, table);
        }
    }
}
