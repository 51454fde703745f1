//! Three servers that Patroni manages as a primary and two standbys, and the etcd cluster in which they elect the
//! primary.
//!
//! A node is a Patroni process and its server: all processes with a working directory below the node's folder. Each
//! node has its own address in 127.0.0.0/8, so the ports are those of the documentation.

use crate::cluster::run;
use crate::cluster_folder::ClusterFolder;
use crate::server_user::{self, create_folder, give, programs};
use crate::{PATIENCE, Session, log_file, until};
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use std::sync::atomic::{AtomicU8, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Config, NoTls};

/// The servers, in the order of the database URL.
pub const NODES: usize = 3;

/// The folder in which Debian installs these programs.
const PROGRAMS: &str = "/usr/bin";

const ETCD_PORT: u16 = 2379;

/// The configuration line with the members of etcd.
const MEMBERS: &str = "  hosts: 10.0.0.21:2379,10.0.0.22:2379,10.0.0.23:2379";

/// The servers and their etcd cluster. They end when this value is dropped.
pub struct Patroni {
    nodes: Vec<Node>,
    password: String,
    etcd: Child,
    /// Dropped first, which ends the processes.
    folder: ClusterFolder,
}

struct Node {
    address: Ipv4Addr,
    folder: PathBuf,
    log: PathBuf,
    patroni: Option<Child>,
    /// Whether the node reaches etcd.
    link: watch::Sender<bool>,
}

impl Patroni {
    /// Starts the servers with the configuration of the first node, and waits until both standbys follow. The other
    /// nodes get the next names and addresses.
    pub async fn start(configuration: &str) -> Self {
        let folder = ClusterFolder::create();
        let network = own_network();
        let address = |host| Ipv4Addr::from_bits(network.to_bits() + host);
        let etcd_address = address(20);
        let etcd = start_etcd(&folder.path().join("etcd"), etcd_address).await;
        let password = value_after(configuration, "username: postgres, password: ");
        let mut nodes = Vec::new();
        for number in 1..=NODES {
            let offset = u32::try_from(number).expect("few nodes");
            let (address, relay) = (address(10 + offset), address(20 + offset));
            let link = relay_to(etcd_address, relay).await;
            let folder = folder.path().join(format!("db{number}"));
            create_folder(&folder);
            let text = adapt(configuration, &folder, number, address, relay);
            let file = folder.join("patroni.yml");
            std::fs::write(&file, text).expect("the folder is accessible");
            give(&file);
            let log = log_file("patroni");
            let mut node = Node { address, folder, log, patroni: None, link };
            node.start();
            nodes.push(node);
        }
        let servers = Self { nodes, password, etcd, folder };
        servers.until_all_follow().await;
        servers
    }

    /// The URL of the database for a role, with `target_session_attrs` for writes.
    pub fn url(&self, role: &str, password: &str, database: &str) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| node.address.to_string()).collect();
        let hosts = hosts.join(",");
        format!("postgresql://{role}:{password}@{hosts}/{database}?target_session_attrs=read-write")
    }

    /// A session as superuser with the primary.
    pub async fn session(&self, database: &str) -> Session {
        let mut session = None;
        until("there is a primary", async || {
            for node in 0..NODES {
                session = self.session_with(node, database).await;
                if session.is_some() {
                    break;
                }
            }
            session.is_some()
        })
        .await;
        session.expect("there is one")
    }

    /// The server that accepts writes, other than this one.
    pub async fn primary_except(&self, other: Option<usize>) -> usize {
        let mut primary = None;
        until("another server is the primary", async || {
            for node in (0..NODES).filter(|node| Some(*node) != other) {
                if self.session_with(node, "postgres").await.is_some() {
                    primary = Some(node);
                }
            }
            primary.is_some()
        })
        .await;
        primary.expect("there is one")
    }

    /// A session as superuser with this server, if it accepts writes.
    async fn session_with(&self, node: usize, database: &str) -> Option<Session> {
        let mut config = Config::new();
        config.host(self.nodes[node].address.to_string()).user("postgres").password(&self.password);
        config.dbname(database).target_session_attrs(TargetSessionAttrs::ReadWrite);
        // A suspended server does not respond.
        let connected = tokio::time::timeout(PATIENCE / 100, config.connect(NoTls)).await.ok()?;
        let (client, connection) = connected.ok()?;
        tokio::spawn(connection);
        Some(Session::on(client))
    }

    /// Waits until all standbys follow the primary, one of them synchronously.
    pub async fn until_all_follow(&self) {
        let follow = "select count(*) || ' ' || count(*) filter (where sync_state = 'sync') \
                      from pg_stat_replication where state = 'streaming' and usename = 'replicator'";
        until("all standbys follow", async || {
            for node in 0..NODES {
                let Some(session) = self.session_with(node, "postgres").await else { continue };
                let response = session.attempt(follow, &[]).await;
                if response.is_ok_and(|rows| rows[0][0].as_deref() == Some("2 1")) {
                    return true;
                }
            }
            false
        })
        .await;
    }

    /// Ends a node immediately: SIGKILL to Patroni and all processes of its server.
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].signal("KILL");
        let patroni = self.nodes[node].patroni.take();
        patroni.expect("the program runs").wait().expect("the process is a child of this one");
    }

    /// Starts a node again after [`Self::kill`].
    pub fn start_again(&mut self, node: usize) {
        self.nodes[node].start();
    }

    /// Suspends all processes of a node (SIGSTOP). Their connections stay open.
    pub fn suspend(&self, node: usize) {
        self.nodes[node].signal("STOP");
    }

    /// Resumes the processes of a node.
    pub fn resume(&self, node: usize) {
        self.nodes[node].signal("CONT");
    }

    /// Partitions a node from etcd: no data passes in either direction.
    pub fn cut_off(&self, node: usize) {
        self.nodes[node].link.send_replace(false);
    }

    /// Ends the partition.
    pub fn reconnect(&self, node: usize) {
        self.nodes[node].link.send_replace(true);
    }

    /// Has Patroni switch over to another primary.
    pub fn switch_over(&self, from: usize) {
        let mut command = server_user::command(Path::new(PROGRAMS), "patronictl");
        command.arg("-c").arg(self.nodes[from].folder.join("patroni.yml"));
        run(command.args(["switchover", "--force"]));
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        self.folder.remove();
        for child in self.nodes.iter_mut().filter_map(|node| node.patroni.as_mut()).chain([&mut self.etcd]) {
            // The process has already ended. This call only reaps it.
            let _ = child.wait();
        }
    }
}

impl Node {
    fn start(&mut self) {
        let log = File::options().append(true).open(&self.log).expect("the log was made before");
        let mut patroni = server_user::command(Path::new(PROGRAMS), "patroni");
        patroni.arg(self.folder.join("patroni.yml")).current_dir(&self.folder);
        self.patroni = Some(spawn(patroni, log));
    }

    fn signal(&self, name: &str) {
        // Processes that start during the loop are found by the next pass.
        let mut reached: Vec<String> = Vec::new();
        loop {
            let new: Vec<String> =
                processes_below(&self.folder).into_iter().filter(|it| !reached.contains(it)).collect();
            if new.is_empty() {
                return;
            }
            // The process may have ended in the meantime.
            let _ = Command::new("kill").arg(format!("-{name}")).args(&new).stderr(Stdio::null()).status();
            reached.extend(new);
        }
    }
}

/// The processes whose working directory is this folder or below it.
fn processes_below(folder: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    let works_here = |process: &std::fs::DirEntry| {
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|path| path.starts_with(folder))
    };
    let names = processes.filter(works_here).map(|process| process.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Starts etcd and waits until it has a leader, because Patroni exits without one.
async fn start_etcd(folder: &Path, address: Ipv4Addr) -> Child {
    create_folder(folder);
    let log = File::options().append(true).open(log_file("etcd")).expect("the log was made before");
    let (clients, peers) = (format!("http://{address}:{ETCD_PORT}"), format!("http://{address}:2380"));
    let mut etcd = server_user::command(Path::new(PROGRAMS), "etcd");
    etcd.current_dir(folder).arg("--data-dir").arg(folder.join("data")).args(["--name", "etcd"]);
    etcd.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
    etcd.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
    let etcd = spawn(etcd.arg("--initial-cluster").arg(format!("etcd={peers}")), log);
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    until("etcd is ready", async || {
        let Ok(response) = client.get(format!("{clients}/version")).send().await else { return false };
        let version = response.text().await.unwrap_or_default();
        version.contains("etcdcluster") && !version.contains("not_decided")
    })
    .await;
    etcd
}

fn spawn(mut command: impl std::borrow::BorrowMut<Command>, log: File) -> Child {
    let command = command.borrow_mut();
    command.stdin(Stdio::null()).stdout(log.try_clone().expect("an open file")).stderr(log).process_group(0);
    command.spawn().unwrap_or_else(|error| {
        panic!("{}: {error}; `sudo make setup FOR=test` installs it", command.get_program().display())
    })
}

/// A network of 256 loopback addresses, for one set of servers.
fn own_network() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, high.max(1), low.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)), 0)
}

/// The configuration of the first node, adapted to this machine and node.
fn adapt(configuration: &str, folder: &Path, number: usize, address: Ipv4Addr, etcd: Ipv4Addr) -> String {
    let replacements = [
        ("name: db1", format!("name: db{number}")),
        // A client that discovers the members of etcd would bypass the relay.
        (MEMBERS, format!("  hosts: {etcd}:{ETCD_PORT}\n  use_proxies: true")),
        ("10.0.0.11", address.to_string()),
        ("10.0.0.0/24", "127.0.0.0/8".to_owned()),
        ("/usr/lib/postgresql/15/bin", programs().display().to_string()),
        ("/var/lib/postgresql", folder.display().to_string()),
        ("/run/postgresql", folder.display().to_string()),
    ];
    let mut text = configuration.to_owned();
    for (there, here) in replacements {
        assert!(text.contains(there), "the configuration does not contain {there}");
        text = text.replace(there, &here);
    }
    text
}

/// The word after a text.
fn value_after(configuration: &str, text: &str) -> String {
    let (_, rest) = configuration.split_once(text).unwrap_or_else(|| panic!("no {text}"));
    rest.split(['}', ',', '\n']).next().unwrap_or_default().to_owned()
}

/// Forwards connections to etcd while the link is up. While it is down, no data passes and connections stay open.
async fn relay_to(etcd: Ipv4Addr, address: Ipv4Addr) -> watch::Sender<bool> {
    let listener = TcpListener::bind((address, ETCD_PORT)).await.expect("an address of our own");
    let (link, is_up) = watch::channel(true);
    tokio::spawn(async move {
        while let Ok((node, _)) = listener.accept().await {
            let is_up = is_up.clone();
            tokio::spawn(async move {
                let Ok(etcd) = TcpStream::connect((etcd, ETCD_PORT)).await else { return };
                let (node, etcd) = (node.into_split(), etcd.into_split());
                tokio::select! {
                    () = pass(node.0, etcd.1, is_up.clone()) => {}
                    () = pass(etcd.0, node.1, is_up) => {}
                }
            });
        }
    });
    link
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut is_up: watch::Receiver<bool>,
) {
    let mut piece = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        if is_up.wait_for(|is_up| *is_up).await.is_err() || to.write_all(&piece[..count]).await.is_err() {
            return;
        }
    }
}
