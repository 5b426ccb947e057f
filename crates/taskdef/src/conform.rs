//! Holds a document against the field table: types, leniencies, unknown and unbuilt fields
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
    finding::{Collector, Place, allowed, hint, quoted},
    node::{Member, Node, Value},
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
            let here = member_place(place, member);
            let Some(row) = self.row_of(member, rows, place) else { continue };
            if fields.iter().any(|(key, _)| *key == row.key) {
                let message = format!("\"{}\" is given in two spellings, again", row.key);
                self.findings.error(3, &here, message, allowed("one of them"));
            } else if let Some(field) = self.supported(row, &member.node, &here) {
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
            let message = format!("field {} read as \"{}\"", quoted(&member.key), row.key);
            self.findings.warning(4, &at_key, message, hint(format!("write {}", row.key)));
            return Some(row);
        }
        let near = nearest(&member.key, rows.iter().map(|row| row.key));
        let advice = near.and_then(|near| hint(format!("did you mean \"{near}\"")));
        self.findings.warning(5, &at_key, format!("unknown field {}", quoted(&member.key)), advice);
        None
    }

    fn supported(&mut self, row: &FieldRow, node: &Node, place: &Place) -> Option<Field> {
        match row.support {
            Support::Honoured => self.field(row, node, place),
            Support::Noted(instead) => {
                let field = self.field(row, node, place)?;
                if !matches!(field.value, FieldValue::Broken) && !changes_nothing(node, "") {
                    self.findings.warning(87, place, format!("\"{}\" is not honoured", row.key), hint(instead));
                }
                Some(field)
            }
            Support::Ignored => None,
            Support::Later(inert) => {
                if !changes_nothing(node, inert) {
                    let message = format!("\"{}\" is not supported yet", row.key);
                    self.findings.error(86, place, message, hint("leave it out"));
                }
                None
            }
            Support::Refused(why) => {
                if !changes_nothing(node, "") {
                    self.findings.error(86, place, format!("\"{}\" is refused", row.key), hint(why));
                }
                None
            }
        }
    }

    /// One present value along its kind; `None` where it counts as absent.
    fn field(&mut self, row: &FieldRow, node: &Node, place: &Place) -> Option<Field> {
        if let Some(intrinsic) = intrinsic(node) {
            let message = format!("intrinsic {} left", quoted(intrinsic));
            self.findings.error(6, place, message, allowed("a value"));
            return Some(broken(place));
        }
        let value = match row.kind {
            FieldKind::Text => self.text(node, place),
            FieldKind::Name => self.name(node, place),
            FieldKind::Integer => self.integer(row.key, node, place)?,
            FieldKind::Boolean => self.boolean(node, place),
            FieldKind::Word(words, later) => self.word(row.key, node, place, words, later),
            FieldKind::CpuAmount => self.amount(&scalar::CPU, node, place)?,
            FieldKind::MemoryAmount => self.amount(&scalar::MEMORY, node, place)?,
            FieldKind::Texts => self.texts(node, place),
            FieldKind::Integers => self.list(node, place, |this, item, at| this.integer(row.key, item, at)),
            FieldKind::Words(words) => {
                self.list(node, place, |this, item, at| Some(this.word(row.key, item, at, words, &[])))
            }
            FieldKind::TextMap => self.text_map(node, place),
            FieldKind::Pairs(name, value) => self.pairs(name, value, node, place),
            FieldKind::Object(rows) => self.nested(node, rows, place),
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
            } else {
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
        let mut texts = Vec::with_capacity(items.len());
        let mut whole = true;
        for (place, item) in self.present(items, place) {
            if let FieldValue::Text(text) = self.text(item, &place) { texts.push(text) } else { whole = false }
        }
        if whole { FieldValue::Texts(texts) } else { FieldValue::Broken }
    }

    fn text_map(&mut self, node: &Node, place: &Place) -> FieldValue {
        let Some(members) = node.members() else { return self.mismatch(node, place, "an object", "an object of text") };
        FieldValue::Map(self.map_entries(members, place))
    }

    fn map_entries(&mut self, members: &[Member], place: &Place) -> Vec<(String, Field)> {
        let mut entries = Vec::with_capacity(members.len());
        for member in members {
            let here = member_place(place, member);
            if member.node.value == Value::Null {
                self.findings.warning(4, &here, "null entry dropped", hint("leave it out"));
                continue;
            }
            let value = self.text(&member.node, &here);
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

    /// V3: another type than the field's. Text that was found is not repeated: it may be a secret.
    fn mismatch(&mut self, node: &Node, place: &Place, expected: &str, advice: &str) -> FieldValue {
        self.findings.error(3, place, format!("expected {expected} but found {}", node.kind()), allowed(advice));
        FieldValue::Broken
    }
}

fn broken(place: &Place) -> Field {
    Field { place: place.clone(), value: FieldValue::Broken }
}

fn member_place(parent: &Place, member: &Member) -> Place {
    Place { at: member.node.at, path: parent.path.as_ref().map(|path| path.key(&member.key)) }
}

/// The function of a template that still has to be carried out, such as `Fn::Sub`.
fn intrinsic(node: &Node) -> Option<&str> {
    let [member] = node.members()? else { return None };
    (&*member.key == "Ref" || member.key.starts_with("Fn::")).then_some(&*member.key)
}

/// Values that Describe answers and exports write where nothing was asked for.
fn changes_nothing(node: &Node, inert: &str) -> bool {
    match &node.value {
        Value::Null | Value::Boolean(false) => true,
        Value::Boolean(true) | Value::Date(_) => false,
        Value::Number(text) => !inert.is_empty() && **text == *inert,
        Value::Text(text) => text.is_empty() || text.eq_ignore_ascii_case(inert),
        Value::List(items) => items.iter().all(|item| item.value == Value::Null),
        Value::Object(members) => members.iter().all(|member| changes_nothing(&member.node, "")),
    }
}
