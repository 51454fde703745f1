//! The scripts of `.dev/`.

use crate::repository_folder;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a `df` that shows 7 MB free on every file system.
fn full_disk() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("keyed-full-disk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let df = folder.join("df");
    std::fs::write(&df, "#!/bin/sh\nprintf 'Avail\\n  7\\n'\n").expect("a file");
    std::fs::set_permissions(&df, PermissionsExt::from_mode(0o755)).expect("it is our file");
    folder
}

/// What a command of `.dev/` says on a full disk.
fn on_full_disk(folder: &Path, command: &[&str]) -> (bool, String) {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(command[0])
        .args(&command[1..])
        .current_dir(repository_folder())
        // Only the folder of cargo is searched before.
        .env("PATH", format!("{}:{path}", folder.display()))
        // Should the check be missing, no test is run.
        .env("KIND", "none")
        .output()
        .expect("bash is installed");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_build_and_a_test_begin_only_with_enough_room_on_the_disk() {
    let folder = full_disk();
    for command in [&["bash", ".dev/test"][..], &["bash", ".dev/setup"]] {
        let (succeeded, said) = on_full_disk(&folder, command);
        assert!(!succeeded && said.contains("MB on the file system of"), "{command:?}: {said}");
        assert!(said.contains("which has only 7 MB free"), "{command:?}: {said}");
    }
    let enough = "source .dev/common.sh; require_room / 7 'A test'; build_needs release debug";
    let (succeeded, needed) = on_full_disk(&folder, &["bash", "-c", enough]);
    assert!(succeeded && needed.trim().parse::<u32>().is_ok_and(|needed| needed > 7), "{needed}");
    std::fs::remove_dir_all(folder).expect("it is our folder");
}
