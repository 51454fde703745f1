//! The SQL functions and the HTTP door that search.

use super::{explain, run};
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::function::{Answer, Call, must_not_be_null, sql_functions};
use crate::template::{Template, catalog};
use std::rc::Rc;

sql_functions! {
    /// `keyed.search(template regclass, query jsonb) returns jsonb`.
    keyed_search => |call| {
        let template = template_argument(call)?;
        let query = call.json(1);
        run::search(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(Answer::Json)
    };

    /// `keyed.filter_sql(template regclass, query jsonb) returns text`.
    keyed_filter_sql => |call| {
        let template = template_argument(call)?;
        let query = call.json(1);
        run::filter_sql(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(Answer::Text)
    };

    /// `keyed.explain(template regclass, query jsonb) returns text`.
    keyed_explain => |call| {
        let template = template_argument(call)?;
        let query = call.json(1);
        explain::explain(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(Answer::Text)
    };

    /// `keyed_http.search(template text, body text) returns text`.
    keyed_http_search => |call| {
        let caller = Caller::current();
        let template = catalog::by_name(&caller, &call.required_text(0, "template")?)?;
        run::search(&caller, &template, &call.required_text(1, "body")?).map(Answer::Text)
    };
}

fn template_argument(call: &Call) -> Result<Rc<Template>, Error> {
    catalog::by_table(call.oid(0).ok_or_else(|| must_not_be_null("template"))?)
}
