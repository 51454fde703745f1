//! Python and Node.js packages that validate what keyed sends.

use crate::target_folder;
use std::path::PathBuf;
use std::process::Command;

/// Runs a Python program with packages from PyPI, such as `standardwebhooks==1.1.0`. If it fails, panics with all of
/// its output.
pub fn run_python(packages: &[&str], program: &str, arguments: &[&str]) -> String {
    let folder = target_folder().join("test-python");
    if !folder.join("bin/python").exists() {
        output(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    }
    let pip = folder.join("bin/pip");
    output(Command::new(pip).args(["install", "--quiet", "--disable-pip-version-check"]).args(packages));
    output(Command::new(folder.join("bin/python")).args(["-c", program]).args(arguments))
}

/// Runs a Node.js program, as a module, with packages from npm, such as `standardwebhooks@1.0.0`.
pub fn run_node(packages: &[&str], program: &str, arguments: &[&str]) -> String {
    let folder = target_folder().join("test-node");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let npm = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
    output(Command::new("npm").args(npm).arg(&folder).args(packages));
    let file: PathBuf = folder.join("program.mjs");
    std::fs::write(&file, program).expect("the folder can be written");
    output(Command::new("node").arg(&file).args(arguments))
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}:\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
