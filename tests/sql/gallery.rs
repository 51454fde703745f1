//! A project for searches: works of artists from countries of continents.

use harness::{Database, Session, SqlError};
use serde_json::{Value, json};

const TEMPLATES: &str = r#"
    select keyed.create_project('art');
    select keyed.create_template('art', 'continents', '[{"slug": "name", "type": "string"}]');
    select keyed.create_template('art', 'countries', '[
      {"slug": "name", "type": "string"},
      {"slug": "continent", "type": "reference", "template": "continents"}
    ]');
    select keyed.create_template('art', 'artists', '[
      {"slug": "name", "type": "string"},
      {"slug": "born", "type": "date"},
      {"slug": "country", "type": "reference", "template": "countries"}
    ]');
    select keyed.create_template('art', 'works', '[
      {"slug": "title", "type": "string"},
      {"slug": "price", "type": "number"},
      {"slug": "mood", "type": "metric"},
      {"slug": "tags", "type": "list"},
      {"slug": "tier", "type": "list", "options": [{"value": "gold", "label": "Gold card"}, "silver"]},
      {"slug": "made", "type": "date"},
      {"slug": "sold", "type": "datetime"},
      {"slug": "artist", "type": "reference", "template": "artists"},
      {"slug": "dealer", "type": "reference", "template": "artists"},
      {"slug": "framed", "type": "boolean"}
    ]')"#;

/// The attributes of works that can be indexed.
pub(crate) const INDEXABLE: [&str; 8] = ["title", "price", "mood", "tags", "tier", "made", "sold", "framed"];

/// A database with the project, and a session of its superuser.
pub(crate) struct Gallery {
    pub(crate) database: Database,
    pub(crate) session: Session,
}

impl Gallery {
    /// A gallery without works.
    pub(crate) async fn new() -> Self {
        let database = Database::new().await;
        let session = database.session().await;
        session.run(TEMPLATES).await;
        Self { database, session }
    }

    /// A gallery with an index on every attribute of works.
    pub(crate) async fn indexed() -> Self {
        let gallery = Self::new().await;
        gallery.index("true").await;
        gallery
    }

    /// Creates or drops the indexes of the attributes of works.
    pub(crate) async fn index(&self, indexed: &str) {
        for slug in INDEXABLE {
            let statement = format!(
                "select keyed.alter_attribute('art.works', '{slug}', jsonb_build_object('indexed', {indexed}))"
            );
            self.session.run(&statement).await;
        }
    }

    /// Creates a record with a key and returns its id.
    pub(crate) async fn add(&self, template: &str, external_key: &str, attributes: Value) -> String {
        let create = format!("select keyed.create_record('art.{template}', $1, $2) ->> 'id'");
        self.session.text(&create, &[&attributes.to_string(), external_key]).await
    }

    /// Creates works with these keys.
    pub(crate) async fn works<const N: usize>(&self, works: [(&str, Value); N]) {
        for (external_key, attributes) in works {
            self.add("works", external_key, attributes).await;
        }
    }

    /// The result of a search among works.
    pub(crate) async fn search(&self, query: &Value) -> Value {
        self.session.json("select keyed.search('art.works', $1)", &[&query.to_string()]).await
    }

    /// The error of a search among works.
    pub(crate) async fn error(&self, query: &Value) -> SqlError {
        self.session.error("select keyed.search('art.works', $1)", &[&query.to_string()]).await
    }

    /// The keys of the found works, in the order of the result.
    pub(crate) async fn keys(&self, query: &Value) -> String {
        keys(&self.search(query).await)
    }

    /// The keys of the works that match a filter, in the order of the keys. Asserts that the filter's SQL selects the
    /// same.
    pub(crate) async fn passing(&self, mut query: Value) -> String {
        query["sort"] = json!("external_key");
        let found = self.keys(&query).await;
        let text = query.to_string();
        let condition = self.session.text("select keyed.filter_sql('art.works', $1)", &[&text]).await;
        let select = format!(
            "select coalesce(string_agg(t.external_key, ' ' order by t.external_key), '')
             from art.works t where t.deleted_at is null and {condition}"
        );
        assert_eq!(self.session.text(&select, &[]).await, found, "{query} as {condition}");
        found
    }

    /// The keys of the works that match one condition.
    pub(crate) async fn filtered(&self, field: &str, operator: &str, value: impl Into<Value>) -> String {
        let condition = json!({"field": field, "operator": operator, "value": value.into()});
        self.passing(json!({"filters": [condition]})).await
    }
}

/// The keys of the records in a result.
pub(crate) fn keys(result: &Value) -> String {
    let records = result["records"].as_array().expect("records");
    records.iter().map(|record| record["external_key"].as_str().unwrap_or("-")).collect::<Vec<_>>().join(" ")
}
