//! The result of a search, and its response.

use super::facet::values::FacetValues;
use super::page::records::Page;
use crate::json::write_string;

/// What a search has found.
#[derive(Debug, Default)]
pub struct SearchResult {
    /// The records of the page.
    pub page: Page,
    /// The total number of records, if it was requested.
    pub total: Option<i64>,
    /// The values of the facets.
    pub facets: Vec<FacetValues>,
    /// What typo tolerance has changed; none if the terms were found as typed.
    pub corrected: Option<Corrected>,
}

/// What typo tolerance has changed.
#[derive(Debug)]
pub struct Corrected {
    /// The text with the corrected terms; none if it has them already.
    pub did_you_mean: Option<String>,
}

impl SearchResult {
    /// Whether no record was found.
    pub fn is_empty(&self) -> bool {
        self.page.count == 0
    }

    /// The response: `{records, next_cursor, has_more, total, facets?, fuzzy?, did_you_mean?}`.
    pub fn into_json(self) -> String {
        let Page { json: mut out, last, has_more, .. } = self.page;
        out.insert_str(0, "{\"records\":[");
        out.push_str("],\"next_cursor\":");
        write_or_null(&mut out, last.filter(|_| has_more).as_deref());
        out.push_str(",\"has_more\":");
        out.push_str(if has_more { "true" } else { "false" });
        out.push_str(",\"total\":");
        match self.total {
            Some(total) => out.push_str(&total.to_string()),
            None => out.push_str("null"),
        }
        if !self.facets.is_empty() {
            write_facets(&mut out, &self.facets);
        }
        if let Some(corrected) = &self.corrected {
            out.push_str(",\"fuzzy\":true,\"did_you_mean\":");
            write_or_null(&mut out, corrected.did_you_mean.as_deref());
        }
        out.push('}');
        out
    }
}

fn write_or_null(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => write_string(out, text),
        None => out.push_str("null"),
    }
}

fn write_facets(out: &mut String, facets: &[FacetValues]) {
    out.push_str(",\"facets\":{");
    for (position, facet) in facets.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(out, &facet.name);
        out.push_str(":[");
        for (position, value) in facet.values.iter().enumerate() {
            out.push_str(if position > 0 { ",{\"value\":" } else { "{\"value\":" });
            out.push_str(&value.json);
            out.push_str(&format!(",\"count\":{}{}}}", value.count, value.description));
        }
        out.push(']');
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::facet::values::FacetValue;

    #[test]
    fn empty_result_has_every_member() {
        let json = SearchResult::default().into_json();
        assert_eq!(json, r#"{"records":[],"next_cursor":null,"has_more":false,"total":null}"#);
    }

    #[test]
    fn response_has_a_cursor_only_if_records_follow() {
        for (has_more, cursor) in [(true, "\"c\""), (false, "null")] {
            let mut page = Page { last: Some("c".to_owned()), has_more, ..Page::default() };
            page.push("{\"id\":1}");
            page.push("{\"id\":2}");
            let result = SearchResult { page, total: Some(2), ..SearchResult::default() };
            assert!(!result.is_empty());
            let expected = format!(
                r#"{{"records":[{{"id":1}},{{"id":2}}],"next_cursor":{cursor},"has_more":{has_more},"total":2}}"#
            );
            assert_eq!(result.into_json(), expected);
        }
    }

    #[test]
    fn response_has_facets_and_corrections() {
        let value = |json: &str, description: &str| FacetValue {
            json: json.to_owned(),
            count: 3,
            description: description.to_owned(),
        };
        let values = vec![value("\"a\"", ",\"label\":\"A\""), value("null", "")];
        let facets = vec![FacetValues { name: "kind".to_owned(), values }];
        let corrected = Some(Corrected { did_you_mean: Some("a \"b\"".to_owned()) });
        let json = SearchResult { facets, corrected, ..SearchResult::default() }.into_json();
        let (_, rest) = json.split_once(",\"facets\":").expect("facets");
        assert_eq!(
            rest,
            r#"{"kind":[{"value":"a","count":3,"label":"A"},{"value":null,"count":3}]},"fuzzy":true,"did_you_mean":"a \"b\""}"#
        );
    }
}
