//! `postgresql-NN-keyed` and `keyed-proxy`, on machines of their own.

use crate::machine::{Machine, major, packages, run_without_systemd};
use crate::output::compare;
use crate::page::{Page, documentation, file};

const PAGE: &str = "docs/how-to/install-packages.md";

/// Runs the blocks below a heading of the page as root, and returns their output.
fn follow(machine: &Machine, heading: &str) -> String {
    let page = file(PAGE);
    let section = page.split("\n## ").find(|section| section.lines().next() == Some(heading));
    let section = Page::parse(PAGE, section.unwrap_or_else(|| panic!("{PAGE} has no section {heading}")));
    let mut printed = Vec::new();
    for block in &section.blocks {
        if block.is_script() && block.not_run().is_none() {
            printed.push(without_footers(&machine.run(&for_this_major(&block.text)).expect()));
        } else if block.is_output() {
            let output = printed.last().expect("an output belongs to the block before it");
            compare(&for_this_major(&block.text), output)
                .unwrap_or_else(|error| panic!("{PAGE}, {heading}: {error}"));
        }
    }
    assert!(!printed.is_empty(), "{heading} has no block to run");
    printed.concat()
}

/// psql omits its footers in the tests of pages, so the pages do not show them.
fn without_footers(printed: &str) -> String {
    let is_footer =
        |line: &&str| line.starts_with('(') && (line.ends_with(" row)") || line.ends_with(" rows)"));
    printed.lines().filter(|line| !is_footer(line)).flat_map(|line| [line, "\n"]).collect()
}

/// The pages are written for PostgreSQL 15.
fn for_this_major(text: &str) -> String {
    text.replace("postgresql-15", &format!("postgresql-{}", major()))
}

/// Runs the quickstart of the README on the database of the page, as the user postgres.
fn quickstart(machine: &Machine, key: &str) {
    let readme = file("README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("Quickstart\n"));
    let page = Page::parse("README.md", section.expect("the README has a quickstart"));
    let mut blocks = page.blocks.iter().filter(|block| block.not_run().is_none());
    let (script, output) = (blocks.next().expect("what to paste"), blocks.next().expect("its response"));
    let prepare = format!(
        "install --directory --owner=postgres /srv/clone/.run && cd /srv/clone
         echo 'host=/run/postgresql dbname=crm user=postgres' >.run/database.url
         echo '{key}' >.run/admin.key
         cat >quickstart.sh <<'END'\n{}END",
        script.text
    );
    machine.run(&prepare).expect();
    let printed = machine.run("cd /srv/clone && runuser -u postgres -- bash quickstart.sh").expect();
    compare(&output.text, &without_footers(&printed))
        .unwrap_or_else(|error| panic!("the quickstart: {error}"));
}

/// Records, history and keys in the database.
fn records(machine: &Machine, database: &str) -> String {
    let query = "select to_jsonb(c) from crm.customers c order by external_key; \
                 select to_jsonb(h) from crm.customers c, keyed.history(c.id) h order by h::text; \
                 select count(*) from keyed_state.api_key";
    machine
        .run(&format!(
            "runuser -u postgres -- psql --no-align --tuples-only --dbname={database} --command=\"{query}\""
        ))
        .expect()
}

fn ask(machine: &Machine, key: &str) -> String {
    machine
        .run(&format!(
            "curl --silent --show-error --fail-with-body --header 'Authorization: Bearer {key}' \
             --header 'X-Service-Project-Id: crm' \
             'http://127.0.0.1:8080/v1/entities/template/customers/by-key?key=erp:4711'"
        ))
        .expect()
}

/// The state of the service according to systemd.
fn service(machine: &Machine, property: &str) -> String {
    machine
        .run(&format!("systemctl show --property={property} --value keyed-proxy"))
        .expect()
        .trim()
        .to_owned()
}

#[test]
fn single_page_runs_on_its_own_machine() {
    let pages = documentation().into_iter().filter(|page| page.needs("own machine")).map(|page| page.path);
    assert_eq!(pages.collect::<Vec<_>>(), [PAGE], "this kind runs no other page");
}

#[tokio::test]
#[ignore = "make test KIND=packages runs it: it needs root, apt and minutes"]
async fn page_about_packages_works_from_installation_to_removal() {
    let machine = Machine::boot().await;
    follow(&machine, "2. Install them");
    a_proxy_without_a_database_does_not_start(&machine);
    let key = follow(&machine, "3. Set up a database");
    let key = key.split_whitespace().find(|word| word.starts_with("keyed_")).expect("an API key").to_owned();
    follow(&machine, "4. Start the proxy");
    the_service_is_what_its_unit_says(&machine);
    follow(&machine, "5. Create a demo");
    quickstart(&machine, &key);
    let (before, output) = (records(&machine, "crm"), ask(&machine, &key));

    let process = service(&machine, "MainPID");
    follow(&machine, "Upgrade");
    assert_ne!(service(&machine, "MainPID"), process, "the package restarts a running proxy");
    assert_eq!((records(&machine, "crm"), ask(&machine, &key)), (before.clone(), output.clone()));
    a_second_cluster_has_the_extension_too(&machine);

    follow(&machine, "Remove");
    removal_leaves_nothing_but_data(&machine);
    let read = machine.run(
        "runuser -u postgres -- psql --no-align --tuples-only --dbname=crm \
         --command=\"select name from crm.customers where external_key = 'erp:4711'\"",
    );
    assert_eq!(read.expect().trim(), "Ada Keller");
    let again = machine.run("apt-get install --yes ./postgresql-*-keyed_*.deb ./keyed-proxy_*.deb").expect();
    assert!(!again.contains("has no database yet"), "{again}");
    machine.run("systemctl enable --now keyed-proxy").expect();
    assert_eq!((records(&machine, "crm"), ask(&machine, &key)), (before, output));
}

fn a_proxy_without_a_database_does_not_start(machine: &Machine) {
    assert_eq!(service(machine, "ActiveState"), "inactive");
    assert_eq!(machine.run("systemctl is-enabled keyed-proxy").expect_failure().trim(), "disabled");
    machine.run("systemctl start keyed-proxy").expect_failure();
    let status = machine.run("systemctl status --no-pager --full keyed-proxy").expect_failure();
    assert!(status.contains("database.url is empty. An example is postgres://keyed_proxy:"), "{status}");
    assert_eq!(service(machine, "NRestarts"), "0", "a restart would not help");
    let log = machine.run("journalctl --no-pager --boot --output=cat | grep keyed-proxy.service").expect();
    assert!(!log.contains("ignoring") && !log.contains("Unknown"), "systemd understands every line: {log}");
}

fn the_service_is_what_its_unit_says(machine: &Machine) {
    assert_eq!(service(machine, "SubState"), "running", "it has reported its readiness");
    assert_eq!(service(machine, "NRestarts"), "0");
    let process = service(machine, "MainPID");
    let user = machine.run(&format!("stat --format=%U /proc/{process}")).expect();
    assert_eq!(user.trim(), "keyed_proxy");
    let status = machine.run(&format!("cat /proc/{process}/status")).expect();
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"] {
        assert!(status.contains(line), "{line}: {status}");
    }
    // The secret is in no environment variable, and no other user can read it.
    let environment = machine.run(&format!("tr '\\0' '\\n' </proc/{process}/environ")).expect();
    assert!(
        environment.contains("KEYED_DATABASE_URL_FILE=/run/credentials/keyed-proxy.service/database.url"),
        "{environment}"
    );
    assert!(!environment.contains("KEYED_DATABASE_URL="), "{environment}");
    machine.run("! runuser -u nobody -- cat /etc/keyed/database.url /run/credentials/keyed-proxy.service/database.url").expect();
    let exposure = machine.run("systemd-analyze security --no-pager keyed-proxy | tail --lines=1").expect();
    println!("systemd-analyze security: {exposure}");
    machine.run("systemd-analyze security --no-pager --threshold=20 keyed-proxy >/dev/null").expect();
    machine.run("systemd-analyze verify /lib/systemd/system/keyed-proxy.service").expect();
}

fn a_second_cluster_has_the_extension_too(machine: &Machine) {
    let major = major();
    machine
        .run(&format!(
            "pg_createcluster --encoding=UTF8 --locale=C.UTF-8 --start {major} other
             runuser -u postgres -- psql --cluster={major}/other --set=ON_ERROR_STOP=1 <<'SQL'
create extension keyed cascade;
select keyed.init();
select keyed.create_project('crm');
SQL"
        ))
        .expect();
}

fn removal_leaves_nothing_but_data(machine: &Machine) {
    let left = machine.run("find / -xdev -path /proc -prune -o -path /sys -prune -o -path /srv -prune -o -iname '*keyed*' -print");
    let left = left.expect();
    // Files that dpkg, man and PostgreSQL keep.
    let kept = ["/var/lib/dpkg/", "/var/cache/man/", "/var/lib/postgresql/"];
    let is_kept = |path: &&str| kept.iter().any(|folder| path.starts_with(folder));
    let unexpected: Vec<&str> = left.lines().filter(|path| !is_kept(path) && *path != "/etc/keyed").collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert_eq!(machine.run("ls /etc/keyed").expect().trim(), "database.url");
}

#[test]
#[ignore = "make test KIND=packages runs it: it needs root, apt and minutes"]
fn packages_work_without_systemd() {
    let printed = run_without_systemd(&for_this_major(
        "apt-get install --yes ./postgresql-15-keyed_*.deb ./keyed-proxy_*.deb >&2
         keyed-proxy --version
         test -f /usr/share/man/man1/keyed-proxy-serve.1.gz
         bash -c 'source /usr/share/bash-completion/completions/keyed-proxy && complete -p keyed-proxy'
         apt-get purge --yes keyed-proxy postgresql-15-keyed >&2",
    ));
    let printed = printed.expect();
    assert!(printed.contains("keyed-proxy 0.") && printed.contains("complete -o"), "{printed}");
}

#[test]
#[ignore = "make test KIND=packages runs it: it needs root, apt and minutes"]
fn lintian_finds_nothing_in_the_packages() {
    assert_eq!(packages().len(), 2, "{:?}", packages());
    let check = format!("lintian --allow-root --no-cfg --fail-on=error,warning {}", packages().join(" "));
    println!("{}", run_without_systemd(&check).expect());
}
