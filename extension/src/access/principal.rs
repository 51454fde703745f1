//! The principal of a transaction: `authenticate` and inbound endpoints set it, every function reads it.
//!
//! It is in memory of the backend, so SQL cannot write it. ROLLBACK TO SAVEPOINT restores it, and it ends with the
//! transaction. Parallel workers have no principal, so parallel-safe functions must not read it.

use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use crate::postgres::transaction::{self, Ended};
use crate::postgres::transaction_local::TransactionLocal;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static PRINCIPAL: RefCell<TransactionLocal<Option<Rc<Principal>>>> = const { RefCell::new(TransactionLocal::new()) };
}

/// Follows the end of transactions and savepoints.
pub fn on_end(ended: Ended) {
    PRINCIPAL.with_borrow_mut(|principal| principal.ended(ended));
}

fn set(principal: Option<Rc<Principal>>) {
    PRINCIPAL.with_borrow_mut(|local| local.set(transaction::moment(), principal));
}

/// The authenticated key or endpoint of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The id of the API key; `None` for an inbound endpoint.
    pub key: Option<i32>,
    /// The OID of the role that the key acts as.
    pub role: u32,
    /// The project that the request selects, or the only project of the key.
    pub project: Option<i32>,
    /// The projects to which the key is limited; `None` for all.
    pub projects: Option<Vec<i32>>,
    /// The entry point: `api`, `app`, `csv`, `inbound`.
    pub source: String,
    /// The label of the key or the endpoint.
    pub label: String,
    /// Whether the request writes numbers as JSON strings.
    pub numbers_as_strings: bool,
}

impl Principal {
    /// The principal of this transaction; `None` for direct SQL.
    pub fn current() -> Option<Rc<Principal>> {
        if transaction::is_parallel_worker() {
            Error::new(Code::Internal, "the caller is not available in a parallel worker").raise();
        }
        PRINCIPAL.with_borrow(|local| local.get(transaction::moment()).cloned().flatten())
    }

    /// Sets the principal until the end of the transaction.
    pub fn enter(self) {
        set(Some(Rc::new(self)));
    }

    /// Sets the principal while `body` runs. After an error, the rollback of the (sub)transaction restores the former one.
    pub fn during<R>(self, body: impl FnOnce() -> R) -> R {
        let before = Principal::current();
        self.enter();
        let result = body();
        set(before);
        result
    }

    /// Whether the key is valid for this project.
    pub fn can_access_project(&self, project: i32) -> bool {
        self.projects.as_ref().is_none_or(|projects| projects.contains(&project))
    }

    /// The name of the actor in the history.
    pub fn actor(&self) -> String {
        match self.key {
            None => self.label.clone(),
            Some(key) if self.label.is_empty() => format!("key {key}"),
            Some(key) => format!("{} (key {key})", self.label),
        }
    }
}
