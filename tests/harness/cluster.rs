//! A private PostgreSQL cluster.

use crate::cluster_folder::ClusterFolder;
use crate::{has_direct_access, log_file, server_user};
use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How much the cluster does to keep what it acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// PostgreSQL's defaults, for tests that kill it.
    Full,
    /// No fsync: a crash of the machine may lose everything.
    None,
}

/// A PostgreSQL cluster in a temporary folder, with trust authentication on a socket there.
///
/// It ends with its last owner, the [shared](Self::shared) one with the test process, even one that is killed.
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
    /// The cluster that all tests of this process share, started when the first asks for it.
    pub fn shared() -> Arc<Self> {
        // Where it cannot start, it fails once for all tests: a lazy lock does not try again.
        static SHARED: LazyLock<Arc<Cluster>> = LazyLock::new(|| Arc::new(Cluster::start(Durability::None)));
        Arc::clone(&SHARED)
    }

    /// A cluster of one's own, for tests that stop, kill or configure it.
    pub fn start(durability: Durability) -> Self {
        Self::start_of(&server_user::programs(), durability, &[])
    }

    /// The same without fsync, with settings (`name=value`) of its own.
    pub fn start_with(settings: &'static [&'static str]) -> Self {
        Self::start_of(&server_user::programs(), Durability::None, settings)
    }

    /// The same of the PostgreSQL whose programs are in this folder.
    pub fn start_of(programs: &Path, durability: Durability, settings: &'static [&'static str]) -> Self {
        Self::start_from(programs, durability, settings, |data| initialize(programs, data, &[]))
    }

    /// A standby that follows this cluster, and answers what only reads.
    pub fn start_standby(&self) -> Self {
        self.start_like(|data| {
            let mut copy = self.program("pg_basebackup");
            copy.arg("--pgdata").arg(data);
            run(copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]));
        })
    }

    /// Waits until this standby has seen everything that was committed in the cluster it follows.
    pub fn catch_up_with(&self, primary: &Cluster) {
        let position = primary.sql("postgres", "select pg_current_wal_lsn()");
        let has_replayed = format!("select pg_last_wal_replay_lsn() >= '{position}'");
        let began = Instant::now();
        while self.sql("postgres", &has_replayed) != "t" {
            assert!(began.elapsed() < Duration::from_secs(60), "the standby does not follow");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes this standby a primary, and waits until it accepts writes.
    pub fn promote(&self) {
        assert_eq!(self.sql("postgres", "select pg_promote()"), "t", "the standby was not promoted");
    }

    /// Another of the same version, with the same settings.
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

    /// The folder of the programs of this PostgreSQL.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// How to reach a database of this cluster as a role that may log in.
    pub fn config(&self, role: &str, database: &str) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config.host_path(self.folder.path()).user(role).dbname(database);
        config
    }

    /// The same as a URL.
    pub fn url(&self, role: &str, database: &str) -> String {
        let folder = self.folder.path().to_string_lossy().replace('/', "%2F");
        format!("postgresql://{role}@{folder}/{database}")
    }

    /// The folder of its socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A program of PostgreSQL (`psql`, `pg_dump`, `pg_restore`, …) that will speak to this cluster as superuser.
    pub fn program(&self, name: &str) -> Command {
        let mut command = server_user::command(&self.programs, name);
        command.env("PGHOST", self.folder.path()).env("PGUSER", "postgres");
        command
    }

    /// Runs statements through psql as superuser; the answer is what psql prints of bare values.
    pub fn sql(&self, database: &str, statements: &str) -> String {
        let mut psql = self.program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        run(psql.args(["--dbname", database, "--command", statements])).trim_end().to_owned()
    }

    /// Runs a script, of which each statement is a transaction of its own, as VACUUM must be.
    pub fn script(&self, database: &str, script: &str) {
        let file = self.folder.path().join("script.sql");
        std::fs::write(&file, script).expect("the folder takes files");
        let mut psql = self.program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]);
        run(psql.args(["--dbname", database, "--file"]).arg(file));
    }

    /// Ends the server as the out-of-memory killer would: `kill -9`.
    pub fn kill(&self) {
        let mut postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        postmaster.kill().expect("the server is our child");
        postmaster.wait().expect("the server is our child");
        // Its children notice at their next wait, and it cannot restart before the last of them has exited.
        while has_processes(&self.data_folder()) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends the server in order: sessions are ended, everything is written.
    pub fn stop(&self) {
        let mut postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        run(Command::new("kill").args(["-INT", &postmaster.id().to_string()]));
        postmaster.wait().expect("the server is our child");
    }

    /// Starts the server again after [`Self::kill`] or [`Self::stop`], and waits until it has recovered.
    pub fn start_again(&self) {
        let mut postmaster = self.postmaster.lock().unwrap_or_else(PoisonError::into_inner);
        *postmaster = launch(&self.programs, self.folder.path(), &self.log, self.durability, self.settings);
    }

    /// Stops all processes of the server where they are: connections stay open, and nothing answers.
    pub fn suspend(&self) {
        self.signal("-STOP");
    }

    /// Lets them go on.
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

    /// The folder of the data, for tests that configure the server.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What the server wrote into its log so far.
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
        // It has ended already: this only tells the kernel that we know.
        let _ = postmaster.wait();
    }
}

/// Whether a process works in this folder, as those of a server do in its data.
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

/// Makes the data of a cluster, with further options of initdb.
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

/// Starts the server and waits until it takes connections.
fn launch(programs: &Path, folder: &Path, log: &Path, durability: Durability, settings: &[&str]) -> Child {
    let log_file = OpenOptions::new().append(true).open(log).expect("the log was made before");
    let mut server = server_user::command(programs, "postgres");
    server.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
    // The socket is in the cluster's own folder: no port, so no other server can be in the way.
    server.args(["-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=128MB"]);
    server.args(["-c", "log_line_prefix=%m [%p] %q%u@%d ", "-c", "log_lock_waits=on"]);
    if durability == Durability::None {
        server.args(["-c", "fsync=off", "-c", "full_page_writes=off"]);
    }
    if !has_direct_access() {
        server.args(["-c", "keyed.direct_access=off"]);
    }
    // Of two values of a setting the later counts.
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

/// Whether the server takes connections, as it says itself in its lock file: asking it by connecting would fill its
/// log with refusals. The file of a killed server stays, so the process number in it must be the right one.
fn is_ready(folder: &Path, process: u32) -> bool {
    let lock = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    let mut lines = lock.lines();
    lines.next() == Some(process.to_string().as_str())
        && lines.nth(6).is_some_and(|line| ["ready", "standby"].contains(&line.trim()))
}

/// Runs a program to its end; its standard output is the answer, a failure panics with what it said.
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
