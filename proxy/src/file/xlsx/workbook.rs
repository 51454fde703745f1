//! The workbook: its sheets and the paths of its parts.

use quick_xml::events::Event;

use super::archive::Archive;
use super::error::PartError;
use super::xml::{Xml, attribute};

/// The maximum size of a relationship part.
const MAX_BYTES: u64 = 4 << 20;

/// The maximum number of relationships of a part.
const MAX_PARTS: usize = 5000;

/// A workbook.
pub(super) struct Workbook {
    folder: String,
    related: Relationships,
    /// The names of the worksheets, each with the id of its part.
    sheets: Vec<(String, String)>,
    /// Whether the 1904 date system is used.
    pub(super) is_1904: bool,
}

/// The relationships of a part: id → type and target.
type Relationships = Vec<(String, (String, String))>;

impl Workbook {
    pub(super) fn read(archive: &Archive<'_>) -> Result<Workbook, PartError> {
        let package = relationships(archive, "_rels/.rels")?;
        let path =
            target(&package, "officeDocument")?.ok_or(PartError::Form)?.trim_start_matches('/').to_owned();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let separator = if folder.is_empty() { "" } else { "/" };
        let related = relationships(archive, &format!("{folder}{separator}_rels/{name}.rels"))?;
        let mut workbook =
            Workbook { folder: folder.to_owned(), related, sheets: Vec::new(), is_1904: false };
        let mut xml = Xml::new(archive.part(&path)?.ok_or(PartError::Form)?, MAX_BYTES, &|| true);
        loop {
            match xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "sheet" => {
                        let name = attribute(&element, "name")?.unwrap_or_default().into_owned();
                        let id = attribute(&element, "id")?.unwrap_or_default().into_owned();
                        // Chart sheets have no cells.
                        if part_of(&workbook.related, &id)
                            .is_some_and(|(kind, _)| kind.ends_with("/worksheet"))
                        {
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

    /// The path of the sheet with this name, or of the first sheet.
    pub(super) fn sheet(&self, name: Option<&str>) -> Option<String> {
        let sheet = match name {
            Some(name) => self.sheets.iter().find(|(own, _)| own == name),
            None => self.sheets.first(),
        };
        sheet.and_then(|(_, id)| part_of(&self.related, id)).map(|(_, target)| self.resolve(target))
    }

    /// The path of the part with this type, such as `styles`.
    pub(super) fn part(&self, kind: &str) -> Result<Option<String>, PartError> {
        Ok(target(&self.related, kind)?.map(|target| self.resolve(target)))
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

fn relationships(archive: &Archive<'_>, path: &str) -> Result<Relationships, PartError> {
    let mut xml = Xml::new(archive.part(path)?.ok_or(PartError::Form)?, MAX_BYTES, &|| true);
    let mut related: Relationships = Vec::new();
    loop {
        match xml.next()? {
            Event::Start(element) if element.local_name().as_ref() == "Relationship" => {
                let [id, kind, target] = ["Id", "Type", "Target"].map(|name| attribute(&element, name));
                let text = |value: Option<std::borrow::Cow<'_, str>>| value.unwrap_or_default().into_owned();
                let id = text(id?);
                // A duplicate is ambiguous: programs choose differently.
                if related.len() >= MAX_PARTS || part_of(&related, &id).is_some() {
                    return Err(PartError::Form);
                }
                related.push((id, (text(kind?), text(target?))));
            }
            Event::Eof => return Ok(related),
            _ => {}
        }
    }
}

/// The target of a relationship type. In both variants of the standard, the type ends with `word`.
fn target<'a>(related: &'a Relationships, word: &str) -> Result<Option<&'a str>, PartError> {
    let mut targets = related.iter().filter(|(_, (kind, _))| kind.rsplit('/').next() == Some(word));
    let first = targets.next().map(|(_, (_, target))| target.as_str());
    if targets.next().is_some() { Err(PartError::Form) } else { Ok(first) }
}

/// The type and target with this id.
fn part_of<'a>(related: &'a Relationships, id: &str) -> Option<&'a (String, String)> {
    related.iter().find(|(own, _)| own == id).map(|(_, part)| part)
}
