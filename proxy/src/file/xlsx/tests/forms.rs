//! Variants of the format that other programs write.

use super::{archive, changed, events, file, header, parts_of, row, saved, sheet};
use crate::file::xlsx::reader::Event;
use rust_xlsxwriter::{Format, Formula, Workbook};

/// The rows below a header.
fn rows(file: &std::fs::File) -> Vec<Event> {
    events(file, None).expect("a sheet").into_iter().skip(1).collect()
}

#[test]
fn formula_has_its_cached_value() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write(0, 0, "n").expect("a cell");
    for (row, result) in ["6", "text_x000D_ <&>", "TRUE", "#DIV/0!"].iter().enumerate() {
        sheet.write_formula(row as u32 + 1, 0, Formula::new("=A1").set_result(*result)).expect("a cell");
    }
    assert_eq!(
        rows(&saved(workbook)),
        [
            row(2, "[6]"),
            row(3, r#"["text\r <&>"]"#),
            row(4, "[true]"),
            row(5, r##"[{"at":"A5","failure":"#DIV/0!"}]"##),
        ]
    );
}

#[test]
fn number_is_a_date_where_its_style_shows_one() {
    let styled = |is_1904: &str| {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet();
        sheet.write(0, 0, "day").expect("a cell");
        let formats =
            ["yyyy-mm-dd", "hh:mm", "[h]:mm", "0.00"].map(|code| Format::new().set_num_format(code));
        let built_in = Format::new().set_num_format_index(14);
        for (column, format) in formats.iter().chain([&built_in]).enumerate() {
            sheet.write_number_with_format(1, column as u16, 43_889.5, format).expect("a cell");
            sheet.write_number_with_format(2, column as u16, 0.5, format).expect("a cell");
        }
        let file = changed(workbook, "xl/workbook.xml", |xml| {
            xml.replace("<workbookPr ", &format!("<workbookPr date1904=\"{is_1904}\" "))
        });
        rows(&file)
    };
    let since_1900 = r#"{"date":"2020-02-28T12:00:00"}"#;
    let expected = [
        row(2, &format!("[{since_1900},{since_1900},43889.5,43889.5,{since_1900}]")),
        row(3, "[0.5,0.5,0.5,0.5,0.5]"),
    ];
    assert_eq!(styled("0"), expected);
    let (since_1904, first) = (r#"{"date":"2024-02-29T12:00:00"}"#, r#"{"date":"1904-01-01T12:00:00"}"#);
    let expected = [
        row(2, &format!("[{since_1904},{since_1904},43889.5,43889.5,{since_1904}]")),
        row(3, &format!("[{first},0.5,0.5,0.5,{first}]")),
    ];
    assert_eq!(styled("1"), expected);
}

#[test]
fn merged_cells_have_one_value_and_empty_ones_none() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let bold = Format::new().set_bold();
    sheet.merge_range(2, 1, 2, 2, "a", &bold).expect("cells");
    sheet.write(2, 3, "b").expect("a cell");
    sheet.merge_range(4, 1, 5, 1, "x", &bold).expect("cells");
    sheet.write_blank(7, 1, &bold).expect("a cell");
    sheet.write(9, 3, 1).expect("a cell");
    let found = events(&saved(workbook), None).expect("a sheet");
    assert_eq!(found, [header(&["", "a", "", "b"]), row(5, r#"[null,"x"]"#), row(10, "[null,null,null,1]")]);
}

#[test]
fn cell_may_omit_its_address() {
    let file = sheet(
        r#"<row><c t="inlineStr"><is><t>k</t></is></c><c r="C1" t="str"><v>n</v></c></row>
           <row r="4"><c><v>1</v></c><c/><c t="b"><v>0</v></c></row>
           <row><c t="d"><v>2024-02-29</v></c><c t="d"><v>2024-02-29T13:45:30.5</v></c><c t="d"><v>2024-02-29T13:45Z</v></c></row>"#,
    );
    assert_eq!(
        events(&file, None),
        Ok(vec![
            header(&["k", "", "n"]),
            row(4, "[1,null,false]"),
            row(
                5,
                r#"[{"date":"2024-02-29T00:00:00"},{"date":"2024-02-29T13:45:30.5"},"2024-02-29T13:45Z"]"#
            ),
        ])
    );
}

#[test]
fn rich_text_joins_its_runs_without_phonetics() {
    let file = sheet(
        r#"<row><c t="inlineStr"><is><t>k</t></is></c></row>
           <row><c t="inlineStr"><is><r><t xml:space="preserve">a </t></r><r><rPr><b/></rPr><t> b&#10;&amp;</t></r><rPh sb="0" eb="1"><t>reading</t></rPh></is></c></row>
           <row><c t="inlineStr"><is><t><![CDATA[<c>]]></t></is><extLst><ext/></extLst></c></row>
           <row><c t="inlineStr"><v>7</v><is><t/></is></c></row>"#,
    );
    assert_eq!(rows(&file), [row(2, r#"["a b\n&"]"#), row(3, r#"["<c>"]"#)]);
}

#[test]
fn parts_may_be_anywhere() {
    let mut workbook = Workbook::new();
    workbook.add_worksheet().write(0, 0, "external_key").expect("a cell");
    let mut parts = parts_of(workbook);
    for (name, content) in &mut parts {
        let text = String::from_utf8(std::mem::take(content)).expect("XML");
        let text =
            text.replace("xl/workbook.xml", "/Files/Book.xml").replace("sharedStrings.xml", "../t.xml");
        *content = text.replace("worksheets/sheet1.xml", "/sheets/one.xml").into_bytes();
        for (before, after) in [
            ("xl/workbook.xml", "files/book.xml"),
            ("xl/_rels/workbook.xml.rels", "files\\_rels\\book.xml.rels"),
            ("xl/sharedStrings.xml", "t.xml"),
            ("xl/styles.xml", "Files/styles.xml"),
            ("xl/worksheets/sheet1.xml", "Sheets/One.xml"),
        ] {
            if name == before {
                after.clone_into(name);
            }
        }
    }
    assert_eq!(events(&file(&archive(&parts)), None), Ok(vec![header(&["external_key"])]));
}
