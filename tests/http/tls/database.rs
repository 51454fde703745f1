//! TLS to the database, according to the parameters of its URL.

use harness::{Authority, Database, Service, TlsCluster, Wire, major_version, proxy_program};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The logins: `plain` without TLS only, `secure` with TLS only, `certified` with a certificate for that name, `secret`
/// with a password, and `either` with and without TLS.
const RULES: &str = "\
hostnossl all plain all trust
hostssl all secure all trust
hostssl all certified all cert
hostssl all secret all scram-sha-256
host all either all trust";

struct Server {
    server: TlsCluster,
    authority: Authority,
    folder: TempDir,
}

impl Server {
    fn start() -> Self {
        let authority = Authority::new("tests");
        let server = TlsCluster::start(&authority.issue(&["db.test"]), &authority, RULES);
        let roles = "create role plain login; create role secure login; create role certified login; \
                     create role either login; create role secret login password 'pencil'";
        server.cluster.sql("postgres", roles);
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("root.crt"), authority.certificate())
            .expect("the folder is accessible");
        std::fs::write(folder.path().join("other.crt"), Authority::new("other").certificate()).expect("ours");
        authority.issue(&["certified"]).write(folder.path(), "client");
        Self { server, authority, folder }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("letters").to_owned()
    }

    /// The parameters for a role at this address, whatever the host name.
    fn words(&self, role: &str, host: &str, words: &str) -> String {
        let words =
            words.replace("root.crt", &self.file("root.crt")).replace("other.crt", &self.file("other.crt"));
        format!("host={host} hostaddr={} user={role} dbname=postgres {words}", self.server.address)
    }

    /// Whether the server saw the last connection of a role with or without TLS.
    fn is_encrypted(&self, role: &str) -> bool {
        let log = self.server.cluster.log();
        let authorized = format!("connection authorized: user={role} ");
        log.lines()
            .rfind(|line| line.contains(&authorized))
            .expect("the connection is logged")
            .contains("SSL enabled")
    }
}

static SERVER: LazyLock<Server> = LazyLock::new(Server::start);

/// Connects with these settings, as a command of the program does. Returns the error.
fn connect(words: &str) -> Result<(), String> {
    let output =
        proxy_program(&["keys", "list", "--database-url", words]).output().expect("the proxy is built");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // keyed is not installed in this database, so the first statement after the connection fails.
    if said.contains("schema \"keyed\" does not exist") { Ok(()) } else { Err(said) }
}

#[track_caller]
fn rejected(words: &str, complaint: &str) {
    let said = connect(words).expect_err(words);
    assert!(said.contains(complaint), "{words}: {said}");
}

#[test]
fn sslmode_decides_the_tls_of_a_connection() {
    let server = &*SERVER;
    for (role, mode, is_encrypted) in [
        ("plain", "sslmode=disable", false),
        ("plain", "sslmode=allow", false),
        ("secure", "sslmode=allow", true),
        ("plain", "sslmode=prefer", false),
        ("secure", "sslmode=prefer", true),
        ("secure", "sslmode=require", true),
        ("secure", "sslmode=verify-ca sslrootcert=root.crt", true),
        ("secure", "sslmode=verify-full sslrootcert=root.crt", true),
        // On this machine.
        ("plain", "", false),
        ("secure", "", true),
    ] {
        connect(&server.words(role, "db.test", mode)).unwrap_or_else(|said| panic!("{role} {mode}: {said}"));
        assert_eq!(server.is_encrypted(role), is_encrypted, "{role} {mode}");
    }
    for mode in ["require", "verify-ca sslrootcert=root.crt"] {
        rejected(&server.words("plain", "db.test", &format!("sslmode={mode}")), "no pg_hba.conf entry");
    }
    rejected(&server.words("secure", "db.test", "sslmode=disable"), "no pg_hba.conf entry");
    connect(&server.words("either", "db.test", "sslmode=prefer")).expect("access is allowed");
    assert!(server.is_encrypted("either"), "preferred");
}

#[test]
fn verify_full_also_checks_the_host() {
    let server = &*SERVER;
    let words = |host: &str, words: &str| server.words("secure", host, words);
    assert_eq!(connect(&words("elsewhere.test", "sslmode=verify-ca sslrootcert=root.crt")), Ok(()));
    rejected(&words("elsewhere.test", "sslmode=verify-full sslrootcert=root.crt"), "not valid for name");
    for mode in ["require", "verify-ca", "verify-full"] {
        rejected(&words("db.test", &format!("sslmode={mode} sslrootcert=other.crt")), "UnknownIssuer");
    }
    rejected(&words("db.test", "sslmode=verify-full sslrootcert=system"), "UnknownIssuer");
    rejected(&words("db.test", "sslmode=verify-full"), "UnknownIssuer");
    // With several hosts, the certificate of each is checked against its own name.
    let several = "host=elsewhere.test,db.test";
    let address = server.server.address;
    let root = server.file("root.crt");
    let words = format!(
        "{several} hostaddr={address},{address} user=secure dbname=postgres sslmode=verify-full sslrootcert={root}"
    );
    assert_eq!(connect(&words), Ok(()), "the second is");
}

#[test]
fn client_certificate_logs_in_only_with_its_private_key() {
    let server = &*SERVER;
    let files = |key: &str| format!("sslmode=require sslcert={} sslkey={key}", server.file("client.crt"));
    let own = server.file("client.key");
    assert_eq!(connect(&server.words("certified", "db.test", &files(&own))), Ok(()));
    rejected(&server.words("certified", "db.test", "sslmode=require"), "certificate");
    rejected(
        &server.words("certified", "db.test", &files("/nowhere/key")),
        "sslkey /nowhere/key: No such file",
    );
    let public = server.file("public.key");
    std::fs::copy(&own, &public).expect("the folder is accessible");
    std::fs::set_permissions(&public, PermissionsExt::from_mode(0o644)).expect("the file is accessible");
    rejected(&server.words("certified", "db.test", &files(&public)), "can be read by others");
    server.authority.issue(&["another"]).write(server.folder.path(), "another");
    rejected(&server.words("certified", "db.test", &files(&server.file("another.key"))), "does not belong");
}

#[test]
fn channel_binding_protects_the_password() {
    let server = &*SERVER;
    let words = |words: &str| server.words("secret", "db.test", &format!("password=pencil {words}"));
    assert_eq!(connect(&words("sslmode=require channel_binding=require")), Ok(()));
    assert_eq!(connect(&words("sslmode=require channel_binding=disable")), Ok(()));
}

#[test]
fn url_accepts_tls_parameters() {
    let server = &*SERVER;
    let parameters = format!(
        "hostaddr={}&sslmode=verify-full&sslrootcert={}",
        server.server.address,
        harness::encode(&server.file("root.crt"))
    );
    assert_eq!(connect(&format!("postgres://secure@db.test/postgres?{parameters}")), Ok(()));
    rejected(&format!("postgres://secure@elsewhere.test/postgres?{parameters}"), "not valid for name");
}

#[test]
fn direct_tls_works_from_postgresql_17() {
    let server = &*SERVER;
    let words = server.words("secure", "db.test", "sslmode=require sslnegotiation=direct");
    if major_version() >= 17 {
        assert_eq!(connect(&words), Ok(()));
    } else {
        assert!(connect(&words).is_err(), "an older server would interpret it differently");
    }
}

/// As in PostgreSQL's manual: self-signed, with only a common name.
#[test]
fn self_signed_certificate_can_be_the_root() {
    let folder = tempfile::tempdir().expect("a folder");
    let itself = Authority::new("db.test");
    let server = TlsCluster::start(&itself.identity(), &itself, "hostssl all all all trust");
    std::fs::write(folder.path().join("root.crt"), itself.certificate()).expect("the folder is accessible");
    let words = |host: &str| words_of(&server, folder.path(), host);
    assert_eq!(connect(&words("db.test")), Ok(()));
    rejected(&words("elsewhere.test"), "not valid for name");
}

fn words_of(server: &TlsCluster, folder: &Path, host: &str) -> String {
    format!(
        "host={host} hostaddr={} user=postgres dbname=postgres sslmode=verify-full sslrootcert={}/root.crt",
        server.address,
        folder.display()
    )
}

#[test]
fn revoked_and_expired_server_certificates_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new("tests");
    let identity = authority.issue_without_names("db.test");
    let server = TlsCluster::start(&identity, &authority, "hostssl all all all trust");
    std::fs::write(folder.path().join("root.crt"), authority.certificate())
        .expect("the folder is accessible");
    let words = words_of(&server, folder.path(), "db.test");
    assert_eq!(connect(&words), Ok(()), "the common name counts where there is no other");
    rejected(&words_of(&server, folder.path(), "elsewhere.test"), "not valid for name");
    for (name, revoked) in [("none.crl", None), ("one.crl", Some(&identity))] {
        std::fs::write(folder.path().join(name), authority.revocation_list(revoked))
            .expect("the folder is accessible");
    }
    let with = |list: &str| format!("{words} sslcrl={}/{list}", folder.path().display());
    assert_eq!(connect(&with("none.crl")), Ok(()));
    rejected(&with("one.crl"), "Revoked");
    let server =
        TlsCluster::start(&authority.issue_expired(&["db.test"]), &authority, "hostssl all all all trust");
    rejected(&words_of(&server, folder.path(), "db.test"), "expired");
}

#[tokio::test]
async fn proxy_queries_and_cancels_over_tls() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new("tests");
    let server =
        TlsCluster::start(&authority.issue(&["db.test"]), &authority, "hostssl all keyed_proxy all trust");
    std::fs::write(folder.path().join("root.crt"), authority.certificate())
        .expect("the folder is accessible");
    let database = Database::new_in(&server.cluster).await.add_crm().await;
    let words = words_of(&server, folder.path(), "db.test")
        .replace("user=postgres dbname=postgres", &format!("user=keyed_proxy dbname={}", database.name()));
    let service = Service::over(database, &[("KEYED_DATABASE_URL", &words)]).await;
    service.upsert("K-1", serde_json::json!({"name": "Ada"})).await.expect(201);
    service.by_key("K-1").await.expect(200);
    let session = service.session().await;
    let ssl = "select count(*) filter (where not ssl) from pg_stat_ssl join pg_stat_activity using (pid)
               where usename = 'keyed_proxy'";
    assert_eq!(session.text(ssl, &[]).await, "0");
    session.run("begin; lock table crm.customers in access exclusive mode").await;
    let observer = service.session().await;
    let key = service.proxy.key();
    let request = "PUT /v1/entities/template/customers/by-key";
    let mut wire =
        Wire::begin(&service.proxy, request, key, "Content-Type: application/json\nContent-Length: 23").await;
    wire.send(br#"{"external_key": "K-2"}"#).await.expect("the buffers have room");
    observer.until_blocked(1).await;
    drop(wire);
    // The statement of a disconnected caller is canceled while it waits for its lock.
    observer.until_blocked(0).await;
    assert!(!service.proxy.log().contains("cannot cancel"), "{}", service.proxy.log());
}

/// A server without TLS and without roles.
fn server_without_roles() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(reject_role(stream))));
    port
}

fn reject_role(mut stream: TcpStream) -> std::io::Result<()> {
    loop {
        let mut head = [0; 8];
        stream.read_exact(&mut head)?;
        let [length, code] =
            [0, 4].map(|at| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        stream.read_exact(&mut vec![0; length as usize - head.len()])?;
        if code != 80_877_103 {
            break;
        }
        // An SSLRequest.
        stream.write_all(b"N")?;
    }
    stream.write_all(b"E\0\0\0\x38SFATAL\0VFATAL\0C28000\0Mrole \"nobody\" does not exist\0\0")
}

#[test]
fn authentication_error_of_the_server_is_quoted() {
    let port = server_without_roles();
    for mode in ["", "sslmode=allow", "sslmode=prefer"] {
        rejected(
            &format!("host=127.0.0.1 port={port} user=nobody dbname=crm {mode}"),
            "role \"nobody\" does not exist",
        );
    }
}
