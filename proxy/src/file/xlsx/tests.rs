//! Spreadsheets from other programs, and hostile files.

mod attacks;
mod forms;

use std::fs::File;
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::error::Unreadable;
use super::reader::{Event, read};
use super::writer::{Unwritable, Writer};

/// A file with this content.
fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(content).expect("written");
    file.seek(SeekFrom::Start(0)).expect("a place");
    file
}

fn events(file: &File, sheet: Option<&str>) -> Result<Vec<Event>, Unreadable> {
    let mut events = Vec::new();
    read(file, sheet, &|| true, |event| {
        events.push(event);
        ControlFlow::Continue(())
    })
    .map(|()| events)
}

fn saved(mut workbook: Workbook) -> File {
    file(&workbook.save_to_buffer().expect("a workbook"))
}

fn row(number: u64, cells: &str) -> Event {
    Event::Row(number, cells.to_owned())
}

fn header(names: &[&str]) -> Event {
    Event::Header(names.iter().map(|name| (*name).to_owned()).collect())
}

fn archive(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in parts {
        zip.start_file(name.as_str(), options).expect("a part");
        zip.write_all(content).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

fn parts_of(mut workbook: Workbook) -> Vec<(String, Vec<u8>)> {
    let whole = workbook.save_to_buffer().expect("a workbook");
    let mut zip = ZipArchive::new(Cursor::new(whole)).expect("ZIP");
    let parts = 0..zip.len();
    parts
        .map(|number| {
            let mut part = zip.by_index(number).expect("a part");
            let mut content = Vec::new();
            std::io::copy(&mut part, &mut content).expect("memory");
            (part.name().expect("a name").into_owned(), content)
        })
        .collect()
}

/// A workbook with one modified part.
fn changed(workbook: Workbook, name: &str, change: impl FnOnce(&str) -> String) -> File {
    let mut parts = parts_of(workbook);
    let part = parts.iter_mut().find(|(own, _)| own == name).expect("the part");
    part.1 = change(std::str::from_utf8(&part.1).expect("XML")).into_bytes();
    file(&archive(&parts))
}

/// A workbook with a sheet of these rows.
fn sheet(rows: &str) -> File {
    let mut workbook = Workbook::new();
    workbook.add_worksheet().write(0, 0, "external_key").expect("a cell");
    changed(workbook, "xl/worksheets/sheet1.xml", |_| {
        format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")
    })
}

#[test]
fn cells_have_the_types_of_the_sheet() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let day = Format::new().set_num_format("dd.mm.yyyy");
    let time = Format::new().set_num_format("dd.mm.yyyy hh:mm");
    for (column, name) in ["No", " name ", "n", "on", "day", "at"].iter().enumerate() {
        sheet.write(1, column as u16, *name).expect("a cell");
    }
    sheet.write(3, 0, 4_006_381_333_931.0).expect("a cell");
    sheet.write(3, 1, "Käse \"x\"\n1").expect("a cell");
    sheet.write(3, 2, -0.1).expect("a cell");
    sheet.write(3, 3, true).expect("a cell");
    let date = |text: &str| ExcelDateTime::parse_from_str(text).expect("a date");
    sheet.write_with_format(3, 4, date("2024-02-29"), &day).expect("a cell");
    sheet.write_with_format(3, 5, date("2024-02-29T13:45:30"), &time).expect("a cell");
    sheet.write(5, 2, 1e20).expect("a cell");
    sheet.write_formula(5, 27, Formula::new("=NA()").set_result("#N/A")).expect("a cell");
    let found = events(&saved(workbook), None).expect("a sheet");
    assert_eq!(found[0], header(&["No", "name", "n", "on", "day", "at"]));
    assert_eq!(
        found[1],
        row(
            4,
            r#"[4006381333931,"Käse \"x\"\n1",-0.1,true,{"date":"2024-02-29T00:00:00"},{"date":"2024-02-29T13:45:30"}]"#
        )
    );
    let nulls = "null,".repeat(24);
    assert_eq!(
        found[2],
        row(6, &format!(r##"[null,null,100000000000000000000,{nulls}{{"at":"AB6","failure":"#N/A"}}]"##))
    );
    assert_eq!(found.len(), 3);
}

#[test]
fn sheet_is_the_first_or_the_named_one() {
    let mut workbook = Workbook::new();
    for name in ["One", "Two & three"] {
        workbook.add_worksheet().set_name(name).expect("a name").write(0, 0, name).expect("a cell");
    }
    workbook.add_worksheet().set_name("None").expect("a name");
    let file = saved(workbook);
    let named = |name: &str| Ok(vec![header(&[name])]);
    assert_eq!(events(&file, None), named("One"));
    assert_eq!(events(&file, Some("Two & three")), named("Two & three"));
    assert_eq!(events(&file, Some("None")), Err(Unreadable::Empty));
    let names = ["One", "Two & three", "None"].map(str::to_owned).to_vec();
    assert_eq!(events(&file, Some("Three")), Err(Unreadable::NoSheet(names)));
}

#[test]
fn reader_stops_with_its_consumer() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for number in 0..100 {
        sheet.write(number, 0, number).expect("a cell");
    }
    let mut taken = 0;
    let done = read(&saved(workbook), None, &|| true, |_| {
        taken += 1;
        if taken < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((done, taken), (Ok(()), 5));
}

#[test]
fn written_rows_round_trip() {
    let mut writer = Writer::new("customers").expect("a workbook");
    let shared_strings = ["=1+1", "'x", " sp ", "l1\nl2", "é😀", "_x0041_", "<&>\"", "tab\tx"];
    let rows: Vec<String> = shared_strings
        .iter()
        .map(|text| {
            format!(
                r#"[{},-0.0000000000000000000123456789,true,{{"date":"2024-02-29T00:00:00"}},{{"date":"9999-12-31T23:59:59.999"}}]"#,
                serde_json::json!(text)
            )
        })
        .collect();
    writer.write("[\"name\",\"n\",\"on\",\"day\",\"at\"]\n").expect("a header");
    writer.write(&rows.join("\n")).expect("rows");
    writer.write("[null,null,null,null,null]\n[\"last\"]\n").expect("rows");
    let mut out = tempfile::tempfile().expect("a file");
    writer.finish(&mut out).expect("a workbook");
    let found = events(&out, None).expect("a sheet");
    let mut expected = vec![header(&["name", "n", "on", "day", "at"])];
    expected.extend(rows.iter().enumerate().map(|(at, cells)| row(at as u64 + 2, cells)));
    expected.push(row(shared_strings.len() as u64 + 3, "[\"last\"]"));
    assert_eq!(found, expected);
}

#[test]
fn text_too_long_for_a_cell_is_reported() {
    let mut writer = Writer::new("x").expect("a workbook");
    writer.write("[\"id\",\"name\"]\n").expect("a header");
    let long = "😀".repeat(16_384);
    let rejected = writer.write(&format!("[\"1\",\"{long}\"]\n"));
    assert_eq!(rejected, Err(Unwritable::LongText(2, "name".to_owned())));
}
