//! TLS of the listener: certificate and key from files, which can be reloaded while requests are served.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::TlsAcceptor;

use crate::settings::Settings;
use keyed_service::tls::pem;
use keyed_service::tls::provider;
use keyed_service::tls::validity::{CertificateStatus, Validity};

const CERTIFICATE: &str = "KEYED_TLS_CERT";
const KEY: &str = "KEYED_TLS_KEY";

/// The certificate and key in the files that two settings name.
pub struct ListenerTls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Loaded>,
}

#[derive(Clone)]
struct Loaded {
    configuration: Arc<ServerConfig>,
    validity: Validity,
    /// The certificate, and the certificates of intermediate authorities.
    chain: Vec<CertificateDer<'static>>,
}

impl ListenerTls {
    /// Reads the files. An expired certificate is used nevertheless: clients that do not verify it keep working, and
    /// others get a clear error.
    fn load(certificate: &Path, key: &Path) -> Result<ListenerTls, String> {
        let current = RwLock::new(read(certificate, key)?);
        Ok(ListenerTls { certificate: certificate.to_owned(), key: key.to_owned(), current })
    }

    /// Reads the files of the two settings, if they are set.
    pub fn of(settings: &Settings) -> Result<Option<ListenerTls>, String> {
        let Some((certificate, key)) = settings.listener_files()? else { return Ok(None) };
        ListenerTls::load(certificate, key).map(Some)
    }

    /// Reloads the files for new handshakes; open connections are not affected. Invalid files, or a certificate that is
    /// not valid now, have no effect.
    ///
    /// Returns whether the files have changed.
    pub fn reload(&self) -> Result<bool, String> {
        let loaded = read(&self.certificate, &self.key)?;
        if loaded.chain == self.current().chain {
            return Ok(false);
        }
        let status = loaded.validity.status(SystemTime::now());
        if let CertificateStatus::Expired | CertificateStatus::NotYetValid = status {
            return Err(self.words(status).unwrap_or_default());
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(true)
    }

    /// The acceptor for a handshake.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current().configuration)
    }

    /// A warning about the validity period of the certificate, and whether it is an error.
    pub fn warning(&self) -> Option<(bool, String)> {
        let status = self.current().validity.status(SystemTime::now());
        self.words(status).map(|words| (!matches!(status, CertificateStatus::EndsSoon(_)), words))
    }

    /// The expiry of the certificate, since 1970.
    pub fn expiry(&self) -> Duration {
        self.current().validity.until()
    }

    fn current(&self) -> Loaded {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn words(&self, status: CertificateStatus) -> Option<String> {
        let what = match status {
            CertificateStatus::Valid => return None,
            CertificateStatus::EndsSoon(days) => format!("expires in {days} days"),
            CertificateStatus::Expired => "has expired".to_owned(),
            CertificateStatus::NotYetValid => {
                "is not valid yet (is the clock of this machine right?)".to_owned()
            }
        };
        let path = self.certificate.display();
        Some(format!(
            "the certificate in {CERTIFICATE} {path} {what}. Replace it and its key ({KEY}), and send SIGHUP."
        ))
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Loaded, String> {
    let chain = pem::certificates(CERTIFICATE, certificate)?;
    let private = pem::private_key(KEY, key)?;
    let broken = |error: &dyn std::fmt::Display| {
        format!("{CERTIFICATE} {} cannot be used: {error}.", certificate.display())
    };
    let validity = Validity::of(&chain[0]).map_err(|error| broken(&error))?;
    let identity = CertifiedKey::from_der(chain.clone(), private, &provider()).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => format!(
            "the key in {KEY} {} does not belong to the first certificate in {CERTIFICATE} {}. The server's own \
             certificate comes first, then those of intermediate authorities.",
            key.display(),
            certificate.display()
        ),
        rustls::Error::InvalidCertificate(_) => broken(&error),
        error => format!("{KEY} {} cannot be used: {error}.", key.display()),
    })?;
    let mut configuration = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| broken(&error))?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
    configuration.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Loaded { configuration: Arc::new(configuration), validity, chain })
}
