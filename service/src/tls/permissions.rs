//! The permissions of the file of a private key.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Applies the rule of libpq: a key that this user owns must be readable only by this user. A key that root owns may
/// also be readable by its group.
pub(super) fn check(name: &str, path: &Path) -> Result<(), String> {
    let unreadable = |error| format!("{name} {}: {error}.", path.display());
    let file = std::fs::metadata(path).map_err(unreadable)?;
    let ours = std::fs::metadata("/proc/self").map_err(unreadable)?.uid();
    if is_private(file.uid(), ours, file.mode()) {
        return Ok(());
    }
    Err(format!(
        "{name} {} can be read by others. It must belong to the user of keyed-proxy with the mode 0600, or to root with \
         0640 at most.",
        path.display()
    ))
}

fn is_private(owner: u32, ours: u32, mode: u32) -> bool {
    if owner == ours {
        return mode & 0o077 == 0;
    }
    owner == 0 && mode & 0o027 == 0
}

#[cfg(test)]
mod tests {
    use super::is_private;

    #[test]
    fn private_key_is_readable_by_owner_or_by_group_of_root() {
        for (owner, mode) in [(7, 0o600), (7, 0o400), (0, 0o640), (0, 0o440), (0, 0o600)] {
            assert!(is_private(owner, 7, mode), "{owner} {mode:o}");
        }
        for (owner, mode) in [(7, 0o640), (7, 0o604), (0, 0o644), (0, 0o660), (8, 0o600)] {
            assert!(!is_private(owner, 7, mode), "{owner} {mode:o}");
        }
        assert!(!is_private(0, 0, 0o640), "root's own");
    }
}
