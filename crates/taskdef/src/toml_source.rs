//! TOML into the same tree as JSON; the grammar is the library's.

use alloc::{format, string::ToString, vec::Vec};
use core::ops::Range;

use toml::de::{DeInteger, DeTable, DeValue};

use crate::{
    finding::{Collector, Place, allowed, hint},
    limits::MAX_NESTING,
    node::{Member, Node, Offset, Value},
};

/// Parses the whole text from `start`; `None` when it is not TOML, with findings that say where.
pub(crate) fn parse(text: &str, start: usize, findings: &mut Collector) -> Option<Node> {
    let body = text.get(start..)?;
    let (table, errors) = DeTable::parse_recoverable(body);
    for (index, error) in errors.iter().enumerate() {
        let at = error.span().map_or(0, |span| span.start);
        let advice = if index == 0 { hint("it is read as TOML, since it does not begin like JSON") } else { None };
        findings.error(1, &Place::offset(offset(start, at)), error.message().trim_end(), advice);
    }
    if !errors.is_empty() {
        return None;
    }
    let mut converter = Converter { text: body, start, findings };
    converter.table(table.get_ref()).map(|members| Node { at: offset(start, 0), value: Value::Object(members) })
}

struct Converter<'t, 'f> {
    text: &'t str,
    start: usize,
    findings: &'f mut Collector,
}

impl Converter<'_, '_> {
    fn table(&mut self, table: &DeTable<'_>) -> Option<Vec<Member>> {
        self.table_at(table, 1)
    }

    fn table_at(&mut self, table: &DeTable<'_>, depth: usize) -> Option<Vec<Member>> {
        let mut members = Vec::with_capacity(table.len());
        for (key, value) in table {
            let node = self.node(value.get_ref(), value.span(), depth)?;
            let key_at = offset(self.start, key.span().start);
            members.push(Member::new(key.get_ref().as_ref().into(), key_at, node));
        }
        // The library sorts by key; people expect the order of the file.
        members.sort_by_key(|member| member.key_at);
        Some(members)
    }

    fn node(&mut self, value: &DeValue<'_>, span: Range<usize>, depth: usize) -> Option<Node> {
        let at = offset(self.start, span.start);
        if depth > MAX_NESTING {
            let advice = allowed(format!("{MAX_NESTING} levels"));
            self.findings.error(1, &Place::offset(at), "lists and tables are nested too deep", advice);
            return None;
        }
        let value = match value {
            DeValue::String(text) => Value::Text(text.as_ref().into()),
            DeValue::Integer(number) => Value::Number(decimal(number).into_boxed_str()),
            DeValue::Float(_) => Value::Number(self.text.get(span)?.into()),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(date) => Value::Date(date.to_string().into_boxed_str()),
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items.iter() {
                    list.push(self.node(item.get_ref(), item.span(), depth + 1)?);
                }
                Value::List(list)
            }
            DeValue::Table(table) => Value::Object(self.table_at(table, depth + 1)?),
        };
        Some(Node { at, value })
    }
}

/// `0x50` and `8_080` are whole numbers of TOML; what the fields read is decimal digits.
fn decimal(number: &DeInteger<'_>) -> alloc::string::String {
    i128::from_str_radix(number.as_str(), number.radix()).map_or_else(|_| number.to_string(), |value| value.to_string())
}

fn offset(start: usize, at: usize) -> Offset {
    Offset::try_from(start + at).unwrap_or(Offset::MAX)
}
