//! Holds a document against the field table: types, leniencies, placeholders, unknown fields
//! (taskdef.md 1.5, 1.6, 1.9).

mod scalar;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    field::{Field, FieldValue},
    fields::{FieldKind, FieldRow, Support},
    finding::{Collector, Level, Place, allowed, hint, quoted},
    node::{Member, Node, Spelling, Value},
    wording::nearest,
};

/// Reads the members of an object along its rows.
pub(crate) fn object(members: &[Member], rows: &[FieldRow], place: &Place, findings: &mut Collector) -> Field {
    let members = Conform { findings }.object(members, rows, place);
    Field { place: place.clone(), value: FieldValue::Object(members) }
}

struct Conform<'f> {
    findings: &'f mut Collector,
}

type Members = Vec<(&'static str, Field)>;

impl Conform<'_> {
    fn object(&mut self, members: &[Member], rows: &[FieldRow], place: &Place) -> Members {
        let mut fields = Members::new();
        for member in members.iter().filter(|member| member.node.value != Value::Null) {
            let here = member.place_in(place);
            let Some(row) = self.row_of(member, rows, place) else { continue };
            if fields.iter().any(|(key, _)| *key == row.key) {
                let message = format!("\"{}\" is given in two spellings, again", row.key);
                self.findings.error(3, &here, message, allowed("one of them"));
            } else if row.support != Support::ReadOnly
                && let Some(field) = self.field(row, member, &here)
            {
                fields.push((row.key, field));
            }
        }
        fields
    }

    /// The row of a key; another letter case is applied with a note, everything else is unknown.
    fn row_of<'r>(&mut self, member: &Member, rows: &'r [FieldRow], place: &Place) -> Option<&'r FieldRow> {
        if let Some(row) = rows.iter().find(|row| row.key == &*member.key) {
            return Some(row);
        }
        let at_key = Place { at: member.key_at, path: place.path.clone() };
        if let Some(row) = rows.iter().find(|row| row.key.eq_ignore_ascii_case(&member.key)) {
            let message = format!("field {} read as \"{}\"", quoted(member.written()), row.key);
            self.findings.warning(4, &at_key, message, hint(format!("write {}", row.key)));
            return Some(row);
        }
        // Nobody reads a thousand suggestions, and hostile documents ask for more.
        let near = if self.findings.is_full(Level::Warning) {
            None
        } else {
            nearest(&member.key, rows.iter().map(|row| row.key))
        };
        let advice = near.and_then(|near| hint(format!("did you mean \"{near}\"")));
        self.findings.warning(5, &at_key, format!("unknown field {}", quoted(member.written())), advice);
        None
    }

    /// One present value along its kind; `None` where it counts as absent.
    fn field(&mut self, row: &FieldRow, member: &Member, place: &Place) -> Option<Field> {
        let node = &member.node;
        if self.left_intrinsic(node, place) {
            return Some(Field { place: place.clone(), value: FieldValue::Broken });
        }
        let value = match row.kind {
            FieldKind::Text => self.text(node, place),
            FieldKind::Name => self.name(node, place),
            FieldKind::Integer => self.integer(row.key, node, place)?,
            FieldKind::Boolean => self.boolean(node, place),
            FieldKind::Word(words, _) => self.word(row.key, node, place, words),
            FieldKind::CpuAmount => self.amount(&scalar::CPU, node, place)?,
            FieldKind::MemoryAmount => self.amount(&scalar::MEMORY, node, place)?,
            FieldKind::Texts => self.texts(node, place),
            FieldKind::Integers => self.list(node, place, |this, item, at| this.integer(row.key, item, at)),
            FieldKind::Words(words) => {
                self.list(node, place, |this, item, at| Some(this.word(row.key, item, at, words)))
            }
            FieldKind::TextMap => self.text_map(node, place),
            FieldKind::Pairs(name, value) => self.pairs(name, value, node, place),
            FieldKind::Object(rows) => self.nested(node, rows, place),
            FieldKind::Objects(rows) if member.spelling == Spelling::Implied && node.members().is_some() => {
                FieldValue::List(Vec::from([Field { place: place.clone(), value: self.nested(node, rows, place) }]))
            }
            FieldKind::Objects(rows) => self.list(node, place, |this, item, at| Some(this.nested(item, rows, at))),
            FieldKind::Opaque => return None,
        };
        Some(Field { place: place.clone(), value })
    }

    fn nested(&mut self, node: &Node, rows: &[FieldRow], place: &Place) -> FieldValue {
        match node.members() {
            Some(members) => FieldValue::Object(self.object(members, rows, place)),
            None => self.mismatch(node, place, "an object", "an object"),
        }
    }

    fn list(
        &mut self,
        node: &Node,
        place: &Place,
        mut each: impl FnMut(&mut Self, &Node, &Place) -> Option<FieldValue>,
    ) -> FieldValue {
        let Value::List(items) = &node.value else { return self.mismatch(node, place, "a list", "a list") };
        let mut fields = Vec::new();
        for (place, item) in self.present(items, place) {
            if let Some(value) = each(self, item, &place) {
                fields.push(Field { place, value });
            }
        }
        FieldValue::List(fields)
    }

    /// Elements with their places; `null` ones are dropped with a note.
    fn present<'n>(&mut self, items: &'n [Node], place: &Place) -> Vec<(Place, &'n Node)> {
        let mut present = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let here = Place { at: item.at, path: place.path.as_ref().map(|path| path.index(index)) };
            if item.value == Value::Null {
                self.findings.warning(4, &here, "null dropped from a list", hint("leave it out"));
            } else if !self.left_intrinsic(item, &here) {
                present.push((here, item));
            }
        }
        present
    }

    fn texts(&mut self, node: &Node, place: &Place) -> FieldValue {
        let Value::List(items) = &node.value else {
            // Splitting it would be a guess about quoting.
            let advice = r#"a list of text, such as ["sh", "-c", "…"]"#;
            return self.mismatch(node, place, "a list of text", advice);
        };
        let (mut texts, mut places) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        let present = self.present(items, place);
        let mut whole = present.len() == items.iter().filter(|item| item.value != Value::Null).count();
        for (place, item) in present {
            if let FieldValue::Text(text) = self.text(item, &place) {
                texts.push(text);
                places.push(place);
            } else {
                whole = false;
            }
        }
        if whole { FieldValue::Texts { texts, places } } else { FieldValue::Broken }
    }

    fn text_map(&mut self, node: &Node, place: &Place) -> FieldValue {
        let Some(members) = node.members() else { return self.mismatch(node, place, "an object", "an object of text") };
        FieldValue::Map(self.map_entries(members, place))
    }

    fn map_entries(&mut self, members: &[Member], place: &Place) -> Vec<(String, Field)> {
        let mut entries = Vec::with_capacity(members.len());
        for member in members {
            let here = member.place_in(place);
            if member.node.value == Value::Null {
                self.findings.warning(4, &here, "null entry dropped", hint("leave it out"));
                continue;
            }
            let value = match self.left_intrinsic(&member.node, &here) {
                true => FieldValue::Broken,
                false => self.text(&member.node, &here),
            };
            entries.push((member.key.to_string(), Field { place: here, value }));
        }
        entries
    }

    fn pairs(&mut self, name: &'static str, value: &'static str, node: &Node, place: &Place) -> FieldValue {
        let Some(members) = node.members() else {
            let rows = [name, value].map(|key| FieldRow { key, kind: FieldKind::Text, support: Support::Honoured });
            return self.list(node, place, |this, item, at| Some(this.nested(item, &rows, at)));
        };
        let normal = format!("write a list of {{\"{name}\": …, \"{value}\": …}}");
        self.findings.warning(4, place, "object read as a list of pairs", hint(normal));
        let pair = |(key, field): (_, Field)| {
            let place = field.place.clone();
            let key = Field { place: place.clone(), value: FieldValue::Text(key) };
            Field { place, value: FieldValue::Object(Vec::from([(name, key), (value, field)])) }
        };
        FieldValue::List(self.map_entries(members, place).into_iter().map(pair).collect())
    }

    /// V6: a function of a template was left.
    fn left_intrinsic(&mut self, node: &Node, place: &Place) -> bool {
        let Some(intrinsic) = node.intrinsic() else { return false };
        self.findings.error(6, place, format!("intrinsic {} left", quoted(intrinsic)), allowed("a value"));
        true
    }

    /// V3: another type than the field's. Text that was found is not repeated: it may be a secret.
    fn mismatch(&mut self, node: &Node, place: &Place, expected: &str, advice: &str) -> FieldValue {
        self.findings.error(3, place, format!("expected {expected} but found {}", node.kind()), allowed(advice));
        FieldValue::Broken
    }
}
