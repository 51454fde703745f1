//! A small project for tests that need some records, but no particular ones.

use crate::{Database, Proxy, Response, Session};
use serde_json::Value;

/// The project `crm`: companies, and customers with an attribute of every type.
const CRM: &str = r#"
    select keyed.create_project('crm', 'Customers');
    select keyed.create_template('crm', 'companies', '[
      {"slug": "name", "type": "string", "required": true}
    ]');
    select keyed.create_template('crm', 'customers', '[
      {"slug": "name", "type": "string"},
      {"slug": "visits", "type": "number"},
      {"slug": "mood", "type": "metric"},
      {"slug": "tags", "type": "list"},
      {"slug": "tier", "type": "list", "options": [{"value": "gold", "label": "Gold card"}, "silver"]},
      {"slug": "born", "type": "date"},
      {"slug": "seen", "type": "datetime"},
      {"slug": "company", "type": "reference", "template": "companies"},
      {"slug": "active", "type": "boolean"}
    ]', 'Our customers')"#;

impl Database {
    /// A new database with the project `crm`.
    pub async fn with_crm() -> Self {
        Self::new().await.add_crm().await
    }

    /// Creates the project `crm` in this database.
    pub async fn add_crm(self) -> Self {
        create_crm(&self.session().await).await;
        self
    }
}

/// Creates the project `crm` in the database of a session.
pub async fn create_crm(session: &Session) {
    session.run(CRM).await;
}

/// A database with the project `crm`, and a proxy in front of it.
pub struct Service {
    /// The proxy. It is dropped before its database.
    pub proxy: Proxy,
    /// The database, for reads that bypass the proxy.
    pub database: Database,
}

impl Service {
    /// Starts a database and a proxy.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a service whose proxy has these settings, given as environment variables.
    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::over(Database::with_crm().await, settings).await
    }

    /// Starts a proxy for a database that has the project `crm`.
    pub async fn over(database: Database, settings: &[(&str, &str)]) -> Self {
        let proxy = Proxy::start_with(&database, settings).await.in_project("crm");
        Self { proxy, database }
    }

    /// A new session as superuser.
    pub async fn session(&self) -> Session {
        self.database.session().await
    }

    /// Sends GET for a path below `/v1`, as administrator in the project `crm`. The methods below do the same for other
    /// HTTP methods.
    pub async fn get(&self, path: &str) -> Response {
        self.proxy.request("GET", &format!("/v1{path}")).send().await
    }

    /// Sends DELETE.
    pub async fn delete(&self, path: &str) -> Response {
        self.proxy.request("DELETE", &format!("/v1{path}")).send().await
    }

    /// Sends POST.
    pub async fn post(&self, path: &str, body: Value) -> Response {
        self.send("POST", path, body).await
    }

    /// Sends PUT.
    pub async fn put(&self, path: &str, body: Value) -> Response {
        self.send("PUT", path, body).await
    }

    /// Sends PATCH.
    pub async fn patch(&self, path: &str, body: Value) -> Response {
        self.send("PATCH", path, body).await
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> Response {
        self.proxy.request(method, &format!("/v1{path}")).json(&body).send().await
    }

    /// Sends a body that may be invalid JSON, with the content type of JSON.
    pub async fn send_text(&self, method: &str, path: &str, body: impl Into<reqwest::Body>) -> Response {
        self.proxy.request(method, &format!("/v1{path}")).body("application/json", body).send().await
    }

    /// Creates a customer and returns the record.
    pub async fn create(&self, body: Value) -> Value {
        self.post("/entities/template/customers", body).await.expect(201)
    }

    /// Upserts a customer by key and returns the response.
    pub async fn upsert(&self, external_key: &str, attributes: Value) -> Response {
        let body = serde_json::json!({"external_key": external_key, "attributes": attributes});
        self.put("/entities/template/customers/by-key", body).await
    }

    /// Looks up a customer by key.
    pub async fn by_key(&self, external_key: &str) -> Response {
        self.get(&format!("/entities/template/customers/by-key?key={}", crate::encode(external_key))).await
    }
}

/// The id of a record in a response.
#[track_caller]
pub fn id_of(record: &Value) -> &str {
    record["id"].as_str().unwrap_or_else(|| panic!("no id in {record}"))
}
