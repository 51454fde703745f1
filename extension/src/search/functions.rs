//! The SQL and HTTP functions that search.

use super::assistance::suggestions;
use super::semantic;
use super::text::{keys, trigram};
use crate::access::Caller;
use crate::access::lookup::template_by_name;
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::postgres::gin;
use crate::template::catalog;
use pgrx::pg_sys::Datum;

sql_functions! {
    /// `keyed.search(template regclass, query jsonb) returns jsonb`.
    keyed_search => |call| {
        let template = catalog::by_argument(call)?;
        let query = call.json(1);
        super::search(&Caller::current(), &template, query.as_deref().unwrap_or("{}"))
            .map(|result| ReturnValue::Json(result.into_json()))
    };

    /// `keyed.suggest(template regclass, query jsonb) returns jsonb`.
    keyed_suggest => |call| {
        let template = catalog::by_argument(call)?;
        let query = call.json(1);
        suggestions::suggest(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(ReturnValue::Json)
    };

    /// `keyed_http.suggest(template text, body text) returns text`.
    keyed_http_suggest => |call| {
        let caller = Caller::current();
        let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
        suggestions::suggest(&caller, &template, &call.required_text(1, "body")?).map(ReturnValue::Text)
    };

    /// `keyed.filter_sql(template regclass, query jsonb) returns text`.
    keyed_filter_sql => |call| {
        let template = catalog::by_argument(call)?;
        let query = call.json(1);
        super::filter_sql(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(ReturnValue::Text)
    };

    /// `keyed.explain(template regclass, query jsonb) returns text`.
    keyed_explain => |call| {
        let template = catalog::by_argument(call)?;
        let query = call.json(1);
        super::explain::explain(&Caller::current(), &template, query.as_deref().unwrap_or("{}")).map(ReturnValue::Text)
    };

    /// `keyed.semantic_search(query jsonb) returns jsonb`.
    keyed_semantic_search => |call| {
        let query = call.required_json(0, "query")?;
        semantic::run::search(&Caller::current(), &query).map(|found| ReturnValue::Json(found.json))
    };

    /// `keyed_http.semantic_search(body text) returns text[]`.
    keyed_http_semantic_search => |call| {
        let found = semantic::run::search(&Caller::current(), &call.required_text(0, "body")?)?;
        let flags = [found.is_exact, found.is_exhausted].map(|flag| Some(flag.to_string()));
        Ok(ReturnValue::Texts(flags.into_iter().chain([Some(found.json)]).collect()))
    };

    /// `keyed_http.check_search(template text, body text) returns boolean`.
    keyed_http_check_search => |call| {
        let caller = Caller::current();
        let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
        super::check(&caller, &template, &call.required_text(1, "body")?)?;
        Ok(ReturnValue::Datum(Datum::from(true)))
    };

    /// `keyed_http.check_semantic_search(body text) returns boolean`.
    keyed_http_check_semantic_search => |call| {
        semantic::run::check(&Caller::current(), &call.required_text(0, "body")?)?;
        Ok(ReturnValue::Datum(Datum::from(true)))
    };

    /// `keyed.trigrams_of_document(document text, …) returns internal`.
    keyed_trigrams_of_document => |call| Ok(ReturnValue::Datum(gin::keys_of_value(call, trigram::of_document)));

    /// `keyed.trigrams_of_pattern(pattern text, …) returns internal`.
    keyed_trigrams_of_pattern => |call| Ok(ReturnValue::Datum(gin::keys_of_query(call, trigram::IGNORING_CASE, trigram::of_pattern)));

    /// `keyed.trigrams_match(…) returns "char"`.
    keyed_trigrams_match => |call| Ok(ReturnValue::Datum(gin::may_have_all(call)));

    /// `keyed.words_of_document(document text, …) returns internal`.
    keyed_words_of_document => |call| Ok(ReturnValue::Datum(gin::keys_of_value(call, keys::of_document)));

    /// `keyed.words_of_pattern(pattern text, …) returns internal`.
    keyed_words_of_pattern => |call| {
        let keys: fn(&str) -> Vec<i32> = match gin::query_strategy(call) {
            keys::IN_NAME => keys::of_name_query,
            _ => trigram::of_pattern,
        };
        Ok(ReturnValue::Datum(gin::keys_of_query(call, trigram::IGNORING_CASE, keys)))
    };

    /// `keyed.words_match(…) returns "char"`.
    keyed_words_match => |call| Ok(ReturnValue::Datum(match gin::match_strategy(call) {
        keys::IN_NAME => gin::may_have_one(call),
        _ => gin::may_have_all(call),
    }));

    /// `keyed_http.search(template text, body text) returns text`.
    keyed_http_search => |call| {
        let caller = Caller::current();
        let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
        super::search(&caller, &template, &call.required_text(1, "body")?)
            .map(|result| ReturnValue::Text(result.into_json()))
    };
}
