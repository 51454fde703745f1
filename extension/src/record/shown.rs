//! A record as JSON, with its version.

use super::shape::{self, Columns, Projection};
use super::version;
use crate::template::Template;

/// A record as an answer shows it.
#[derive(Debug)]
pub struct Shown {
    /// The JSON.
    pub json: String,
    state: State,
}

/// What is known of the state that an answer shows.
#[derive(Debug)]
enum State {
    /// The JSON shows all of it.
    Whole,
    /// Its tag.
    Tag(String),
    /// No tag: it was not requested, or the caller sees only the id.
    Untold,
}

impl Shown {
    /// A record from its columns.
    pub fn of(template: &Template, columns: &Columns, projection: &Projection) -> Shown {
        let json = render(template, columns, projection);
        let state = match projection {
            _ if projection.is_whole() => State::Whole,
            _ if !projection.wants_tag => State::Untold,
            Projection { verbose_for, .. } => {
                let version = version::of(&render(template, columns, &Projection::default()));
                State::Tag(match verbose_for {
                    Some(_) => version::with_surroundings(&version, &json),
                    None => version,
                })
            }
        };
        Shown { json, state }
    }

    /// The entity tag of this answer.
    pub fn tag(&self) -> Option<String> {
        match &self.state {
            State::Whole => Some(version::of(&self.json)),
            State::Tag(tag) => Some(tag.clone()),
            State::Untold => None,
        }
    }
}

/// A record as JSON.
pub fn render(template: &Template, columns: &Columns, projection: &Projection) -> String {
    let mut out = String::with_capacity(256 + 32 * template.attributes.len());
    shape::write_open(&mut out, template, columns, projection);
    if let Some(caller) = &projection.verbose_for {
        super::verbose::write(&mut out, caller, template, columns, projection);
    }
    if let Some(addition) = projection.addition() {
        addition.write(&mut out, template, columns, projection);
    }
    out.push('}');
    out
}
