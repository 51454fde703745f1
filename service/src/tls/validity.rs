//! The validity period of a certificate.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// The time before expiry at which a warning is logged. Automatic renewal happens earlier.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// The start and end of a validity period, since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    from: Duration,
    until: Duration,
}

/// The state of a certificate at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateStatus {
    /// Valid, and does not expire soon.
    Valid,
    /// Expires in this many days.
    EndsSoon(u64),
    /// No longer valid.
    Expired,
    /// Not valid yet.
    NotYetValid,
}

impl Validity {
    /// The validity period of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Validity, String> {
        let certificate = Certificate::from_der(certificate).map_err(|error| error.to_string())?;
        let validity = certificate.tbs_certificate.validity;
        Ok(Validity {
            from: validity.not_before.to_unix_duration(),
            until: validity.not_after.to_unix_duration(),
        })
    }

    /// The end, since 1970.
    pub fn until(self) -> Duration {
        self.until
    }

    /// The state of the certificate at a time.
    pub fn status(self, now: SystemTime) -> CertificateStatus {
        self.status_at(now.duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// The same for a time since 1970.
    pub fn status_at(self, now: Duration) -> CertificateStatus {
        if now < self.from {
            return CertificateStatus::NotYetValid;
        }
        match self.until.checked_sub(now) {
            None => CertificateStatus::Expired,
            Some(left) if left < SOON => CertificateStatus::EndsSoon(left.as_secs() / (24 * 3600)),
            Some(_) => CertificateStatus::Valid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_is_valid_from_not_before_to_not_after() {
        let day = Duration::from_secs(24 * 3600);
        let validity = Validity { from: day * 10, until: day * 100 };
        let status = |days: u32| validity.status(UNIX_EPOCH + day * days);
        assert_eq!(status(9), CertificateStatus::NotYetValid);
        assert_eq!(status(10), CertificateStatus::Valid);
        assert_eq!(status(90), CertificateStatus::EndsSoon(10));
        assert_eq!(status(100), CertificateStatus::EndsSoon(0));
        assert_eq!(status(101), CertificateStatus::Expired);
    }
}
