//! Connections beside those of requests, and connections after the database URL, or what it names, has changed.

use super::Database;
use std::sync::Arc;

use crate::settings::Settings;

impl Database {
    /// One connection to the same database, for what must not wait behind requests. It is replaced when theirs are: after a
    /// failover, and when the database has another address.
    pub(crate) fn beside(&self, settings: &Settings) -> anyhow::Result<Database> {
        let (pools, pulse) = (self.pools.clone(), Arc::clone(self.pulse()));
        Database::with_pools(settings, &self.connector, 1, &self.metrics, pools, pulse)
    }

    /// Uses no open connection for another request: those that are idle are closed now, the others when they are.
    pub fn renew(&self) {
        self.pools.trust.withdraw_all();
        self.pools.close_idle();
        self.shared.close_idle();
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
        assert!(beside.pools.trust.holds(opened));
        served.renew();
        assert!(!beside.pools.trust.holds(opened));
    }
}
