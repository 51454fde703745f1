//! Three entry points and a model: with any grants, functions, plain SQL under policies and the model in memory agree
//! on the visible records and the allowed changes of each role.

mod change;
mod privileges;
mod words;

use crate::model::values::write_id;
use crate::model::{Case, Random, World, seed};
use change::Change;
use harness::{Database, Session};
use privileges::{Grant, Privilege, Privileges};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::JoinSet;

const ROLES: usize = 24;
const SESSIONS: usize = 3;
const LOGINS: usize = 14;
/// The number of searches of each login, and of changes that it attempts.
const SEARCHES: usize = 20;
const CHANGES: usize = 20;

/// How many cases had a non-trivial result.
#[derive(Debug, Default)]
struct Tally {
    partly_visible: usize,
    found_in_part: usize,
    found_by_words: usize,
    allowed: usize,
    rejected: BTreeMap<String, usize>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_access_path_agrees_with_the_model() {
    let seed = seed();
    let database = Arc::new(Database::new().await);
    let administrator = database.session().await;
    let mut random = Random::new(seed);
    let world = Arc::new(World::create(&administrator, &mut random).await);
    let mut roles = Vec::new();
    for _ in 0..ROLES {
        let role = database.create_role(&format!("role{}", roles.len())).await;
        let grants = privileges::random_grants(&world, &mut random);
        for grant in &grants {
            grant.make(&administrator, &role).await;
        }
        roles.push((role, grants));
    }
    let roles = Arc::new(roles);
    let mut checks = JoinSet::new();
    for number in 0..SESSIONS {
        let random = Random::new(seed.wrapping_mul(2 * number as u64 + 3));
        checks.spawn(check(Arc::clone(&database), Arc::clone(&world), Arc::clone(&roles), number, random));
    }
    let tallies = checks.join_all().await;
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    let rejected = |state: &str| tallies.iter().filter_map(|tally| tally.rejected.get(state)).sum::<usize>();
    println!("{tallies:?}");
    assert!(sum(|tally| tally.partly_visible) > LOGINS / 2, "most roles can read all records or none");
    assert!(sum(|tally| tally.found_in_part) > SEARCHES * LOGINS / 2, "most searches find all or nothing");
    assert!(sum(|tally| tally.found_by_words) > SEARCHES * LOGINS, "full-text searches find almost nothing");
    assert!(sum(|tally| tally.allowed) > CHANGES, "almost no change is allowed");
    assert!(rejected("P0002") > CHANGES && rejected("42501") > CHANGES, "almost no change is rejected");
    database.cluster().assert_no_crash();
}

async fn check(
    database: Arc<Database>,
    world: Arc<World>,
    roles: Arc<Vec<(String, Vec<Grant>)>>,
    number: usize,
    mut random: Random,
) -> Tally {
    let administrator = database.session().await;
    let mut tally = Tally::default();
    for login in 0..LOGINS {
        let name = database.create_role(&format!("login{number}_{login}")).await;
        let mut grants = Vec::new();
        let mut member = name.clone();
        let mut granted = Vec::new();
        for _ in 0..=random.below(3) {
            let (role, of_role) = random.pick(&roles);
            administrator.run(&format!("grant {role} to {member}")).await;
            // Sometimes through membership in another role.
            if random.one_in(3) {
                let between = format!("between_{name}");
                if member == name {
                    database.create_role(&format!("between_login{number}_{login}")).await;
                    administrator.run(&format!("grant {between} to {name}")).await;
                    member = between;
                }
            }
            granted.extend(of_role.iter().map(|grant| format!("{role}: {}", grant.formatted())));
            grants.extend(of_role);
        }
        // So few records suffice for a choice between the index of the sort and that of a condition.
        let look = format!("alter role {name} set keyed.sample_size = {}", 1 + login % 3);
        administrator.run(&look).await;
        let session = database.session_as(&name).await;
        session.run("set jit = off").await;
        if login % 2 == 0 {
            session.run("set enable_seqscan = off; set enable_sort = off").await;
        }
        let privileges = Privileges::new(&world, &grants);
        if let Err(problem) =
            check_login(&session, &administrator, &world, &privileges, &mut random, &mut tally).await
        {
            panic!("{name} with\n{}\n{problem}", granted.join("\n"));
        }
    }
    tally
}

async fn check_login(
    session: &Session,
    administrator: &Session,
    world: &World,
    privileges: &Privileges<'_>,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let seen = world.seen_by(|row| privileges.may(Privilege::Read, row));
    let total = world.live_things().count();
    tally.partly_visible += usize::from((1..total).contains(&seen.live_things().count()));
    check_rows(session, administrator, world, &seen, privileges).await?;
    for _ in 0..SEARCHES {
        let case = Case::random(&seen, random);
        tally.found_in_part += usize::from((1..total).contains(&case.expected.len()));
        let granted = |problem| format!("{{{}}}\n{problem}", case.query);
        case.check(session, administrator).await.map_err(granted)?;
        case.check_closest(session, &seen, random).await.map_err(granted)?;
        tally.found_by_words += words::check(session, administrator, &seen, &case, random).await?;
    }
    for _ in 0..CHANGES {
        let change = Change::random(world, random);
        let expected = change.expected(privileges);
        match &expected {
            Ok(()) => tally.allowed += 1,
            Err(state) => *tally.rejected.entry(state.clone()).or_default() += 1,
        }
        change.check(session, privileges, &expected).await?;
    }
    Ok(())
}

/// Every record by id, by key, and its history.
async fn check_rows(
    session: &Session,
    administrator: &Session,
    world: &World,
    seen: &World,
    privileges: &Privileges<'_>,
) -> Result<(), String> {
    for (row, seen) in world.rows.iter().zip(&seen.rows) {
        let (id, table) = (write_id(row.id), format!("p.{}", row.template.slug()));
        let is_there = |outcome: Result<harness::Rows, harness::SqlError>| match outcome {
            Ok(rows) => Ok(!rows.is_empty()),
            Err(error) if error.codes() == ("P0002", "not_found") => Ok(false),
            Err(error) => Err(error.to_string()),
        };
        let asked = [
            ("select keyed.get_record($1)".to_owned(), seen.live),
            (format!("select from {table} where id = $1"), seen.live),
            ("select keyed.history_page($1)".to_owned(), privileges.may(Privilege::Read, row)),
            (
                "select keyed_http.get_record($1, null, true, true)".to_owned(),
                privileges.may(Privilege::Read, row),
            ),
        ];
        for (statement, expected) in asked {
            let result = is_there(session.attempt(&statement, &[&id]).await)?;
            if result != expected {
                let login = session.text("select current_user", &[]).await;
                let explained =
                    administrator.text("select keyed.explain_access($1, $2)", &[&id, &login]).await;
                return Err(format!("`{statement}` of {row:?} is {result} and not {expected}: {explained}"));
            }
        }
        if let Some(key) = &row.key {
            let by_key = format!("select keyed.get_by_key('{table}', $1)");
            let result = is_there(session.attempt(&by_key, &[key]).await)?;
            if result != seen.live {
                return Err(format!("{key} is found by key: {result}"));
            }
            let by_keys = format!(
                "select from keyed.get_by_keys('{table}', array[$1]) as found where found -> 'records' ? $1"
            );
            match is_there(session.attempt(&by_keys, &[key]).await) {
                Ok(result) if result == seen.live => {}
                // Without a grant, no key is looked up.
                Err(_) if !seen.live => {}
                other => return Err(format!("{key} is found among keys: {other:?}")),
            }
        }
    }
    Ok(())
}
