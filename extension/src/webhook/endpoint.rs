//! Endpoints: the rows of `keyed_state.webhook_endpoint`.

use crate::access::{Caller, binding};
use crate::change::followed::Following;
use crate::change::position::FeedPosition;
use crate::error::{Code, Error};
use crate::json_write::{raw, to_json};
use crate::postgres::guard::{self, as_owner};
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::role;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::template::catalog;
use crate::value::time;
use pgrx::pg_sys::Oid;
use serde::Serialize;
use serde_json::value::RawValue;

/// A stored endpoint.
pub struct Endpoint {
    /// Its id.
    pub id: i32,
    /// Its project.
    pub project: i32,
    /// Its name within its project.
    pub slug: String,
    /// The URL to which deliveries are sent.
    pub url: String,
    /// The ids of its templates; `None` for all.
    pub templates: Option<Vec<i32>>,
    /// The operations that are delivered; `None` for all.
    pub operations: Option<Vec<String>>,
    /// The filter of its only template.
    pub filter: Option<String>,
    /// Its role; `InvalidOid` if the role was dropped.
    pub role: Oid,
    /// Whether changes are delivered.
    pub enabled: bool,
    /// Whether deliveries include the record.
    pub include_record: bool,
    /// The secret.
    pub secret: Vec<u8>,
    /// The previous secret, while deliveries are signed with it too.
    pub previous_secret: Option<Vec<u8>>,
    /// The position in the feed.
    pub feed_position: FeedPosition,
    previous_secret_until: Option<i64>,
    disabled_at: Option<i64>,
    disabled_reason: Option<String>,
    last_success_at: Option<i64>,
    failing_since: Option<i64>,
    created_at: i64,
    updated_at: i64,
}

const COLUMNS: &str = "e.id, e.project_id, e.slug, e.url, e.templates, e.operations, e.filter::text, e.enabled, \
     e.include_record, e.secret, case when e.previous_secret_until > now() then e.previous_secret end, e.place, \
     case when e.previous_secret_until > now() then e.previous_secret_until end, e.disabled_at, e.disabled_reason, \
     e.last_success_at, e.failing_since, e.created_at, e.updated_at";

fn read(rows: &Rows) -> Vec<Endpoint> {
    let endpoint = |row| Endpoint {
        id: rows.get(row, 0),
        project: rows.get(row, 1),
        slug: rows.get(row, 2),
        url: rows.get(row, 3),
        templates: rows.get(row, 4),
        operations: rows.get(row, 5),
        filter: rows.get(row, 6),
        enabled: rows.get(row, 7),
        include_record: rows.get(row, 8),
        secret: rows.get(row, 9),
        previous_secret: rows.get(row, 10),
        feed_position: FeedPosition::parse(&rows.get::<String>(row, 11)).unwrap_or(FeedPosition::START),
        previous_secret_until: rows.get(row, 12),
        disabled_at: rows.get(row, 13),
        disabled_reason: rows.get(row, 14),
        last_success_at: rows.get(row, 15),
        failing_since: rows.get(row, 16),
        created_at: rows.get(row, 17),
        updated_at: rows.get(row, 18),
        role: rows.get(row, 19),
    };
    (0..rows.len()).map(endpoint).collect()
}

/// Whether the state has the table of endpoints.
pub fn table_exists() -> bool {
    catalog::table_oid("keyed_state", "webhook_endpoint").is_some()
}

/// Rejects a caller that is not an administrator, and a state without endpoints.
pub fn require(caller: &Caller, what: &str) -> Result<(), Error> {
    caller.require_admin(what)?;
    if table_exists() { binding::require_state() } else { Err(guard::not_migrated()) }
}

/// The endpoints that meet a condition on `e`. `suffix` follows it, such as a lock.
pub fn find(spi: &Connection, condition: &str, suffix: &str, arguments: &[Parameter]) -> Vec<Endpoint> {
    let sql = format!(
        "select {COLUMNS}, {} from keyed_state.webhook_endpoint e where {condition} {suffix}",
        binding::role_sql("e")
    );
    read(&spi.run_once(&sql, Snapshot::Latest, arguments))
}

/// The endpoint with this id, without checking the caller.
pub fn by_id(id: i32) -> Option<Endpoint> {
    as_owner(|| connected(|spi| find(spi, "e.id = $1", "", &params![id]).pop()))
}

/// The endpoint with this id, locked until the transaction ends.
pub fn lock(id: i32) -> Option<Endpoint> {
    as_owner(|| connected(|spi| find(spi, "e.id = $1", "for no key update of e", &params![id]).pop()))
}

/// The endpoint with this slug in the request's project, or with this number.
pub fn by_name(caller: &Caller, name: &str) -> Result<Endpoint, Error> {
    require(caller, "configure webhook endpoints")?;
    let endpoint = if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.parse().ok().and_then(by_id)
    } else {
        let project = caller.project().ok_or_else(|| {
            Error::new(
                Code::ProjectRequired,
                format!("the request does not specify a project for the webhook endpoint {name:?}"),
            )
            .hint("Send the header X-Service-Project-Id, or identify the endpoint by id.")
        })?;
        let arguments = params![project, name];
        as_owner(|| connected(|spi| find(spi, "e.project_id = $1 and e.slug = $2", "", &arguments).pop()))
    };
    endpoint.filter(|it| caller.can_access_project(it.project)).ok_or_else(Error::not_found)
}

/// The endpoints of a project, or of all that the caller may access, as `{endpoints: […]}`.
pub fn list(caller: &Caller, project: Option<i32>) -> Result<String, Error> {
    require(caller, "list webhook endpoints")?;
    as_owner(|| {
        connected(|spi| {
            let argument = params![project];
            let mut all =
                find(spi, "$1 is null or e.project_id = $1", "order by e.project_id, e.slug", &argument);
            all.retain(|it| caller.can_access_project(it.project));
            let shown: Vec<String> = all.iter().map(|endpoint| endpoint.to_json(spi, None)).collect();
            Ok(format!("{{\"endpoints\":[{}]}}", shown.join(",")))
        })
    })
}

impl Endpoint {
    /// The filter and its template.
    pub fn filtered(&self) -> Option<(i32, &str)> {
        match (self.templates.as_deref(), &self.filter) {
            (Some([template]), Some(filter)) => Some((*template, filter)),
            _ => None,
        }
    }

    /// Whether the changes of a template are delivered.
    pub fn has_template(&self, template: i32) -> bool {
        self.templates.as_ref().is_none_or(|templates| templates.contains(&template))
    }

    /// Whether an operation is delivered.
    pub fn has_operation(&self, operation: &str) -> bool {
        self.operations.as_ref().is_none_or(|operations| operations.iter().any(|it| it == operation))
    }

    /// What the role may read of some templates now, restricted to the records that match the
    /// filter.
    pub fn following(&self, is_selected: impl Fn(i32) -> bool) -> Result<Following, Error> {
        let reader = Caller::of_role(self.role);
        Following::selected(&reader, self.project, is_selected, self.filtered())
    }

    /// The reason why the endpoint cannot read any template.
    pub fn violation(&self) -> Option<&'static str> {
        role::name(self.role).is_none().then_some("its role was dropped")
    }

    /// The endpoint as JSON, with a secret that is shown once.
    pub fn to_json(&self, spi: &Connection, secret: Option<&str>) -> String {
        #[derive(Serialize)]
        struct Rendered<'a> {
            id: String,
            slug: &'a str,
            project: String,
            url: &'a str,
            templates: Option<Vec<String>>,
            operations: &'a Option<Vec<String>>,
            filter: Option<&'a RawValue>,
            role: Option<String>,
            include_record: bool,
            enabled: bool,
            disabled_at: Option<String>,
            disabled_reason: &'a Option<String>,
            last_success_at: Option<String>,
            failing_since: Option<String>,
            pending: i64,
            failed: i64,
            previous_secret_until: Option<String>,
            created_at: String,
            updated_at: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            secret: Option<&'a str>,
        }
        let counts = "select count(*) filter (where d.state <> 'failed'), count(*) filter (where d.state = 'failed') \
             from keyed_state.webhook_delivery d where d.endpoint_id = $1 and d.state in ('pending', 'running', 'failed')";
        let counts = spi.run_once(counts, Snapshot::Latest, &params![self.id]);
        let (pending, failed) = counts.first::<(i64, i64)>().unwrap_or_default();
        let slug = |id: &i32| catalog::by_id(*id).map(|template| template.slug.clone());
        let moment = |at: Option<i64>| at.map(time::datetime);
        to_json(&Rendered {
            id: self.id.to_string(),
            slug: &self.slug,
            project: catalog::project_by_id(self.project).map(|it| it.slug).unwrap_or_default(),
            url: &self.url,
            templates: self.templates.as_ref().map(|ids| ids.iter().filter_map(slug).collect()),
            operations: &self.operations,
            filter: self.filter.as_deref().and_then(raw),
            role: role::name(self.role),
            include_record: self.include_record,
            enabled: self.enabled,
            disabled_at: moment(self.disabled_at),
            disabled_reason: &self.disabled_reason,
            last_success_at: moment(self.last_success_at),
            failing_since: moment(self.failing_since),
            pending,
            failed,
            previous_secret_until: moment(self.previous_secret_until),
            created_at: time::datetime(self.created_at),
            updated_at: time::datetime(self.updated_at),
            secret,
        })
    }
}

/// Disables an endpoint, and stores the reason. Its position and its deliveries remain.
pub fn disable(spi: &Connection, id: i32, reason: &str) {
    spi.run_once(
        "update keyed_state.webhook_endpoint e set enabled = false, disabled_at = now(), disabled_reason = $2 \
         where e.id = $1 and e.enabled",
        Snapshot::Latest,
        &params![id, reason],
    );
}
