//! Certificates for tests, issued by certificate authorities of their own.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
    date_time_ymd,
};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A certificate authority for one test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// The private key in PKCS#8.
    pub key: String,
    der: CertificateDer<'static>,
    number: u64,
}

impl Authority {
    /// Creates an authority with this name.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, new_key()).expect("valid parameters");
        Self { issuer }
    }

    /// The authority's own certificate, for clients that trust it.
    pub fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// Issues a certificate for these names and addresses; the first is the common name.
    pub fn issue(&self, names: &[&str]) -> Identity {
        self.sign(params(names))
    }

    /// Issues an expired certificate.
    pub fn issue_expired(&self, names: &[&str]) -> Identity {
        self.issue_until(names, 2020)
    }

    /// Issues a certificate that is valid until the beginning of this year.
    pub fn issue_until(&self, names: &[&str], year: i32) -> Identity {
        let mut params = params(names);
        params.not_after = date_time_ymd(year, 1, 1);
        self.sign(params)
    }

    /// Issues a certificate with only a common name and no subject alternative names, as older tools do.
    pub fn issue_without_names(&self, common_name: &str) -> Identity {
        let mut params = params(&[]);
        params.distinguished_name.push(DnType::CommonName, common_name);
        self.sign(params)
    }

    /// The authority's own certificate and key, for a server with a self-signed certificate.
    pub fn identity(&self) -> Identity {
        Identity {
            certificate: self.certificate(),
            key: self.issuer.key().serialize_pem(),
            der: self.issuer.der().clone(),
            number: 0,
        }
    }

    /// A revocation list with this certificate, in PEM.
    pub fn revocation_list(&self, revoked: Option<&Identity>) -> String {
        let revoked_certs = revoked.map(|identity| RevokedCertParams {
            serial_number: SerialNumber::from(identity.number),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(4000, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked_certs.into_iter().collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).and_then(|list| list.pem()).expect("valid parameters")
    }

    fn sign(&self, mut params: CertificateParams) -> Identity {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        params.serial_number = Some(SerialNumber::from(number));
        let key = new_key();
        let certificate = params.signed_by(&key, &self.issuer).expect("valid parameters");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            der: certificate.der().clone(),
            number,
        }
    }

    /// The settings of a client that trusts only this authority.
    pub fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("it is an authority");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the versions are those of the provider")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(client)
    }
}

impl Identity {
    /// The certificate in DER, as sent in a handshake.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Writes the certificate and key as `<name>.crt` and `<name>.key`, readable only by their owner.
    pub fn write(&self, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let (certificate, key) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
        std::fs::write(&certificate, &self.certificate).expect("the folder can be written");
        std::fs::write(&key, &self.key).expect("the folder can be written");
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).expect("the file is accessible");
        (certificate, key)
    }
}

/// An elliptic curve key, because RSA keys take long to generate.
fn new_key() -> KeyPair {
    KeyPair::generate().expect("random bytes are available")
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
    let common_name = names.first().cloned().unwrap_or_default();
    let mut params = CertificateParams::new(names).expect("names and addresses");
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params
}
