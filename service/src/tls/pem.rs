//! Certificates and private keys in PEM files. Messages name the setting, the file, and what to do.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

/// Reads the certificates of a file, at least one.
pub fn certificates(name: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = read(name, path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(format!(
            "{name} {} contains no certificate. It must be a PEM file (-----BEGIN CERTIFICATE-----).",
            path.display()
        )),
        Err(error) => Err(format!("{name} {} is not a valid PEM file: {error}.", path.display())),
    }
}

/// Reads the private key of a file.
pub fn private_key(name: &str, path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let text = read(name, path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let path = path.display();
        match contains(&text, b"ENCRYPTED") {
            true => format!(
                "{name} {path} is encrypted. Decrypt it: openssl pkey -in {path} -out <file>, which only the user of \
                 keyed-proxy can read."
            ),
            false => format!(
                "{name} {path} contains no private key that can be used: {error}. It must be a PEM file with a key in \
                 PKCS#8, PKCS#1 or SEC1."
            ),
        }
    })
}

/// Reads the revocation lists of a file, at least one.
pub fn revocation_lists(
    name: &str,
    path: &Path,
) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let text = read(name, path)?;
    let lists: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(&text).collect();
    match lists {
        Ok(lists) if !lists.is_empty() => Ok(lists),
        Ok(_) => Err(format!("{name} {} contains no revocation list in PEM.", path.display())),
        Err(error) => Err(format!("{name} {} is not a valid PEM file: {error}.", path.display())),
    }
}

fn read(name: &str, path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| {
        format!(
            "{name} {}: {error}. It must be a file that the user of keyed-proxy can read.",
            path.display()
        )
    })
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("it is our file");
        file
    }

    #[test]
    fn message_names_setting_file_and_error() {
        let missing = private_key("KEYED_TLS_KEY", Path::new("/nowhere/key.pem")).expect_err("no file");
        assert!(missing.starts_with("KEYED_TLS_KEY /nowhere/key.pem: No such file"), "{missing}");
        let empty = certificates("KEYED_TLS_CERT", file("").path()).expect_err("no certificate");
        assert!(empty.contains("contains no certificate"), "{empty}");
        let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let locked = private_key("sslkey", file(locked).path()).expect_err("an encrypted key");
        assert!(locked.contains("openssl pkey"), "{locked}");
        let other = private_key("sslkey", file("no key").path()).expect_err("no key");
        assert!(other.contains("contains no private key"), "{other}");
    }
}
