//! What becomes of the fields of a definition: its document held against the table of `taskdef`.

use lighterman_taskdef::fields::{FieldKind, FieldRow, Support, TASK_FIELDS};
use lighterman_ui::PlanField;
use serde_json::Value;

/// Every field that is written, once, in the order of the document; those of all containers together. `written` is an
/// accepted definition in its canonical form.
pub(super) fn fates(written: &str) -> Vec<PlanField> {
    let mut fates = Vec::new();
    let document: Value = serde_json::from_str(written).unwrap_or_default();
    walk(&document, TASK_FIELDS, "", &mut fates);
    fates
}

fn walk(object: &Value, rows: &[FieldRow], path: &str, fates: &mut Vec<PlanField>) {
    for (key, value) in object.as_object().into_iter().flatten() {
        let Some(row) = rows.iter().find(|row| row.key.eq_ignore_ascii_case(key)) else {
            add(fates, format!("{path}{key}"), "unused", Some("no such field is known"));
            continue;
        };
        let path = format!("{path}{}", row.key);
        match support_of(row, value) {
            Support::Honoured => honoured(value, row, &path, fates),
            Support::Approximated(instead) => add(fates, path, "approximated", Some(instead)),
            Support::Noted(why) => add(fates, path, "unused", Some(why)),
            Support::ReadOnly => add(fates, path, "unused", Some("the service fills it in")),
            // The definition is accepted, so the field holds nothing, or what changes nothing.
            Support::Later(_) | Support::Refused(_) => add(fates, path, "unused", Some("it changes nothing")),
        }
    }
}

/// That of the word, where it is another than the field's.
fn support_of(row: &FieldRow, value: &Value) -> Support {
    let FieldKind::Word(_, others) = row.kind else { return row.support };
    let other = others.iter().find(|(word, _)| value.as_str() == Some(*word));
    other.map_or(row.support, |(_, support)| *support)
}

/// The members of an object stand for it.
fn honoured(value: &Value, row: &FieldRow, path: &str, fates: &mut Vec<PlanField>) {
    let (rows, objects): (_, &[Value]) = match (row.kind, value) {
        (FieldKind::Object(rows), Value::Object(_)) => (rows, std::slice::from_ref(value)),
        (FieldKind::Objects(rows), Value::Array(items)) => (rows, items),
        _ => return add(fates, path.into(), "honoured", None),
    };
    for object in objects {
        walk(object, rows, &format!("{path}."), fates);
    }
}

fn add(fates: &mut Vec<PlanField>, path: String, support: &'static str, text: Option<&'static str>) {
    let field = PlanField { path, support, text };
    if !fates.contains(&field) {
        fates.push(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_containers_are_told_once_each() {
        let written = r#"{"Cpu":"256","containerDefinitions":[{"image":"a","name":"a","links":[]},
            {"healthCheck":{"command":["CMD","x"]},"image":"b","comand":"x",
            "logConfiguration":{"logDriver":"awslogs"}}],"registeredAt":1}"#;
        let fates = fates(written);
        let told: Vec<String> = fates
            .iter()
            .map(|field| format!("{} {}: {}", field.support, field.path, field.text.unwrap_or("-")))
            .collect();
        assert_eq!(
            told,
            [
                "unused cpu: the limit of the task is not set",
                "honoured containerDefinitions.image: -",
                "unused containerDefinitions.links: it changes nothing",
                "honoured containerDefinitions.name: -",
                "unused containerDefinitions.comand: no such field is known",
                "honoured containerDefinitions.healthCheck.command: -",
                "approximated containerDefinitions.logConfiguration.logDriver: its output is shown here, not sent",
                "unused registeredAt: the service fills it in",
            ]
        );
    }
}
