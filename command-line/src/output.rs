//! Output files: the previous content remains until the new one is complete.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

/// The maximum number of symbolic links to follow, as in Linux.
const MAX_LINKS: usize = 40;

/// An output file.
pub(crate) enum Output {
    /// A temporary file next to the target, renamed at the end.
    Beside(NamedTempFile, PathBuf),
    /// A pipe or device, which cannot be replaced and is written directly.
    Direct(File),
}

impl Output {
    /// Opens a path for writing. Symbolic links are followed.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Output> {
        Output::begin(path).with_context(|| format!("cannot write {}", path.display()))
    }

    fn begin(path: &Path) -> io::Result<Output> {
        let before = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if before.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if before.as_ref().is_some_and(|metadata| !metadata.is_file()) || is_own_descriptor(path) {
            return Ok(Output::Direct(OpenOptions::new().append(true).open(path)?));
        }
        let target = target_of(path)?;
        // The system applies the umask to these permissions.
        let file = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder_of(&target))?;
        if let Some(before) = before {
            // Only root can change the owner of a file. For other users, at least the permissions are kept.
            let _ = fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
            file.as_file().set_permissions(before.permissions())?;
        }
        Ok(Output::Beside(file, target))
    }

    /// Replaces the file with the new content after that is synchronized to disk.
    pub(crate) fn keep_on_disk(self) -> anyhow::Result<()> {
        if let Output::Beside(file, target) = &self {
            file.as_file().sync_all().with_context(|| format!("cannot write {}", target.display()))?;
        }
        self.keep()
    }

    /// Replaces the file with the new content. If this is not called, the old file remains.
    pub(crate) fn keep(self) -> anyhow::Result<()> {
        match self {
            Output::Beside(file, target) => {
                file.persist(&target).with_context(|| format!("cannot write {}", target.display()))?;
                Ok(())
            }
            Output::Direct(mut file) => file.flush().context("cannot write"),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Beside(file, _) => file.write(bytes),
            Output::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Beside(file, _) => file.flush(),
            Output::Direct(file) => file.flush(),
        }
    }
}

/// Whether a path is an open file of this process, which cannot be replaced.
fn is_own_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|door| path.starts_with(door))
}

/// Resolves symbolic links, even to a file that does not exist.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = folder_of(&target).join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, content: &str) -> anyhow::Result<()> {
        let mut output = Output::create(path)?;
        output.write_all(content.as_bytes())?;
        output.keep()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn old_file_remains_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "old").expect("written");
        let mut output = Output::create(&path).expect("a file");
        output.write_all(b"new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
        drop(output);
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
        write(&path, "new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "new");
    }

    #[test]
    fn existing_file_keeps_its_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ordinary, new) = (folder.path().join("ordinary"), folder.path().join("new"));
        fs::write(&ordinary, "").expect("written");
        write(&new, "x").expect("written");
        assert_eq!(mode(&new), mode(&ordinary));
        fs::set_permissions(&new, Permissions::from_mode(0o640)).expect("it is ours");
        write(&new, "y").expect("written");
        assert_eq!(mode(&new), 0o640);
    }

    #[test]
    fn symlink_is_kept_and_its_target_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        symlink("target", &link).expect("a link");
        for content in ["to a new file", "to one that is there"] {
            write(&link, content).expect("written");
            assert_eq!(fs::read_to_string(&target).expect("it is there"), content);
            assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        }
    }

    #[test]
    fn device_is_written_and_folder_is_rejected() {
        write(Path::new("/dev/null"), "x").expect("written");
        assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
        let folder = tempfile::tempdir().expect("a folder");
        assert!(write(folder.path(), "x").is_err());
    }
}
