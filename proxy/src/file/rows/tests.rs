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
    let mut keep = |chunk: Option<Chunk>| {
        for (position, row) in chunk.iter().flat_map(|chunk| chunk.rows.iter().enumerate()) {
            found.push((row.line, chunk.as_ref().map_or("", |it| it.row(position)).to_owned()));
        }
    };
    for piece in characters.chunks(size) {
        let piece: String = piece.iter().collect();
        let appended: Result<(), Infallible> = rows.extend(|text| {
            text.push_str(&piece);
            Ok(())
        });
        assert!(appended.is_ok());
        keep(rows.take(false)?);
    }
    while let Some(chunk) = rows.take(true)? {
        keep(Some(chunk));
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

fn expected(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
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
        let piece = blank.repeat(CHUNK_BYTES / 4 / blank.len());
        for part in std::iter::once(begin).chain(std::iter::repeat_n(&*piece, 40)) {
            let Ok(()) = rows.extend(|text| {
                text.push_str(part);
                Ok::<_, Infallible>(())
            });
            let taken = rows.take(false).expect("no row is too long");
            assert!(taken.is_none_or(|chunk| chunk.rows.len() == 1), "{begin:?} {blank:?}");
            assert!(rows.pending.text.len() <= CHUNK_BYTES + piece.len(), "{begin:?} {blank:?}");
        }
    }
}

#[test]
fn row_ends_with_its_line_outside_of_quotes() {
    assert_eq!(csv("a,b\nc,d"), expected(&[(1, "a,b"), (2, "c,d")]));
    assert_eq!(csv("a,\"b\nb\"\nc"), expected(&[(1, "a,\"b\nb\""), (3, "c")]));
    assert_eq!(csv("\"a\"\"\n\"\"\",x\nc\n"), expected(&[(1, "\"a\"\"\n\"\"\",x"), (3, "c")]));
    assert_eq!(csv("a\"b\nc\n"), expected(&[(1, "a\"b"), (2, "c")]));
    assert_eq!(csv("\"a\"b\nc"), expected(&[(1, "\"a\"b"), (2, "c")]));
}

#[test]
fn every_line_ending_is_accepted_and_empty_lines_are_skipped() {
    assert_eq!(csv("a\r\nb\rc\n\n\r\nd"), expected(&[(1, "a"), (2, "b"), (3, "c"), (6, "d")]));
    assert_eq!(csv("\"a\r\nb\"\r\nc"), expected(&[(1, "\"a\r\nb\""), (3, "c")]));
    assert_eq!(csv("\n\n"), expected(&[]));
    assert_eq!(
        all(Form::Json, "{\"a\":\"\\\"\"}\r\n \n\n{}\n"),
        expected(&[(1, "{\"a\":\"\\\"\"}\r"), (4, "{}")])
    );
}

/// The rows of a text with their lines and defects, which must not depend on the piece size.
fn judged(form: Form, text: &str) -> Result<Vec<(u64, String, Option<Defect>)>, Unreadable> {
    let read = |size: usize| {
        let (mut rows, mut found) = (Rows::new(form), Vec::new());
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            let piece: String = piece.iter().collect();
            let Ok(()) = rows.extend(|text| {
                text.push_str(&piece);
                Ok::<_, Infallible>(())
            });
            found.extend(rows.take(false)?);
        }
        while let Some(chunk) = rows.take(true)? {
            found.push(chunk);
        }
        let rows =
            found.iter().flat_map(|it| (0..it.rows.len()).map(move |row| (&it.rows[row], it.row(row))));
        Ok(rows.map(|(row, text)| (row.line, text.to_owned(), row.defect)).collect())
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
fn chunks_end_with_a_row() {
    let text: String = (0..5000).map(|number| format!("{number},é\n")).collect();
    let mut rows = Rows::new(Form::Csv(b','));
    let appended: Result<(), Infallible> = rows.extend(|it| {
        it.push_str(&text);
        Ok(())
    });
    assert!(appended.is_ok());
    let mut sizes = Vec::new();
    while let Ok(Some(chunk)) = rows.take(true) {
        sizes.push(chunk.rows.len());
        assert_eq!(chunk.row(0), format!("{},é", chunk.rows[0].line - 1));
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
        .map(|max_rows| {
            rows.set_max_rows(max_rows);
            rows.take(true).ok().flatten().map_or(0, |chunk| chunk.rows.len())
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
