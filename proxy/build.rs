//! Makes one OpenAPI document, as JSON, of the YAML files in `openapi/`. The program embeds it, and with the feature
//! `ui` the web application in `ui/dist`.

use std::path::{Path, PathBuf};
use std::{env, fs};

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

#[cfg(feature = "ui")]
fn embed_application() -> Result<()> {
    const MADE: &str = "ui/dist";
    println!("cargo::rerun-if-changed={MADE}");
    ensure!(
        Path::new(MADE).join("index.html").exists(),
        "proxy/{MADE} is missing: run `make build`, which makes it with Node, or build without the feature `ui`"
    );
    memory_serve::load_directory(MADE);
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
