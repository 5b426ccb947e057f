//! Which of the shapes of taskdef.md 1.1 a document has, and the task definition inside it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    finding::{Advice, Collector, Place, allowed, hint, quoted},
    limits::MAX_CONTAINERS,
    node::{Member, Node, Value},
    path::Path,
    wording::nearest,
};

/// A task definition taken out of its wrapping.
pub(crate) struct Shaped {
    /// As the Register call takes it, tags included: what the user wrote.
    pub(crate) task: Node,
    /// Where it stood.
    pub(crate) place: Place,
}

const SHAPES: &str = "an object with containerDefinitions, or with taskDefinition";

/// Recognises S3 and S2; the others are refused by their names.
pub(crate) fn recognise(root: Node, findings: &mut Collector) -> Option<Shaped> {
    let place = Place { at: root.at, path: Some(Path::default()) };
    let shaped = match shape_of(&root) {
        Shape::Register => Some(Shaped { task: root, place }),
        Shape::Describe => unwrap_describe(root, &place, findings),
        Shape::Later(name) => {
            let advice = allowed("the input of the Register call, or the answer of the Describe call");
            findings.error(2, &place, format!("{name} is not supported yet"), advice);
            None
        }
        Shape::Ambiguous => {
            let message = "both containerDefinitions and ContainerDefinitions";
            findings.error(2, &place, message, allowed("one of them"));
            None
        }
        Shape::Unknown => {
            let (message, advice) = unknown(&root);
            findings.error(2, &place, message, advice);
            None
        }
    };
    shaped.filter(|shaped| has_bearable_size(shaped, findings))
}

enum Shape {
    Register,
    Describe,
    /// A shape of the specification that is not built.
    Later(&'static str),
    Ambiguous,
    Unknown,
}

/// The first match of the table of 1.1, top to bottom.
fn shape_of(root: &Node) -> Shape {
    let is_object = |key: &str| root.member(key).is_some_and(|member| member.node.members().is_some());
    let has = |key: &str| root.member(key).is_some();
    if is_object("Resources") {
        Shape::Later("a CloudFormation template")
    } else if is_object("taskDefinition") {
        Shape::Describe
    } else if has("containerDefinitions") && has("ContainerDefinitions") {
        Shape::Ambiguous
    } else if has("ContainerDefinitions") {
        Shape::Later("the properties of a CloudFormation resource")
    } else if containers(root).is_some() {
        Shape::Register
    } else if matches!(&root.value, Value::List(items) if items.iter().all(|item| item.members().is_some())) {
        Shape::Later("a bare list of containers")
    } else if has("image") || has("Image") {
        Shape::Later("a single container")
    } else {
        Shape::Unknown
    }
}

/// The list of containers under any letter case: the field table applies it with a note.
fn containers(task: &Node) -> Option<&Member> {
    task.members()?.iter().find(|member| member.key.eq_ignore_ascii_case("containerDefinitions"))
}

fn unwrap_describe(root: Node, place: &Place, findings: &mut Collector) -> Option<Shaped> {
    let Value::Object(members) = root.value else { return None };
    let path = place.path.clone().unwrap_or_default();
    let mut task = None;
    let mut tags = None;
    for member in members {
        match &*member.key {
            "taskDefinition" => task = Some(member.node),
            "tags" if member.node.value != Value::Null => tags = Some(member),
            "tags" | "ResponseMetadata" => {}
            key => {
                let at = Place { at: member.key_at, path: Some(path.clone()) };
                let advice = allowed("taskDefinition, tags, ResponseMetadata");
                findings.warning(5, &at, format!("unknown field {}", quoted(key)), advice);
            }
        }
    }
    let mut task = task?;
    let place = Place { at: task.at, path: Some(path.key("taskDefinition")) };
    if let (Value::Object(inner), Some(tags)) = (&mut task.value, tags) {
        if inner.iter().any(|member| &*member.key == "tags" && member.node.value != Value::Null) {
            let at = Place { at: tags.node.at, path: Some(path.key("tags")) };
            findings.error(2, &at, "tags are given twice, again", allowed("beside or inside taskDefinition"));
            return None;
        }
        inner.retain(|member| &*member.key != "tags");
        inner.push(tags);
    }
    Some(Shaped { task, place })
}

fn has_bearable_size(shaped: &Shaped, findings: &mut Collector) -> bool {
    let Some(member) = containers(&shaped.task) else { return true };
    let Value::List(items) = &member.node.value else { return true };
    if items.len() > MAX_CONTAINERS {
        let place = Place { at: member.node.at, path: shaped.place.path.as_ref().map(|path| path.key(&member.key)) };
        findings.error(1, &place, format!("{} containers", items.len()), allowed(format!("up to {MAX_CONTAINERS}")));
    }
    items.len() <= MAX_CONTAINERS
}

/// V2, with the keys that were found.
fn unknown(root: &Node) -> (String, Option<Advice>) {
    const SHOWN: usize = 8;
    let Some(members) = root.members() else {
        return (format!("not a task definition: found {}", root.kind()), allowed(SHAPES));
    };
    let known = ["containerDefinitions", "taskDefinition"];
    let near = members
        .iter()
        .find_map(|member| nearest(&member.key, known.into_iter()).map(|near| (member.key.to_string(), near)));
    let advice = match near {
        Some((found, near)) => hint(format!("did you mean \"{near}\" instead of {}", quoted(&found))),
        None => allowed(SHAPES),
    };
    let mut keys: Vec<String> = members.iter().take(SHOWN).map(|member| quoted(&member.key)).collect();
    if members.len() > SHOWN {
        keys.push("…".to_string());
    }
    let keys = if keys.is_empty() { "no keys".to_string() } else { format!("keys {}", keys.join(", ")) };
    (format!("not a task definition: found {keys}"), advice)
}
