//! Files whose rows form chains of references.

use super::{counts, send};
use harness::Service;
use serde_json::json;

/// The order in the file of the rows of a chain, each of which references the next row of the chain.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// After the row that it references.
    Backward,
    /// Before the row that it references.
    Forward,
    Shuffled,
}

impl Order {
    /// A chain of this many rows. The name of each is the key of the row that it references.
    fn file(self, count: usize) -> String {
        let mut file = "external_key,name,within\n".to_owned();
        for line in 0..count {
            let number = match self {
                Order::Forward => line,
                Order::Backward => count - 1 - line,
                // A permutation of the numbers: 7919 is a prime that divides no count here.
                Order::Shuffled => line * 7919 % count,
            };
            let target = if number + 1 < count { format!("{self:?}{}", number + 1) } else { String::new() };
            file += &format!("{self:?}{number},{target},{target}\n");
        }
        file
    }
}

async fn parts() -> Service {
    let service = Service::start().await;
    let parts = json!({"slug": "parts", "attributes": [{"slug": "name", "type": "string"}]});
    service.post("/templates", parts).await.expect(201);
    let within = json!([{"slug": "within", "type": "reference", "template": "parts"}]);
    service.patch("/templates/parts", json!({"attributes": within})).await.expect(200);
    service
}

#[tokio::test]
async fn long_chain_of_rows_is_imported_in_any_order() {
    let service = parts().await;
    let session = service.session().await;
    let count = 5000;
    for order in [Order::Backward, Order::Forward, Order::Shuffled] {
        for mode in ["abort", "skip", "abort&dry_run=true"] {
            let query = format!("on_error={mode}");
            let report = send(&service, "text/csv", "parts", &query, order.file(count)).await.expect(200);
            let [rows, created, _, unchanged, failed] = counts(&report);
            assert_eq!((rows, failed), (5000, 0), "{order:?} {mode}: {report}");
            assert_eq!(if mode == "abort" { created } else { unchanged }, 5000, "{order:?} {mode}: {report}");
        }
        let linked =
            "select count(*) from crm.parts p join crm.parts w on w.id = p.within and w.external_key = p.name
                      where p.external_key like $1 || '%'";
        assert_eq!(session.text(linked, &[&format!("{order:?}")]).await, "4999", "{order:?}");
    }
}

#[tokio::test]
async fn chain_of_rows_scales_linearly() {
    let mut costs = Vec::new();
    for (order, count) in [
        (Order::Backward, 10_000),
        (Order::Forward, 10_000),
        (Order::Forward, 2500),
        (Order::Shuffled, 10_000),
        (Order::Shuffled, 2500),
    ] {
        let service = parts().await;
        let report =
            send(&service, "text/csv", "parts", "on_error=skip", order.file(count)).await.expect(200);
        assert_eq!(counts(&report), [count as u64, count as u64, 0, 0, 0], "{order:?}: {report}");
        costs.push(rows_touched(&service).await);
    }
    let [backward, forward, few_forward, shuffled, few_shuffled] = costs[..] else { unreachable!() };
    println!("{costs:?}");
    for (name, cost, few) in [("forward", forward, few_forward), ("shuffled", shuffled, few_shuffled)] {
        assert!(
            cost <= 3 * backward,
            "{name}: {cost} rows were accessed, {backward} with backward references"
        );
        assert!(2 * cost <= 9 * few, "{name}: {cost} rows were accessed, {few} for a quarter of the chain");
    }
}

/// The number of rows that the proxy's sessions read and wrote. A session reports its counts when it ends.
async fn rows_touched(service: &Service) -> u64 {
    let session = service.session().await;
    let others = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    while session.text(&format!("select count(pg_terminate_backend(pid)) {others}"), &[]).await != "0" {}
    let sum = "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) + coalesce(idx_scan, 0)
                          + n_tup_ins + n_tup_upd)
               from pg_stat_user_tables";
    session.text(sum, &[]).await.parse().expect("a number")
}

#[tokio::test]
async fn chain_to_a_missing_row_is_rejected_with_lines() {
    let service = parts().await;
    let mut file = "external_key,name,within\n".to_owned();
    for number in 0..6000 {
        // Every third row is part of a chain that ends at a missing record.
        file += &match number % 3 {
            0 => format!("lost{number},,lost{}\n", number + 3),
            _ => format!("good{number},,\n"),
        };
    }
    let report = send(&service, "text/csv", "parts", "on_error=skip", file.clone()).await.expect(200);
    assert_eq!(counts(&report), [6000, 4000, 0, 0, 2000], "{report}");
    let lines: Vec<u64> =
        report["errors"].as_array().expect("errors").iter().filter_map(|it| it["line"].as_u64()).collect();
    let expected = (0..1000).map(|row| 3 * row + 2);
    assert!(lines.iter().copied().eq(expected), "the first lines, in their order: {:?}", lines.get(..9));
    assert_eq!(report["errors"][0]["column"], "within");
    let report =
        send(&service, "text/csv", "parts", "on_error=abort&dry_run=true", file.clone()).await.expect(200);
    assert_eq!(counts(&report), [6000, 0, 0, 4000, 2000], "{report}");
    let rejected = send(&service, "text/csv", "parts", "on_error=abort", file).await;
    assert_eq!(rejected.status, 422, "{}", rejected.text);
}

#[tokio::test]
async fn distant_rows_in_a_cycle_are_imported() {
    let service = parts().await;
    let fill = |from: usize| (from..from + 5000).map(|number| format!("{number},,\n")).collect::<String>();
    let file = format!("external_key,name,within\na,,b\n{}b,,c\n{}c,,a\n", fill(0), fill(5000));
    let report = send(&service, "text/csv", "parts", "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [10_003, 10_003, 0, 0, 0], "{report}");
    let links = "select string_agg(p.external_key || w.external_key, ' ' order by p.external_key)
                 from crm.parts p join crm.parts w on w.id = p.within";
    assert_eq!(service.session().await.text(links, &[]).await, "ab bc ca");
}

#[tokio::test]
async fn last_row_of_a_key_wins_over_a_waiting_one() {
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

#[tokio::test]
async fn row_is_rejected_with_its_target() {
    let service = parts().await;
    let session = service.session().await;
    session.run("alter table crm.parts add constraint good check (name <> 'bad')").await;
    // A cycle, and a chain longer than the rows of a chunk.
    let mut file = "external_key,name,within\nA,,B\nB,,C\nC,bad,A\nD,,E\nE,,D\nF,,\n".to_owned();
    for number in 0..30 {
        let name = if number == 29 { "bad" } else { "" };
        file += &format!("n{number},{name},n{}\n", (number + 1) % 30);
    }
    let report = send(&service, "text/csv", "parts", "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [36, 3, 0, 0, 33], "{report}");
    let errors = report["errors"].as_array().expect("errors");
    let of_line = |line: u64| errors.iter().find(|it| it["line"] == line).map(|it| it["code"].clone());
    for (line, code) in [
        (2, "reference_not_found"),
        (3, "reference_not_found"),
        (4, "invalid_value"),
        (8, "reference_not_found"),
        (37, "invalid_value"),
    ] {
        assert_eq!(of_line(line), Some(json!(code)), "{line}: {report}");
    }
    let of_second = errors.iter().find(|it| it["line"] == 2).and_then(|it| it["message"].as_str());
    assert!(of_second.is_some_and(|message| message.contains("\"B\"")), "{report}");
    let keys = "select string_agg(external_key, '' order by external_key) from crm.parts";
    assert_eq!(session.text(keys, &[]).await, "DEF");
}
