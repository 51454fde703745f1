//! `keys`: manages API keys with keyed's SQL functions.

use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::Type;

use super::connection::{Connection, connect, explain, runtime};
use super::outcome::{Failure, print};

#[derive(Subcommand)]
pub(crate) enum Keys {
    /// Issue an API key and print it. It cannot be shown again.
    Create(Create),
    /// List API keys, without their secrets.
    List(List),
    /// Revoke API keys. The next request with a revoked key is rejected.
    Revoke(Revoke),
}

#[derive(Args)]
pub(crate) struct Create {
    /// The role of the key; keyed_admin has all privileges.
    #[arg(long, value_name = "ROLE")]
    role: String,

    /// A project that the key is limited to. May be repeated. Default: all projects.
    #[arg(long = "project", value_name = "SLUG")]
    projects: Vec<String>,

    /// A label for the key. The history shows it.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// When the key expires, such as 2027-01-31 or 2027-01-31T12:00:00Z. Default: never.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,

    /// Print JSON: {"id", "key", "role", "projects", "label", "expires_at"}.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Args)]
pub(crate) struct List {
    /// Print a JSON array.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Args)]
pub(crate) struct Revoke {
    /// The id of the key, as `keys list` shows it.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<i32>,

    #[command(flatten)]
    connection: Connection,
}

pub(crate) fn run(keys: Keys) -> Result<(), Failure> {
    let runtime = runtime()?;
    match keys {
        Keys::Create(arguments) => runtime.block_on(create(arguments)),
        Keys::List(arguments) => runtime.block_on(list(arguments)),
        Keys::Revoke(arguments) => runtime.block_on(revoke(arguments)),
    }
}

/// A row of `keyed.list_api_keys`.
#[derive(Deserialize, Serialize)]
struct Key {
    id: i32,
    role: String,
    projects: Option<Vec<String>>,
    label: String,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    last_used_at: Option<String>,
    /// Whether the key is rejected because its role was dropped.
    orphaned: bool,
}

async fn create(arguments: Create) -> Result<(), Failure> {
    let client = connect(&arguments.connection.connector("keys create")?).await?;
    let projects = (!arguments.projects.is_empty()).then_some(&arguments.projects);
    let statement = "select keyed.issue_api_key($1::text::name, $2::text[], $3::text, $4::text::timestamptz)";
    let row = client
        .query_typed(
            statement,
            &[
                (&arguments.role, Type::TEXT),
                (&projects, Type::TEXT_ARRAY),
                (&arguments.label, Type::TEXT),
                (&arguments.expires_at, Type::TEXT),
            ],
        )
        .await
        .map_err(explain)?;
    let key: String = row.first().map_or_else(String::new, |row| row.get(0));
    let superuser = "select rolsuper from pg_catalog.pg_roles where rolname = $1::text::name";
    let superuser = client.query_typed(superuser, &[(&arguments.role, Type::TEXT)]).await.map_err(explain)?;
    if superuser.first().is_some_and(|row| row.get(0)) {
        let role = &arguments.role;
        eprintln!(
            "Warning: {role} is a superuser, so grants and scopes do not apply to it. For an administrator, create \
            a key for keyed_admin."
        );
    }
    if !arguments.json {
        eprintln!("The key, which is shown only once:");
        return print(&format!("{key}\n"));
    }
    let id: Option<i32> = key.split('_').nth(1).and_then(|number| number.parse().ok());
    let issued = serde_json::json!({
        "id": id, "key": key, "role": arguments.role, "projects": projects,
        "label": arguments.label.unwrap_or_default(), "expires_at": arguments.expires_at,
    });
    print(&format!("{issued}\n"))
}

async fn list(arguments: List) -> Result<(), Failure> {
    let client = connect(&arguments.connection.connector("keys list")?).await?;
    let statement = "select coalesce(json_agg(k order by k.id), '[]')::text from keyed.list_api_keys() k";
    let rows = client.query_typed(statement, &[]).await.map_err(explain)?;
    let keys: &str = rows.first().map_or("[]", |row| row.get(0));
    let keys: Vec<Key> = serde_json::from_str(keys).map_err(anyhow::Error::new)?;
    if arguments.json {
        let keys = serde_json::to_string_pretty(&keys).map_err(anyhow::Error::new)?;
        return print(&format!("{keys}\n"));
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["id", "role", "projects", "label", "created", "expires", "revoked", "last used"]);
    let time = |at: Option<&String>| at.map_or("never".to_owned(), |at| at.clone());
    for key in &keys {
        table.add_row([
            key.id.to_string(),
            if key.orphaned { format!("{} (dropped)", key.role) } else { key.role.clone() },
            key.projects.as_ref().map_or("all".to_owned(), |projects| projects.join(", ")),
            key.label.clone(),
            key.created_at.clone(),
            time(key.expires_at.as_ref()),
            time(key.revoked_at.as_ref()),
            time(key.last_used_at.as_ref()),
        ]);
    }
    print(&format!("{}\n", table.trim_fmt()))
}

async fn revoke(arguments: Revoke) -> Result<(), Failure> {
    let client = connect(&arguments.connection.connector("keys revoke")?).await?;
    let (mut revoked, mut missed) = (Vec::new(), Vec::new());
    for id in &arguments.ids {
        let statement = "select keyed.revoke_api_key($1)";
        let rows = client.query_typed(statement, &[(id, Type::INT4)]).await.map_err(|error| {
            let error = explain(error);
            if revoked.is_empty() { error } else { error.context(format!("revoked {}", revoked.join(", "))) }
        })?;
        let is_revoked = rows.first().is_some_and(|row| row.get(0));
        if is_revoked { &mut revoked } else { &mut missed }.push(id.to_string());
    }
    if missed.is_empty() {
        return Ok(());
    }
    let done = match revoked.as_slice() {
        [] => "nothing to revoke".to_owned(),
        revoked => format!("revoked {}", revoked.join(", ")),
    };
    let missed = missed.join(", ");
    Err(Failure::Running(anyhow::anyhow!("{done}: no valid key has the id {missed}")))
}
