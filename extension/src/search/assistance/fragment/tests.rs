use super::*;
use proptest::prelude::*;

fn mark(place: Range<usize>) -> Mark {
    Mark { place, terms: 1 }
}

fn unescaped(html: &str) -> String {
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    signs.into_iter().fold(html.to_owned(), |text, (name, sign)| text.replace(name, sign))
}

/// A fragment without its marks.
fn plain(html: &str) -> String {
    unescaped(&html.replace("<mark>", "").replace("</mark>", ""))
}

fn part(text: &str, place: &Range<usize>) -> String {
    text.chars().skip(place.start).take(place.len()).collect()
}

#[test]
fn short_text_is_one_fragment() {
    let text = "a <b> & \"c\" 'd'";
    let [only] = &fragments(0, text, &[mark(2..5)])[..] else { panic!("one fragment") };
    assert_eq!(only.html, "a <mark>&lt;b&gt;</mark> &amp; &quot;c&quot; &#39;d&#39;");
    assert_eq!((only.place.clone(), only.marks[0].clone()), (0..15, 2..5));
    assert!(fragments(0, text, &[]).is_empty());
}

#[test]
fn long_text_is_cut_between_words() {
    let text = format!("{} needle {}", "before ".repeat(50), "behind ".repeat(50));
    let at = text.find("needle").expect("it is there");
    let [only] = &fragments(0, &text, &[mark(at..at + 6)])[..] else { panic!("one fragment") };
    assert!(only.html.starts_with("…before "), "{}", only.html);
    assert!(only.html.ends_with(" behind…"), "{}", only.html);
    assert!(only.html.contains(" <mark>needle</mark> behind"), "{}", only.html);
    assert!((LENGTH - 10..=LENGTH).contains(&only.place.len()), "{:?}", only.place);
}

#[test]
fn best_fragments_have_the_most_terms() {
    let text = format!("one {0} two {0} three {0} one two {0} one", "x ".repeat(150));
    let place = |word: &str, at: usize, terms: u64| Mark { place: at..at + word.len(), terms };
    let mut marks = Vec::new();
    for (word, terms) in [("one", 1), ("two", 2), ("three", 4)] {
        marks.extend(text.match_indices(word).map(|(at, word)| place(word, at, terms)));
    }
    let best = best(fragments(0, &text, &merged(marks)));
    let shown: Vec<bool> = best.iter().map(|it| it.html.contains("</mark> <mark>")).collect();
    assert_eq!(shown, [false, false, true], "those with one term are the first of the text");
    assert!(best.is_sorted_by_key(|it| it.place.start));
}

#[test]
fn text_without_spaces_is_cut_anywhere() {
    let text = "é".repeat(5000);
    let all = fragments(0, &text, &[mark(2000..2002), mark(4000..8000)]);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].marks, [Range { start: 1000, end: 1001 }]);
    assert!(all[1].place.len() <= BEFORE + MAX_MATCH, "{:?}", all[1].place);
}

proptest! {
    #[test]
    fn fragments_are_substrings_of_the_text(
        text in prop_oneof!["[a-c<>&\"' \u{301}é京]{0,900}", "(<b>|&amp;| |wörd){0,300}", any::<String>()],
        marks in prop::collection::vec((0usize..1000, 1usize..400, 0u64..8), 0..12),
    ) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let marks = marks.into_iter().filter(|(from, _, _)| from + 1 < places.len());
        let marks: Vec<Mark> = merged(marks.map(|(from, length, terms)| {
            let end = (from + length).min(places.len() - 1);
            Mark { place: places[from]..places[end], terms }
        }).collect());
        let fragments = fragments(7, &text, &marks);
        prop_assert_eq!(fragments.is_empty(), marks.is_empty());
        prop_assert!(fragments.windows(2).all(|two| two[0].place.end <= two[1].place.start));
        for it in &fragments {
            let left = it.html.replace("<mark>", "").replace("</mark>", "");
            prop_assert!(!left.contains(['<', '>', '"', '\'']), "{left}");
            let mut shown = plain(&it.html);
            if it.place.start > 0 {
                prop_assert_eq!(shown.remove(0), ELLIPSIS);
            }
            if it.place.end < text.chars().count() {
                prop_assert_eq!(shown.pop(), Some(ELLIPSIS));
            }
            prop_assert_eq!(&shown, &part(&text, &it.place));
            prop_assert!(it.place.len() <= WHOLE.max(BEFORE + MAX_MATCH + 40), "{:?}", it.place);
            let marked = it.html.split("<mark>").skip(1).map(|rest| rest.split("</mark>").next().unwrap_or(""));
            let marked: Vec<String> = marked.map(unescaped).collect();
            let places: Vec<String> = it.marks.iter().map(|place| part(&text, place)).collect();
            prop_assert!(!places.is_empty() && places.iter().all(|place| !place.is_empty()));
            prop_assert_eq!(marked, places);
        }
        let best = best(fragments);
        prop_assert!(best.len() <= MAX_FRAGMENTS && best.is_sorted_by_key(|it| it.place.start));
    }
}
