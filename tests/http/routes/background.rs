//! Jobs, embedding, missing indexes and problems.

use harness::{Service, proxy_program};
use serde_json::{Value, json};

#[tokio::test]
async fn background_work_is_listed() {
    let service = Service::start().await;
    assert_eq!(service.get("/jobs").await.expect(200), json!({"jobs": []}));
    let session = service.session().await;
    let job = "insert into keyed_state.job (template_id, kind, attribute_id, state, attempts, error, created_at) \
               select a.template_id, 'index', a.id, 'failed', 3, 'no room', now() from keyed_state.attribute a \
               join keyed_state.template t on t.id = a.template_id where t.slug = 'customers' and a.slug = 'name'";
    session.run(job).await;
    let jobs = service.get("/jobs").await.expect(200);
    let listed = &jobs["jobs"][0];
    assert_eq!(
        (&listed["template"], &listed["kind"], &listed["attribute"], &listed["state"], &listed["error"]),
        (&json!("crm.customers"), &json!("index"), &json!("name"), &json!("failed"), &json!("no room"))
    );
    assert_eq!(service.post("/jobs/retry", json!({})).await.expect(200), json!({"count": 1}));
    let gone = async || service.get("/jobs").await.expect(200) == json!({"jobs": []});
    harness::until("the worker has done the job", gone).await;
}

#[tokio::test]
async fn embedding_failures_are_listed_and_retried() {
    let service = Service::start().await;
    assert_eq!(service.get("/embeddings/status").await.expect(200), json!({"templates": []}));
    service.patch("/templates/customers", json!({"embed": ["name"]})).await.expect(200);
    let id = service.upsert("A", json!({"name": "Ada"})).await.expect(201)["id"].clone();
    let status = async || service.get("/embeddings/status").await.expect(200)["templates"][0].clone();
    let waiting = status().await;
    assert_eq!((&waiting["template"], &waiting["attributes"]), (&json!("crm.customers"), &json!(["name"])));
    assert_eq!((&waiting["pending"], &waiting["failed"]), (&json!(1), &json!(0)));
    assert!(waiting["oldest_due"].as_str().is_some_and(|due| due.ends_with('Z')));
    let fail = "update keyed_state.embedding_job set state = 'failed', error = 'too long', attempts = 8, failed_at = now()";
    service.session().await.run(fail).await;
    for query in ["", "?template=customers", "?limit=1"] {
        let failures = service.get(&format!("/embeddings/failures{query}")).await.expect(200);
        let failure = &failures["failures"][0];
        assert_eq!(
            (&failure["record_id"], &failure["error"], &failure["next_at"]),
            (&id, &json!("too long"), &Value::Null)
        );
    }
    assert_eq!(
        service.get("/embeddings/failures?template=companies").await.expect(200),
        json!({"failures": []})
    );
    service.get("/embeddings/failures?limit=0").await.expect_error(422, "invalid_value");
    service.get("/embeddings/failures?template=moon").await.expect_error(404, "not_found");
    let retry = async |path: &str| service.post(path, json!({})).await.expect(200);
    assert_eq!(retry("/embeddings/retry?template=companies").await, json!({"count": 0}));
    assert_eq!(retry("/embeddings/retry").await, json!({"count": 1}));
    assert_eq!(status().await["pending"], 1);
}

#[tokio::test]
async fn missing_indexes_are_suggested() {
    let service = Service::start().await;
    let path = "/templates/customers/index-suggestions";
    assert_eq!(service.get(path).await.expect(200), json!({"suggestions": []}));
    let used = "update keyed_state.attribute_use u set filters = 7, sorts = 1 from keyed_state.attribute a \
                join keyed_state.template t on t.id = a.template_id \
                where a.id = u.attribute_id and t.slug = 'customers' and a.slug = 'name'";
    service.session().await.run(used).await;
    let suggested = service.get(path).await.expect(200);
    let first = &suggested["suggestions"][0];
    assert_eq!(
        (&first["attribute"], &first["filters"], &first["sorts"]),
        (&json!("name"), &json!(7), &json!(1))
    );
    service.get("/templates/moon/index-suggestions").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn http_doctor_agrees_with_the_command() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("alter table crm.customers disable trigger keyed_guard").await;
    let job = "insert into keyed_state.job (template_id, kind, state, error, created_at) \
               select t.id, 'documents', 'failed', 'no room', now() from keyed_state.template t where t.slug = 'companies'";
    session.run(job).await;
    let examined = service.get("/doctor").await.expect(200);
    let url = service.database.cluster().url("postgres", service.database.name());
    let mut doctor = proxy_program(&["doctor", "--json"]);
    let doctor = doctor.env("KEYED_ADMIN_DATABASE_URL", url).output().expect("the program runs");
    let report: Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    assert_eq!(examined["findings"], report["findings"]);
    assert_eq!(
        (&examined["healthy"], &examined["extension_version"]),
        (&json!(false), &report["extension_version"])
    );
    let names = |list: &Value| -> Vec<Value> {
        list.as_array().into_iter().flatten().map(|check| check["name"].clone()).collect()
    };
    assert_eq!(names(&examined["checks"]), names(&report["checks"]));
    let sound = |name: &str| {
        let checks = examined["checks"].as_array().into_iter().flatten();
        checks.into_iter().find(|check| check["name"] == name).map(|check| check["sound"].clone())
    };
    assert_eq!((sound("templates"), sound("ownership")), (Some(json!(false)), Some(json!(true))));
    assert_eq!(sound("transactions"), Some(Value::Null), "the service cannot see other processes");
}

#[tokio::test]
async fn examinations_do_not_overlap() {
    let service = Service::start().await;
    let session = service.session().await;
    session.run("begin").await;
    session.text("select keyed_http.examine()", &[]).await;
    service.get("/doctor").await.expect_error(503, "unavailable");
    session.run("commit").await;
    service.get("/doctor").await.expect(200);
}
