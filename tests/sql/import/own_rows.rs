//! Rows that reference rows of the same file by an attribute.

use super::{counts, import, number, problems};
use harness::{Database, Session};
use serde_json::json;

/// A database with staff, who have names and bosses.
async fn staff() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run("select keyed.create_template('crm', 'staff', '[{\"slug\": \"name\", \"type\": \"string\"}]')")
        .await;
    session
        .run("select keyed.add_attribute('crm.staff', '{\"slug\": \"boss\", \"type\": \"reference\", \"template\": \"staff\"}')")
        .await;
    (database, session)
}

#[tokio::test]
async fn rows_of_a_file_refer_to_each_other_by_text() {
    let (_database, session) = staff().await;
    let options = json!({"match": {"boss": "name"}});
    let header = ["external_key", "name", "boss"];
    // Forward, backward, in a cycle, in another normal form, to itself, and in a chain with more rows than levels.
    let mut rows = "a,Ann,Bob\nb,Bob,\nc,Cy,Bob\nx,Xé,Yo\ny,Yo,Xe\u{301}\nz,Zoe,Zoe\n".to_owned();
    for number in 0..30 {
        rows += &format!("n{number},N{number},N{}\n", number + 1);
    }
    rows += "n30,N30,\nl,Lost,Nobody\nm,Of lost,Lost\nt,Twin,\nu,Twin,\nv,Of twins,Twin\n";
    let report = import(&session, "staff", &options, &header, &rows).await;
    let mut found = problems(&report);
    found.sort_by_key(|it| it[0].as_u64());
    let expected = [
        json!([37, "boss", "reference_not_found"]),
        json!([38, "boss", "reference_not_found"]),
        json!([41, "boss", "invalid_value"]),
    ];
    assert_eq!((counts(&report), found), ([39, 0, 0], expected.to_vec()), "{report}");
    let wrong = "select count(*) from crm.staff s left join crm.staff b on b.id = s.boss \
                 where s.external_key ~ '^n' and s.external_key <> 'n30' \
                 and b.name is distinct from 'N' || (substr(s.external_key, 2)::int + 1)";
    assert_eq!(session.text(wrong, &[]).await, "0");
    let others = "select string_agg(s.external_key || '=' || b.external_key, ' ' order by s.external_key) \
                  from crm.staff s join crm.staff b on b.id = s.boss where s.external_key !~ '^n'";
    assert_eq!(session.text(others, &[]).await, "a=b c=b x=y y=x z=z");
    let again = import(&session, "staff", &options, &header, &rows).await;
    assert_eq!(counts(&again), [0, 0, 39], "{again}");
}

#[tokio::test]
async fn rows_without_keys_refer_to_each_other_by_text() {
    let (_database, session) = staff().await;
    let row = |key: Option<&str>, name: String, boss: Option<String>| {
        json!({"external_key": key, "attributes": {"name": name, "boss": boss}}).to_string() + "\n"
    };
    let named = |name: &str, boss: &str| row(None, name.to_owned(), Some(boss.to_owned()));
    // A chain with more rows than levels, rows with and without a key in a cycle, and rows without keys in a cycle.
    let mut rows: String =
        (0..30).map(|number| named(&format!("N{number}"), &format!("N{}", number + 1))).collect();
    rows += &row(None, "N30".to_owned(), None);
    rows += &row(Some("k"), "Key".to_owned(), Some("No key".to_owned()));
    rows += &(named("No key", "Key") + &named("One", "Two") + &named("Two", "One"));
    let options = json!({"format": "ndjson", "match": {"boss": "name"}, "is_last": true}).to_string();
    let template = number(&session, "staff").await;
    let report =
        session.json("select keyed_http.import_rows($1, $2, $3)", &[&template, &options, &rows]).await;
    let mut found = problems(&report);
    found.sort_by_key(|it| it[0].as_u64());
    let expected = [json!([33, "boss", "reference_not_found"]), json!([34, "boss", "reference_not_found"])];
    assert_eq!((counts(&report), found), ([33, 0, 0], expected.to_vec()), "{report}");
    let linked = "select count(*) from crm.staff s join crm.staff b on b.id = s.boss \
                  where b.name = 'N' || (substr(s.name, 2)::int + 1) and s.name ~ '^N[0-9]'";
    assert_eq!(session.text(linked, &[]).await, "30");
    let cycle = "select string_agg(s.name || '=' || b.name, ' ' order by s.name collate \"C\") \
                 from crm.staff s join crm.staff b on b.id = s.boss where s.name !~ '^N[0-9]'";
    assert_eq!(session.text(cycle, &[]).await, "Key=No key No key=Key");
}
