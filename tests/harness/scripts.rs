//! Tests of the scripts in `.dev/`.

use crate::repository_folder;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with a `df` that reports 7 MB free on every file system.
fn full_disk() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("keyed-full-disk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let df = folder.join("df");
    std::fs::write(&df, "#!/bin/sh\nprintf 'Avail\\n  7\\n'\n").expect("a file");
    std::fs::set_permissions(&df, PermissionsExt::from_mode(0o755)).expect("the file is accessible");
    folder
}

/// The output of a command of `.dev/` on a full disk.
fn on_full_disk(folder: &Path, command: &[&str]) -> (bool, String) {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(command[0])
        .args(&command[1..])
        .current_dir(repository_folder())
        // Scripts search only cargo's folder before this one.
        .env("PATH", format!("{}:{path}", folder.display()))
        // If the check were missing, the filter would match no test.
        .env("KIND", "none")
        .output()
        .expect("bash is installed");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn build_and_test_need_disk_space() {
    let folder = full_disk();
    for command in [&["bash", ".dev/test"][..], &["bash", ".dev/build"]] {
        let (succeeded, said) = on_full_disk(&folder, command);
        assert!(!succeeded && said.contains("MB on the file system of"), "{command:?}: {said}");
        assert!(said.contains("which has only 7 MB free"), "{command:?}: {said}");
    }
    let enough = "source .dev/common.sh; require_room / 7 'A test'; build_needs quick debug";
    let (succeeded, needed) = on_full_disk(&folder, &["bash", "-c", enough]);
    assert!(succeeded && needed.trim().parse::<u32>().is_ok_and(|needed| needed > 7), "{needed}");
    std::fs::remove_dir_all(folder).expect("the folder is accessible");
}

/// The output of a build before it compiles anything, with these programs first in PATH and these environment
/// variables.
fn build_complaint(programs: &[(&str, &str)], variables: &[(&str, &str)]) -> String {
    let home = std::env::temp_dir().join(format!("keyed-build-{}-{}", std::process::id(), programs.len()));
    // Scripts search cargo's folder first.
    let folder = home.join(".cargo/bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, script) in programs {
        let program = folder.join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("the file is accessible");
    }
    let mut build = Command::new("bash");
    build.args([".dev/build", "--quick", "--without-install"]).current_dir(repository_folder());
    // The folder in which rustup has its compilers, independent of HOME.
    let rustup = std::env::var("HOME").map(|home| format!("{home}/.rustup")).unwrap_or_default();
    // In a test, rustup sets a variable to the cargo home, which contains the crates.
    build.env_remove("CARGO_HOME");
    build.env("HOME", &home).env("RUSTUP_HOME", std::env::var("RUSTUP_HOME").unwrap_or(rustup));
    let output = build.envs(variables.iter().copied()).output().expect("bash is installed");
    std::fs::remove_dir_all(&home).expect("the folder is accessible");
    assert!(!output.status.success(), "the build must not begin");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn old_rust_is_rejected_before_compiling() {
    let says = build_complaint(&[("rustc", "echo rustc 1.70.0"), ("cargo", "[ \"$1\" = --version ]")], &[]);
    assert!(says.contains("rustc is 1.70.0, and keyed needs 1.9"), "{says}");
    assert!(says.contains("rustup update stable") && !says.contains("Compiling"), "{says}");
}

#[test]
fn rust_without_rustfmt_is_rejected_before_compiling() {
    let rust = [("rustc", "echo rustc 1.99.0"), ("cargo", "[ \"$1\" = --version ]"), ("rustfmt", "exit 1")];
    let says = build_complaint(&rust, &[]);
    assert!(says.contains("rustup component add rustfmt") && !says.contains("Compiling"), "{says}");
}

#[test]
fn missing_network_is_reported_before_compiling() {
    let says = build_complaint(&[], &[("CARGO_NET_OFFLINE", "true")]);
    assert!(says.contains("Not all crates that keyed needs are on this machine"), "{says}");
    assert!(!says.contains("Compiling"), "{says}");
}

#[test]
fn memory_bounds_the_number_of_compilers() {
    let jobs = |free: &str, cores: &str| {
        let script = format!("source .dev/common.sh; compiler_jobs {free} {cores}");
        let output = Command::new("bash").args(["-c", &script]).current_dir(repository_folder()).output();
        String::from_utf8_lossy(&output.expect("bash is installed").stdout).trim().to_owned()
    };
    let expected =
        [("700", "2", "0"), ("1600", "4", "1"), ("2600", "4", "2"), ("16000", "2", "2"), ("16000", "1", "1")];
    for (free, cores, expected) in expected {
        assert_eq!(jobs(free, cores), expected, "{free} MB, {cores} cores");
    }
}

#[test]
fn function_files_have_an_order() {
    let folder = repository_folder().join("sql/functions");
    let order = std::fs::read_to_string(folder.join("order")).expect("the order");
    let mut ordered: Vec<&str> = order.lines().filter(|line| !line.starts_with('#')).collect();
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != "order")
        .collect();
    ordered.sort_unstable();
    files.sort_unstable();
    assert_eq!(ordered, files);
}

/// The error that `make` reports.
fn complaint(arguments: &[&str]) -> String {
    let mut make = Command::new("make");
    make.arg("--no-print-directory").args(arguments).current_dir(repository_folder());
    for name in ["PG", "KEYED_PG_BIN", "KEYED_RUN", "KEYED_PORT"] {
        make.env_remove(name);
    }
    let output = make.output().expect("make is installed");
    assert!(!output.status.success(), "make {arguments:?} must fail");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn unsupported_postgresql_version_is_rejected() {
    for wrong in ["14", "19", "banana", "15.20", "15 16"] {
        for command in ["run", "test", "build", "setup", "deb"] {
            let says = complaint(&[command, &format!("PG={wrong}")]);
            assert!(
                says.contains(&format!("PG={wrong} is not supported")) && says.contains("15 16 17 18"),
                "{command}: {says}"
            );
        }
    }
}

#[test]
fn invalid_postgresql_version_gets_no_package() {
    let folder = std::env::temp_dir().join(format!("keyed-no-package-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let program = folder.join("pg_config");
    std::fs::write(&program, "#!/bin/sh\necho PostgreSQL 17.0\n").expect("a file");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("the file is accessible");
    let says = complaint(&["deb", &format!("KEYED_PG_BIN={}", folder.display())]);
    std::fs::remove_dir_all(&folder).expect("the folder is accessible");
    assert!(says.contains("PostgreSQL 17 is in") && says.contains("not from a package"), "{says}");
}

#[test]
fn cluster_of_another_version_is_reported() {
    let folder = std::env::temp_dir().join(format!("keyed-scripts-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("cluster")).expect("a temporary folder");
    std::fs::write(folder.join("cluster/PG_VERSION"), "13\n").expect("a file");
    let says = complaint(&["run", &format!("KEYED_RUN={}", folder.display()), "KEYED_PORT=1"]);
    std::fs::remove_dir_all(&folder).expect("the folder is accessible");
    assert!(says.contains("has PostgreSQL 13, not") && says.contains("make run PG=13"), "{says}");
}
