//! Constants of conditions as parameters, so that statements that differ only in constants share one plan.

use crate::attribute_type::AttributeType;
use crate::value::constant::Constant;
use std::cell::RefCell;

/// An argument: values in text form, and their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value.
    One(String, &'static str),
    /// An array.
    Many(Vec<String>, &'static str),
}

/// The arguments of a statement that is being rendered.
#[derive(Debug, Default)]
pub struct Arguments(RefCell<Vec<Argument>>);

impl Arguments {
    /// Adds a constant, and returns its parameter; `None` if PostgreSQL computes the constant.
    pub fn constant(&self, constant: &Constant) -> Option<String> {
        let argument = match constant {
            Constant::Text(text) => Argument::One(text.clone(), AttributeType::String.column_type()),
            Constant::Typed(text, sql_type) => Argument::One(text.clone(), sql_type),
            Constant::Midnight(_) => return None,
        };
        Some(self.add(argument))
    }

    /// Adds an array of constants, and returns its parameter; `None` if PostgreSQL computes one of them.
    pub fn constants(&self, constants: &[Constant], sql_type: &'static str) -> Option<String> {
        let text = |constant: &Constant| match constant {
            Constant::Text(text) | Constant::Typed(text, _) => Some(text.clone()),
            Constant::Midnight(_) => None,
        };
        let texts = constants.iter().map(text).collect::<Option<Vec<_>>>()?;
        Some(self.add(Argument::Many(texts, sql_type)))
    }

    /// Adds a string, and returns its parameter.
    pub fn text(&self, text: &str) -> String {
        self.add(Argument::One(text.to_owned(), AttributeType::String.column_type()))
    }

    fn add(&self, argument: Argument) -> String {
        let mut arguments = self.0.borrow_mut();
        arguments.push(argument);
        format!("${}", arguments.len())
    }

    /// All arguments, in the order of their parameters.
    pub fn into_list(self) -> Vec<Argument> {
        self.0.into_inner()
    }
}
