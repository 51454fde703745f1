//! Conditions of logins use indexes under row-level security, without access to hidden rows.

use harness::{Database, Session};
use serde_json::json;

/// Orders of four regions; the scope is one region.
const FILL: &str = "
    select keyed.create_template('crm', 'orders', '[{\"slug\": \"title\", \"type\": \"string\", \"indexed\": true},
      {\"slug\": \"price\", \"type\": \"number\", \"indexed\": true}, {\"slug\": \"region\", \"type\": \"string\"},
      {\"slug\": \"tags\", \"type\": \"list\", \"indexed\": true}, {\"slug\": \"bought\", \"type\": \"date\", \"indexed\": true}]');
    insert into crm.orders (external_key, title, price, region, tags, bought)
    select 'o' || n, case when n % 500 = 0 then null else 'Order ' || md5(n::text) end,
      case when n % 700 = 0 then null else n * 7919 % 8000 / 4.0 end, (array['EU', 'US', 'ASIA', 'AFR'])[1 + n % 4],
      array['t' || n % 400, 'u' || n % 7], date '2024-01-01' + n % 900
    from generate_series(1, 8000) n;
    update crm.orders set deleted_at = now() where external_key like 'o77%';
    analyze crm.orders";

pub(super) async fn orders() -> (Database, Session) {
    let database = Database::with_crm().await;
    let admin = database.session().await;
    admin.run(FILL).await;
    (database, admin)
}

/// A login that can read the orders within a scope.
pub(super) async fn login(database: &Database, name: &str, scope: &serde_json::Value) -> Session {
    let role = database.create_role(name).await;
    database.grant_within(&role, "crm.orders", "read", scope).await;
    let session = database.session_as(&role).await;
    // The first evaluation of a policy loads the library.
    session.run("select from crm.orders limit 1").await;
    session
}

/// Another session of the same login, for which PostgreSQL plans without keyed.
async fn without_paths(database: &Database, admin: &Session, session: &Session) -> Session {
    let login = session.text("select session_user::text", &[]).await;
    admin.run(&format!("alter role {login} set keyed.policy_paths = off")).await;
    let without = database.session_as(&login).await;
    without.run("select from crm.orders limit 1").await;
    without
}

fn europe() -> serde_json::Value {
    json!({"field": "region", "operator": "eq", "value": "EU"})
}

async fn plan(session: &Session, statement: &str) -> String {
    session.text(&format!("explain (format json) {statement}"), &[]).await
}

/// Conditions that can use indexes, with functions that PostgreSQL does not consider leakproof.
const CONDITIONS: [&str; 14] = [
    "price between 500 and 501",
    "price = 500.25",
    "price in (1, 2.5, 3)",
    "price > 1999 or price < 0.5",
    "not (price > 1 and price < 1999.5)",
    "title ilike '%abc12%'",
    "title like 'Order abc%'",
    "tags && array['t7', 't8']",
    "tags @> array['t7', 'u1']",
    "bought between timestamp '2024-03-01' and timestamptz '2024-03-02 12:00+02'",
    "bought between date_trunc('month', now() - interval '60 years') and timestamp '2024-01-02'",
    "price is not distinct from 17",
    "price < 10 and title ilike '%ff%' and tags && array['u3']",
    "bought = '2024-03-01' and price <= 1000",
];

#[tokio::test]
async fn conditions_of_a_login_use_indexes_under_a_scope() {
    let (database, admin) = orders().await;
    let session = login(&database, "bi", &europe()).await;
    let without = without_paths(&database, &admin, &session).await;
    let is_scan = |plan: &str| plan.contains("\"Seq Scan\"");
    // For nearly all rows, an index would not pay off.
    for condition in CONDITIONS[..11].iter().filter(|it| !it.starts_with("not ")) {
        let statement = format!("select * from crm.orders where {condition}");
        let (by_index, by_policy) = (plan(&session, &statement).await, plan(&without, &statement).await);
        assert!(!is_scan(&by_index) && is_scan(&by_policy), "{condition}: {by_index}");
    }
    // A login could otherwise count hidden rows where an administrator does not want that.
    let error = without.error("set keyed.policy_paths = on", &[]).await;
    assert_eq!(error.state, "42501", "{error}");
}

#[tokio::test]
async fn results_are_equal_with_and_without_indexes() {
    let (database, admin) = orders().await;
    let scopes = [
        europe(),
        json!({"field": "price", "operator": "lt", "value": 300}),
        json!([{"field": "tags", "operator": "in", "value": ["u2"]}, {"field": "region", "operator": "in", "value": ["US", "AFR"]}]),
        json!({"field": "title", "operator": "ilike", "value": "%ab%"}),
    ];
    for (number, scope) in scopes.iter().enumerate() {
        let session = login(&database, &format!("reader{number}"), scope).await;
        let without = without_paths(&database, &admin, &session).await;
        let visible = session.text("select string_agg(id::text, ',') from crm.orders", &[]).await;
        for condition in CONDITIONS {
            // As superuser, with the scope as a condition: no policy and no index is used.
            let expected = admin
                .text(
                    &format!(
                        "select coalesce(string_agg(external_key, ',' order by external_key), '') from \
                         (select * from crm.orders where id = any (string_to_array($1, ',')::uuid[]) offset 0) o where {condition}"
                    ),
                    &[&visible],
                )
                .await;
            let found = format!(
                "select coalesce(string_agg(external_key, ',' order by external_key), '') from crm.orders where {condition}"
            );
            for (reader, planner) in [
                (&session, "enable_seqscan = off"),
                (&session, "enable_seqscan = on"),
                (&without, "enable_seqscan = off"),
            ] {
                reader.run(&format!("set {planner}")).await;
                assert_eq!(reader.text(&found, &[]).await, expected, "{scope} {condition} {planner}");
            }
        }
    }
}

#[tokio::test]
async fn generic_plan_is_invalidated_when_the_grant_changes() {
    let (database, admin) = orders().await;
    let session = login(&database, "bi", &europe()).await;
    session
        .run(
            "set plan_cache_mode = force_generic_plan; prepare by_price (numeric) as select count(*) from crm.orders where price = $1; \
             prepare by_title (text) as select count(*) from crm.orders where title ilike $1",
        )
        .await;
    let count = async |execute: &str| session.text(execute, &[]).await;
    let all = admin
        .text(
            "select count(*) from crm.orders where price = 500.25 and region = 'EU' and deleted_at is null",
            &[],
        )
        .await;
    assert_eq!(count("execute by_price (500.25)").await, all);
    let all = admin.text("select count(*) from crm.orders where title ilike '%abc%' and region = 'EU' and deleted_at is null", &[]).await;
    assert_eq!(count("execute by_title ('%abc%')").await, all);
    // With a pattern that is unknown at plan time, errors could come from hidden rows.
    let plan = plan(&session, "execute by_title ('%abc%')").await;
    assert!(plan.contains("Seq Scan") || !plan.contains("title"), "{plan}");
    let role = session.text("select session_user::text", &[]).await;
    let narrow = json!({"field": "region", "operator": "eq", "value": "nowhere"});
    database.grant_within(&role, "crm.orders", "read", &narrow).await;
    assert_eq!(count("execute by_price (500.25)").await, "0");
    assert_eq!(count("execute by_title ('%abc%')").await, "0");
}

#[tokio::test]
async fn functions_and_errors_disclose_no_hidden_row() {
    let (database, admin) = orders().await;
    admin.run("create table public.patterns (pattern text); insert into patterns values ('abc\\'); grant select on patterns to public").await;
    // The login can read no order, so any effect would come from a hidden one.
    let session =
        login(&database, "spy", &json!({"field": "region", "operator": "eq", "value": "nowhere"})).await;
    session
        .run(
            "create temp table shown (value text);
             create function pg_temp.spy(value numeric) returns boolean language plpgsql cost 0.0000001 as
               $$ begin insert into shown values (value::text); return true; end $$;
             create function pg_temp.spy(value numeric, other numeric) returns boolean language plpgsql cost 0.0000001 as
               $$ begin insert into shown values (value::text); return true; end $$;
             create function pg_temp.spy(value text[], other text[]) returns boolean language plpgsql cost 0.0000001 as
               $$ begin insert into shown values (value::text); return true; end $$;
             create function pg_temp.next() returns numeric language plpgsql volatile cost 0.0000001 as
               $$ begin insert into shown values ('called'); return 5; end $$;
             create operator pg_temp.> (leftarg = numeric, rightarg = numeric, function = pg_temp.spy, restrict = scalargtsel);
             create operator pg_temp.&& (leftarg = text[], rightarg = text[], function = pg_temp.spy);
             create domain pg_temp.small as numeric check (pg_temp.spy(value));
             create collation pg_temp.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        )
        .await;
    for condition in [
        "pg_temp.spy(price)",
        "price > 5 and pg_temp.spy(price)",
        "price operator(pg_temp.>) 5",
        "price > 1990 and price operator(pg_temp.>) 5",
        "tags operator(pg_temp.&&) array['t7']",
        "price::pg_temp.small = 5",
        "price = any (array[5, pg_temp.next()])",
        "price > pg_temp.next()",
        "price > 1 / (case when region = 'US' then 0 else 1 end)",
        "price::text::date > '2024-01-01'",
        "title like E'Order abc\\\\'",
        "title ilike E'%\\\\'",
        "title not like E'Order a%\\\\'",
        "title like any (array['x', E'Order\\\\'])",
        "title like 'Order%' collate pg_temp.loose",
        "exists (select from patterns where title like pattern)",
        "title like (select pattern from patterns)",
        "price > 5 or title like E'Order abc\\\\'",
        "price in (select price from crm.orders o where pg_temp.spy(o.price))",
    ] {
        for planner in [
            "set enable_seqscan = on; set enable_indexscan = on",
            "set enable_seqscan = off",
            "set enable_indexscan = off",
        ] {
            session.run(&format!("truncate shown; {planner}")).await;
            let statement = format!("select count(*) from crm.orders where {condition}");
            session.run(&format!("explain {statement}")).await;
            assert_eq!(session.text(&statement, &[]).await, "0", "{condition}");
            assert_eq!(
                session.text("select count(*) from shown", &[]).await,
                "0",
                "{condition} with {planner}"
            );
        }
    }
    let views =
        "create temp view fenced with (security_barrier) as select * from crm.orders where price > 100";
    session.run(views).await;
    assert_eq!(session.text("select count(*) from fenced where pg_temp.spy(price)", &[]).await, "0");
    assert_eq!(session.text("select count(*) from shown", &[]).await, "0");
}

#[tokio::test]
async fn functions_get_no_statistics_value() {
    let (database, admin) = orders().await;
    admin
        .run("create table public.secrets (value text); insert into secrets select 'secret ' || n from generate_series(1, 500) n; analyze secrets")
        .await;
    let session =
        login(&database, "spy", &json!({"field": "region", "operator": "eq", "value": "nowhere"})).await;
    session
        .run(
            "create temp table shown (value text);
             create function pg_temp.tell(a numeric, b numeric) returns boolean language plpgsql as
               $$ begin insert into shown values (a::text); return false; end $$;
             create function pg_temp.tell(a text, b text) returns boolean language plpgsql as
               $$ begin insert into shown values (a); return false; end $$;
             create operator pg_temp.<<< (leftarg = numeric, rightarg = numeric, function = pg_temp.tell,
               commutator = operator(pg_temp.>>>), restrict = scalarltsel);
             create operator pg_temp.>>> (leftarg = numeric, rightarg = numeric, function = numeric_gt,
               commutator = operator(pg_temp.<<<), restrict = scalargtsel);
             create operator pg_temp.=~ (leftarg = numeric, rightarg = numeric, function = pg_temp.tell,
               negator = operator(pg_temp.<~>), restrict = eqsel);
             create operator pg_temp.<~> (leftarg = numeric, rightarg = numeric, function = numeric_ne,
               negator = operator(pg_temp.=~), restrict = neqsel);
             create operator pg_temp.<<< (leftarg = text, rightarg = text, function = pg_temp.tell,
               commutator = operator(pg_temp.>>>), restrict = scalarltsel);
             create operator pg_temp.>>> (leftarg = text, rightarg = text, function = text_gt,
               commutator = operator(pg_temp.<<<), restrict = scalargtsel);
             create function pg_temp.five() returns numeric stable language plpgsql as $$
               begin
                 begin perform from crm.orders where title operator(pg_temp.<<<) 'x'; exception when others then null; end;
                 begin perform from public.secrets where value operator(pg_temp.<<<) 'x'; exception when others then null; end;
                 return 5;
               end $$;
             create function pg_temp.said() returns boolean stable cost 0.0000001 language plpgsql as
               $$ begin insert into shown values ('said'); return false; end $$",
        )
        .await;
    // For a table of its own, the function gets the statistics.
    session.run("create temp table own as select n::numeric as price from generate_series(1, 500) n").await;
    session.run("analyze own; explain select from own where 5 operator(pg_temp.>>>) price").await;
    assert_ne!(session.text("select count(*) from shown", &[]).await, "0");
    for condition in [
        "price = pg_temp.five()",
        "price > 5 and price < pg_temp.five()",
        "5 operator(pg_temp.>>>) price",
        "price operator(pg_temp.<~>) 5",
        "price = 1 or 'x' operator(pg_temp.>>>) title",
        "price = 1 and 'x' operator(pg_temp.>>>) title",
        "price <> 500.25 or pg_temp.said()",
        "title not like 'Order a%' or pg_temp.said()",
        "price <> 500.25 or (select pg_temp.said())",
        "price <> 500.25 or tags && (select a || b from (select array['x'] collate \"C\" a, array['y'] collate \"POSIX\" b offset 0) s)",
    ] {
        let statement = format!("select count(*) from crm.orders where {condition}");
        session.run(&format!("truncate shown; explain {statement}")).await;
        assert_eq!(session.text("select count(*) from shown", &[]).await, "0", "the plan of {condition}");
        assert_eq!(session.text(&statement, &[]).await, "0", "{condition}");
        assert_eq!(session.text("select count(*) from shown", &[]).await, "0", "{condition}");
    }
}

#[tokio::test]
async fn selectivity_estimates_use_column_statistics() {
    let (database, admin) = orders().await;
    let session = login(&database, "bi", &europe()).await;
    let without = without_paths(&database, &admin, &session).await;
    let rows = async |session: &Session| -> f64 {
        let plan = plan(session, "select * from crm.orders where price > 1990").await;
        let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
        plan[0]["Plan"]["Plan Rows"].as_f64().expect("a number")
    };
    // One in two hundred, of which a quarter is in the scope.
    let (known, unknown) = (rows(&session).await, rows(&without).await);
    assert!(known < 60.0 && unknown > 300.0, "{known} instead of {unknown}");
}
