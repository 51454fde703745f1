//! Random values of conditions, in the forms that a request accepts.

use super::condition::Place;
use super::random::Random;
use super::time::{random_day, write_date};
use super::values::{Kind, Value, random_text, random_value, write};
use super::world::{Row, Template, World};
use serde_json::json;

/// A single value in a condition.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Value(Value),
    /// A whole day, in a condition on a datetime.
    Day(i64),
    /// The live record with this key.
    Key(Template, String),
}

/// A value that the field can be compared with; often a value of an existing record.
pub(crate) fn operand(world: &World, position: &Place, operator: &str, random: &mut Random) -> Operand {
    let of_owner: Vec<&Row> = world.rows.iter().filter(|row| row.template == position.owner).collect();
    let known = random.pick(&of_owner).value(position.field).filter(|_| !random.one_in(3));
    let is_pattern = matches!(operator, "like" | "not-like" | "ilike" | "starts-with" | "ends-with");
    match (position.kind, known) {
        (Kind::Text, Some(Value::Text(text))) if is_pattern => {
            Operand::Value(Value::Text(part(&text, random)))
        }
        (Kind::Key, _) if is_pattern => {
            Operand::Value(Value::Text((*random.pick(&[":", "_", "A", "1", "%", "é"])).to_owned()))
        }
        (Kind::Key, None) => Operand::Value(Value::Text("nobody".to_owned())),
        (Kind::TemplateSlug, _) => {
            Operand::Value(Value::Text((*random.pick(&["things", "places", "none"])).to_owned()))
        }
        (Kind::TemplateId, _) => {
            let template = *random.pick(&[Template::Things, Template::Places]);
            Operand::Value(Value::Text(world.number(template, "template_id").unwrap_or_default().to_owned()))
        }
        (Kind::Reference(target), _) if random.one_in(3) => {
            let keys =
                world.rows.iter().filter(|row| row.template == target).filter_map(|row| row.key.clone());
            Operand::Key(target, random.pick(&keys.collect::<Vec<_>>()).clone())
        }
        // The time zones of the model cover only one year, in which no record is written.
        (Kind::Time, _) if !position.field.ends_with("_at") && random.one_in(2) => {
            Operand::Day(random_day(random))
        }
        (Kind::List | Kind::Options, Some(Value::List(list))) if !list.is_empty() => {
            Operand::Value(Value::Text(random.pick(&list).clone()))
        }
        (Kind::List, _) => Operand::Value(Value::Text("none".to_owned())),
        (Kind::Options, _) => Operand::Value(Value::Text("silver".to_owned())),
        (_, Some(value)) => Operand::Value(value),
        (Kind::Reference(_) | Kind::Id, None) => {
            Operand::Value(Value::Id(*random.pick(&world.ids(position.owner))))
        }
        (Kind::Text, None) => Operand::Value(Value::Text(random_text(random))),
        (kind, None) => Operand::Value(random_value(kind, random)),
    }
}

/// Some characters of a text, in uppercase or lowercase.
fn part(text: &str, random: &mut Random) -> String {
    let characters: Vec<char> = text.chars().collect();
    let from = random.below(characters.len() + 1);
    let to = from + random.below(characters.len() - from + 1);
    let from = if random.one_in(3) { 0 } else { from };
    let to = if random.one_in(3) { characters.len() } else { to };
    let part: String = characters[from..to].iter().collect();
    match random.below(4) {
        0 => part.to_uppercase(),
        1 => part.to_lowercase(),
        _ => part,
    }
}

/// A single value in a form that a request accepts.
pub(crate) fn single(operand: &Operand, random: &mut Random) -> String {
    let json = match operand {
        Operand::Value(value) => write(value, random),
        Operand::Day(day) => json!(write_date(*day)).to_string(),
        Operand::Key(_, key) => json!({"external_key": key}).to_string(),
    };
    // A value other than text may also be given as a string.
    if !json.starts_with('"') && random.one_in(2) { json!(json).to_string() } else { json }
}

/// Several values in a form that a request accepts: an array, its text, or comma-separated values.
pub(crate) fn many(operands: &[Operand], random: &mut Random) -> String {
    let values: Vec<String> = operands.iter().map(|operand| single(operand, random)).collect();
    let array = format!("[{}]", values.join(", "));
    if operands.is_empty() || random.one_in(3) {
        return if random.one_in(2) { array } else { json!(array).to_string() };
    }
    let between = values.iter().map(|json| {
        let text = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.clone());
        let is_plain = !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:+.".contains(&byte));
        if is_plain && random.one_in(2) { text } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    });
    json!(between.collect::<Vec<_>>().join(" , ")).to_string()
}
