//! The workbook: its sheets, and where its parts are.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::archive::Archive;
use super::fault::Fault;
use super::xml::{Xml, attribute};

/// The most bytes of the parts that say where others are.
const MAX_BYTES: u64 = 4 << 20;

/// A workbook.
pub(super) struct Workbook {
    folder: String,
    related: Relationships,
    /// The names of the worksheets, each with the id of its part.
    sheets: Vec<(String, String)>,
    /// Whether days are counted from 1904.
    pub(super) is_1904: bool,
}

/// The parts that a part names: id → type and target.
type Relationships = HashMap<String, (String, String)>;

impl Workbook {
    pub(super) fn read(archive: &Archive<'_>) -> Result<Workbook, Fault> {
        let package = relationships(archive, "_rels/.rels")?;
        let path = target(&package, "officeDocument").ok_or(Fault::Form)?.trim_start_matches('/').to_owned();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let separator = if folder.is_empty() { "" } else { "/" };
        let related = relationships(archive, &format!("{folder}{separator}_rels/{name}.rels"))?;
        let mut workbook =
            Workbook { folder: folder.to_owned(), related, sheets: Vec::new(), is_1904: false };
        let mut xml = Xml::new(archive.part(&path)?.ok_or(Fault::Form)?, MAX_BYTES);
        loop {
            match xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "sheet" => {
                        let name = attribute(&element, "name")?.unwrap_or_default().into_owned();
                        let id = attribute(&element, "id")?.unwrap_or_default().into_owned();
                        // Sheets of charts have no cells.
                        if workbook.related.get(&id).is_some_and(|(kind, _)| kind.ends_with("/worksheet")) {
                            workbook.sheets.push((name, id));
                        }
                    }
                    "workbookPr" => {
                        if let Some(value) = attribute(&element, "date1904")? {
                            workbook.is_1904 = value == "1" || value == "true";
                        }
                    }
                    _ => {}
                },
                Event::Eof => return Ok(workbook),
                _ => {}
            }
        }
    }

    pub(super) fn names(self) -> Vec<String> {
        self.sheets.into_iter().map(|(name, _)| name).collect()
    }

    /// The path of the sheet of this name, otherwise of the first.
    pub(super) fn sheet(&self, name: Option<&str>) -> Option<String> {
        let sheet = match name {
            Some(name) => self.sheets.iter().find(|(own, _)| own == name),
            None => self.sheets.first(),
        };
        sheet.and_then(|(_, id)| self.related.get(id)).map(|(_, target)| self.resolve(target))
    }

    /// The path of the part of this type, such as `styles`.
    pub(super) fn part(&self, kind: &str) -> Option<String> {
        target(&self.related, kind).map(|target| self.resolve(target))
    }

    /// The path of a target, which is relative to the folder of the workbook.
    fn resolve(&self, target: &str) -> String {
        let mut steps: Vec<&str> = match target.starts_with('/') {
            true => Vec::new(),
            false => self.folder.split('/').filter(|step| !step.is_empty()).collect(),
        };
        for step in target.split('/') {
            match step {
                "" | "." => {}
                ".." => drop(steps.pop()),
                step => steps.push(step),
            }
        }
        steps.join("/")
    }
}

fn relationships(archive: &Archive<'_>, path: &str) -> Result<Relationships, Fault> {
    let mut xml = Xml::new(archive.part(path)?.ok_or(Fault::Form)?, MAX_BYTES);
    let mut related = HashMap::new();
    loop {
        match xml.next()? {
            Event::Start(element) if element.local_name().as_ref() == "Relationship" => {
                let [id, kind, target] = ["Id", "Type", "Target"].map(|name| attribute(&element, name));
                let text = |value: Option<std::borrow::Cow<'_, str>>| value.unwrap_or_default().into_owned();
                related.insert(text(id?), (text(kind?), text(target?)));
            }
            Event::Eof => return Ok(related),
            _ => {}
        }
    }
}

/// The target of a type, which ends with this word in both variants of the standard.
fn target<'a>(related: &'a Relationships, word: &str) -> Option<&'a str> {
    let mut targets = related.values().filter(|(kind, _)| kind.rsplit('/').next() == Some(word));
    targets.next().map(|(_, target)| target.as_str())
}
