//! The principal of a transaction, stored in a setting: `authenticate` and inbound endpoints set it, every function
//! reads it.
//!
//! The text is `key role project projects source label`, separated by single spaces; the label is last because only
//! it may contain spaces.

use crate::postgres::setting;
use std::cell::RefCell;
use std::ffi::CString;
use std::rc::Rc;

thread_local! {
    /// The setting's last text and what it says: within a request, and often from one to the next, it is the same.
    static LATEST: RefCell<Option<(CString, Rc<Principal>)>> = const { RefCell::new(None) };
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
}

impl Principal {
    /// The principal of this transaction, when a key was presented.
    pub fn current() -> Option<Rc<Principal>> {
        let text = setting::principal()?;
        LATEST.with_borrow_mut(|latest| {
            if latest.as_ref().is_none_or(|(known, _)| *known != text) {
                let principal = Rc::new(Principal::parse(text.to_str().ok()?)?);
                *latest = Some((text, principal));
            }
            latest.as_ref().map(|(_, principal)| Rc::clone(principal))
        })
    }

    /// Makes it the principal until the end of the transaction.
    pub fn enter(&self) {
        setting::set_principal(&self.render());
    }

    /// Makes it the principal while something runs. An error undoes that with the rest of its (sub)transaction.
    pub fn during<R>(&self, body: impl FnOnce() -> R) -> R {
        let before = setting::principal().unwrap_or_default();
        self.enter();
        let result = body();
        setting::set_principal(&before.to_string_lossy());
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

    fn render(&self) -> String {
        let projects = self.projects.as_ref().map_or("*".to_owned(), |projects| {
            projects.iter().map(i32::to_string).collect::<Vec<_>>().join(",")
        });
        let project = self.project.map_or("-".to_owned(), |project| project.to_string());
        let key = self.key.map_or("-".to_owned(), |key| key.to_string());
        format!("{key} {} {project} {projects} {} {}", self.role, self.source, self.label)
    }

    fn parse(text: &str) -> Option<Principal> {
        let mut parts = text.splitn(6, ' ');
        let key = match parts.next()? {
            "-" => None,
            number => Some(number.parse().ok()?),
        };
        let role = parts.next()?.parse().ok()?;
        let project = match parts.next()? {
            "-" => None,
            number => Some(number.parse().ok()?),
        };
        let projects = match parts.next()? {
            "*" => None,
            "" => Some(Vec::new()),
            numbers => Some(numbers.split(',').map(str::parse).collect::<Result<_, _>>().ok()?),
        };
        let source = parts.next()?.to_owned();
        Some(Principal { key, role, project, projects, source, label: parts.next()?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_principal_reads_back_as_it_was_written() {
        for (key, project, projects, label) in [
            (Some(12), None, None, ""),
            (Some(12), Some(3), Some(vec![3]), "erp sync (nightly)"),
            (Some(12), None, Some(vec![]), "-"),
            (None, Some(1), Some(vec![1, 22]), "* 5 6"),
        ] {
            let source = "api".to_owned();
            let principal =
                Principal { key, role: 16_401, project, projects, source, label: label.to_owned() };
            assert_eq!(Principal::parse(&principal.render()), Some(principal));
        }
        assert_eq!(Principal::parse("forged"), None);
    }

    proptest! {
        #[test]
        fn no_label_changes_the_identity_of_a_principal(
            key in any::<Option<i32>>(),
            role in any::<u32>(),
            project in any::<Option<i32>>(),
            projects in prop::option::of(prop::collection::vec(any::<i32>(), 0..4)),
            label in any::<String>(),
        ) {
            let principal = Principal { key, role, project, projects, source: "csv".to_owned(), label };
            prop_assert_eq!(Principal::parse(&principal.render()), Some(principal));
        }

        #[test]
        fn any_text_is_a_principal_or_none(text in prop_oneof![any::<String>(), "[-*0-9a ,]{0,40}"]) {
            if let Some(principal) = Principal::parse(&text) {
                prop_assert_eq!(Principal::parse(&principal.render()), Some(principal));
            }
        }
    }
}
