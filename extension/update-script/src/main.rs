//! `keyed-update-script <old> <new>` prints the script from one version to another. Both are install scripts,
//! with names such as `keyed--0.1.0.sql`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [old, new] => run(Path::new(old), Path::new(new)),
        _ => Err("usage: keyed-update-script keyed--<old>.sql keyed--<new>.sql".to_owned()),
    };
    match outcome {
        Ok(script) => {
            print!("{script}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("keyed-update-script: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(old: &Path, new: &Path) -> Result<String, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let version = |path: &Path| {
        let name =
            path.file_stem().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("keyed--"));
        name.map(str::to_owned).ok_or_else(|| format!("{} is not named keyed--<version>.sql", path.display()))
    };
    keyed_update_script::update_script(&version(old)?, &read(old)?, &version(new)?, &read(new)?)
}
