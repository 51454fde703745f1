//! Pagination of lists for administrators.

use super::report::records;
use crate::error::{Code, Error};
use crate::json;
use crate::json_write::write_string;
use crate::postgres::parameter::Parameter;
use crate::value::member::text_at;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::value::RawValue;

/// The default and the maximum number of entries on a page.
const LIMIT: (i32, i32) = (100, 1000);

/// The parameters of a page. A cursor has `N` strings, the sort key of the previous page's last entry.
pub(super) struct Page<const N: usize> {
    limit: usize,
    after: Option<[String; N]>,
}

impl<const N: usize> Page<N> {
    /// Parses the parameters of a request.
    pub(super) fn parse(limit: Option<i32>, cursor: Option<&str>) -> Result<Page<N>, Error> {
        let limit = limit.unwrap_or(LIMIT.0);
        if !(1..=LIMIT.1).contains(&limit) {
            let message = format!("limit is a whole number from 1 to {}", LIMIT.1);
            return Err(Error::at(Code::InvalidValue, "/limit", message));
        }
        let after = cursor.map(|cursor| decode(cursor).ok_or_else(invalid_cursor)).transpose()?;
        Ok(Page { limit: limit as usize, after })
    }

    /// The text at this position of the cursor.
    pub(super) fn after(&self, position: usize) -> Option<&str> {
        self.after.as_ref().map(|after| after[position].as_str())
    }

    /// The number at this position of the cursor.
    pub(super) fn number_after(&self, position: usize) -> Result<Option<i32>, Error> {
        self.after(position).map(|text| text.parse().map_err(|_| invalid_cursor())).transpose()
    }

    /// The number of entries to read, including one that shows whether there is another page.
    pub(super) fn read(&self) -> i64 {
        self.limit as i64 + 1
    }

    /// `{name: […], next_cursor}` for a query whose last column, `after`, is the sort key of an entry.
    pub(super) fn write(&self, name: &str, query: &str, arguments: &[Parameter]) -> String {
        let mut entries = records(query, arguments);
        let has_more = entries.len() > self.limit;
        entries.truncate(self.limit);
        let mut next = "null".to_owned();
        for (position, entry) in entries.iter_mut().enumerate() {
            let Some(start) = entry.rfind(",\"after\":") else { continue };
            let after = entry.split_off(start);
            entry.push('}');
            if has_more && position + 1 == self.limit {
                let after = after.trim_start_matches(",\"after\":").trim_end_matches('}');
                next.clear();
                write_string(&mut next, &URL_SAFE_NO_PAD.encode(after));
            }
        }
        format!("{{\"{name}\":[{}],\"next_cursor\":{next}}}", entries.join(","))
    }
}

fn invalid_cursor() -> Error {
    Error::at(Code::InvalidValue, "/cursor", "the cursor is not one of this list")
        .hint("Send the next_cursor of the previous page, unchanged.")
}

fn decode<const N: usize>(cursor: &str) -> Option<[String; N]> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let array: &RawValue = serde_json::from_str(&text).ok()?;
    let texts = json::array_at_most(array, N + 1, "").ok()?;
    let texts: Vec<String> = texts.into_iter().map(|it| text_at(it, "").ok()).collect::<Option<_>>()?;
    texts.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cursor(json: &str) -> Option<[String; 2]> {
        decode(&URL_SAFE_NO_PAD.encode(json))
    }

    #[test]
    fn cursor_has_the_texts_of_the_sort_key() {
        assert_eq!(cursor(r#"["a","b\"c"]"#), Some(["a".to_owned(), "b\"c".to_owned()]));
        for json in
            [r#"["a"]"#, r#"["a","b","c"]"#, r#"["a",1]"#, r#"["a",null]"#, "{}", "", r#"["a","\u0000"]"#]
        {
            assert_eq!(cursor(json), None, "{json}");
        }
        let limit = |limit| {
            Page::<1>::parse(Some(limit), None).err().map(|error| error.violations[0].pointer.clone())
        };
        assert_eq!((limit(1), limit(1000)), (None, None));
        assert_eq!((limit(0), limit(1001)), (Some("/limit".to_owned()), Some("/limit".to_owned())));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_a_cursor_or_rejected(text in prop_oneof![any::<String>(), "[-_A-Za-z0-9]{0,60}"]) {
            if let Err(error) = Page::<2>::parse(None, Some(&text)) {
                prop_assert_eq!(error.violations[0].pointer.as_str(), "/cursor");
            }
        }
    }
}
