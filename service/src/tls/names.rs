//! The common name of a certificate, which is its host if the certificate has no subject alternative names.
//! Certificates made as in PostgreSQL's manual often have none.

use rustls::pki_types::{CertificateDer, ServerName};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::asn1::ObjectIdentifier;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// Whether a certificate has no subject alternative names, and its common name is this host.
pub(super) fn common_name_matches(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
    let Ok(certificate) = Certificate::from_der(certificate) else { return false };
    let certificate = certificate.tbs_certificate;
    let mut extensions = certificate.extensions.iter().flatten();
    if extensions.any(|extension| extension.extn_id == ALTERNATIVE_NAMES) {
        return false;
    }
    let attributes = certificate.subject.0.iter().flat_map(|names| names.0.iter());
    let common_names = attributes.filter(|attribute| attribute.oid == COMMON_NAME);
    common_names
        .filter_map(|attribute| std::str::from_utf8(attribute.value.value()).ok())
        .any(|pattern| matches_host(pattern, &name.to_str()))
}

/// Whether a pattern, whose first label may be `*`, matches a host.
fn matches_host(pattern: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match (pattern.strip_prefix("*."), host.split_once('.')) {
        (Some(domain), Some((_, rest))) => domain.contains('.') && domain.eq_ignore_ascii_case(rest),
        (Some(_), None) => false,
        (None, _) => !pattern.contains('*') && pattern.eq_ignore_ascii_case(host),
    }
}

#[cfg(test)]
mod tests {
    use super::matches_host;

    #[test]
    fn common_name_matches_a_host_or_a_wildcard() {
        for (pattern, host) in [
            ("db.example.com", "DB.example.com"),
            ("db.example.com", "db.example.com."),
            ("*.example.com", "db.example.com"),
            ("192.0.2.1", "192.0.2.1"),
        ] {
            assert!(matches_host(pattern, host), "{pattern} {host}");
        }
        for (pattern, host) in [
            ("db.example.com", "example.com"),
            ("*.example.com", "a.db.example.com"),
            ("*.example.com", "example.com"),
            ("*.com", "example.com"),
            ("*", "db"),
            ("d*.example.com", "db.example.com"),
        ] {
            assert!(!matches_host(pattern, host), "{pattern} {host}");
        }
    }
}
