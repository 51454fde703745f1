//! Files whose rows refer to each other one after the other.

use crate::import::{counts, send};
use harness::Service;
use serde_json::json;

#[tokio::test]
async fn a_long_chain_of_rows_is_linked_from_end_to_end() {
    let service = Service::start().await;
    let parts = |attributes| json!({"slug": "parts", "attributes": attributes});
    service.post("/templates", parts(json!([{"slug": "name", "type": "string"}]))).await.expect(201);
    let within = json!([{"slug": "within", "type": "reference", "template": "parts"}]);
    service.patch("/templates/parts", json!({"attributes": within})).await.expect(200);
    let count = 6000;
    for (prefix, order) in [("up", 1), ("down", -1)] {
        let mut file = "external_key,name,within\n".to_owned();
        for number in 1..=count {
            let neighbour = number + order;
            let target =
                if (1..=count).contains(&neighbour) { format!("{prefix}{neighbour}") } else { String::new() };
            file += &format!("{prefix}{number},n{number},{target}\n");
        }
        for mode in ["abort", "skip"] {
            let query = format!("on_error={mode}");
            let report = send(&service, "text/csv", "parts", &query, file.clone()).await.expect(200);
            let [rows, created, _, unchanged, failed] = counts(&report);
            assert_eq!((rows, failed), (6000, 0), "{report}");
            assert_eq!(if mode == "abort" { created } else { unchanged }, 6000, "{report}");
        }
    }
    let linked = "select count(*) from crm.parts p join crm.parts w on w.id = p.within
                  where substr(w.external_key, length(rtrim(w.external_key, '0123456789')) + 1)::int
                      - substr(p.external_key, length(rtrim(p.external_key, '0123456789')) + 1)::int
                      = case when p.external_key like 'up%' then 1 else -1 end";
    assert_eq!(service.session().await.text(linked, &[]).await, "11998");
}

#[tokio::test]
async fn the_last_row_of_a_key_counts_though_one_before_waits_for_another() {
    let service = Service::start().await;
    let attributes = json!([{"slug": "name", "type": "string"}, {"slug": "size", "type": "number"}]);
    service.post("/templates", json!({"slug": "parts", "attributes": attributes})).await.expect(201);
    let within = json!([{"slug": "within", "type": "reference", "template": "parts"}]);
    service.patch("/templates/parts", json!({"attributes": within})).await.expect(200);
    let mut file = "external_key,name,size,within\nK,first,1,late\nK,second,2,\nL,of K,3,K\n".to_owned();
    for number in 0..9000 {
        file += &format!("filler{number},{},4,\n", "x".repeat(200));
    }
    file += "K,third,3,\nlate,late,5,\n";
    let content = "select string_agg(concat_ws(' ', p.external_key, p.name, p.size, w.external_key), ', ' order by p.external_key)
                   from crm.parts p left join crm.parts w on w.id = p.within where p.deleted_at is null and p.external_key not like 'filler%'";
    for mode in ["skip", "abort"] {
        for number in [1, 2] {
            let query = format!("on_error={mode}");
            let report = send(&service, "text/csv", "parts", &query, file.clone()).await.expect(200);
            let [rows, _, _, _, failed] = counts(&report);
            assert_eq!((rows, failed), (9005, 0), "{mode} {number}: {report}");
            assert_eq!(
                service.session().await.text(content, &[]).await,
                "K third 3, L of K 3 K, late late 5",
                "{mode} {number}"
            );
        }
        service
            .session()
            .await
            .run("select keyed_http.delete_by_key('3', external_key) from crm.parts where deleted_at is null")
            .await;
    }
}
