//! Scripts, dumps and restores by PostgreSQL's own programs, run as an administrator runs them.

use crate::{Cluster, Database};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The output of a program. A failure panics with its error output.
pub fn output(command: &mut Command, input: &[u8]) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that exits early writes the reason to standard error.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    let said = [&*output.stderr, &*output.stdout].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{command:?}: {said}");
    output.stdout
}

impl Cluster {
    /// Copies the roles of this cluster to another one, which already has the superuser.
    pub fn copy_roles_to(&self, target: &Self) {
        let globals = output(self.program("pg_dumpall").arg("--globals-only"), b"");
        output(target.program("psql").args(["--no-psqlrc", "--quiet", "--dbname", "postgres"]), &globals);
    }
}

impl Database {
    /// Runs statements with psql as superuser, and panics at the first error.
    pub fn run_in_psql(&self, statements: &str) {
        let mut psql = self.cluster().program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", self.name()]);
        output(&mut psql, statements.as_bytes());
    }

    /// Row count and checksum of every table, computed by keyed.
    pub async fn checksums(&self) -> String {
        let sql = "select string_agg(concat_ws(' ', template, part, rows, checksum), E'\\n') from keyed.checksums()";
        self.session().await.text(sql, &[]).await
    }

    /// Asserts that every index matches its table and every unique index has no duplicates.
    pub async fn assert_valid_indexes(&self) {
        let mut check = self.cluster().program("pg_amcheck");
        check.args(["--install-missing", "--heapallindexed", "--parent-check", "--database", self.name()]);
        output(&mut check, b"");
        // amcheck can check GIN indexes since PostgreSQL 18.
        let can_check_gin = "select to_regprocedure('gin_index_check(regclass)') is not null";
        let session = self.session().await;
        if session.text(can_check_gin, &[]).await == "t" {
            let check = "select gin_index_check(c.oid) from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'gin'";
            assert!(!session.rows(check, &[]).await.is_empty(), "each template has an index of texts");
        }
    }

    /// A dump by pg_dump.
    pub fn dump(&self, arguments: &[&str]) -> Vec<u8> {
        output(self.cluster().program("pg_dump").args(arguments).args(["--dbname", self.name()]), b"")
    }

    /// Restores an archive created by [`dump`](Self::dump).
    pub fn restore(&self, archive: &[u8]) {
        let mut restore = self.cluster().program("pg_restore");
        output(restore.args(["--exit-on-error", "--dbname", self.name()]), archive);
    }

    /// Copies the database to another cluster with a dump. It uses the programs of the database's own version, because
    /// those of a newer major version may be an earlier minor release.
    pub async fn copied_to(&self, target: &Arc<Cluster>) -> Self {
        self.cluster().copy_roles_to(target);
        let copy = Self::empty_in(target).await;
        copy.restore(&self.dump(&["--format=custom"]));
        copy
    }
}
