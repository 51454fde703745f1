//! Ambiguous numbers of a file: some spreadsheets write 1234 as `1.234`. Pure.

use super::cells::Cell;
use super::columns::Column;
use crate::attribute_type::AttributeType;
use crate::template::Template;
use serde::Serialize;

/// The maximum number of rows in a warning.
const MAX_ROWS: usize = 10;

/// The numbers of a column in a chunk.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// Its name.
    column: String,
    /// Whether at least one number cannot have thousands separators.
    is_plain: bool,
    /// The count of numbers that can, such as `1.234`.
    grouped: usize,
    /// The first such number, and the first rows with one.
    example: String,
    rows: Vec<usize>,
}

/// The form of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Fewer digits than a group.
    Short,
    /// Groups of three digits, or three decimals.
    Grouped,
    /// Any other form.
    Plain,
}

/// The number columns of these rows.
pub fn of(
    template: &Template,
    header: &[String],
    columns: &[Column],
    rows: &[Vec<Cell<'_>>],
) -> Vec<Numbers> {
    let is_number = |column: &Column| match column {
        Column::Attribute(position) => {
            matches!(template.attributes[*position].kind, AttributeType::Number | AttributeType::Metric)
        }
        _ => false,
    };
    let numeric = columns.iter().zip(header).enumerate().filter(|(_, (column, _))| is_number(column));
    let numbers = numeric
        .map(|(position, (_, name))| of_column(name, rows.iter().map(|row| row.get(position)?.text())));
    numbers.filter(|numbers| numbers.is_plain || numbers.grouped > 0).collect()
}

fn of_column<'a>(name: &str, cells: impl Iterator<Item = Option<&'a str>>) -> Numbers {
    let mut numbers = Numbers { column: name.to_owned(), ..Numbers::default() };
    for (row, cell) in cells.enumerate() {
        match cell.and_then(|cell| Some((cell, form(cell)?))) {
            None | Some((_, Form::Short)) => {}
            Some((_, Form::Plain)) => {
                numbers.is_plain = true;
                break;
            }
            Some((cell, Form::Grouped)) => {
                if numbers.grouped == 0 {
                    cell.clone_into(&mut numbers.example);
                }
                numbers.grouped += 1;
                if numbers.rows.len() < MAX_ROWS {
                    numbers.rows.push(row);
                }
            }
        }
    }
    numbers
}

/// The form of the number in a cell. Exponents are ignored.
fn form(cell: &str) -> Option<Form> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = cell.strip_prefix('-').unwrap_or(cell);
    match unsigned.split_once('.') {
        None if is_digits(unsigned) => Some(if unsigned.len() <= 3 { Form::Short } else { Form::Plain }),
        Some((whole, rest)) if is_digits(whole) && is_digits(rest) => {
            let is_group = whole.len() <= 3 && !whole.starts_with('0') && rest.len() == 3;
            Some(if is_group { Form::Grouped } else { Form::Plain })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_may_have_groups_of_three_digits() {
        for (cell, expected) in [
            ("1.234", Some(Form::Grouped)),
            ("-123.456", Some(Form::Grouped)),
            ("0", Some(Form::Short)),
            ("999", Some(Form::Short)),
            ("1000", Some(Form::Plain)),
            ("0.125", Some(Form::Plain)),
            ("1234.567", Some(Form::Plain)),
            ("1.5", Some(Form::Plain)),
            ("1.2345", Some(Form::Plain)),
            ("", None),
            ("1.234.567", None),
            ("1.234,50", None),
            ("1e5", None),
            ("x", None),
            ("1.", None),
        ] {
            assert_eq!(form(cell), expected, "{cell:?}");
        }
    }

    #[test]
    fn column_is_unambiguous_if_one_number_cannot_have_groups() {
        let of_column = |cells: &[&'static str]| of_column("price", cells.iter().copied().map(Some));
        let grouped = of_column(&["12", "", "1.234", "x", "22.500"]);
        assert_eq!((grouped.is_plain, grouped.grouped, grouped.rows), (false, 2, vec![2, 4]));
        assert_eq!(grouped.example, "1.234");
        assert!(of_column(&["1.234", "1.5"]).is_plain);
        assert_eq!(of_column(&["12", ""]).grouped, 0);
        assert_eq!(of_column(&["1.234"; 20]).rows.len(), MAX_ROWS);
    }
}
