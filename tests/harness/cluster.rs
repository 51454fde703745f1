//! A private PostgreSQL cluster.

use crate::cluster_folder::ClusterFolder;
use crate::{has_direct_access, log_file, server_user};
use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether the cluster flushes commits to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// PostgreSQL's defaults, for tests that kill it.
    Full,
    /// No fsync: a crash of the machine may lose everything.
    None,
}

/// A PostgreSQL cluster in a temporary folder. It listens on a socket in the folder, with trust authentication.
///
/// It ends when its last owner is dropped. The [shared](Self::shared) cluster ends with the test process, even if that
/// is killed.
pub struct Cluster {
    programs: PathBuf,
    folder: ClusterFolder,
    log: PathBuf,
    durability: Durability,
    settings: &'static [&'static str],
    postmaster: Mutex<Child>,
    pub(crate) template: tokio::sync::OnceCell<()>,
}

impl Cluster {
    /// The cluster that all tests of this process share. The first call starts it.
    pub fn shared() -> Arc<Self> {
        // If it cannot start, all tests fail immediately, because a lazy lock does not retry.
        static SHARED: LazyLock<Arc<Cluster>> = LazyLock::new(|| Arc::new(Cluster::start(Durability::None)));
        Arc::clone(&SHARED)
    }

    /// Starts a separate cluster, for tests that stop, kill or configure the server.
    pub fn start(durability: Durability) -> Self {
        Self::start_version(&server_user::programs(), durability, &[])
    }

    /// Starts a cluster without fsync and with these settings (`name=value`).
    pub fn start_with(settings: &'static [&'static str]) -> Self {
        Self::start_version(&server_user::programs(), Durability::None, settings)
    }

    /// Starts a cluster of the PostgreSQL whose programs are in this folder.
    pub fn start_version(programs: &Path, durability: Durability, settings: &'static [&'static str]) -> Self {
        Self::start_from(programs, durability, settings, |data| initialize(programs, data, &[]))
    }

    /// Starts a standby of this cluster, which accepts read-only queries.
    pub fn start_standby(&self) -> Self {
        self.start_like(|data| {
            let mut copy = self.program("pg_basebackup");
            copy.arg("--pgdata").arg(data);
            run(copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]));
        })
    }

    /// Waits until this standby has replayed everything that the primary has committed.
    pub fn catch_up_with(&self, primary: &Cluster) {
        let position = primary.sql("postgres", "select pg_current_wal_lsn()");
        let has_replayed = format!("select pg_last_wal_replay_lsn() >= '{position}'");
        let began = Instant::now();
        while self.sql("postgres", &has_replayed) != "t" {
            assert!(began.elapsed() < Duration::from_secs(60), "the standby does not catch up");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Promotes this standby, and waits until it accepts writes.
    pub fn promote(&self) {
        assert_eq!(self.sql("postgres", "select pg_promote()"), "t", "the standby was not promoted");
    }

    /// Starts another cluster of the same version with the same settings.
    pub(crate) fn start_like(&self, make_data: impl FnOnce(&Path)) -> Self {
        Self::start_from(&self.programs, self.durability, self.settings, make_data)
    }

    pub(crate) fn start_from(
        programs: &Path,
        durability: Durability,
        settings: &'static [&'static str],
        make_data: impl FnOnce(&Path),
    ) -> Self {
        let folder = ClusterFolder::create();
        make_data(&folder.path().join("data"));
        let log = log_file("postgresql");
        let postmaster = Mutex::new(launch(programs, folder.path(), &log, durability, settings));
        let programs = programs.to_owned();
        Self {
            programs,
            folder,
            log,
            durability,
            settings,
            postmaster,
            template: tokio::sync::OnceCell::new(),
        }
    }

    /// The folder with the programs of this PostgreSQL.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// The connection settings for a database of this cluster and a role with LOGIN.
    pub fn config(&self, role: &str, database: &str) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config.host_path(self.folder.path()).user(role).dbname(database);
        config
    }

    /// The same connection settings as a URL.
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.folder.path().to_string_lossy().replace('/', "%2F");
        format!("postgresql://{role}@{folder}/{database}")
    }

    /// The folder of the server's socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A PostgreSQL program (`psql`, `pg_dump`, `pg_restore`, …) that connects to this cluster as superuser.
    pub fn program(&self, name: &str) -> Command {
        let mut command = server_user::command(&self.programs, name);
        command.env("PGHOST", self.folder.path()).env("PGUSER", "postgres");
        command
    }

    /// Runs statements through psql as superuser, and returns the unaligned output.
    pub fn sql(&self, database: &str, statements: &str) -> String {
        let mut psql = self.program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        run(psql.args(["--dbname", database, "--command", statements])).trim_end().to_owned()
    }

    /// Runs a script in which each statement is its own transaction, as VACUUM requires.
    pub fn script(&self, database: &str, script: &str) {
        let file = self.folder.path().join("script.sql");
        std::fs::write(&file, script).expect("the folder is writable");
        let mut psql = self.program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]);
        run(psql.args(["--dbname", database, "--file"]).arg(file));
    }

    /// Kills the server with SIGKILL, as the out-of-memory killer does.
    pub fn kill(&self) {
        let mut postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        postmaster.kill().expect("the server is our child");
        postmaster.wait().expect("the server is our child");
        // Child processes notice this at their next wait. The server cannot restart before the last of them has exited.
        while has_processes(&self.data_folder()) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops the server in fast shutdown mode.
    pub fn stop(&self) {
        let mut postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        run(Command::new("kill").args(["-INT", &postmaster.id().to_string()]));
        postmaster.wait().expect("the server is our child");
    }

    /// Starts the server again after [`Self::kill`] or [`Self::stop`], and waits until recovery is complete.
    pub fn start_again(&self) {
        let mut postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        *postmaster = launch(&self.programs, self.folder.path(), &self.log, self.durability, self.settings);
    }

    /// Suspends all processes of the server: connections stay open, but nothing responds.
    pub fn suspend(&self) {
        self.signal("-STOP");
    }

    /// Resumes them.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        // It comes first, so that it starts no other process meanwhile.
        run(Command::new("kill").args([signal, &postmaster.id().to_string()]));
        for process in processes(&self.data_folder()) {
            // One that has ended needs no signal.
            let _ = Command::new("kill").args([signal, &process]).stderr(Stdio::null()).status();
        }
    }

    /// The data directory, for tests that configure the server.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The server's log so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).expect("the log is there")).into_owned()
    }

    /// Panics if the log reports a crash: no request may crash a server process.
    pub fn assert_no_crash(&self) {
        let log = self.log();
        let crash = log.lines().find(|line| {
            ["terminated by signal", "PANIC:", "TRAP:", "leak:"].iter().any(|sign| line.contains(sign))
        });
        if let Some(line) = crash {
            panic!("the server crashed or leaked: {line}\nits log is {}", self.log.display());
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.folder.remove();
        let postmaster = self.postmaster.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The server has already ended. This call only reaps the process.
        let _ = postmaster.wait();
    }
}

/// Whether a process has this folder as its working directory, as all processes of a server do.
fn has_processes(folder: &Path) -> bool {
    !processes(folder).is_empty()
}

/// The numbers of the processes that work in this folder.
fn processes(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    let works_here = |process: &std::fs::DirEntry| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|it| it == folder)
    };
    all.filter(works_here).filter_map(|process| process.file_name().into_string().ok()).collect()
}

/// Creates a data directory with these additional options of initdb.
pub(crate) fn initialize(programs: &Path, data: &Path, options: &[&str]) {
    let mut initdb = server_user::command(programs, "initdb");
    initdb.arg("--pgdata").arg(data).args(options);
    run(initdb.args([
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
    ]));
}

/// Starts the server and waits until it accepts connections.
fn launch(programs: &Path, folder: &Path, log: &Path, durability: Durability, settings: &[&str]) -> Child {
    let log_file = OpenOptions::new().append(true).open(log).expect("the log was made before");
    let mut server = server_user::command(programs, "postgres");
    server.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
    // The server listens only on a socket in the cluster's own folder, so no other server can use its port.
    server.args(["-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=128MB"]);
    server.args(["-c", "log_line_prefix=%m [%p] %q%u@%d ", "-c", "log_lock_waits=on"]);
    if durability == Durability::None {
        server.args(["-c", "fsync=off", "-c", "full_page_writes=off"]);
    }
    if !has_direct_access() {
        server.args(["-c", "keyed.direct_access=off"]);
    }
    // If a setting is given twice, the last value applies.
    server.args(settings.iter().flat_map(|setting| ["-c", setting]));
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log_file).process_group(0);
    let mut server = server.spawn().expect("PostgreSQL is installed: `make setup` does it");

    let began = Instant::now();
    while !is_ready(folder, server.id()) {
        let ended = server.try_wait().expect("the server is our child");
        assert!(ended.is_none(), "the server did not start: read {}", log.display());
        assert!(began.elapsed() < Duration::from_secs(60), "the server is not ready: read {}", log.display());
        std::thread::sleep(Duration::from_millis(10));
    }
    server
}

/// Whether the server accepts connections, according to its lock file. A connection attempt would fill the server's log
/// with rejections. The file of a killed server remains, so the process id in it must match.
fn is_ready(folder: &Path, process: u32) -> bool {
    let lock = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    let mut lines = lock.lines();
    lines.next() == Some(process.to_string().as_str())
        && lines.nth(6).is_some_and(|line| ["ready", "standby"].contains(&line.trim()))
}

/// Runs a program to its end and returns its standard output. A failure panics with the output of the program.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed with {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
