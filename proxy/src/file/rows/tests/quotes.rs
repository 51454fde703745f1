use std::convert::Infallible;

use super::super::*;
use super::judged;
use crate::file::chunk::Defect::{AfterQuote, Unclosed};

/// A row: its line, its text, and its defect.
type Expected = (u64, &'static str, Option<Defect>);

/// Texts that follow the first row of a file, and their rows.
const QUOTES: &[(&str, &[Expected])] = &[
    // Valid CSV.
    ("a,\"b\"\nc", &[(2, "a,\"b\"", None), (3, "c", None)]),
    ("\"a,b\",c\n", &[(2, "\"a,b\",c", None)]),
    ("\"a\nb\",c\nd", &[(2, "\"a\nb\",c", None), (4, "d", None)]),
    ("\"a\r\nb\"\r\nd", &[(2, "\"a\r\nb\"", None), (4, "d", None)]),
    ("\"Say \"\"hi\"\" now\"\n", &[(2, "\"Say \"\"hi\"\" now\"", None)]),
    ("\"\"\"\"\n", &[(2, "\"\"\"\"", None)]),
    // A quote within an unquoted cell is kept.
    ("5\" pipe,x\n6\"\n", &[(2, "5\" pipe,x", None), (3, "6\"", None)]),
    ("a, \"b\"\n", &[(2, "a, \"b\"", None)]),
    ("a\"\"b,c\"\n", &[(2, "a\"\"b,c\"", None)]),
    // Text after a closing quote.
    ("\"Say \"hi\" now\",z\nd", &[(2, "\"Say \"hi\" now\",z", Some(AfterQuote)), (3, "d", None)]),
    ("\"a\"b\r\nd\r\n", &[(2, "\"a\"b", Some(AfterQuote)), (3, "d", None)]),
    ("\"a\" ,b\n", &[(2, "\"a\" ,b", Some(AfterQuote))]),
    ("\"5\" pipe\",y", &[(2, "\"5\" pipe\",y", Some(AfterQuote))]),
    // Text after a closing quote in a later line. The lines in between are separate rows.
    (
        "\"5\"\" pipe,y\nRod,z\n\"6\"\" pipe,y\nNut,z\n",
        &[
            (2, "\"5\"\" pipe,y", Some(Unclosed)),
            (3, "Rod,z", None),
            (4, "\"6\"\" pipe,y", Some(Unclosed)),
            (5, "Nut,z", None),
        ],
    ),
    (
        "\"a\nb\",\"c\nd\"e\n\"f\ng\"\n",
        &[
            (2, "\"a", Some(Unclosed)),
            (3, "b\",\"c", Some(Unclosed)),
            (4, "d\"e", None),
            (5, "\"f\ng\"", None),
        ],
    ),
    // An unclosed quote.
    ("a,\"b\nc\nd", &[(2, "a,\"b", Some(Unclosed)), (3, "c", None), (4, "d", None)]),
    ("a\r\nb,\"", &[(2, "a", None), (3, "b,\"", Some(Unclosed))]),
    ("\"b\r\nc\rd", &[(2, "\"b", Some(Unclosed)), (3, "c", None), (4, "d", None)]),
    // Rows of empty cells.
    (",,\na\n,\"\",\r\n\"\"\n\nb,,", &[(3, "a", None), (7, "b,,", None)]),
    ("\",\"\n , \n", &[(2, "\",\"", None), (3, " , ", None)]),
];

#[test]
fn quotes_determine_the_cells() {
    for (text, expected) in QUOTES {
        let rows = judged(Form::Csv(b','), &format!("h,h\n{text}")).expect("rows");
        let rows: Vec<_> = rows.iter().map(|(line, text, defect)| (*line, text.as_str(), *defect)).collect();
        assert_eq!(rows[1..], **expected, "{text:?}");
        for (_, row, defect) in rows {
            assert_eq!(is_malformed(row, b','), defect.is_some(), "{row:?}");
        }
    }
}

#[test]
fn unclosed_quote_rejects_one_row() {
    let lines = "x,y\n".repeat(MAX_ROW_BYTES / 2);
    for text in [format!("a\n\"b,c\n{lines}"), format!("a\n\"b,c\n{lines}\"d\n{lines}")] {
        let (mut rows, mut counts) = (Rows::new(Form::Csv(b',')), (0, 0));
        rows.set_max_rows(usize::MAX);
        for piece in text.as_bytes().chunks(1 << 16) {
            let piece = std::str::from_utf8(piece).expect("ASCII");
            let Ok(()) = rows.extend(|text| {
                text.push_str(piece);
                Ok::<_, Infallible>(())
            });
            while let Some(chunk) = rows.take(false).expect("rows") {
                counts.0 += chunk.rows.len();
                counts.1 += chunk.rows.iter().filter(|row| row.defect.is_some()).count();
            }
        }
        while let Some(chunk) = rows.take(true).expect("rows") {
            counts.0 += chunk.rows.len();
            counts.1 += chunk.rows.iter().filter(|row| row.defect.is_some()).count();
        }
        assert_eq!(counts, (text.matches('\n').count(), text.matches('"').count()));
    }
}

/// Random texts of the significant characters, from a fixed seed.
fn random_texts() -> impl Iterator<Item = String> {
    let mut random = fastrand::Rng::with_seed(7);
    let characters = ['a', '"', ',', '\n', '\r', 'é', '"', ','];
    (0..20_000).map(move |_| {
        let length = random.usize(..14);
        (0..length).map(|_| characters[random.usize(..characters.len())]).collect()
    })
}

/// A reference implementation that reads line by line. A malformed row consists of its first line only.
fn by_rule(text: &str) -> Vec<(u64, String, bool)> {
    let mut lines: Vec<(u64, &str)> = Vec::new();
    let mut rest = text;
    for number in 1.. {
        let length = rest
            .find(['\n', '\r'])
            .map_or(rest.len(), |at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        if length == 0 {
            break;
        }
        lines.push((number, &rest[..length]));
        rest = &rest[length..];
    }
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        // The smallest number of lines that form a row.
        let ended = (at + 1..=lines.len()).find_map(|end| {
            let text = lines[at..end].iter().map(|line| line.1).collect::<String>();
            let row = text.strip_suffix("\r\n").or(text.strip_suffix(['\n', '\r'])).unwrap_or(&text);
            let cells = read_cells(row)?;
            Some((end, row.to_owned(), cells))
        });
        match ended {
            Some((end, row, cells)) => {
                if cells.iter().any(|cell| !cell.is_empty()) {
                    rows.push((lines[at].0, row, false));
                }
                at = end;
            }
            None => {
                rows.push((lines[at].0, lines[at].1.trim_end_matches(['\n', '\r']).to_owned(), true));
                at += 1;
            }
        }
    }
    rows
}

/// The cells of a row, if it is valid by RFC 4180 or has quotes only within unquoted cells.
fn read_cells(mut row: &str) -> Option<Vec<String>> {
    let mut cells = Vec::new();
    loop {
        let mut cell = String::new();
        if let Some(mut quoted) = row.strip_prefix('"') {
            loop {
                let end = quoted.find('"')?;
                cell.push_str(&quoted[..end]);
                quoted = &quoted[end + 1..];
                match quoted.strip_prefix('"') {
                    Some(further) => {
                        cell.push('"');
                        quoted = further;
                    }
                    None => break,
                }
            }
            row = quoted;
        } else {
            let end = row.find([',', '\n', '\r']).unwrap_or(row.len());
            cell.push_str(&row[..end]);
            row = &row[end..];
        }
        cells.push(cell);
        match row.chars().next() {
            None => return Some(cells),
            Some(',') => row = &row[1..],
            Some(_) => return None,
        }
    }
}

#[test]
fn rejected_row_ends_with_its_line() {
    for text in random_texts() {
        let rows = judged(Form::Csv(b','), &text).expect("rows");
        let rows: Vec<_> =
            rows.into_iter().map(|(line, text, defect)| (line, text, defect.is_some())).collect();
        assert_eq!(rows, by_rule(&text), "{text:?}");
    }
}

#[test]
fn rows_equal_those_of_the_csv_crate() {
    for text in random_texts() {
        let found = judged(Form::Csv(b','), &text).expect("rows");
        if found.iter().any(|(_, _, defect)| defect.is_some()) {
            continue;
        }
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let expected = reader.records().map(|record| record.expect("UTF-8"));
        let expected: Vec<csv::StringRecord> =
            expected.filter(|record| record.iter().any(|cell| !cell.is_empty())).collect();
        let read = |row: &str| {
            let reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(row.as_bytes());
            reader.into_records().map(|record| record.expect("UTF-8")).collect::<Vec<_>>()
        };
        let found: Vec<csv::StringRecord> = found.iter().flat_map(|(_, row, _)| read(row)).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}
