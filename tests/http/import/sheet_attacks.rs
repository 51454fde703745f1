//! Malicious and corrupt spreadsheets.

use super::{attributes, counts, send};
use flate2::{Crc, write::DeflateEncoder};
use harness::{Response, Service, peak_memory};
use std::io::Write as _;

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

async fn import(service: &Service, query: &str, file: Vec<u8>) -> Response {
    send(service, XLSX, "customers", query, file).await
}

/// A compressed part of an archive, with its checksum.
struct Part {
    packed: Vec<u8>,
    checksum: u32,
}

impl Part {
    fn of(text: &str) -> Part {
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory");
        let mut checksum = Crc::new();
        checksum.update(text.as_bytes());
        Part { packed: encoder.finish().expect("memory"), checksum: checksum.sum() }
    }

    /// A part that decompresses to this text, many copies of a block, and an end. The compressed block refers only to
    /// the copy before it.
    fn repeated(before: &str, text: &str, gigabytes: usize, after: &str) -> Part {
        const BLOCK_BYTES: usize = 1 << 20;
        let block = text.repeat(BLOCK_BYTES / text.len());
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        let mut ends = Vec::new();
        for text in [before, block.as_str(), block.as_str()] {
            encoder.write_all(text.as_bytes()).expect("memory");
            encoder.flush().expect("memory");
            ends.push(encoder.get_ref().len());
        }
        encoder.write_all(after.as_bytes()).expect("memory");
        let whole = encoder.finish().expect("memory");
        let mut packed = whole[..ends[1]].to_vec();
        packed.extend(whole[ends[1]..ends[2]].repeat(gigabytes << 10));
        packed.extend(&whole[ends[2]..]);
        Part { packed, checksum: 0 }
    }
}

/// An archive of these parts.
fn archive(parts: &[(String, Part)]) -> Vec<u8> {
    let (mut file, mut index) = (Vec::new(), Vec::new());
    let number = |number: usize| u32::try_from(number).expect("a small file").to_le_bytes();
    for (name, part) in parts {
        let start = file.len();
        let mut header = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
        header.extend(part.checksum.to_le_bytes());
        // The size of the part is not declared.
        header.extend([number(part.packed.len()), number(1)].concat());
        header.extend([&number(name.len())[..2], &[0, 0]].concat());
        file.extend([b"PK\x03\x04", header.as_slice(), name.as_bytes(), part.packed.as_slice()].concat());
        index.extend([b"PK\x01\x02\x14\x00", header.as_slice(), &[0; 10]].concat());
        index.extend([&number(start)[..], name.as_bytes()].concat());
    }
    let start = file.len();
    file.extend(&index);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([&number(parts.len())[..2], &number(parts.len())[..2]].concat());
    file.extend([number(index.len()), number(start)].concat());
    file.extend([0, 0]);
    file
}

/// A spreadsheet with this sheet, these strings and styles.
fn spreadsheet(sheet: Part, strings: Part, styles: Part) -> Vec<u8> {
    const RELATED: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let related = |targets: &[(&str, &str)]| {
        let targets: Vec<String> = targets
            .iter()
            .map(|(kind, target)| {
                format!("<Relationship Id=\"{kind}\" Type=\"{RELATED}/{kind}\" Target=\"{target}\"/>")
            })
            .collect();
        Part::of(&format!("<Relationships>{}</Relationships>", targets.concat()))
    };
    let parts = [
        ("_rels/.rels", related(&[("officeDocument", "book.xml")])),
        (
            "_rels/book.xml.rels",
            related(&[("worksheet", "sheet.xml"), ("sharedStrings", "texts.xml"), ("styles", "styles.xml")]),
        ),
        (
            "book.xml",
            Part::of("<workbook><sheets><sheet name=\"One\" r:id=\"worksheet\"/></sheets></workbook>"),
        ),
        ("sheet.xml", sheet),
        ("texts.xml", strings),
        ("styles.xml", styles),
    ];
    archive(&parts.map(|(name, part)| (name.to_owned(), part)))
}

const STRINGS: &str = "<sst><si><t>external_key</t></si><si><t>name</t></si></sst>";
const STYLES: &str = "<styleSheet><cellXfs><xf numFmtId=\"0\"/></cellXfs></styleSheet>";

fn rows(rows: &str) -> String {
    let header = r#"<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>"#;
    format!("<worksheet><sheetData>{header}{rows}</sheetData></worksheet>")
}

#[tokio::test]
async fn zip_bomb_is_rejected_in_bounded_memory() {
    let service = Service::start().await;
    let (strings, styles) = (|| Part::of(STRINGS), || Part::of(STYLES));
    let good = rows(r#"<row><c><v>1</v></c></row>"#);
    let file = spreadsheet(Part::of(&good), strings(), styles());
    assert_eq!(counts(&import(&service, "", file).await.expect(200)), [1, 1, 0, 0, 0]);
    let before = peak_memory(service.proxy.process());
    let long = "x".repeat(2 << 20);
    let many =
        format!("<styleSheet><numFmts><numFmt numFmtId=\"200\" formatCode=\"{long}\"/></numFmts><cellXfs>");
    let name = format!("<worksheet><sheetData><row><c t=\"inlineStr\"><is><t>{long}");
    for (what, file) in [
        ("blanks", spreadsheet(Part::repeated("<worksheet>", " ", 4, ""), strings(), styles())),
        ("a cell", spreadsheet(Part::repeated(&name, "x", 4, ""), strings(), styles())),
        (
            "runs of a cell",
            spreadsheet(
                Part::repeated(
                    "<worksheet><sheetData><row><c t=\"inlineStr\"><is>",
                    "<r><t>a</t></r>",
                    4,
                    "",
                ),
                strings(),
                styles(),
            ),
        ),
        ("names", spreadsheet(Part::repeated("", "<a>", 4, ""), strings(), styles())),
        ("texts", spreadsheet(Part::of(&good), Part::repeated("<sst>", "<si/>", 4, ""), styles())),
        (
            "styles of a long format",
            spreadsheet(Part::of(&good), strings(), Part::repeated(&many, "<xf numFmtId=\"200\"/>", 4, "")),
        ),
    ] {
        assert!(file.len() < 16 << 20, "{what}: {}", file.len());
        let problem = import(&service, "", file).await.expect_error(413, "payload_too_large");
        assert_eq!(problem["hint"], "Save the sheet as CSV.", "{what}: {problem}");
        let memory = peak_memory(service.proxy.process());
        assert!(memory < before + 160, "{what}: {before} and {memory} MiB");
    }
}

#[tokio::test]
async fn damaged_sheet_rolls_the_import_back() {
    let service = Service::start().await;
    let many: String = (0..2_000).map(|row| format!("<row><c><v>{row}</v></c></row>")).collect();
    let file = |checksum| {
        let sheet = Part { checksum, ..Part::of(&rows(&many)) };
        spreadsheet(sheet, Part::of(STRINGS), Part::of(STYLES))
    };
    import(&service, "", file(0)).await.expect_error(400, "malformed_request");
    assert_eq!(service.session().await.text("select count(*) from crm.customers", &[]).await, "0");
    let checksum = Part::of(&rows(&many)).checksum;
    assert_eq!(counts(&import(&service, "", file(checksum)).await.expect(200)), [2_000, 2_000, 0, 0, 0]);
}

#[tokio::test]
async fn unsupported_document_type_is_reported() {
    let service = Service::start().await;
    let compound = |name: &str| {
        let mut file = vec![0; 4 << 10];
        file[..8].copy_from_slice(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        file[1024..1024 + name.len()].copy_from_slice(&name);
        file
    };
    for (file, hint) in [
        (compound("EncryptedPackage"), "Save it without a password."),
        (compound("Workbook"), "Save it as XLSX."),
        (b"external_key\n1\n".to_vec(), "Save it as XLSX, or as CSV and send it as text/csv."),
    ] {
        let problem = import(&service, "", file).await.expect_error(400, "malformed_request");
        assert_eq!(problem["hint"], hint);
    }
}

#[tokio::test]
async fn text_with_nul_rejects_only_its_row() {
    let service = Service::start().await;
    let sheet = Part::of(&rows(
        r#"<row><c><v>1</v></c><c t="inlineStr"><is><t>a_x0000_b</t></is></c></row>
           <row><c><v>2</v></c><c t="inlineStr"><is><t>c:\u0000</t></is></c></row>"#,
    ));
    let file = spreadsheet(sheet, Part::of(STRINGS), Part::of(STYLES));
    let report = import(&service, "on_error=skip", file.clone()).await.expect(200);
    assert_eq!(counts(&report), [2, 1, 0, 0, 1], "{report}");
    assert_eq!(report["errors"][0]["line"], 2, "{report}");
    assert_eq!(attributes(&service, "2").await["name"], r"c:\u0000");
    // The rejected row is returned as CSV.
    let request = service.proxy.request("POST", "/v1/entities/template/customers/import?on_error=skip");
    let rejected = request.header("accept", "text/csv").body(XLSX, file).send().await.text;
    assert!(rejected.contains("\n1,a\0b,line 2: "), "{rejected:?}");
}
