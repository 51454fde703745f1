//! Node.js scripts in `tests/ui/`.

use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Runs `tests/ui/<name>.mjs` with a JSON input, and returns its output. If it fails, panics with all of its output.
pub async fn run_script(name: &str, input: &Value) -> Vec<u8> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui").join(format!("{name}.mjs"));
    let mut node = Command::new("node")
        .arg(&script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("Node.js, which `make setup` installs");
    let mut stdin = node.stdin.take().expect("piped");
    stdin.write_all(input.to_string().as_bytes()).await.expect("the script reads its input");
    drop(stdin);
    let output = node.wait_with_output().await.expect("the script ends");
    assert!(
        output.status.success(),
        "{}:\n{}{}",
        script.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}
