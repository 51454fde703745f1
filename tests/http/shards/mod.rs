//! A service whose projects are on several shards.

mod choice;
mod keys;
mod routes;
mod set;

use harness::{Database, Proxy, Shards};
use serde_json::{Value, json};

/// A template in every project of these tests.
const CUSTOMERS: &str = r#"[{"slug": "name", "type": "string"}]"#;

/// Makes a project with the template `customers`.
async fn create_project(database: &Database, slug: &str) {
    let session = database.session().await;
    session.run(&format!("select keyed.create_project('{slug}', '{slug}')")).await;
    session.run(&format!("select keyed.create_template('{slug}', 'customers', '{CUSTOMERS}')")).await;
}

/// The project `crm` on shard 0, and `art` on shard 3.
struct Two {
    // Dropped before the databases.
    proxy: Proxy,
    shards: Shards,
}

impl Two {
    async fn start() -> Two {
        Two::start_with(&[]).await
    }

    async fn start_with(settings: &[(&str, &str)]) -> Two {
        let shards = Shards::new(&[0, 3]).await;
        create_project(shards.database(0), "crm").await;
        create_project(shards.database(3), "art").await;
        Two { proxy: shards.start_with(settings).await, shards }
    }

    async fn upsert(&self, project: &str, key: &str) -> Value {
        let body = json!({"external_key": key, "attributes": {"name": key}});
        let path = "/v1/entities/template/customers/by-key";
        self.proxy.request("PUT", path).project(project).json(&body).send().await.expect(201)
    }
}
