//! The SQL functions and the HTTP door that search.

use super::{explain, run};
use crate::access::Caller;
use crate::postgres::function::{Answer, sql_functions};
use crate::template::catalog;

sql_functions! {
    /// `keyed.search(template regclass, query jsonb) returns jsonb`.
    keyed_search => |call| {
        let template = catalog::by_argument(call)?;
        let query = call.json(1);
        run::search(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(Answer::Json)
    };

    /// `keyed.filter_sql(template regclass, query jsonb) returns text`.
    keyed_filter_sql => |call| {
        let template = catalog::by_argument(call)?;
        let query = call.json(1);
        run::filter_sql(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(Answer::Text)
    };

    /// `keyed.explain(template regclass, query jsonb) returns text`.
    keyed_explain => |call| {
        let template = catalog::by_argument(call)?;
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
