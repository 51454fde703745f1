//! Concurrent creation of projects and templates.

use harness::Database;
use tokio::task::JoinSet;

/// Runs a statement in many sessions concurrently. Returns the SQLSTATEs, empty for success.
async fn concurrently(database: &Database, count: usize, statement: impl Fn(usize) -> String) -> Vec<String> {
    let mut sessions = JoinSet::new();
    for number in 0..count {
        let (session, statement) = (database.session().await, statement(number));
        sessions.spawn(async move {
            let outcome = session.attempt(&statement, &[]).await;
            outcome.err().map(|error| error.state).unwrap_or_default()
        });
    }
    let mut states = sessions.join_all().await;
    states.sort();
    states
}

#[tokio::test]
async fn concurrent_creation_has_one_winner() {
    let database = Database::with_crm().await;
    let expected = ["", "23505", "23505", "23505", "23505", "23505"];
    assert_eq!(
        concurrently(&database, 6, |_| "select keyed.create_project('shop')".to_owned()).await,
        expected
    );
    let template =
        "select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"metric\"}]')";
    assert_eq!(concurrently(&database, 6, |_| template.to_owned()).await, expected);
    let counts =
        "select (select count(*) from keyed_state.project), (select count(*) from keyed_state.template),
                  (select count(*) from keyed_state.attribute where slug = 'n')";
    let counts = database.session().await.rows(counts, &[]).await.remove(0);
    assert_eq!(counts, ["2", "3", "1"].map(|count| Some(count.to_owned())));
}

#[tokio::test]
async fn templates_are_created_concurrently() {
    let database = Database::with_crm().await;
    let statement = |number| {
        format!(
            "select keyed.create_template('crm', 'orders_{number}',
               '[{{\"slug\": \"buyer\", \"type\": \"reference\", \"template\": \"customers\"}}]');
             select keyed.upsert_by_key('crm.orders_{number}', 'K')"
        )
    };
    assert_eq!(concurrently(&database, 6, statement).await, [""; 6]);
}

#[tokio::test]
async fn creation_of_a_referring_template_blocks_no_writes() {
    let database = Database::with_crm().await;
    let statement = |number| {
        match number {
        0 => "select keyed.create_template('crm', 'orders', '[{\"slug\": \"buyer\", \"type\": \"reference\", \"template\": \"customers\"}]')".to_owned(),
        _ => format!("select keyed.upsert_by_key('crm.customers', 'k' || n % 5, '{{\"visits\": {number}}}') from generate_series(1, 50) n"),
    }
    };
    let states = concurrently(&database, 6, statement).await;
    assert_eq!(states, [""; 6]);
}
