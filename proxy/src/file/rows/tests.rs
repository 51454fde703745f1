use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// The rows of a text that comes in chunks of so many characters, with their lines.
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
fn a_row_ends_with_its_line_unless_a_quoted_cell_goes_on() {
    assert_eq!(csv("a,b\nc,d"), told(&[(1, "a,b"), (2, "c,d")]));
    assert_eq!(csv("a,\"b\nb\"\nc"), told(&[(1, "a,\"b\nb\""), (3, "c")]));
    assert_eq!(csv("\"a\"\"\n\"\"\",x\nc\n"), told(&[(1, "\"a\"\"\n\"\"\",x"), (3, "c")]));
    assert_eq!(csv("a\"b\nc\n"), told(&[(1, "a\"b"), (2, "c")]));
    assert_eq!(csv("\"a\"b\nc"), told(&[(1, "\"a\"b"), (2, "c")]));
}

#[test]
fn lines_end_in_every_way_and_empty_ones_are_no_rows() {
    assert_eq!(csv("a\r\nb\rc\n\n\r\nd"), told(&[(1, "a"), (2, "b"), (3, "c"), (6, "d")]));
    assert_eq!(csv("\"a\r\nb\"\r\nc"), told(&[(1, "\"a\r\nb\""), (3, "c")]));
    assert_eq!(csv("\n\n"), told(&[]));
    assert_eq!(
        all(Form::Lines, "{\"a\":\"\\\"\"}\r\n \n\n{}\n"),
        told(&[(1, "{\"a\":\"\\\"\"}\r"), (4, "{}")])
    );
}

#[test]
fn an_unterminated_row_is_refused_with_its_first_line() {
    assert_eq!(rows(Form::Csv(b','), "a\n\"b,c\nd\n", 3), Err(Unreadable::Unclosed(2)));
    let long = "x".repeat(MOST_ROW_BYTES + 1);
    assert_eq!(rows(Form::Csv(b','), &format!("a\n{long}"), 1 << 20), Err(Unreadable::TooLong(2)));
    assert_eq!(rows(Form::Csv(b','), &format!("a\n\"{long}\n\"\nb"), 1 << 20), Err(Unreadable::TooLong(2)));
    assert_eq!(rows(Form::Lines, &long, 1 << 20), Err(Unreadable::TooLong(1)));
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
fn how_many_rows_a_portion_has_can_change_on_the_way() {
    let mut rows = Rows::new(Form::Lines);
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

/// Texts of the characters that matter, by a generator with a fixed seed.
fn random_texts() -> impl Iterator<Item = String> {
    let mut random = fastrand::Rng::with_seed(7);
    let characters = ['a', '"', ',', '\n', '\r', 'é', '"', ','];
    (0..20_000).map(move |_| {
        let length = random.usize(..14);
        (0..length).map(|_| characters[random.usize(..characters.len())]).collect()
    })
}

#[test]
fn rows_are_those_of_the_reader_in_the_database() {
    for text in random_texts() {
        let Ok(found) = rows(Form::Csv(b','), &text, 3) else { continue };
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let expected: Vec<csv::StringRecord> =
            reader.records().map(|record| record.expect("UTF-8")).collect();
        let read = |row: &str| {
            let reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(row.as_bytes());
            reader.into_records().map(|record| record.expect("UTF-8")).collect::<Vec<_>>()
        };
        let found: Vec<csv::StringRecord> = found.iter().flat_map(|(_, row)| read(row)).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn lines_are_those_of_the_text_however_it_comes(text in prop_oneof![any::<String>(), "[a\\n\\r \"é]{0,20}"], size in 1..5_usize) {
        let lines = text.split('\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        let expected: Vec<(u64, String)> = lines.map(|(index, line)| (index as u64 + 1, line.to_owned())).collect();
        prop_assert_eq!(rows(Form::Lines, &text, size), Ok(expected));
    }

    #[test]
    fn rows_of_any_delimiter_do_not_depend_on_how_the_text_comes(
        text in prop_oneof![any::<String>(), "[a\\n\\r;\"\\té]{0,20}"],
        delimiter in prop::sample::select(b",;\t|".to_vec()),
        size in 1..5_usize,
    ) {
        let form = Form::Csv(delimiter);
        prop_assert_eq!(rows(form, &text, size), rows(form, &text, 1000));
    }

    #[test]
    fn rows_with_a_zero_are_reported_and_the_others_kept(lines in prop::collection::vec("[a\\x00é]{0,3}", 0..8)) {
        let mut portion = Portion::default();
        for (index, line) in lines.iter().enumerate() {
            portion.push(index as u64, line);
        }
        let (kept, refused) = portion.without_zeros();
        prop_assert!(!kept.text.contains('\0') && kept.rows.len() + refused.len() == lines.len());
        prop_assert!(kept.rows.iter().enumerate().all(|(at, row)| kept.row(at) == lines[row.line as usize]));
        prop_assert!(refused.iter().all(|(line, text)| *text == lines[*line as usize] && text.contains('\0')));
    }
}
