//! The error of a quota that is reached.

use crate::access::Caller;
use crate::access::principal::Principal;
use crate::error::quota::{Name, Reached};
use crate::error::{Code, Error};
use crate::postgres::role;
use pgrx::pg_sys::Oid;

impl Reached {
    /// The error for an amount that would exceed a quota.
    pub fn to_error(self, project: &str) -> Error {
        let Reached { name, maximum, used, requested } = self;
        let plural = if maximum == 1 { "" } else { "s" };
        let (name, what) = match name {
            Name::LiveRecords => (name.text(), format!("live record{plural}")),
            Name::Templates => (name.text(), format!("template{plural}")),
            Name::AttributesPerTemplate => (name.text(), format!("attribute{plural} in each template")),
            Name::WritesPerDay => (name.text(), format!("write{plural} a day")),
        };
        // The total usage is not disclosed to a caller with a scope. A write runs as the owner, so the role that called
        // is checked.
        let used = used.filter(|_| {
            let role = Principal::current().map_or_else(role::session, |it| Oid::from(it.role));
            Caller::of_role(role).is_admin()
        });
        let more = if requested > 1 { format!("; {requested} more were requested") } else { String::new() };
        let has = used.map(|used| format!(" and has {used}{more}")).unwrap_or_default();
        let message =
            format!("the project {project:?} may have {maximum} {what}{has}: quota {name} is reached");
        let hint =
            format!("Ask an administrator to raise it: SELECT keyed.set_quota('{project}', '{name}', …).");
        Error { quota: Some(Box::new(Reached { used, ..self })), ..Error::new(Code::QuotaExceeded, message) }
            .hint(hint)
    }
}
