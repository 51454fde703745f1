//! How changes of definitions wait for tables that are in use.

use harness::{Database, Session};

const CHANGE: &str = "select keyed.alter_template('crm.customers', '{\"label\": \"Clients\"}')";

/// A session whose changes time out after two seconds, and whose lock waits are all logged by the server.
async fn impatient(database: &Database) -> Session {
    let session = database.session().await;
    session.run("set lock_timeout = '2s'; set deadlock_timeout = '1ms'; set log_lock_waits = on").await;
    session
}

/// How often a session has queued for a table, which blocks others behind it. The server logs a wait again, with a
/// longer duration, if a signal has woken the process.
async fn waits(database: &Database, session: &Session) -> usize {
    let process = format!("process {} still waiting for AccessExclusiveLock", session.process().await);
    let log = database.cluster().log();
    let time = |line: &str| line.rsplit_once(" after ")?.1.strip_suffix(" ms")?.parse::<f64>().ok();
    let times: Vec<f64> = log.lines().filter(|line| line.contains(&process)).filter_map(time).collect();
    times.chunk_by(|earlier, later| earlier < later).count()
}

#[tokio::test]
async fn change_queues_once_behind_an_idle_reader() {
    let database = Database::with_crm().await;
    let reader = database.session().await;
    // Another transaction blocks the second change, which queues behind it once as well.
    for _ in 0..2 {
        reader.run("begin; select from crm.customers").await;
        let changer = impatient(&database).await;
        let error = changer.error(CHANGE, &[]).await;
        assert_eq!(error.state, "55P03", "{error}");
        assert_eq!(waits(&database, &changer).await, 1);
        reader.run("commit").await;
        changer.rows(CHANGE, &[]).await;
    }
}

#[tokio::test]
async fn change_continues_when_the_idle_reader_ends() {
    let database = Database::with_crm().await;
    let (reader, changer) = (database.session().await, database.session().await);
    changer.run("set deadlock_timeout = '1ms'; set log_lock_waits = on").await;
    let process = changer.process().await;
    reader.run("begin; select from crm.customers").await;
    let change = tokio::spawn(async move { changer.attempt(CHANGE, &[]).await });
    let queued = format!("process {process} still waiting for AccessExclusiveLock");
    harness::until("the change waited and timed out", async || {
        let log = database.cluster().log();
        let waits = "select exists (select from pg_locks where pid = $1 and not granted)";
        log.contains(&queued) && reader.text(waits, &[&process]).await == "f"
    })
    .await;
    reader.run("commit").await;
    change.await.expect("the session is open").expect("the change is made");
}
