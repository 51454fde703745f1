//! The principal of a transaction: `authenticate` and inbound endpoints set it, every function reads it.
//!
//! It is a variable of the session, so no SQL can write it. A rolled-back savepoint undoes it, and it ends with the transaction.
//! Workers of a parallel plan have none, so no function that may run there may ask for it.

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

/// Who acts in this transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The number of the API key; `None` for an inbound endpoint.
    pub key: Option<i32>,
    /// The oid of the role that the key acts as.
    pub role: u32,
    /// The project that the request chose, or the only one that the key is bound to.
    pub project: Option<i32>,
    /// The projects that the key is bound to; `None` for all.
    pub projects: Option<Vec<i32>>,
    /// The entry point: `api`, `app`, `csv`, `inbound`.
    pub source: String,
    /// What people call the key, or the endpoint.
    pub label: String,
    /// Whether the request writes numbers as JSON strings.
    pub numbers_as_strings: bool,
}

impl Principal {
    /// The principal of this transaction, when a key was presented.
    pub fn current() -> Option<Rc<Principal>> {
        if transaction::is_parallel_worker() {
            Error::new(Code::Internal, "a parallel worker does not know the caller").raise();
        }
        PRINCIPAL.with_borrow(|local| local.get(transaction::moment()).cloned().flatten())
    }

    /// Makes it the principal until the end of the transaction.
    pub fn enter(self) {
        set(Some(Rc::new(self)));
    }

    /// Makes it the principal while something runs. An error undoes that with the rest of its (sub)transaction.
    pub fn during<R>(self, body: impl FnOnce() -> R) -> R {
        let before = Principal::current();
        self.enter();
        let result = body();
        set(before);
        result
    }

    /// Whether the key is bound to this project, or to none in particular.
    pub fn sees_project(&self, project: i32) -> bool {
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
