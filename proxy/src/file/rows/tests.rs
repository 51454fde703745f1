use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// JSON.
mod json;
/// Rows with valid and invalid quotes.
mod quotes;

/// The rows, with their lines, of a text that arrives in pieces of this many characters.
fn rows(form: Form, text: &str, size: usize) -> Result<Vec<(u64, String)>, Unreadable> {
    let (mut rows, mut found) = (Rows::new(form), Vec::new());
    let characters: Vec<char> = text.chars().collect();
    let mut keep = |portion: Option<Portion>| {
        for (position, row) in portion.iter().flat_map(|portion| portion.rows.iter().enumerate()) {
            found.push((row.line, portion.as_ref().map_or("", |it| it.row(position)).to_owned()));
        }
    };
    for chunk in characters.chunks(size) {
        let chunk: String = chunk.iter().collect();
        let appended: Result<(), Infallible> = rows.extend(|text| {
            text.push_str(&chunk);
            Ok(())
        });
        assert!(appended.is_ok());
        keep(rows.take(false)?);
    }
    while let Some(portion) = rows.take(true)? {
        keep(Some(portion));
    }
    Ok(found)
}

fn all(form: Form, text: &str) -> Vec<(u64, String)> {
    let whole = rows(form, text, 1000).expect("rows");
    for size in [1, 2, 3] {
        assert_eq!(rows(form, text, size).as_ref(), Ok(&whole), "{text:?} by {size}");
    }
    whole
}

fn csv(text: &str) -> Vec<(u64, String)> {
    all(Form::Csv(b','), text)
}

fn told(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
    rows.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
}

#[test]
fn text_without_rows_takes_no_memory() {
    for (form, begin, blank) in [
        (Form::Csv(b','), "", "\n"),
        (Form::Csv(b','), "a,b\n", ",,\"\"\r\n"),
        (Form::Json, "{}\n", " \n"),
        (Form::Json, "[", " \n"),
        (Form::Json, "[{},", "\t"),
        (Form::Json, "[{}]", "\r\n"),
    ] {
        let mut rows = Rows::new(form);
        let chunk = blank.repeat(PORTION_BYTES / 4 / blank.len());
        for part in std::iter::once(begin).chain(std::iter::repeat_n(&*chunk, 40)) {
            let Ok(()) = rows.extend(|text| {
                text.push_str(part);
                Ok::<_, Infallible>(())
            });
            let taken = rows.take(false).expect("no row is too long");
            assert!(taken.is_none_or(|portion| portion.rows.len() == 1), "{begin:?} {blank:?}");
            assert!(rows.pending.text.len() <= PORTION_BYTES + chunk.len(), "{begin:?} {blank:?}");
        }
    }
}

#[test]
fn row_ends_with_its_line_outside_of_quotes() {
    assert_eq!(csv("a,b\nc,d"), told(&[(1, "a,b"), (2, "c,d")]));
    assert_eq!(csv("a,\"b\nb\"\nc"), told(&[(1, "a,\"b\nb\""), (3, "c")]));
    assert_eq!(csv("\"a\"\"\n\"\"\",x\nc\n"), told(&[(1, "\"a\"\"\n\"\"\",x"), (3, "c")]));
    assert_eq!(csv("a\"b\nc\n"), told(&[(1, "a\"b"), (2, "c")]));
    assert_eq!(csv("\"a\"b\nc"), told(&[(1, "\"a\"b"), (2, "c")]));
}

#[test]
fn every_line_ending_is_accepted_and_empty_lines_are_skipped() {
    assert_eq!(csv("a\r\nb\rc\n\n\r\nd"), told(&[(1, "a"), (2, "b"), (3, "c"), (6, "d")]));
    assert_eq!(csv("\"a\r\nb\"\r\nc"), told(&[(1, "\"a\r\nb\""), (3, "c")]));
    assert_eq!(csv("\n\n"), told(&[]));
    assert_eq!(
        all(Form::Json, "{\"a\":\"\\\"\"}\r\n \n\n{}\n"),
        told(&[(1, "{\"a\":\"\\\"\"}\r"), (4, "{}")])
    );
}

/// The rows of a text with their lines and defects, which must not depend on the piece size.
fn judged(form: Form, text: &str) -> Result<Vec<(u64, String, Option<Fault>)>, Unreadable> {
    let read = |size: usize| {
        let (mut rows, mut found) = (Rows::new(form), Vec::new());
        let characters: Vec<char> = text.chars().collect();
        for chunk in characters.chunks(size) {
            let chunk: String = chunk.iter().collect();
            let Ok(()) = rows.extend(|text| {
                text.push_str(&chunk);
                Ok::<_, Infallible>(())
            });
            found.extend(rows.take(false)?);
        }
        while let Some(portion) = rows.take(true)? {
            found.push(portion);
        }
        let rows =
            found.iter().flat_map(|it| (0..it.rows.len()).map(move |row| (&it.rows[row], it.row(row))));
        Ok(rows.map(|(row, text)| (row.line, text.to_owned(), row.fault)).collect())
    };
    let whole = read(1000);
    for size in [1, 2, 3] {
        assert_eq!(read(size), whole, "{text:?} by {size}");
    }
    whole
}

#[test]
fn row_over_the_limit_ends_the_file() {
    let long = "x".repeat(MAX_ROW_BYTES + 1);
    assert_eq!(rows(Form::Csv(b','), &format!("a\n{long}"), 1 << 20), Err(Unreadable::TooLong(2)));
    assert_eq!(rows(Form::Csv(b','), &format!("a\n\"{long}\n\"\nb"), 1 << 20), Err(Unreadable::TooLong(2)));
    assert_eq!(rows(Form::Json, &long, 1 << 20), Err(Unreadable::TooLong(1)));
    assert_eq!(rows(Form::Json, &format!("[{{}},\n\"{long}"), 1 << 20), Err(Unreadable::TooLong(2)));
}

#[test]
fn portions_end_with_a_row() {
    let text: String = (0..5000).map(|number| format!("{number},é\n")).collect();
    let mut rows = Rows::new(Form::Csv(b','));
    let appended: Result<(), Infallible> = rows.extend(|it| {
        it.push_str(&text);
        Ok(())
    });
    assert!(appended.is_ok());
    let mut sizes = Vec::new();
    while let Ok(Some(portion)) = rows.take(true) {
        sizes.push(portion.rows.len());
        assert_eq!(portion.row(0), format!("{},é", portion.rows[0].line - 1));
    }
    assert_eq!(sizes, [2000, 2000, 1000]);
}

#[test]
fn chunk_size_may_change_during_the_import() {
    let mut rows = Rows::new(Form::Json);
    let appended: Result<(), Infallible> = rows.extend(|it| {
        it.push_str(&"{}\n".repeat(100));
        Ok(())
    });
    assert!(appended.is_ok());
    let sizes: Vec<usize> = [3, 50, 1, 1000]
        .into_iter()
        .map(|most| {
            rows.set_most(most);
            rows.take(true).ok().flatten().map_or(0, |portion| portion.rows.len())
        })
        .collect();
    assert_eq!(sizes, [3, 50, 1, 46]);
}

proptest! {
    #[test]
    fn line_numbers_do_not_depend_on_chunk_size(text in prop_oneof![any::<String>(), "[a\\n\\r \"é]{0,20}"], size in 1..5_usize) {
        prop_assume!(!text.trim_ascii_start().starts_with(['[', '{']));
        let lines = text.split('\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        let expected: Vec<(u64, String)> = lines.map(|(index, line)| (index as u64 + 1, line.to_owned())).collect();
        prop_assert_eq!(rows(Form::Json, &text, size), Ok(expected));
    }

    #[test]
    fn rows_do_not_depend_on_chunk_size(
        text in prop_oneof![any::<String>(), "[a\\n\\r;\"\\té]{0,20}"],
        delimiter in prop::sample::select(b",;\t|".to_vec()),
        size in 1..5_usize,
    ) {
        let form = Form::Csv(delimiter);
        prop_assert_eq!(rows(form, &text, size), rows(form, &text, 1000));
    }
}
