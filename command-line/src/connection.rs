//! The database connection of administrative commands, which do not use the proxy's own login.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use super::outcome::Failure;
use keyed_service::database_url;
use keyed_service::tls::database::Connector;

#[derive(Args, Clone)]
pub(crate) struct Connection {
    /// The database, as a URL or as keywords, with a login that is a superuser or a member of keyed_admin.
    ///
    /// For example `postgres://dba:secret@localhost/crm` or `host=/run/postgresql dbname=crm user=postgres`.
    #[arg(
        long,
        env = "KEYED_ADMIN_DATABASE_URL",
        hide_env_values = true,
        value_name = "URL",
        verbatim_doc_comment
    )]
    database_url: Option<String>,

    /// A file that contains the database URL, to keep the password out of the process list.
    #[arg(long, env = "KEYED_ADMIN_DATABASE_URL_FILE", value_name = "FILE", conflicts_with = "database_url")]
    database_url_file: Option<PathBuf>,
}

impl Connection {
    /// Returns a connector. Errors refer to the help of the command `help`.
    pub(crate) fn connector(&self, help: &'static str) -> Result<Connector, Failure> {
        let (url, file) = (self.database_url.as_deref(), self.database_url_file.as_deref());
        database_url::read("KEYED_ADMIN_DATABASE_URL", url, file)
            .and_then(Connector::new)
            .map_err(|message| Failure::Usage { message, help })
    }
}

/// The runtime of a command with one connection.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("cannot start")
}

/// Opens a connection with pg_catalog as the search path: administrators run these commands, and a function of another
/// user must not shadow a built-in one.
pub(crate) async fn connect(connector: &Connector) -> anyhow::Result<Client> {
    let (client, _) = connector.connect().await.map_err(explain).context("cannot connect to the database")?;
    client.batch_execute("set search_path = pg_catalog, pg_temp").await.map_err(explain)?;
    Ok(client)
}

/// An error of PostgreSQL with its message and hint. The client library displays only "db error".
pub(crate) fn explain(error: tokio_postgres::Error) -> anyhow::Error {
    match error.as_db_error() {
        Some(db_error) => match db_error.hint() {
            Some(hint) => anyhow!("{}\nHint: {hint}", db_error.message()),
            None => anyhow!("{}", db_error.message()),
        },
        None => anyhow::Error::new(error),
    }
}
