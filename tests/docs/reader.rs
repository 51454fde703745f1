//! Somebody who follows a page: a database, a service, and the folder in which blocks are pasted.

use crate::page::{Block, block, blocks, file};
use harness::{Database, Proxy, repository_folder};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A folder with what `make run` leaves in `.run/`, until it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// The one of a database and an API key.
    pub(crate) fn new(database: &Database, key: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("keyed-quickstart-{}", database.name()));
        std::fs::create_dir_all(folder.join(".run")).expect("the temporary folder can be written");
        let url = database.cluster().url("postgres", database.name());
        std::fs::write(folder.join(".run/database.url"), url).expect("the folder can be written");
        std::fs::write(folder.join(".run/admin.key"), key).expect("the folder can be written");
        Self(folder)
    }

    /// What a script prints in it.
    pub(crate) fn shell(&self, script: &str) -> String {
        output(Command::new("bash").args(["-euo", "pipefail", "-s"]).current_dir(&self.0), script)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A database with the demo project.
pub(crate) async fn demo() -> Database {
    let database = Database::new().await;
    let demo = std::fs::read_to_string(repository_folder().join("sql/demo.sql")).expect("the demo project");
    database.cluster().sql(database.name(), &demo);
    database
}

/// Who follows a page with a service that has the demo project.
pub(crate) struct Reader {
    /// Its database.
    pub(crate) database: Database,
    page: Vec<Block>,
    proxy: Proxy,
    folder: Folder,
}

impl Reader {
    /// Starts the service for a page.
    pub(crate) async fn new(page: &str) -> Self {
        let database = demo().await;
        let proxy = Proxy::start(&database).await;
        let folder = Folder::new(&database, proxy.key());
        Self {
            database,
            page: [blocks(&file(page)), blocks(&file("docs/tutorial/first-records.md"))]
                .into_iter()
                .flatten()
                .collect(),
            proxy,
            folder,
        }
    }

    /// The block of a language under a heading.
    pub(crate) fn block(&self, heading: &str, language: &str) -> &str {
        block(&self.page, heading, language)
    }

    /// The shell's block under a heading, for this service.
    pub(crate) fn script(&self, heading: &str) -> String {
        self.block(heading, "sh").replace("http://127.0.0.1:8080", &self.proxy.url(""))
    }

    /// What a script prints.
    pub(crate) fn shell(&self, script: &str) -> String {
        self.folder.shell(script)
    }
}

/// The output of a program that was fed a text; its complaints are the test's.
fn output(program: &mut Command, input: &str) -> String {
    let mut child = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program of the quickstart is installed");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the program reads");
    let output = child.wait_with_output().expect("the program ends");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{complaints}");
    String::from_utf8(output.stdout).expect("UTF-8")
}
