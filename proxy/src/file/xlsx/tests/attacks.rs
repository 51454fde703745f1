//! Hostile and corrupt files.

use super::{archive, changed, events, file, header, parts_of, row, sheet};
use crate::file::xlsx::error::Unreadable;
use crate::file::xlsx::reader::{Limits, read_within};
use rust_xlsxwriter::{Formula, Workbook};
use std::fs::File;
use std::ops::ControlFlow;

fn workbook() -> Workbook {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write(0, 0, "external_key").expect("a cell").write(1, 0, "text").expect("a cell");
    sheet.write(2, 0, 1.5).expect("a cell");
    sheet.write_formula(3, 0, Formula::new("=NA()").set_result("#N/A")).expect("a cell");
    workbook
}

fn content() -> Vec<u8> {
    workbook().save_to_buffer().expect("a workbook")
}

#[test]
fn file_of_another_format_is_damaged() {
    assert_eq!(events(&file(b"external_key,name\n"), None), Err(Unreadable::Corrupt));
    assert_eq!(events(&file(b""), None), Err(Unreadable::Corrupt));
    let other = archive(&[("a.txt".to_owned(), b"x".to_vec())]);
    assert_eq!(events(&file(&other), None), Err(Unreadable::Corrupt));
}

#[test]
fn truncated_file_is_damaged() {
    let whole = content();
    for length in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        assert_eq!(events(&file(&whole[..length]), None), Err(Unreadable::Corrupt), "{length}");
    }
}

#[test]
fn corrupted_byte_never_yields_a_wrong_value() {
    let whole = content();
    let rows = events(&file(&whole), None).expect("a sheet");
    let mut damaged = 0;
    for position in (0..whole.len()).step_by(5) {
        let mut changed = whole.clone();
        changed[position] ^= 1 << (position % 8);
        // Not every byte belongs to a part that is read.
        match events(&file(&changed), None) {
            Ok(found) => assert_eq!(found, rows, "{position}"),
            Err(_) => damaged += 1,
        }
    }
    assert!(damaged > whole.len() / 20, "{damaged} of {}", whole.len() / 5);
}

#[test]
fn encrypted_and_older_files_are_distinguished() {
    /// The beginning of a compound file.
    const COMPOUND: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    let compound = |name: &str, at: usize| {
        let mut content = vec![0; 200 << 10];
        content[..8].copy_from_slice(&COMPOUND);
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        content[at..at + name.len()].copy_from_slice(&name);
        file(&content)
    };
    for at in [1024 + 128, 64 << 10, (200 << 10) - 128] {
        assert_eq!(events(&compound("EncryptedPackage", at), None), Err(Unreadable::Password));
        assert_eq!(events(&compound("Workbook", at), None), Err(Unreadable::Older));
    }
}

#[test]
fn part_over_the_limit_is_rejected() {
    let limits = Limits { sheet: 1 << 20, shared_strings: 1 << 20, styles: 1 << 20, rows: 1 << 20 };
    let within = |file: &File| read_within(file, None, limits, &|| true, |_| ControlFlow::Continue(()));
    assert_eq!(within(&file(&content())), Ok(()));
    for name in ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"] {
        let file = changed(workbook(), name, |xml| format!("{xml}{}", " ".repeat(2 << 20)));
        assert_eq!(within(&file), Err(Unreadable::TooLarge), "{name}");
    }
    for name in ["xl/workbook.xml", "_rels/.rels", "xl/_rels/workbook.xml.rels"] {
        let file = changed(workbook(), name, |xml| format!("{xml}{}", " ".repeat(5 << 20)));
        assert_eq!(within(&file), Err(Unreadable::TooLarge), "{name}");
    }
}

#[test]
fn oversized_value_is_rejected() {
    let rows = |row: String| events(&sheet(&format!("<row>{row}</row>")), None);
    let long = "x".repeat(5 << 20);
    for row in [
        format!("<c t=\"inlineStr\"><is><t>{long}</t></is></c>"),
        format!("<c t=\"str\"><v>{long}</v></c>"),
        format!("<c><f>{long}</f><v>1</v></c>"),
        format!("<c t=\"inlineStr\"><is>{}</is></c>", "<r><t>some text</t></r>".repeat(500_000)),
        format!("<c t=\"str\"><v>{}</v></c>", "<![CDATA[some text]]>".repeat(500_000)),
        format!("<c t=\"str\"><v>{}</v></c>", "<b>some text</b>".repeat(500_000)),
        format!("<c r=\"{long}\"/>"),
        format!("<!--{long}-->"),
        format!("<c {}/>", "a=\"\" ".repeat(900_000)),
        "<a>".repeat(300),
        format!("<{}/>", "a".repeat(300)),
    ] {
        assert_eq!(rows(row.clone()), Err(Unreadable::TooLarge), "{}", &row[..20]);
    }
}

#[test]
fn invalid_cell_is_reported_as_corrupt() {
    for cell in [
        r#"<c r="A0"><v>1</v></c>"#,
        r#"<c r="XFE1"><v>1</v></c>"#,
        r#"<c r="ZZZZZZZZZZ1"><v>1</v></c>"#,
        r#"<c r="A1048577"><v>1</v></c>"#,
        r#"<c r="A99999999999"><v>1</v></c>"#,
        r#"<c r="7"><v>1</v></c>"#,
        r#"<c r="É1"><v>1</v></c>"#,
        r#"<c t="s"><v>99</v></c>"#,
        r#"<c t="s"><v>-1</v></c>"#,
        r#"<c t="b"><v>2</v></c>"#,
        r#"<c t="x"><v>1</v></c>"#,
        "<c><v>&unknown;</v></c>",
        "<c><v>1</c></v>",
        "<c><v>1",
    ] {
        assert_eq!(events(&sheet(&format!("<row>{cell}</row>")), None), Err(Unreadable::Corrupt), "{cell}");
    }
}

#[test]
fn repeated_or_unordered_cell_is_damaged() {
    for rows in [
        r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="2"/><row r="1"/>"#,
        r#"<row r="2"/><row r="2"/>"#,
        r#"<row r="1"><c r="A1"/><c r="A1"/></row>"#,
        r#"<row r="1"><c r="B1"/><c r="A1"/></row>"#,
        r#"<row r="5"><c r="B7"/></row>"#,
        r#"<row><c r="A1"/><c r="B2"/></row>"#,
        r#"<row r="1"><c s="99"><v>1</v></c></row>"#,
    ] {
        assert_eq!(events(&sheet(rows), None), Err(Unreadable::Corrupt), "{rows}");
    }
    let rows = r#"<row><c r="A2"><v>1</v></c><c><v>2</v></c></row><row><c r="B7"><v>3</v></c></row>"#;
    assert_eq!(events(&sheet(rows), None), Ok(vec![header(&["1", "2"]), row(7, "[null,3]")]));
}

#[test]
fn repeated_part_is_damaged() {
    let mut parts = parts_of(workbook());
    let again = parts.iter().find(|(name, _)| name == "xl/worksheets/sheet1.xml").expect("the sheet").clone();
    parts.push((again.0.to_uppercase(), again.1));
    assert_eq!(events(&file(&archive(&parts)), None), Err(Unreadable::Corrupt));
    for (name, kind) in [("_rels/.rels", "officeDocument"), ("xl/_rels/workbook.xml.rels", "sharedStrings")] {
        let file = changed(workbook(), name, |xml| {
            let start = xml.find("<Relationship ").expect("one");
            let other = format!("<Relationship Id=\"other\" Type=\"x/{kind}\" Target=\"other.xml\"/>");
            format!("{}{other}{}", &xml[..start], &xml[start..])
        });
        assert_eq!(events(&file, None), Err(Unreadable::Corrupt), "{name}");
    }
}

#[test]
fn text_shared_by_too_many_cells_is_rejected() {
    let mut parts = parts_of(workbook());
    for (name, content) in &mut parts {
        let xml = String::from_utf8(content.clone()).expect("XML");
        *content = match name.as_str() {
            "xl/sharedStrings.xml" => xml.replace(">text<", &format!(">{}<", "x".repeat(100_000))),
            "xl/worksheets/sheet1.xml" => {
                let cells = "<c t=\"s\"><v>1</v></c>".repeat(20);
                let (before, rest) = xml.split_once("<sheetData>").expect("data");
                let (_, after) = rest.split_once("</sheetData>").expect("data");
                format!("{before}<sheetData><row>{cells}</row></sheetData>{after}")
            }
            _ => continue,
        }
        .into_bytes();
    }
    let file = file(&archive(&parts));
    let limits = Limits { rows: 1 << 20, ..Limits::default() };
    let read = read_within(&file, None, limits, &|| true, |_| ControlFlow::Continue(()));
    assert_eq!(read, Err(Unreadable::TooLarge));
}

#[test]
fn reader_stops_when_the_import_ends() {
    let file = sheet(&"<row/>".repeat(100_000));
    let asked = std::cell::Cell::new(0);
    let should_continue = || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    let read = read_within(&file, None, Limits::default(), &should_continue, |_| ControlFlow::Continue(()));
    assert_eq!((read, asked.get()), (Err(Unreadable::Cancelled), 3));
}

#[test]
fn declared_count_of_texts_allocates_no_memory() {
    for count in ["1", "100000000000000", "18446744073709551616", "x"] {
        let file = changed(workbook(), "xl/sharedStrings.xml", |xml| {
            xml.replace("uniqueCount=\"2\"", &format!("uniqueCount=\"{count}\""))
        });
        assert_eq!(events(&file, None).expect("a sheet")[0], header(&["external_key"]), "{count}");
    }
}

#[test]
fn index_of_too_many_parts_is_rejected_before_it_is_read() {
    let mut many = content();
    let end = many.len() - 22;
    many[end + 8..end + 12].copy_from_slice(&[0xff; 4]);
    assert_eq!(events(&file(&many), None), Err(Unreadable::TooLarge));
    // The same in the ZIP64 end record.
    let whole = content();
    let (index, end) = whole.split_at(whole.len() - 22);
    let longer = |parts: u64, bytes: u64, start: u64| {
        let mut file = index.to_vec();
        let at = file.len() as u64;
        file.extend(b"PK\x06\x06");
        file.extend([0; 28]);
        file.extend([parts, bytes, start].iter().flat_map(|number| number.to_le_bytes()));
        file.extend(b"PK\x06\x07");
        file.extend([0; 4]);
        file.extend(at.to_le_bytes());
        file.extend([0; 4]);
        file.extend(end);
        super::file(&file)
    };
    let number = |at: usize| u64::from(u32::from_le_bytes(end[at..at + 4].try_into().expect("four bytes")));
    let parts = u64::from(u16::from_le_bytes([end[10], end[11]]));
    let (bytes, start) = (number(12), number(16));
    let rows = events(&file(&whole), None);
    assert_eq!(events(&longer(parts, bytes, start), None), rows);
    for (parts, bytes, start, error) in [
        (u64::MAX, bytes, start, Unreadable::TooLarge),
        (parts, u64::MAX, start, Unreadable::TooLarge),
        (parts, bytes, u64::MAX, Unreadable::Corrupt),
        (parts + 1, bytes, start, Unreadable::Corrupt),
    ] {
        assert_eq!(events(&longer(parts, bytes, start), None), Err(error));
    }
}
