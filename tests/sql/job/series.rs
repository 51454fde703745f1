//! The series of a dropped metric are deleted in the background.

use super::*;
use harness::customers::SERIES;

#[tokio::test]
async fn dropped_metric_disappears_and_a_job_deletes_its_points() {
    let (_database, session) = with_many().await;
    session
        .rows(
            "select keyed.add_attribute('crm.customers', '{\"slug\": \"load\", \"type\": \"metric\"}')",
            &[],
        )
        .await;
    session
        .run(
            &format!("insert into {SERIES} (record_id, attribute_id, at, value)
             select c.id, a.id, now(), n from crm.customers c, keyed_state.attribute a, generate_series(1, 3) n
             where a.slug in ('mood', 'load')"),
        )
        .await;
    let points = &format!(
        "select string_agg(points::text, ' ') from
                  (select count(*) as points from {SERIES} group by attribute_id order by attribute_id) p"
    );
    assert_eq!(session.text(points, &[]).await, "18000 18000");
    session.rows("select keyed.drop_attribute('crm.customers', 'load')", &[]).await;
    let left = jobs(&session).await;
    assert!(left.is_empty() || left[0]["kind"] == "series", "{left:?}");
    until_done(&session).await;
    assert_eq!(session.text(points, &[]).await, "18000");
    session.rows("select keyed.drop_attribute('crm.customers', 'mood')", &[]).await;
    until_done(&session).await;
    assert_eq!(session.text(&format!("select count(*) from {SERIES}"), &[]).await, "0");
}
