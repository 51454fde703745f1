//! Writes the values of facets with their counts.

use crate::attribute_type::AttributeType;
use crate::json::write_string;
use crate::postgres::datum;
use crate::record::shape::write_value;
use crate::record::verbose;
use crate::search::query::facet::Facet;
use crate::search::run::Search;
use pgrx::pg_sys::Datum;

impl Search<'_> {
    /// Writes `[{value, count, …}]` of the facet at a position.
    pub fn write_facet(&self, position: usize, facet: &Facet, out: &mut String) {
        out.push('[');
        let kind = facet.column.kind();
        let counted = self.selection.as_ref().and_then(|it| it.facet_values(self.spi, position));
        if let Some(values) = counted {
            for (number, (value, count)) in values.iter().enumerate() {
                self.write_count(number, facet, value.datum(kind), *count, out);
            }
        } else {
            let rows = self.ask(&self.facet_sql(facet));
            for row in 0..rows.len() {
                let count = rows.get::<Option<i64>>(row, 1).unwrap_or_default();
                self.write_count(row, facet, rows.datum(row, 0), count, out);
            }
        }
        out.push(']');
    }

    /// Writes a value and its count, with the label of a list's option, or the display value of a referenced record.
    fn write_count(&self, number: usize, facet: &Facet, value: Option<Datum>, count: i64, out: &mut String) {
        let attribute = facet.column.attribute();
        let attribute = self.template.attributes.iter().find(|it| Some(it.id) == attribute);
        let kind = match facet.column.kind() {
            AttributeType::List => AttributeType::String,
            kind => kind,
        };
        out.push_str(if number > 0 { ",{\"value\":" } else { "{\"value\":" });
        write_value(out, kind, value);
        out.push_str(&format!(",\"count\":{count}"));
        match (attribute, value) {
            (Some(attribute), Some(value)) if attribute.kind == AttributeType::List => {
                out.push_str(",\"label\":");
                let value = datum::read_text(value);
                write_string(out, attribute.label_of(&value));
            }
            (Some(attribute), Some(value)) if attribute.kind == AttributeType::Reference => {
                verbose::write_target(out, self.caller, attribute, value);
            }
            _ => {}
        }
        out.push('}');
    }
}
