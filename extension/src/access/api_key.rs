//! API keys: issuing, lookup by hash, last use, revocation.
//!
//! A key has the form `keyed_<number>_<base58 of 32 secret bytes and their CRC-32>`. The prefix and the checksum let
//! secret scanners recognize a leaked key. The proxy sends only the SHA-256 of a key, and the database stores only a
//! hash of that, so a dump contains no usable credential.

use super::binding;
use super::caller::Caller;
use super::credential::Credential;
use super::principal::Principal;
use crate::error::{Code, Error};
use crate::postgres::clock::now;
use crate::postgres::guard::{as_owner, owner};
use crate::postgres::parameter::{RegRole, Timestamp, params};
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::{datum, invalidation, random, role, transaction};
use crate::template::catalog::{self, Change};
use crate::value::quote::identifier;
use crate::value::time;
use pgrx::pg_sys::{Datum, Oid};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of cached keys; beyond it, the cache is cleared.
const MAX_CACHED: usize = 10_000;

/// Minimum interval between writes for a key in a session, in microseconds.
const WRITE_INTERVAL: i64 = 60_000_000;

/// The maximum number of keys in `WRITTEN`; beyond it, the map is cleared.
const MAX_KEYS: usize = 10_000;

/// A stored key that is not revoked.
struct Key {
    id: i32,
    role: Oid,
    projects: Option<Vec<i32>>,
    label: String,
    /// Microseconds since 2000-01-01T00:00:00Z.
    expires_at: Option<i64>,
}

#[derive(Default)]
struct Cache {
    /// The table of keys. A change of it invalidates the cache of every session.
    table: Oid,
    keys: HashMap<Vec<u8>, Rc<Key>>,
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::new(Cache::default());
    /// When this session last wrote the use of a key.
    static WRITTEN: RefCell<HashMap<i32, i64>> = RefCell::default();
}

/// Clears the cache when the table of keys or a role has changed.
pub fn on_change(change: &Change) {
    let Change::Stale(stale) = change else { return };
    CACHE.with_borrow_mut(|cache| {
        if stale.roles || stale.has(cache.table) {
            cache.keys.clear();
        }
    });
}

/// The owner of an API key, for the logs of the proxy.
pub struct Owner {
    /// The key's id.
    pub id: i32,
    /// The name of the role that it acts as.
    pub role: Option<String>,
    /// The project that it is bound to, if it is only one.
    pub project: Option<i32>,
}

/// The owner of the API key of the transaction; `None` without a key.
pub fn current_owner() -> Option<Owner> {
    let principal = Principal::current()?;
    Some(Owner {
        id: principal.key?,
        role: role::name(Oid::from(principal.role)),
        project: principal.project,
    })
}

/// Makes the key with this hash the principal of the transaction. All failures report the same error.
pub fn authenticate(
    presented: &[u8],
    project: Option<&str>,
    source: &str,
    numbers_as_strings: bool,
) -> Result<(), Error> {
    catalog::refresh();
    let before = invalidation::count();
    let cached = CACHE.with_borrow(|cache| cache.keys.get(presented).cloned());
    let key = match cached {
        Some(key) => key,
        None => Rc::new(load(presented)?),
    };
    if key.expires_at.is_some_and(|expires_at| expires_at <= now()) {
        return Err(invalid());
    }
    if role::name(key.role).is_none() {
        return Err(invalid());
    }
    // A change during the read may be missing from the result, which is then not cached.
    if invalidation::count() == before {
        CACHE.with_borrow_mut(|known| {
            if known.keys.len() >= MAX_CACHED {
                known.keys.clear();
            }
            known.keys.entry(presented.to_vec()).or_insert_with(|| Rc::clone(&key));
        });
    }
    let mut principal = Principal {
        key: Some(key.id),
        role: key.role.to_u32(),
        project: None,
        projects: key.projects.clone(),
        source: source.to_owned(),
        label: key.label.clone(),
        numbers_as_strings,
    };
    principal.project = match (project, key.projects.as_deref()) {
        (Some(name), _) => {
            let project = catalog::project_by_name_or_id(name)
                .filter(|project| principal.can_access_project(project.id));
            Some(project.ok_or_else(Error::not_found)?.id)
        }
        (None, Some([only])) => Some(*only),
        (None, _) => None,
    };
    principal.enter();
    record_use(key.id);
    Ok(())
}

/// Records that this transaction uses a key. The time is accurate to about a minute, and sessions do not wait for each
/// other.
fn record_use(key: i32) {
    let now = transaction::began_at();
    let is_due = WRITTEN.with_borrow(|written| written.get(&key).is_none_or(|at| now - at > WRITE_INTERVAL));
    if !is_due || !transaction::may_write() {
        return;
    }
    WRITTEN.with_borrow_mut(|written| {
        if written.len() >= MAX_KEYS {
            written.clear();
        }
        written.insert(key, now);
    });
    // Skips the write if another session has just written, or holds the row lock.
    let sql = "with free as materialized (select u.key_id from keyed_state.api_key_use u where u.key_id = $1 \
                 and (u.last_used_at is null or u.last_used_at < now() - '30 seconds'::interval) \
                 for no key update skip locked) \
               update keyed_state.api_key_use u set last_used_at = now() from free where u.key_id = free.key_id";
    as_owner(|| {
        connected(|spi| {
            without_waiting(|| spi.run_once(sql, Snapshot::Latest, &params![key]).len());
        });
    });
}

fn invalid() -> Error {
    Error::new(Code::Unauthorized, "the API key is not valid: it is unknown, revoked or expired")
        .hint("Ask an administrator for a key: SELECT keyed.issue_api_key(role, projects, label).")
}

fn load(presented: &[u8]) -> Result<Key, Error> {
    binding::require_state()?;
    watch();
    let sql = format!(
        "select k.id, {}, k.projects::text[], k.label, k.expires_at \
         from keyed_state.api_key k where k.hash = $1 and k.revoked_at is null",
        binding::role_sql("k")
    );
    let key = as_owner(|| {
        connected(|spi| {
            let rows = spi.run_newest_and_own(&sql, &params![&Credential::ApiKey.stored(presented)]);
            (!rows.is_empty()).then(|| read_key(&rows))
        })
    });
    key.ok_or_else(invalid)
}

fn watch() {
    let Some(table) = catalog::table_oid("keyed_state", "api_key") else { return };
    invalidation::watch(table);
    CACHE.with_borrow_mut(|cache| {
        // The schema was dropped and created again.
        if cache.table != table {
            cache.keys.clear();
        }
        cache.table = table;
    });
}

fn read_key(rows: &Rows) -> Key {
    let text = |column| rows.get::<Option<String>>(0, column).unwrap_or_default();
    let projects = rows.get::<Option<Vec<String>>>(0, 2);
    Key {
        id: rows.get::<Option<i32>>(0, 0).unwrap_or_default(),
        role: rows.get::<Option<Oid>>(0, 1).unwrap_or(Oid::INVALID),
        projects: projects.map(|ids| ids.iter().filter_map(|id| id.parse().ok()).collect()),
        label: text(3),
        expires_at: rows.get(0, 4),
    }
}

/// What a new key allows.
struct NewKey {
    role: Oid,
    /// The ids of its projects; `None` for all.
    projects: Option<Vec<String>>,
    label: String,
    /// Microseconds since 2000-01-01T00:00:00Z.
    expires_at: Option<i64>,
}

/// Checks what a new key would allow. A caller whose own key is limited to projects can make keys for those projects only.
fn check(
    role: &str,
    projects: Option<&[String]>,
    label: Option<&str>,
    expires_at: Option<Datum>,
) -> Result<NewKey, Error> {
    let caller = Caller::current();
    caller.require_admin("issue API keys")?;
    let Some(acts_as) = role::find_by_name(role) else {
        return Err(Error::at(Code::InvalidValue, "/role", format!("role {role:?} does not exist"))
            .hint(format!("Create it first: CREATE ROLE {}.", identifier(role))));
    };
    if role::is_reserved(role) {
        return Err(Error::at(Code::InvalidValue, "/role", format!("an API key cannot act as {role}"))
            .hint("Issue the key for keyed_admin, or create a role for it: CREATE ROLE sales."));
    }
    // A member of keyed_admin must not become a superuser by means of a key.
    let exceeds_admin = role::is_superuser(acts_as) || role::is_member(acts_as, owner());
    if exceeds_admin && !role::is_superuser(role::current()) {
        return Err(Error::new(
            Code::Forbidden,
            format!("only a superuser may issue an API key that acts as {role:?}"),
        )
        .hint("Issue the key for keyed_admin, or create a role for it: CREATE ROLE sales."));
    }
    catalog::refresh();
    if projects.is_none() {
        caller.require_all_projects("issue API keys for all projects")?;
    }
    let projects = projects.map(|slugs| project_ids(&caller, slugs)).transpose()?;
    let expires_at = expires_at.map(datum::read_i64);
    if let Some(at) = expires_at {
        time::check_range("expires_at", at)
            .map_err(|error| error.hint("Omit expires_at for a key that does not expire."))?;
        if at <= now() {
            return Err(Error::at(Code::InvalidValue, "/expires_at", "expires_at is in the past"));
        }
    }
    let label = label.unwrap_or_default();
    if label.len() > 200 || label.chars().any(char::is_control) {
        return Err(Error::at(
            Code::InvalidValue,
            "/label",
            "label must have at most 200 bytes and no control characters",
        ));
    }
    binding::require_state()?;
    Ok(NewKey { role: acts_as, projects, label: label.to_owned(), expires_at })
}

/// Stores a key. Returns false if a key with this id exists.
fn store(spi: &Connection, id: i32, key: &str, new: &NewKey) -> bool {
    binding::renew(spi);
    let rows = spi.run_once(
        "with made as (insert into keyed_state.api_key \
         (id, role, projects, label, hash, expires_at, created_by, role_name, bound_in) \
         overriding system value values ($1, $2, $3::integer[], $4, $5, $6, $7, $8, \
         keyed.binding('keyed_state.api_key'::regclass)) on conflict (id) do nothing returning id) \
         insert into keyed_state.api_key_use (key_id) select id from made returning key_id",
        Snapshot::Latest,
        &params![
            id,
            RegRole(new.role),
            new.projects.clone(),
            &new.label,
            &Credential::ApiKey.of_secret(key),
            new.expires_at.map(Timestamp),
            Caller::actor(),
            binding::name_argument(new.role)
        ],
    );
    !rows.is_empty()
}

/// Issues a key that acts as `role`, limited to `projects` (slugs) or for all projects. The result is its only copy. A
/// caller whose own key is limited to projects can issue keys for those projects only.
pub fn issue(
    role: &str,
    projects: Option<&[String]>,
    label: Option<&str>,
    expires_at: Option<Datum>,
) -> Result<String, Error> {
    let new = check(role, projects, label, expires_at)?;
    let mut secret = [0u8; SECRET];
    random::fill(&mut secret);
    Ok(as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "select pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('keyed_state.api_key', 'id'))",
                Snapshot::Latest,
                &[],
            );
            // The column is an integer.
            let id = rows.get::<Option<i64>>(0, 0).unwrap_or_default() as i32;
            let key = write_key(id, &secret);
            store(spi, id, &key, &new);
            key
        })
    }))
}

/// Registers a key that another shard issued, so that it is valid here too, with the same id and secret. Repeating the call
/// with the same arguments has no effect. Returns the id.
///
/// `is_issued_here` says whether this database assigns an id.
pub fn register(
    key: &str,
    role: &str,
    projects: Option<&[String]>,
    label: Option<&str>,
    expires_at: Option<Datum>,
    is_issued_here: impl Fn(i32) -> bool,
) -> Result<i32, Error> {
    let new = check(role, projects, label, expires_at)?;
    let id = read_id(key).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/key", "this is not an API key")
            .hint("Use the key as the other shard issued it: keyed_<id>_<secret>.")
    })?;
    if is_issued_here(id) {
        return Err(Error::at(Code::InvalidValue, "/key", format!("key {id} is not of another shard")).hint(
            "Register a key of this shard on the other shards. To issue a key here, use keyed.issue_api_key.",
        ));
    }
    as_owner(|| {
        connected(|spi| {
            if store(spi, id, key, &new) {
                return Ok(id);
            }
            let rows = spi.run_newest_and_own(
                "select from keyed_state.api_key k where k.id = $1 and k.hash = $2 and k.revoked_at is null \
                 and k.role = $3 and k.projects is not distinct from $4::integer[] and k.label = $5 \
                 and k.expires_at is not distinct from $6",
                &params![
                    id,
                    &Credential::ApiKey.of_secret(key),
                    RegRole(new.role),
                    new.projects.clone(),
                    &new.label,
                    new.expires_at.map(Timestamp)
                ],
            );
            if rows.is_empty() {
                return Err(Error::new(
                    Code::Conflict,
                    format!("key {id} is registered here with another secret, role, label, expiry or other projects, or it is revoked"),
                )
                .hint("Issue a new key, or repeat the first call."));
            }
            Ok(id)
        })
    })
}

/// The bytes of a secret.
const SECRET: usize = 32;

/// The text form of a key: see the [module](self).
fn write_key(id: i32, secret: &[u8; SECRET]) -> String {
    let checksum = crc32fast::hash(secret).to_be_bytes();
    format!("keyed_{id}_{}", bs58::encode([&secret[..], &checksum].concat()).into_string())
}

/// The id of a key in text form; `None` if the text is not a key.
fn read_id(key: &str) -> Option<i32> {
    let (id, encoded) = key.strip_prefix("keyed_")?.split_once('_')?;
    // The time of decoding grows with the square of the length.
    if encoded.len() > 2 * SECRET {
        return None;
    }
    let bytes = bs58::decode(encoded).into_vec().ok()?;
    let (secret, checksum) = bytes.split_first_chunk::<SECRET>()?;
    let is_intact = crc32fast::hash(secret).to_be_bytes() == *checksum;
    let id = id.parse().ok().filter(|number: &i32| *number > 0 && number.to_string() == id)?;
    is_intact.then_some(id)
}

fn project_ids(caller: &Caller, slugs: &[String]) -> Result<Vec<String>, Error> {
    let known = |id: &i32| caller.key_projects().is_none_or(|projects| projects.contains(id));
    let find = |(position, slug): (usize, &String)| match catalog::project_by_name_or_id(slug) {
        Some(project) if known(&project.id) => Ok(project.id.to_string()),
        _ => Err(Error::at(
            Code::InvalidValue,
            format!("/projects/{position}"),
            format!("project {slug:?} does not exist"),
        )),
    };
    if slugs.is_empty() {
        return Err(Error::at(Code::InvalidValue, "/projects", "the list of projects is empty")
            .hint("Name at least one project, or use null for all projects."));
    }
    slugs.iter().enumerate().map(find).collect()
}

/// Revokes a key; the next request with it fails. Returns false for a key that is unknown or already revoked. A caller
/// whose own key is limited to projects can revoke only keys that are limited to some of the same projects; false for
/// others.
///
/// The trigger `keyed_announce` of the table (`sql/state/`) sends an invalidation message ([`invalidation::announce`]),
/// so other sessions drop the key from their caches.
pub fn revoke(id: i32) -> Result<bool, Error> {
    let caller = Caller::current();
    caller.require_admin("revoke API keys")?;
    let projects = caller.key_projects();
    Ok(as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "update keyed_state.api_key set revoked_at = pg_catalog.now() \
                 where id = $1 and revoked_at is null and ($2 is null or projects <@ $2)",
                Snapshot::Latest,
                &params![id, projects],
            );
            !rows.is_empty()
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_contains_its_id_and_a_checksum() {
        let key = write_key(50_331_649, &[7; SECRET]);
        assert_eq!(read_id(&key), Some(50_331_649));
        let changed = format!("{}{}", &key[..key.len() - 1], if key.ends_with('2') { '3' } else { '2' });
        for other in [
            "",
            "keyed_",
            "keyed_1_",
            "keyed_1_2",
            &key[1..],
            &changed,
            &key.replace("keyed_", "keyed_0"),
            &format!("keyed_1_{}", "1".repeat(100_000)),
        ] {
            assert_eq!(read_id(other), None, "{other}");
        }
    }
}
