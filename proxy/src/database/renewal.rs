//! Connections beside those of requests, and connections after the database URL, or what it names, has changed.

use super::Database;
use std::time::Duration;

use tokio::time::timeout;

use crate::settings::Settings;

impl Database {
    /// One connection to the same database, for what must not wait behind requests. It is replaced when theirs are: after a
    /// failover, and when the database has another address.
    pub(crate) fn beside(&self, settings: &Settings) -> anyhow::Result<Database> {
        let primary = self.primary.beside(settings)?;
        Ok(Database { primary, replicas: None })
    }

    /// Finds out whether another host of the URL has become the primary while this one does not respond. Connections to the old
    /// one end then, with the statements that wait there.
    pub(crate) async fn look_for_primary(&self, patience: Duration) {
        if self.primary.connector.has_candidates()
            && let Ok(Ok((client, connection))) = timeout(patience, self.primary.connector.connect()).await
        {
            drop(client);
            connection.abort();
        }
    }

    /// Uses no open connection for another request: those that are idle are closed now, the others when they are.
    pub fn renew(&self) {
        self.primary.renew();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use clap::{Args, FromArgMatches};

    use crate::database::Database;
    use crate::metrics::{Metrics, Routes};
    use crate::settings::Settings;
    use keyed_service::tls::database::Connector;

    #[tokio::test]
    async fn renewal_covers_both_pools() {
        let command = Settings::augment_args(clap::Command::new("test"));
        let url = "host=/nonexistent dbname=none user=none";
        let matches = command.get_matches_from(["test", "--database-url", url]);
        let settings = Settings::from_arg_matches(&matches).expect("good arguments");
        let connector = Connector::new(settings.database().expect("a URL")).expect("no files");
        let metrics = Arc::new(Metrics::new(Routes::default()));
        let served = Database::new(&settings, &connector, 4, &metrics).expect("no connection is opened");
        let beside = served.beside(&settings).expect("no connection is opened");
        let opened = Instant::now();
        assert!(beside.primary.pools.trust.holds(opened));
        served.renew();
        assert!(!beside.primary.pools.trust.holds(opened));
    }
}
