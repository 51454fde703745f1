//! Daily quotas: which writes count, and when a day ends.

use super::{UPSERT, assert_reached, used, with_quota};

#[tokio::test]
async fn every_history_entry_counts_as_a_write() {
    let (_database, session) = with_quota("writes_per_day", "6").await;
    session.rows(UPSERT, &["A"]).await;
    session.rows(UPSERT, &["A"]).await;
    session.run("select keyed.upsert_by_key('crm.customers', 'A', '{\"visits\": 2}')").await;
    assert_eq!(used(&session, "writes_per_day").await, "2", "equal values are not written");
    session.run("insert into crm.customers (external_key) values ('B'), ('C')").await;
    session.run("select keyed.delete_record(id) from crm.customers where external_key = 'C'").await;
    session.run("select keyed.restore_record(id) from crm.customers where _released_key = 'C'").await;
    assert_reached(&session.error(UPSERT, &["A"]).await, "writes_per_day", 6, 6);
    let resets = "select resets_at - clock_timestamp() between interval '0' and interval '24:00'
                  and (resets_at at time zone 'UTC')::time = '00:00' from keyed.quota_usage('crm') where name = 'writes_per_day'";
    assert_eq!(session.text(resets, &[]).await, "t");

    // The next day.
    session.run("update keyed_state.quota_slot set day = day - 1").await;
    assert_eq!(used(&session, "writes_per_day").await, "0");
    for _ in 0..6 {
        session.rows(UPSERT, &["A"]).await;
    }
    assert_reached(&session.error(UPSERT, &["A"]).await, "writes_per_day", 6, 6);
}

#[tokio::test]
async fn lowered_daily_quota_applies_on_later_days() {
    let (_database, session) = with_quota("writes_per_day", "100").await;
    session.run("select keyed.upsert_by_key('crm.customers', 'K' || n) from generate_series(1, 60) n").await;
    session.run("select keyed.set_quota('crm', 'writes_per_day', 10)").await;
    session.run("update keyed_state.quota_slot set day = day - 1 where name = 'writes_per_day'").await;
    for number in 0..10 {
        session.run(&format!("select keyed.upsert_by_key('crm.customers', 'N{number}')")).await;
    }
    assert_reached(&session.error(UPSERT, &["beyond"]).await, "writes_per_day", 10, 10);
    assert_eq!(used(&session, "writes_per_day").await, "10");
}

#[tokio::test]
async fn quota_days_use_the_time_zone_of_the_project() {
    let (_database, session) = with_quota("writes_per_day", "1").await;
    for zone in ["Pacific/Kiritimati", "Etc/GMT+12"] {
        session.rows("select keyed.set_time_zone('crm', $1)", &[zone]).await;
        let midnight = "select (resets_at at time zone $1)::time = '00:00' from keyed.quota_usage('crm') where name = 'writes_per_day'";
        assert_eq!(session.text(midnight, &[zone]).await, "t", "{zone}");
    }
}
