//! SIGHUP reloads the certificate and key of the listener, the secret files, the database URL with its certificates,
//! and the log level. A part that cannot be read is not changed.

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::signal::unix::Signal;
use tokio::sync::oneshot;

use super::certificate;
use super::environment_file::EnvironmentFile;
use super::log_level::LogLevel;
use super::service_manager;
use keyed_proxy::listener_tls::ListenerTls;
use keyed_proxy::settings::Settings;
use keyed_proxy::shards::Service;
use keyed_service::worker::WorkerKey;

/// Everything that SIGHUP reloads.
pub(super) struct Reload {
    pub(super) service: Arc<Service>,
    pub(super) settings: Settings,
    pub(super) tls: Option<Arc<ListenerTls>>,
    pub(super) embedding_key: Option<WorkerKey>,
    pub(super) webhook_key: Option<WorkerKey>,
    pub(super) log: LogLevel,
    /// The settings file at startup.
    pub(super) environment: EnvironmentFile,
}

impl Reload {
    /// Reloads everything at each signal.
    pub(super) async fn run(self, mut asked: Signal) {
        let reload = Arc::new(self);
        while asked.recv().await.is_some() {
            service_manager::reloading();
            let (done, is_done) = oneshot::channel();
            let (reload, runtime) = (Arc::clone(&reload), Handle::current());
            // On a separate thread, so that a file system that does not respond delays neither requests nor shutdown.
            let thread = std::thread::Builder::new().name("reload".to_owned()).spawn(move || {
                runtime.block_on(reload.reload_all());
                let _ = done.send(());
            });
            match thread {
                Ok(_) => drop(is_done.await),
                Err(error) => tracing::error!(%error, "SIGHUP: nothing was reloaded"),
            }
            service_manager::ready();
        }
    }

    async fn reload_all(&self) {
        let parts = [
            ("the log level", self.log_level()),
            ("the certificate of the listener", self.certificate()),
            ("the database URL", self.database().await),
            ("the URLs of replicas", self.replicas().await),
            ("the API key of the embedding server", self.provider_key()),
            ("the API key that embeds records", self.embedding_key()),
            ("the API key that delivers webhooks", self.webhook_key()),
        ];
        let mut kept = Vec::new();
        for (part, outcome) in parts {
            match outcome {
                Ok(true) => tracing::info!("reloaded: {part}"),
                Ok(false) => {}
                Err(error) => {
                    tracing::error!("{part} is not changed: {error}");
                    kept.push(part);
                }
            }
        }
        match kept.is_empty() {
            true => tracing::info!("reloaded after SIGHUP"),
            false => tracing::error!("SIGHUP: could not be reloaded: {}", kept.join(", ")),
        }
    }

    fn log_level(&self) -> Result<bool, String> {
        let Some(path) = &self.settings.environment_file else { return Ok(false) };
        let now = read_environment(path)?;
        let restart: Vec<&str> =
            self.environment.differences(&now).into_iter().filter(|name| *name != "KEYED_LOG").collect();
        if !restart.is_empty() {
            tracing::warn!(settings = restart.join(", "), "these settings have changed, and need a restart");
        }
        match (now.get("KEYED_LOG"), self.environment.get("KEYED_LOG")) {
            (Some(filter), _) => self.log.set(filter),
            // The line was removed from the file.
            (None, Some(_)) => self.log.set(keyed_proxy::settings::DEFAULT_LOG),
            (None, None) => self.log.set(&self.settings.log),
        }
    }

    fn certificate(&self) -> Result<bool, String> {
        let Some(tls) = &self.tls else { return Ok(false) };
        let has_changed = tls.reload()?;
        certificate::show_expiry(tls, self.service.metrics());
        if has_changed {
            certificate::warn(tls);
        }
        Ok(has_changed)
    }

    async fn database(&self) -> Result<bool, String> {
        let (apps, databases) = (self.service.apps(), self.settings.databases()?);
        if !apps.iter().map(|app| app.shard).eq(databases.iter().map(|it| it.shard)) {
            return Err("KEYED_SHARDS has other shards than before, which needs a restart.".into());
        }
        let mut has_changed = false;
        for (app, settings) in apps.iter().zip(databases) {
            if app.connector.replace(settings.database()?).await? {
                app.database.renew();
                has_changed = true;
            }
        }
        Ok(has_changed)
    }

    async fn replicas(&self) -> Result<bool, String> {
        let mut has_changed = false;
        for (app, settings) in self.service.apps().iter().zip(self.settings.databases()?) {
            if let Some(replicas) = app.database.replicas() {
                has_changed |= replicas.replace(&settings).await?;
            }
        }
        Ok(has_changed)
    }

    fn provider_key(&self) -> Result<bool, String> {
        let Some(embedder) = self.service.embedder() else { return Ok(false) };
        Ok(embedder.replace_key(self.settings.embedding.key()?))
    }

    fn embedding_key(&self) -> Result<bool, String> {
        let Some(current) = &self.embedding_key else { return Ok(false) };
        match self.settings.embedding.worker_key()? {
            Some(key) => Ok(current.replace(&key)),
            None => Err("it is empty. To embed no records, restart the service without it.".into()),
        }
    }

    fn webhook_key(&self) -> Result<bool, String> {
        let Some(current) = &self.webhook_key else { return Ok(false) };
        match self.settings.webhooks.worker_key()? {
            Some(key) => Ok(current.replace(&key)),
            None => Err("it is empty. To deliver no webhooks, restart the service without it.".into()),
        }
    }
}

/// Reads the settings file.
pub(super) fn read_environment(path: &Path) -> Result<EnvironmentFile, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("KEYED_ENVIRONMENT_FILE {}: {error}.", path.display()))?;
    Ok(EnvironmentFile::parse(&text))
}
