//! Documents of many records are rewritten in the background.

use super::*;

#[tokio::test]
async fn change_of_language_blocks_no_reads_writes_or_searches() {
    let (database, session) = with_many().await;
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (6000, 0));
    let blocker = with_locked(&database, MANY / 2, 1).await;
    set_language(&session, "german").await;
    until_left_out(&session, 1).await;

    let running = jobs(&session).await;
    assert_eq!((&running[0]["kind"], &running[0]["state"]), (&json!("documents"), &json!("running")));
    assert_eq!(running[0]["template"], "crm.customers");
    assert_eq!((&running[0]["records_done"], &running[0]["records"]), (&json!(5999), &json!(6000)));
    // Each record is found in the language of its document, and by substrings in any language.
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (1, 5999));
    assert_eq!(found_words(&session, "inder unnin").await, 6000);
    assert_eq!(
        found(&session, json!({"filters": [{"field": "visits", "operator": "lte", "value": 10}]})).await,
        10
    );
    // Writes do not wait, and new text is immediately found in the new language.
    for number in [1, 5999] {
        let key = format!("K-{number}");
        let attributes = json!({"name": format!("Rindern {number}")}).to_string();
        session
            .rows("select keyed.upsert_by_key('crm.customers', $1, $2::jsonb)", &[&key, &attributes])
            .await;
    }
    session.rows("select keyed.upsert_by_key('crm.customers', 'new', '{\"name\": \"Rindern\"}')", &[]).await;
    assert_eq!(found_words(&session, "Rindes").await, 3);

    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (0, 5998));
    assert_eq!(found_words(&session, "Rindes").await, 3);
}

#[tokio::test]
async fn job_and_write_build_equal_documents() {
    let (_database, session) = with_many().await;
    let documents = documents(&session).await;
    let all =
        format!("select md5(string_agg(record_id || document, '' order by record_id)) from {documents}");
    set_language(&session, "german").await;
    until_done(&session).await;
    let of_the_job = session.text(&all, &[]).await;
    session
        .run("update crm.customers set name = name || '.'; update crm.customers set name = rtrim(name, '.')")
        .await;
    assert_eq!(session.text(&all, &[]).await, of_the_job);

    // The job creates missing documents, corrects wrong ones, and deletes those without a record.
    session
        .run(&format!(
            "delete from {documents} where record_id in (select id from crm.customers where visits % 10 < 5);
             update {documents} set document = 'wrong' where record_id in (select id from crm.customers where visits % 10 = 5);
             insert into {documents} values (gen_random_uuid(), 'of nobody')"
        ))
        .await;
    session.rows("select keyed.rebuild_documents('crm.customers')", &[]).await;
    until_done(&session).await;
    assert_eq!(session.text(&all, &[]).await, of_the_job);
}

#[tokio::test]
async fn rebuilt_documents_use_the_current_postgresql() {
    let (_database, session) = with_many().await;
    let by = "select string_agg(distinct documents_by, ',') from keyed_state.template";
    let current = session.text(by, &[]).await;
    assert_eq!(
        current,
        session
            .text("select 'PostgreSQL ' || split_part(current_setting('server_version'), '.', 1)", &[])
            .await
    );
    session.run("update keyed_state.template set documents_by = 'PostgreSQL 9'").await;
    // The few companies are rebuilt within the change, customers by a job.
    session.rows("select keyed.rebuild_documents('crm.companies')", &[]).await;
    let of = "select documents_by from keyed_state.template where slug = $1";
    assert_eq!(session.text(of, &["companies"]).await, current);
    assert_eq!(session.text(of, &["customers"]).await, "PostgreSQL 9");
    session.rows("select keyed.rebuild_documents('crm.customers')", &[]).await;
    until_done(&session).await;
    assert_eq!(session.text(by, &[]).await, current);
}

#[tokio::test]
async fn job_makes_new_labels_and_defaults_searchable() {
    let (_database, session) = with_many().await;
    session.run("update crm.customers set tier = array['gold']").await;
    session
        .rows(
            r#"select keyed.alter_template('crm.customers', '{"attributes": [
                 {"slug": "tier", "options": [{"value": "gold", "label": "Platinum"}, "silver"]},
                 {"slug": "origin", "type": "string", "default": "unknown"}]}')"#,
            &[],
        )
        .await;
    assert_eq!(
        found(&session, json!({"filters": [{"field": "origin", "operator": "eq", "value": "unknown"}]}))
            .await,
        6000
    );
    until_done(&session).await;
    for (words, count) in [("Platinum", 6000), ("unknown", 6000), ("card", 0)] {
        assert_eq!(found_words(&session, words).await, count, "{words}");
    }
}

#[tokio::test]
async fn dropped_attribute_is_not_found_in_stale_documents() {
    let (database, session) = with_many().await;
    session
        .rows("select keyed.add_attribute('crm.customers', '{\"slug\": \"origin\", \"type\": \"string\", \"default\": \"Helsinki running\"}')", &[])
        .await;
    until_done(&session).await;
    assert_eq!(found_words(&session, "Helsinki").await, 6000);
    let blocker = with_locked(&database, 0, MANY).await;
    session.rows("select keyed.drop_attribute('crm.customers', 'origin')", &[]).await;
    until_left_out(&session, 1000).await;
    let documents = documents(&session).await;
    let holding = format!("select count(*) from {documents} where document like '%helsinki%'");
    assert_eq!(session.text(&holding, &[]).await, "6000");
    for (words, count) in
        [("Helsinki", 0), ("elsink", 0), ("Kindern", 6000), ("Kindern -Helsinki", 6000), ("runs", 6000)]
    {
        assert_eq!(found_words(&session, words).await, count, "{words}");
    }
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(session.text(&holding, &[]).await, "0");
    assert_eq!(found_words(&session, "runs").await, 6000);
}

/// The expected matches while documents still contain the text of a dropped attribute.
const WITHOUT_DROPPED: [(&str, u64); 7] = [
    ("hushhush", 0),
    ("ushhus", 0),
    ("plain", 0),
    ("\"hushhush plaintive\"", 0),
    ("K-1007 -hushhush", 1),
    ("K-1008 -plain", 1),
    ("Kindern -hushhush -plain", 6000),
];

/// Customers with an attribute of rare and frequent words, which the test drops.
async fn with_rare_and_frequent() -> (Database, Session) {
    let (database, session) = with_many().await;
    session
        .rows(
            "select keyed.add_attribute('crm.customers', '{\"slug\": \"origin\", \"type\": \"string\"}')",
            &[],
        )
        .await;
    session
        .run("update crm.customers set origin = case when visits % 1000 = 7 then 'hushhush plaintive' else 'plain' end")
        .await;
    assert_eq!(found_words(&session, "hushhush").await, 6);
    (database, session)
}

async fn assert_without_dropped(session: &Session, when: &str) {
    for (words, count) in WITHOUT_DROPPED {
        for sort in [json!({}), json!({"sort": "visits"}), json!({"facets": ["tags"]})] {
            let mut query = json!({"global_search": words});
            query.as_object_mut().expect("an object").extend(sort.as_object().expect("an object").clone());
            assert_eq!(found(session, query).await, count, "{when}: {words}, {sort}");
        }
    }
}

#[tokio::test]
async fn terms_of_a_dropped_attribute_neither_match_nor_exclude() {
    let (database, session) = with_rare_and_frequent().await;
    let blocker = with_locked(&database, 0, MANY).await;
    session.run("begin").await;
    session.rows("select keyed.drop_attribute('crm.customers', 'origin')", &[]).await;
    assert_without_dropped(&session, "in the transaction").await;
    session.run("commit").await;
    until_left_out(&session, 1000).await;
    assert_without_dropped(&session, "beside the job").await;
    assert_without_dropped(&database.session().await, "in a new session").await;
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_without_dropped(&session, "after the job").await;
}

#[tokio::test]
async fn older_snapshot_finds_no_terms_of_a_dropped_attribute() {
    let (database, session) = with_rare_and_frequent().await;
    let (early, late) = (with_old_snapshot(&database).await, with_old_snapshot(&database).await);
    let blocker = with_locked(&database, 0, MANY).await;
    session.rows("select keyed.drop_attribute('crm.customers', 'origin')", &[]).await;
    until_left_out(&session, 1000).await;
    assert_without_dropped(&early, "beside the job").await;
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_without_dropped(&early, "after the job").await;
    assert_without_dropped(&late, "the first search after the job").await;
}

#[tokio::test]
async fn record_with_too_many_terms_does_not_affect_others() {
    let (_database, session) = with_many().await;
    // Writes reject such a record, but a change to a language with longer stems can produce it.
    session
        .run(
            "set session_replication_role = replica;
             update crm.customers set name = repeat('word ', 7000000) where visits in (10, 5990);
             set session_replication_role = origin",
        )
        .await;
    set_language(&session, "german").await;
    let failed = until(&session, |jobs| jobs.iter().any(|job| job["state"] == "failed")).await;
    let first = session.text("select id from crm.customers where visits = 10", &[]).await;
    let error = failed[0]["error"].as_str().unwrap_or_default();
    assert!(error.contains(&first) && error.contains("and 1 more") && error.contains("32 MiB"), "{error}");
    assert_eq!((&failed[0]["records_done"], &failed[0]["records"]), (&json!(5998), &json!(6000)));
    assert_eq!(found_words(&session, "Kindes").await, 5998);

    session.run("update crm.customers set name = 'Kindern' where visits in (10, 5990)").await;
    session.rows("select keyed.run_jobs(retry => true)", &[]).await;
    until_done(&session).await;
    assert_eq!(found_words(&session, "Kindes").await, 6000);
}
