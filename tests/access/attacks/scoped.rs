//! A project with a scope of each kind, and the records that its login reads, counts and writes.

use harness::{Database, Session, quote};
use serde_json::{Value, json};
use tokio::sync::Mutex;

const COMPANIES: &str = r#"
    select keyed.create_project('crm');
    select keyed.create_template('crm', 'companies', '[
      {"slug": "name", "type": "string", "indexed": true}, {"slug": "tags", "type": "list", "indexed": true},
      {"slug": "opened", "type": "date", "indexed": true}
    ]');
    select keyed.batch(jsonb_agg(jsonb_build_object('op', 'create', 'template', 'crm.companies', 'external_key', 'C' || n,
      'attributes', jsonb_build_object('name', w || ' company ' || n, 'tags', array[lower(w), 'tag' || n],
                                       'opened', date '2021-01-01' + n))), true)
      from generate_series(1, 40) n, lateral (select case when n % 2 = 0 then 'Open' else 'Secret' end) w (w)"#;

/// The number of visible records of each template.
const VISIBLE: usize = 30;

/// The scopes, all of which make the records with an even number visible.
fn scopes() -> [Value; 8] {
    let is_secret = json!({"field": "company.tags", "operator": "in", "value": ["secret"]});
    [
        json!([{"field": "company.tags", "operator": "not-in", "value": ["secret"]}]),
        json!([{"field": "company.name", "operator": "not-like", "value": "Secret"}]),
        json!([{"not": {"field": "company.name", "operator": "ilike", "value": "secret"}}]),
        json!([{"not": {"and": [is_secret, {"field": "company.opened", "operator": "gt", "value": "2020-01-01"}]}}]),
        json!([{"field": "tags", "operator": "not-in", "value": ["secret"]}]),
        json!([{"field": "name", "operator": "not-like", "value": "Secret"}]),
        json!([{"not": {"field": "due", "operator": "between", "value": ["2020-01-01", "2020-12-31"]}}]),
        json!([{"field": "company.tags", "operator": "in", "value": ["open"]}]),
    ]
}

fn table(scope: usize) -> String {
    format!("crm.scope{scope}")
}

/// A statement that returns its row count, or its SQLSTATE if it is rejected.
const ATTEMPT: &str = "
    create function public.attempt(statement text) returns text language plpgsql as $$
    declare number bigint;
    begin
      execute statement;
      get diagnostics number = row_count;
      return number;
    exception when others then
      return sqlstate;
    end $$";

/// A project with a template for each scope, and a login with these scopes. Each template has 60 records, each of which
/// references one of 40 companies. Records and companies with an odd number are secret.
pub(super) struct Scoped {
    pub(super) database: Database,
    pub(super) admin: Session,
    pub(super) login: String,
}

impl Scoped {
    pub(super) async fn new() -> Self {
        let database = Database::new().await;
        let admin = database.session().await;
        admin.run(COMPANIES).await;
        admin.run(ATTEMPT).await;
        let login = database.create_role("scoped").await;
        let attributes = json!([
            {"slug": "name", "type": "string", "indexed": true}, {"slug": "tags", "type": "list", "indexed": true},
            {"slug": "amount", "type": "number"}, {"slug": "due", "type": "date", "indexed": true},
            {"slug": "company", "type": "reference", "template": "companies"}
        ]);
        for (number, scope) in scopes().iter().enumerate() {
            let create = "select keyed.create_template('crm', $1, $2)";
            admin.rows(create, &[&format!("scope{number}"), &attributes.to_string()]).await;
            let fill = format!(
                "select keyed.batch(jsonb_agg(jsonb_build_object('op', 'create', 'template', '{}', 'external_key', format('R%s', n),
                   'embedding', array_fill(n % 7 + 1, array[768]),
                   'attributes', jsonb_build_object('name', w || ' customer ' || n, 'tags', array[lower(w), 'tag' || n], 'amount', 1,
                     'due', case when n % 2 = 0 then date '2021-06-01' else date '2020-06-01' end,
                     'company', jsonb_build_object('external_key', 'C' || (n - 1) % 40 + 1)))), true)
                 from generate_series(1, 60) n, lateral (select case when n % 2 = 0 then 'Open' else 'Secret' end) w (w)",
                table(number)
            );
            admin.run(&fill).await;
            database.grant_within(&login, &table(number), "read, create, update", scope).await;
        }
        database.grant(&login, "crm.companies", "read").await;
        Self { database, admin, login }
    }

    /// A statement with one row of everything that the login reads, and the expected row.
    pub(super) fn reads() -> (String, Vec<String>) {
        let keys: Vec<String> = (1..=60).filter(|n| n % 2 == 0).map(|n| format!("R{n}")).collect();
        let mut keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        keys.sort_unstable();
        let keys = keys.join(",");
        let searches = [
            json!({"global_search": "custamer", "fuzzy": "auto"}),
            json!({"filters": [{"field": "name", "operator": "ilike", "value": "CUSTOMER"},
                               {"field": "company.name", "operator": "like", "value": "company"}]}),
        ];
        let (mut columns, mut expected) = (Vec::new(), Vec::new());
        for table in (0..scopes().len()).map(table) {
            let keys_of =
                |rows: &str| format!("(select string_agg(k, ',' order by k collate \"C\") from {rows})");
            columns.push(keys_of(&format!("(select external_key from {table}) t (k)")));
            expected.push(keys.clone());
            // Typo tolerance takes much longer than everything else.
            let is_first = expected.len() == 1;
            for mut query in searches.clone().into_iter().skip(usize::from(!is_first)) {
                query["count"] = json!("exact");
                query["limit"] = json!(1000);
                let search = format!("keyed.search({}, {})", quote(&table), quote(&query.to_string()));
                columns.push(format!(
                    "(select (a ->> 'total') || ':' || {} from (select {search}) s (a))",
                    keys_of(
                        "(select r ->> 'external_key' from jsonb_array_elements(a -> 'records') r) t (k)"
                    )
                ));
                expected.push(format!("{VISIBLE}:{keys}"));
            }
        }
        // A semantic search may find fewer records, but none that is hidden.
        let nearest = json!({"query_vector": vec![1; 768], "template_id": "crm.scope0", "limit": 200});
        columns.push(format!(
            "(select count(*) from jsonb_array_elements(keyed.semantic_search({})) h
              where substr(h -> 'entity' ->> 'external_key', 2)::int % 2 = 1)",
            quote(&nearest.to_string())
        ));
        expected.push("0".to_owned());
        (format!("select {}", columns.join(", ")), expected)
    }

    /// A statement with one row of everything that the login writes, and the expected row.
    pub(super) async fn writes(&self) -> (String, Vec<String>) {
        let (mut columns, mut expected) = (Vec::new(), Vec::new());
        let secret = self.admin.text("select id from crm.companies where external_key = 'C1'", &[]).await;
        for table in (0..scopes().len()).map(table) {
            let id = |key: &str| format!("select id from {table} where external_key = '{key}'");
            let (hidden, shown) =
                (self.admin.text(&id("R3"), &[]).await, self.admin.text(&id("R4"), &[]).await);
            let patch = |id: &str| {
                format!("select keyed.patch_record('{id}', '{{\"attributes\": {{\"amount\": 3}}}}')")
            };
            let insert = format!(
                "insert into {table} (name, tags, due, company) values ('Secret', '{{secret}}', '2020-06-01', '{secret}')"
            );
            for (statement, outcome) in [
                (format!("update {table} set amount = 2 where external_key in ('R1', 'R2')"), "1".to_owned()),
                (format!("update {table} set amount = 3 where id = '{hidden}'"), "0".to_owned()),
                (patch(&hidden), "P0002".to_owned()),
                (patch(&shown), "1".to_owned()),
                (insert, "42501".to_owned()),
            ] {
                columns.push(format!("public.attempt({})", quote(&statement)));
                expected.push(outcome);
            }
        }
        (format!("select {}", columns.join(", ")), expected)
    }

    /// The settings of this server that a login may change, each with the values to try. The login is granted SET on
    /// the settings that only superusers may change.
    pub(super) async fn settings(&self) -> Vec<(String, Vec<String>)> {
        let rows = self
            .admin
            .rows(
                "select name, vartype, coalesce(min_val, ''), coalesce(max_val, ''), coalesce(array_to_string(enumvals, ','), ''), context
                 from pg_settings where context in ('user', 'superuser') and name <> all ('{role,session_authorization}') order by name",
                &[],
            )
            .await;
        let mut settings = Vec::new();
        // Privileges on parameters belong to the cluster, where concurrent sessions block each other.
        let _alone = PARAMETERS.lock().await;
        for row in rows {
            let [name, kind, least, max, choices, context] = row
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect::<Vec<_>>()
                .try_into()
                .expect("six columns");
            if context == "superuser" {
                self.admin.run(&format!("grant set on parameter {name} to {}", self.login)).await;
            }
            settings.push((name, values(&kind, &least, &max, &choices)));
        }
        settings
    }

    /// Revokes the privileges that belong to the cluster.
    pub(super) async fn end(self) {
        let _alone = PARAMETERS.lock().await;
        self.admin.run(&format!("drop owned by {}", self.login)).await;
        self.database.cluster().assert_no_crash();
    }
}

static PARAMETERS: Mutex<()> = Mutex::const_new(());

/// Small, middle, extreme and unusual values.
fn values(kind: &str, least: &str, max: &str, choices: &str) -> Vec<String> {
    let strings = |strings: &[&str]| strings.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    match kind {
        "bool" => strings(&["on", "off"]),
        "enum" => choices.split(',').map(str::to_owned).collect(),
        "integer" | "real" => {
            let mut values = strings(&[least, "1", "100", max]);
            values.dedup();
            values
        }
        _ => strings(&[
            "",
            "x",
            "pg_temp, pg_catalog",
            "simple",
            "German, DMY",
            "Pacific/Apia",
            "C",
            "LATIN1",
            "all",
            "0.5",
        ]),
    }
}
