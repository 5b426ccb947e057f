//! The last stage: what the rest of the program does not carry is refused by name, what it carries
//! otherwise is said (V86, V87).

use alloc::format;

use crate::{
    field::{Field, FieldValue},
    fields::{FieldKind, FieldRow, Levels, SEVERAL_CONTAINERS, Support},
    finding::{Collector, allowed, hint},
    wording::listed,
};

/// Every field that is there, against its row.
pub(crate) fn fields(root: &Field, rows: &'static [FieldRow], levels: Levels, findings: &mut Collector) {
    if levels != Levels::Any {
        Check { levels, findings }.object(root, rows);
    }
}

/// A second container.
pub(crate) fn several_containers(root: &Field, levels: Levels, findings: &mut Collector) {
    let [_, second, ..] = root.list("containerDefinitions") else { return };
    if levels == Levels::Built && SEVERAL_CONTAINERS != Support::Honoured {
        let message = format!("{} containers", root.list("containerDefinitions").len());
        findings.error(86, &second.place, message, allowed("one, in this version"));
    }
}

struct Check<'f> {
    levels: Levels,
    findings: &'f mut Collector,
}

impl Check<'_> {
    fn object(&mut self, object: &Field, rows: &'static [FieldRow]) {
        for (key, field) in object.members() {
            if let Some(row) = rows.iter().find(|row| row.key == *key) {
                self.field(field, row);
            }
        }
    }

    fn field(&mut self, field: &Field, row: &FieldRow) {
        let key = row.key;
        let inert = if let Support::Later(text) = row.support { text } else { "" };
        let acts = !changes_nothing(&field.value, inert);
        match row.support {
            Support::Later(_) if self.levels == Levels::Built => {
                if acts {
                    let message = format!("\"{key}\" is not supported yet");
                    self.findings.error(86, &field.place, message, hint("leave it out"));
                }
            }
            Support::Refused(why) => {
                if acts {
                    self.findings.error(86, &field.place, format!("\"{key}\" is refused"), hint(why));
                }
            }
            Support::Approximated(instead) | Support::Noted(instead) => {
                if acts {
                    self.findings.warning(87, &field.place, format!("\"{key}\" is not honoured"), hint(instead));
                }
            }
            Support::Honoured | Support::Later(_) | Support::ReadOnly => self.inside(field, row),
        }
    }

    fn inside(&mut self, field: &Field, row: &FieldRow) {
        match row.kind {
            FieldKind::Object(rows) => self.object(field, rows),
            FieldKind::Objects(rows) => {
                if let FieldValue::List(items) = &field.value {
                    items.iter().for_each(|item| self.object(item, rows));
                }
            }
            FieldKind::Word(words, special) => {
                let word = field.value.as_text().and_then(|word| special.iter().find(|(known, _)| *known == word));
                if let Some((word, support)) = word {
                    self.word(field, row.key, word, *support, words, special);
                }
            }
            FieldKind::Text
            | FieldKind::Name
            | FieldKind::Integer
            | FieldKind::Boolean
            | FieldKind::CpuAmount
            | FieldKind::MemoryAmount
            | FieldKind::Texts
            | FieldKind::Integers
            | FieldKind::Words(_)
            | FieldKind::TextMap
            | FieldKind::Pairs(_, _)
            | FieldKind::Opaque => {}
        }
    }

    fn word(
        &mut self,
        field: &Field,
        key: &str,
        word: &str,
        support: Support,
        words: &[&'static str],
        special: &[(&'static str, Support)],
    ) {
        let place = &field.place;
        match support {
            Support::Later(_) if self.levels == Levels::Built => {
                let stops = |word: &str| {
                    special.iter().any(|(known, support)| {
                        *known == word && matches!(support, Support::Later(_) | Support::Refused(_))
                    })
                };
                let advice = allowed(listed(words.iter().copied().filter(|word| !stops(word))));
                self.findings.error(86, place, format!("{key} \"{word}\" is not supported yet"), advice);
            }
            Support::Refused(why) => {
                self.findings.error(86, place, format!("{key} \"{word}\" is refused"), hint(why));
            }
            Support::Approximated(instead) | Support::Noted(instead) => {
                self.findings.warning(87, place, format!("{key} \"{word}\""), hint(instead));
            }
            Support::Honoured | Support::Later(_) | Support::ReadOnly => {}
        }
    }
}

/// Values that Describe answers and exports write where nothing was asked for.
fn changes_nothing(value: &FieldValue, inert: &str) -> bool {
    match value {
        // There is a finding already.
        FieldValue::Broken => true,
        FieldValue::Boolean(value) => !value,
        FieldValue::Integer(number) => !inert.is_empty() && inert.parse() == Ok(*number),
        FieldValue::Text(text) => text.is_empty() || text.eq_ignore_ascii_case(inert),
        FieldValue::Texts { texts, .. } => texts.is_empty(),
        FieldValue::Map(entries) => entries.is_empty(),
        FieldValue::List(items) => items.is_empty(),
        FieldValue::Object(members) => members.iter().all(|(_, member)| changes_nothing(&member.value, "")),
    }
}
