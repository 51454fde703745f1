//! Verification of a PostgreSQL server: none, against the given roots, or also against the host name of the URL.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::names::common_name_matches;
use super::provider;
use super::validity::{CertificateStatus, Validity};

/// Verifies certificates of database servers as libpq does.
pub(super) struct ServerVerifier {
    provider: Arc<CryptoProvider>,
    roots: Option<Roots>,
    checks_name: bool,
}

struct Roots {
    chain: Arc<WebPkiServerVerifier>,
    /// A server may present a root certificate itself, because many servers have a self-signed certificate.
    certificates: Vec<CertificateDer<'static>>,
}

impl ServerVerifier {
    /// Accepts any server: the connection is encrypted, but the server is not verified.
    pub(super) fn accept_any() -> ServerVerifier {
        ServerVerifier { provider: provider(), roots: None, checks_name: false }
    }

    /// Accepts a server whose certificate is issued by these roots and not revoked, and matches the host name if that
    /// is to be verified.
    pub(super) fn with_roots(
        certificates: Vec<CertificateDer<'static>>,
        revoked: Vec<CertificateRevocationListDer<'static>>,
        checks_name: bool,
    ) -> Result<ServerVerifier, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        if roots.is_empty() {
            return Err("none of its certificates can be read".into());
        }
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .with_crls(revoked)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(ServerVerifier { provider: provider(), roots: Some(Roots { chain, certificates }), checks_name })
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let verified = if roots.certificates.iter().any(|root| root == end_entity) {
            verify_root(end_entity, server_name, now)
        } else {
            // The library verifies the name last.
            roots
                .chain
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .map(drop)
        };
        match verified {
            Err(error) if is_about_name(&error) => {
                if self.checks_name && !common_name_matches(end_entity, server_name) {
                    return Err(error);
                }
            }
            verified => verified?,
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Verifies the validity period and the names of a certificate that is itself trusted.
fn verify_root(certificate: &CertificateDer<'_>, name: &ServerName<'_>, now: UnixTime) -> Result<(), Error> {
    let validity =
        Validity::of(certificate).map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
    match validity.status_at(std::time::Duration::from_secs(now.as_secs())) {
        CertificateStatus::Expired => Err(Error::InvalidCertificate(CertificateError::Expired)),
        CertificateStatus::NotYetValid => Err(Error::InvalidCertificate(CertificateError::NotValidYet)),
        CertificateStatus::Valid | CertificateStatus::EndsSoon(_) => {
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
        }
    }
}

fn is_about_name(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
        )
    )
}

impl fmt::Debug for ServerVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServerVerifier")
            .field("checks_name", &self.checks_name)
            .finish_non_exhaustive()
    }
}
