//! Makes one OpenAPI document, as JSON, of the YAML files in `openapi/`. The program embeds it, and with the feature
//! `ui` the web application in `ui/dist`.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[cfg(feature = "ui")]
use anyhow::bail;
use anyhow::{Context, Result, ensure};
use keyed_errors::Code;
use serde_json::{Map, Value};

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=openapi");
    let mut document = read(Path::new("openapi/openapi.yaml"))?;
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    document["paths"] = folder("openapi/paths")?;
    document["components"]["schemas"] = folder("openapi/schemas")?;
    let mut codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    codes.sort_unstable();
    codes.dedup();
    // Not an enum: a client must accept a code that a later version adds.
    for schema in ["Problem", "OperationProblem"] {
        let code = &mut document["components"]["schemas"][schema]["properties"]["code"];
        code["x-extensible-enum"] = codes.clone().into();
    }
    let made = PathBuf::from(env::var("OUT_DIR")?).join("openapi.json");
    fs::write(made, serde_json::to_string_pretty(&document)? + "\n")?;
    #[cfg(feature = "ui")]
    embed_application()?;
    Ok(())
}

/// Writes the list of the application's files, which `src/application.rs` includes.
#[cfg(feature = "ui")]
fn embed_application() -> Result<()> {
    const MADE: &str = "ui/dist";
    println!("cargo::rerun-if-changed={MADE}");
    // Who makes the application, beside cargo, holds a lock.
    if let Ok(making) = fs::File::open("ui/.making") {
        making.lock_shared().context("ui/.making")?;
    }
    let made = Path::new(MADE);
    ensure!(
        made.join("index.html").exists(),
        "proxy/{MADE} is missing: run `make build`, which makes it with Node, or build without the feature `ui`"
    );
    let mut files = vec![made.join("index.html")];
    for entry in fs::read_dir(made.join("assets")).context(MADE)? {
        files.push(entry?.path());
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let path = file.strip_prefix(made)?.to_str().context("a name that is not UTF-8")?;
        let kind = match file.extension().and_then(|it| it.to_str()) {
            Some("css") => "text/css",
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript",
            Some("svg") => "image/svg+xml",
            _ => bail!("proxy/{MADE}/{path}: a type of files that proxy/build.rs does not know"),
        };
        let whole = file.canonicalize()?;
        list += &format!("    ({:?}, {kind:?}, include_bytes!({whole:?})),\n", format!("/{path}"));
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("application.rs"), list + "]\n")?;
    Ok(())
}

/// The members of all files of a folder.
fn folder(path: &str) -> Result<Value> {
    let mut members = Map::new();
    for entry in fs::read_dir(path).with_context(|| path.to_owned())? {
        let file = entry?.path();
        for (name, value) in read(&file)?.as_object().cloned().unwrap_or_default() {
            let former = members.insert(name.clone(), value);
            ensure!(former.is_none(), "{}: {name} is defined twice", file.display());
        }
    }
    Ok(members.into())
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    serde_saphyr::from_str(&text).with_context(|| file.display().to_string())
}
