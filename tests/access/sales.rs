//! A project in which some roles can read only one region.

use harness::customers::{HISTORY, SERIES};
use harness::{Database, Session, major_version};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

const TEMPLATES: &str = r#"
    select keyed.create_project('crm');
    select keyed.create_template('crm', 'companies', '[
      {"slug": "name", "type": "string"}, {"slug": "region", "type": "string"}
    ]');
    select keyed.create_template('crm', 'customers', '[
      {"slug": "name", "type": "string"},
      {"slug": "region", "type": "string", "indexed": true},
      {"slug": "amount", "type": "number"},
      {"slug": "mood", "type": "metric"},
      {"slug": "tier", "type": "list", "options": ["gold", "silver"]},
      {"slug": "due", "type": "date"},
      {"slug": "seen", "type": "datetime"},
      {"slug": "company", "type": "reference", "template": "companies"}
    ]');
    select keyed.upsert_by_key('crm.companies', 'C-EU', '{"name": "Acme", "region": "EU"}'),
           keyed.upsert_by_key('crm.companies', 'C-US', '{"name": "Globex", "region": "US"}')"#;

/// The records of one region.
pub(crate) fn of_region(region: &str) -> Value {
    json!({"field": "region", "operator": "eq", "value": region})
}

/// Companies `C-EU` and `C-US`; customers `EU-1`, `EU-2`, `US-1`, `US-2` of the region in their key, each with the
/// company of this region; and the deleted customers `EU-0` and `US-0`.
pub(crate) struct Sales {
    pub(crate) database: Database,
    pub(crate) admin: Session,
}

impl Sales {
    pub(crate) async fn new() -> Self {
        let database = Database::new().await;
        let admin = database.session().await;
        admin.run(TEMPLATES).await;
        for key in ["EU-0", "US-0", "EU-1", "US-1", "EU-2", "US-2"] {
            let region = &key[..2];
            let attributes = json!({"name": format!("Customer {key}"), "region": region, "amount": 1, "mood": 1,
                                    "tier": "gold", "company": {"external_key": format!("C-{region}")}});
            let create = "select keyed.create_record('crm.customers', $1, $2)";
            admin.rows(create, &[&attributes.to_string(), key]).await;
        }
        admin.run("select keyed.delete_record(id) from crm.customers where external_key like '%-0'").await;
        Self { database, admin }
    }

    /// A role with privileges on customers, and a session of a member of it.
    pub(crate) async fn clerk(&self, privileges: &str, scope: &Value) -> (String, Session) {
        let (role, session) = self.member().await;
        self.database.grant_within(&role, "crm.customers", privileges, scope).await;
        (role, session)
    }

    /// The same for all customers of Europe, and all companies.
    pub(crate) async fn european(&self, privileges: &str) -> Session {
        let (role, session) = self.clerk(privileges, &of_region("EU")).await;
        self.database.grant(&role, "crm.companies", "read").await;
        session
    }

    /// Removes inheritance from a login's memberships. Since PostgreSQL 16, it is an option of each membership, before
    /// of the login.
    pub(crate) async fn stop_inheriting(&self, login: &str, roles: &[&str]) {
        let without = match major_version() {
            ..16 => format!("alter role {login} noinherit"),
            _ => format!("grant {} to {login} with inherit false", roles.join(", ")),
        };
        self.admin.run(&without).await;
    }

    /// A role, and a session of a member of it.
    pub(crate) async fn member(&self) -> (String, Session) {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let count = NUMBER.fetch_add(1, Ordering::Relaxed);
        let role = self.database.create_role(&format!("sales{count}")).await;
        let login = self.database.create_role(&format!("clerk{count}")).await;
        self.admin.run(&format!("grant {role} to {login}")).await;
        (role, self.database.session_as(&login).await)
    }

    /// The id of the customer with this key.
    pub(crate) async fn id(&self, key: &str) -> String {
        self.admin
            .text("select id from crm.customers where coalesce(external_key, _released_key) = $1", &[key])
            .await
    }

    /// Everything that a write of customers could have changed.
    pub(crate) async fn state(&self) -> String {
        let state = &format!(
            "select concat_ws(E'\n', (select string_agg(c::text, E'\n' order by id) from crm.customers c),
                       (select count(*) from {HISTORY}), (select count(*) from {SERIES}))"
        );
        self.admin.text(state, &[]).await
    }
}

/// The keys of the live customers that a session reads by SQL, in order.
pub(crate) async fn selected(session: &Session) -> String {
    let keys = "select coalesce(string_agg(external_key, ' ' order by external_key), '') from crm.customers";
    session.text(keys, &[]).await
}

/// The keys of the customers that a session finds by a search, in order.
pub(crate) async fn found(session: &Session, mut query: Value) -> String {
    query["sort"] = json!("external_key");
    let result = session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
    let records = result["records"].as_array().expect("records");
    records.iter().filter_map(|record| record["external_key"].as_str()).collect::<Vec<_>>().join(" ")
}

/// The keys by SQL and by search. Asserts that they agree.
pub(crate) async fn seen(session: &Session) -> String {
    let keys = selected(session).await;
    assert_eq!(found(session, json!({})).await, keys, "search and SELECT");
    keys
}
