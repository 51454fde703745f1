//! What a record may be called that a query asks for: pure.

use super::fold::fold;
use super::query::TextQuery;

/// The most ways to say all of a query that are names.
const MOST: usize = 16;

/// The names, folded. What will do as well as a word does so here, too, unless there are very many ways to say it all.
pub fn names(query: &TextQuery) -> Vec<String> {
    let wanted: Vec<_> = query.terms.iter().filter(|term| !term.is_excluded).collect();
    let count = wanted.iter().fold(1usize, |count, term| count.saturating_mul(1 + term.alternatives.len()));
    let most = if count <= MOST { MOST } else { 1 };
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for term in &wanted {
        let mut longer = Vec::new();
        for text in std::iter::once(term.text.clone()).chain(term.others().map(|it| it.text)).take(most) {
            for mut row in rows.iter().cloned() {
                // What stands for several words comes once for each.
                if row.last() != Some(&text) {
                    row.push(text.clone());
                }
                longer.push(row);
            }
        }
        rows = longer;
    }
    let mut names: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    if wanted.len() == query.terms.len() {
        // Without what was taken off it: words that came twice, dashes between words, quotation marks.
        names.push(fold(&query.text));
    }
    let mut known: Vec<String> = Vec::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::super::query::{Alternative, MatchKind};
    use super::*;

    #[test]
    fn names_are_what_was_typed_and_what_will_do_as_well() {
        for (text, expected) in [
            ("", &[] as &[&str]),
            ("Old  Maps", &["old maps"]),
            ("\"old maps\" x", &["old maps x", "\"old maps\" x"]),
            ("old - old maps", &["old maps", "old - old maps"]),
            ("old -maps", &["old"]),
            ("-maps", &[]),
        ] {
            assert_eq!(names(&TextQuery::parse(text).expect("a query")), expected, "{text}");
        }
        let mut query = TextQuery::parse("new york bar").expect("a query");
        let nyc = Alternative { typed: "NYC".to_owned(), kind: MatchKind::Word };
        query.terms[0].alternatives.push(nyc.clone());
        query.terms[1].alternatives.push(nyc.clone());
        assert_eq!(names(&query), ["new york bar", "nyc york bar", "new nyc bar", "nyc bar"]);
        query.terms.iter_mut().for_each(|term| term.alternatives = vec![nyc.clone(); 3]);
        assert_eq!(names(&query), ["new york bar"]);
    }
}
