//! Fragments of text around highlighted matches, escaped for HTML. Pure.

use super::folded::{continues, separates};
use std::ops::Range;

/// Up to this number of characters, a string is one fragment.
const WHOLE: usize = 200;
/// The approximate number of characters of a fragment of a longer text, and of those before its first mark.
const LENGTH: usize = 180;
const BEFORE: usize = 40;
/// The maximum number of characters of a mark.
const MAX_MATCH: usize = 300;
/// The maximum number of fragments of an attribute.
pub const MAX_FRAGMENTS: usize = 3;
/// Marks the end of truncated text.
const ELLIPSIS: char = '…';

/// A match in a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its range.
    pub place: Range<usize>,
    /// The terms that match, one bit for each.
    pub terms: u64,
}

/// A part of the text, with its highlighted matches.
#[derive(Debug)]
pub struct Fragment {
    /// The position of the text among the values of the attribute.
    pub value: usize,
    /// As HTML.
    pub html: String,
    /// Its range in the text, in characters.
    pub place: Range<usize>,
    /// The ranges of its marks in the text, in characters.
    pub marks: Vec<Range<usize>>,
    terms: u64,
}

/// The marks in their order, adjacent ones merged.
pub fn merged(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_unstable_by_key(|mark| (mark.place.start, mark.place.end));
    let mut merged: Vec<Mark> = Vec::with_capacity(marks.len());
    for mark in marks {
        match merged.last_mut() {
            Some(last) if mark.place.start <= last.place.end => {
                last.place.end = last.place.end.max(mark.place.end);
                last.terms |= mark.terms;
            }
            _ => merged.push(mark),
        }
    }
    merged
}

/// The fragments of the value at this position around its marks, which are [`merged`].
pub fn fragments(value: usize, text: &str, marks: &[Mark]) -> Vec<Fragment> {
    if marks.is_empty() {
        return Vec::new();
    }
    if text.chars().nth(WHOLE).is_none() {
        return vec![fragment(value, text, 0, 0..text.len(), marks)];
    }
    let (mut fragments, mut rest) = (Vec::new(), marks);
    // The offset up to which characters are counted, and their number.
    let (mut counted, mut characters) = (0, 0);
    let mut before = 0;
    while let Some(first) = rest.first() {
        let place = window(text, before, first, rest);
        let inside = rest.partition_point(|mark| mark.place.start < place.end).max(1);
        characters += text[counted..place.start].chars().count();
        counted = place.start;
        fragments.push(fragment(value, text, characters, place.clone(), &rest[..inside]));
        (before, rest) = (place.end, &rest[inside..]);
    }
    fragments
}

/// The best fragments of an attribute, in their order: those with the most terms.
pub fn best(mut fragments: Vec<Fragment>) -> Vec<Fragment> {
    fragments.sort_by_key(|it| std::cmp::Reverse((it.terms.count_ones(), it.marks.len())));
    fragments.truncate(MAX_FRAGMENTS);
    fragments.sort_by_key(|it| (it.value, it.place.start));
    fragments
}

/// The range of a longer text around its next mark, which ends between words if possible, and not within another mark.
fn window(text: &str, before: usize, first: &Mark, marks: &[Mark]) -> Range<usize> {
    let mut start = back(text, first.place.start, BEFORE).max(before);
    if start > 0 {
        let lead = &text[start..first.place.start];
        let word = lead.find(separates).map(|space| &lead[space..]);
        start = match word.map(|word| word.trim_start_matches(separates)) {
            Some(word) => first.place.start - word.len(),
            None => whole_character(text, start).min(first.place.start),
        };
    }
    let shortest = first.place.end.min(forward(text, first.place.start, MAX_MATCH));
    let mut end = forward(text, start, LENGTH).max(shortest);
    if end < text.len() {
        if let Some(cut) = marks.iter().find(|mark| (mark.place.start + 1..mark.place.end).contains(&end)) {
            end = if cut.place.start >= shortest { cut.place.start } else { end };
        }
        let tail = &text[shortest..end];
        end = match tail.rfind(separates) {
            Some(space) => shortest + tail[..space].trim_end_matches(separates).len(),
            None => whole_character(text, end),
        };
    }
    start..end
}

/// The offset this number of characters after another.
fn forward(text: &str, from: usize, characters: usize) -> usize {
    text[from..].char_indices().nth(characters).map_or(text.len(), |(place, _)| from + place)
}

/// The offset this number of characters before another.
fn back(text: &str, from: usize, characters: usize) -> usize {
    text[..from].char_indices().rev().nth(characters - 1).map_or(0, |(place, _)| place)
}

/// The next offset that does not separate a character from its accents.
fn whole_character(text: &str, place: usize) -> usize {
    place + text[place..].chars().take_while(|it| continues(*it)).map(char::len_utf8).sum::<usize>()
}

/// The fragment of a string that begins after this number of characters.
fn fragment(value: usize, text: &str, characters: usize, place: Range<usize>, marks: &[Mark]) -> Fragment {
    let mut html = String::with_capacity(place.len() + 32);
    if place.start > 0 {
        html.push(ELLIPSIS);
    }
    let (mut at, mut counted, mut terms) = (place.start, characters, 0);
    let mut places = Vec::with_capacity(marks.len());
    let mut push = |html: &mut String, to: usize| {
        let part = &text[at..to];
        push_escaped(html, part);
        counted += part.chars().count();
        at = to;
        counted
    };
    for mark in marks {
        let start = push(&mut html, mark.place.start.max(place.start));
        html.push_str("<mark>");
        let end = push(&mut html, mark.place.end.min(place.end));
        html.push_str("</mark>");
        places.push(start..end);
        terms |= mark.terms;
    }
    let end = push(&mut html, place.end);
    if place.end < text.len() {
        html.push(ELLIPSIS);
    }
    Fragment { value, html, place: characters..end, marks: places, terms }
}

/// Appends a string, escaped for HTML, also within an attribute of an element.
fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests;
