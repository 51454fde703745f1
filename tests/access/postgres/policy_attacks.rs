//! Attempts of a login to infer rows that its policy hides, if its conditions use indexes.

use super::policy_paths::{login, orders};
use harness::{Database, Session};
use serde_json::json;

/// A login that can read no order, so any effect would come from a hidden one.
async fn spy() -> (Database, Session, Session) {
    let (database, admin) = orders().await;
    // The scope is on a text without an index, so only the condition of the query can use one.
    let session =
        login(&database, "spy", &json!({"field": "region", "operator": "eq", "value": "nowhere"})).await;
    (database, admin, session)
}

/// Access paths: with each index, with none, and by PostgreSQL's own choice.
const PLANNERS: [&str; 3] = [
    "set enable_seqscan = on; set enable_indexscan = on; set enable_bitmapscan = on",
    "set enable_seqscan = off; set enable_indexscan = on; set enable_bitmapscan = on",
    "set enable_seqscan = on; set enable_indexscan = off; set enable_bitmapscan = off",
];

/// The first condition is true for a hidden order, the second for none.
const PAIRS: [[&str; 2]; 3] = [
    ["price <> 500.25", "price <> 500.26"],
    ["title not like 'Order a%'", "title not like 'Order x%'"],
    ["not tags && array['t7']", "not tags && array['nothing']"],
];

#[tokio::test]
async fn missing_or_conflicting_collation_discloses_nothing() {
    let (_database, admin, session) = spy().await;
    let hidden = "select count(*) from crm.orders where price = 500.25 and deleted_at is null";
    assert_ne!(admin.text(hidden, &[]).await, "0");
    for planner in PLANNERS {
        session.run(planner).await;
        for condition in PAIRS.as_flattened() {
            for other in [
                "external_key = s.b",
                "external_key is distinct from s.b",
                "title = s.b",
                "title = any (array[s.b])",
            ] {
                let statement = format!(
                    "select count(*) from crm.orders, (select 'x'::text collate \"POSIX\" as b) s where {condition} or {other}"
                );
                let found = session.attempt(&statement, &[]).await;
                assert!(
                    found.is_ok(),
                    "{statement} with {planner}: {:?}",
                    found.err().map(|it| it.to_string())
                );
            }
        }
    }
}

#[tokio::test]
async fn user_defined_collation_discloses_nothing() {
    let (database, admin, session) = spy().await;
    let role = session.text("select session_user::text", &[]).await;
    admin.run(&format!("create schema lair authorization {role}")).await;
    session.run("create collation lair.old (provider = icu, locale = 'fr', version = '1')").await;
    for planner in PLANNERS {
        session.run(planner).await;
        for condition in PAIRS.as_flattened() {
            for other in [
                "tags && array['x'] collate lair.mine",
                "title < 'A' collate lair.mine",
                "title like 'x%' collate lair.mine",
            ] {
                session.run("create collation lair.mine (provider = icu, locale = 'de')").await;
                session
                    .run(&format!(
                        "begin; declare c cursor for select from crm.orders where {condition} or {other}; drop collation lair.mine"
                    ))
                    .await;
                let fetched = session.attempt("fetch c", &[]).await;
                assert!(fetched.is_ok(), "{condition} or {other} with {planner}");
                session.run("commit").await;
            }
        }
    }
    // A collation of another version causes a warning when it is first used.
    let warned = async |condition: &str| {
        let mut psql = database.cluster().program("psql");
        psql.args(["--no-psqlrc", "--username", &role, "--dbname", database.name()]);
        psql.args(["--command", "select from crm.orders limit 1"]);
        psql.args(["--command", "set enable_indexscan = off; set enable_bitmapscan = off"]);
        let other = format!(
            "select count(*) from crm.orders where {condition} or tags && array['x'] collate lair.old"
        );
        let output = psql.args(["--command", &other]).output().expect("psql runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).contains("version mismatch")
    };
    assert_eq!(warned("price <> 500.25").await, warned("price <> 500.26").await);
}

#[tokio::test]
async fn parameter_without_a_value_discloses_nothing() {
    let (_database, _admin, session) = spy().await;
    for planner in PLANNERS {
        // JIT compilation of each plan takes longer than everything else.
        session.run(&format!("{planner}; set jit = off")).await;
        for joined in ["price <> {} or price = r.x", "price = {} and price = r.x"] {
            for price in ["500.25", "500.26"] {
                let condition = joined.replace("{}", price);
                let script = format!(
                    "do $$ declare r record; begin for i in 1..2 loop \
                       if i = 1 then select 5::numeric as x into r; else r := null; end if; \
                       perform count(*) from crm.orders where {condition}; end loop; end $$"
                );
                // An invalidation between the two executions makes PostgreSQL parse the statement again, which also
                // needs the type of the field, whatever the rows are.
                let mut errors = Vec::new();
                while errors.len() < 20 {
                    match session.attempt(&script, &[]).await {
                        Ok(_) => break,
                        Err(error) => errors.push(error.to_string()),
                    }
                }
                assert!(errors.len() < 20, "{condition} with {planner}: {errors:?}");
            }
        }
    }
}

#[tokio::test]
async fn join_by_numbers_uses_an_index_without_disclosure() {
    let (database, admin) = orders().await;
    let session = login(&database, "bi", &json!({"field": "region", "operator": "eq", "value": "EU"})).await;
    session.run("create temp table wanted as select n / 4.0 as price from generate_series(1, 40) n; analyze wanted").await;
    let joined = "select coalesce(string_agg(external_key, ',' order by external_key), '') from wanted w left join crm.orders o on o.price = w.price";
    let plan = session.text(&format!("explain (format json) {joined}"), &[]).await;
    assert!(plan.contains("orders_price_id_idx"), "{plan}");
    let expected = "select string_agg(external_key, ',' order by external_key) from crm.orders
                    where price in (select n / 4.0 from generate_series(1, 40) n) and region = 'EU' and deleted_at is null";
    assert_eq!(session.text(joined, &[]).await, admin.text(expected, &[]).await);
    // A user-defined operator, and one with a user-defined function, get only visible rows.
    session
        .run(
            "create temp table shown (value text);
             create function pg_temp.spy(a numeric, b numeric) returns boolean language plpgsql cost 0.0000001 as
               $$ begin insert into shown values (a::text); return a = b; end $$;
             create operator pg_temp.=~ (leftarg = numeric, rightarg = numeric, function = pg_temp.spy, restrict = eqsel,
               join = eqjoinsel, merges, hashes)",
        )
        .await;
    session
        .run("select count(*) from crm.orders o join wanted w on o.price operator(pg_temp.=~) w.price")
        .await;
    let hidden = "select count(*) from shown where value::numeric not in (select price from crm.orders where price is not null)";
    assert_eq!(session.text(hidden, &[]).await, "0");
}

#[tokio::test]
async fn unindexed_condition_runs_after_the_policy() {
    let (_database, _admin, session) = spy().await;
    session.run(PLANNERS[2]).await;
    for condition in ["price <> 500.25", "title not like 'Order a%'", "region like '%U%'"] {
        let plan = session
            .text(&format!("explain (verbose, format json) select from crm.orders where {condition}"), &[])
            .await;
        let column = condition.trim_start_matches("not ").split(' ').next().unwrap_or_default();
        let (gate, own) = (plan.find("is_granted"), plan.rfind(column));
        assert!(gate.is_some() && own > gate, "{condition}: {plan}");
    }
}

#[tokio::test]
async fn login_cannot_override_administrator_settings() {
    let (database, admin) = orders().await;
    let role = database.create_role("spy").await;
    database.grant(&role, "crm.orders", "read").await;
    for setting in [
        "KEYED.policy_paths=on",
        "keyed.policy_paths=",
        "keyed.max_text_size=16MB",
        "keyed.inbound_room=1TB",
        "keyed.direct_access=on",
    ] {
        let name = &setting.split('=').next().unwrap_or_default().to_lowercase();
        let is_size = ["keyed.max_text_size", "keyed.inbound_room"].contains(&name.as_str());
        let off = if is_size { "64" } else { "off" };
        for whose in [format!("role {role}"), format!("database {}", database.name())] {
            admin.run(&format!("alter {whose} set {name} = {off}")).await;
            for preloaded in [false, true] {
                if preloaded {
                    admin.run("select keyed.init(preload => true)").await;
                }
                let session = database.session_with(&role, &format!("-c {setting}")).await;
                for statement in [
                    "select count(*) from crm.orders where price = 500.25",
                    "select keyed.search('crm.orders', '{}')",
                ] {
                    let error = session.error(statement, &[]).await;
                    assert_eq!(
                        error.codes(),
                        ("42501", "forbidden"),
                        "{setting} {whose} {preloaded}: {error}"
                    );
                    assert!(error.message.contains(name), "{error}");
                }
                let plan = session
                    .text("explain (format json) select from crm.orders where price = 500.25", &[])
                    .await;
                assert!(plan.contains("\"Seq Scan\"") || !setting.contains("policy_paths"), "{plan}");
                let own = database.session_as(&role).await;
                own.run("select count(*) from crm.orders").await;
                if name == "keyed.policy_paths" {
                    assert_eq!(own.text("show keyed.policy_paths", &[]).await, "off");
                }
            }
            admin
                .run(&format!(
                    "alter {whose} reset {name}; alter database {} reset session_preload_libraries",
                    database.name()
                ))
                .await;
        }
    }
    // A parallel worker does not know the connection's options.
    admin.run(&format!("alter role {role} set keyed.policy_paths = off")).await;
    let session = database.session_with(&role, "-c keyed.policy_paths=on").await;
    session
        .run(
            "create function pg_temp.f(q text) returns setof text language plpgsql parallel safe as
               $$ begin return query execute q; end $$;
             explain select from crm.orders;
             select set_config(name, 'on', false) from pg_settings where name in ('force_parallel_mode', 'debug_parallel_query')",
        )
        .await;
    let error = session.error("select pg_temp.f('select count(*)::text from crm.orders')", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"), "{error}");
    let plan = session.text("select string_agg(l, ' ') from pg_temp.f('explain select from crm.orders where price = 500.25') l", &[]).await;
    assert!(plan.contains("Seq Scan"), "{plan}");
    // Superusers may, also by connection options.
    let session = database.session_with("postgres", "-c keyed.policy_paths=off").await;
    session.run("select keyed.search('crm.orders', '{}')").await;
    assert_eq!(session.text("show keyed.policy_paths", &[]).await, "off");
}
