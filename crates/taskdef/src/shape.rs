//! Which of the shapes of taskdef.md 1.1 a document has, and the task definition inside it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use crate::{
    cloudformation,
    fields::{CONTAINER_FIELDS, TASK_FIELDS},
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
    pub(crate) shape: Shape,
}

/// The shapes a definition can have (taskdef.md 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// Input of the Register call, and what the console exports.
    Register,
    /// Answer of the Describe or Register call, or a saved one.
    Describe,
    /// A CloudFormation template with one task definition.
    Template,
    /// The properties of a task definition in CloudFormation.
    Properties,
    /// Containers without a task around them.
    ContainerList,
    /// One container alone.
    SingleContainer,
}

impl Shape {
    /// Whether nothing is known of the task: its rules are relaxed then (taskdef.md 1.4).
    pub(crate) const fn lacks_task_level(self) -> bool {
        match self {
            Self::ContainerList | Self::SingleContainer => true,
            Self::Register | Self::Describe | Self::Template | Self::Properties => false,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Register => "input of the Register call",
            Self::Describe => "answer of the Describe call",
            Self::Template => "CloudFormation template",
            Self::Properties => "properties of a CloudFormation resource",
            Self::ContainerList => "list of containers",
            Self::SingleContainer => "single container",
        })
    }
}

const SHAPES: &str = "containerDefinitions, taskDefinition, Resources, or a list of containers";

/// The first match of the table of 1.1, top to bottom; `source` is the name of the file.
pub(crate) fn recognise(root: Node, source: &str, findings: &mut Collector) -> Option<Shaped> {
    let is_object = |key: &str| root.member(key).is_some_and(|member| member.node.members().is_some());
    let has = |key: &str| root.member(key).is_some();
    let place = Place { at: root.at, path: Some(Path::default()) };
    let shaped = if is_object("Resources") {
        template(root, &place, findings)
    } else if is_object("taskDefinition") {
        unwrap_describe(root, &place, findings)
    } else if has("containerDefinitions") && has("ContainerDefinitions") {
        let message = "both containerDefinitions and ContainerDefinitions";
        findings.error(2, &place, message, allowed("one of them"));
        None
    } else if has("ContainerDefinitions") {
        Some(properties(root, place, Shape::Properties))
    } else if containers(&root).is_some() {
        Some(Shaped { task: root, place, shape: Shape::Register })
    } else if is_container_list(&root) {
        Some(container_list(root, place))
    } else if has("image") || has("Image") {
        Some(single_container(root, place, findings))
    } else {
        let (message, advice) = unknown(&root);
        findings.error(2, &place, message, advice);
        None
    };
    let mut shaped = shaped.filter(|shaped| has_bearable_size(shaped, findings))?;
    match shaped.shape {
        Shape::Register | Shape::Describe => {}
        Shape::Template | Shape::Properties | Shape::ContainerList | Shape::SingleContainer => {
            add_family(&mut shaped, source);
        }
    }
    Some(shaped)
}

/// S1: the properties of its one task definition.
fn template(root: Node, place: &Place, findings: &mut Collector) -> Option<Shaped> {
    const TYPE: &str = "AWS::ECS::TaskDefinition";
    const SHOWN: usize = 20;
    let Value::Object(members) = root.value else { return None };
    let resources = members.into_iter().find(|member| &*member.key == "Resources")?;
    let place = resources.place_in(place);
    let Value::Object(resources) = resources.node.value else { return None };
    let is_definition = |member: &Member| {
        let kind = member.node.member("Type").map(|kind| &kind.node.value);
        matches!(kind, Some(Value::Text(kind)) if &**kind == TYPE)
    };
    let mut found: Vec<Member> = resources.into_iter().filter(is_definition).collect();
    let [_] = found.as_slice() else {
        let (message, advice) = if found.is_empty() {
            (format!("no resource of type {TYPE}"), allowed("one"))
        } else {
            let names: Vec<String> = found.iter().take(SHOWN).map(|member| quoted(&member.key)).collect();
            (format!("several task definitions: {}", names.join(", ")), hint("which one? leave one of them in"))
        };
        findings.error(2, &place, message, advice);
        return None;
    };
    let resource = found.pop()?;
    let place = resource.place_in(&place);
    let own = resource.node.member("Properties").filter(|member| member.node.members().is_some()).cloned();
    let Some(own) = own else {
        findings.error(2, &place.missing("Properties"), "Properties are missing", allowed("an object"));
        return None;
    };
    let place = own.place_in(&place);
    Some(properties(own.node, place, Shape::Template))
}

/// S4.
fn properties(mut task: Node, place: Place, shape: Shape) -> Shaped {
    cloudformation::rename(&mut task, TASK_FIELDS);
    Shaped { task, place, shape }
}

fn is_container_list(root: &Node) -> bool {
    matches!(&root.value, Value::List(items) if items.iter().all(|item| item.members().is_some()))
}

/// S5.
fn container_list(mut list: Node, place: Place) -> Shaped {
    let theirs = |item: &Node| {
        let has = |key: &str| item.member(key).is_some();
        (has("Name") || has("Image")) && !has("name") && !has("image")
    };
    if let Value::List(items) = &mut list.value {
        items.iter_mut().filter(|item| theirs(item)).for_each(|item| cloudformation::rename(item, CONTAINER_FIELDS));
    }
    Shaped { task: around(list), place, shape: Shape::ContainerList }
}

/// S6.
fn single_container(mut container: Node, place: Place, findings: &mut Collector) -> Shaped {
    if container.member("image").is_none() {
        cloudformation::rename(&mut container, CONTAINER_FIELDS);
    }
    findings.warning(4, &place, "one container read as a task", hint("write {\"containerDefinitions\": […]}"));
    Shaped { task: around(container), place, shape: Shape::SingleContainer }
}

/// A task with these containers, which stand where it stands.
fn around(containers: Node) -> Node {
    let at = containers.at;
    Node { at, value: Value::Object(Vec::from([Member::implied("containerDefinitions", containers)])) }
}

/// The rule of 1.4 on a missing family.
fn add_family(shaped: &mut Shaped, source: &str) {
    const LONGEST: usize = 255;
    let at = shaped.task.at;
    let Value::Object(members) = &mut shaped.task.value else { return };
    if members.iter().any(|member| &*member.key == "family" && member.node.value != Value::Null) {
        return;
    }
    let file = source.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let is_word = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let named: String = stem.chars().map(|c| if is_word(&c) { c } else { '-' }).take(LONGEST).collect();
    let family = if named.is_empty() || STANDARD_INPUT.contains(&source) { "task" } else { &named };
    members.retain(|member| &*member.key != "family");
    members.push(Member::new("family".into(), at, Node { at, value: Value::Text(family.into()) }));
}

/// What callers name it.
const STANDARD_INPUT: [&str; 2] = ["-", "standard input"];

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
    Some(Shaped { task, place, shape: Shape::Describe })
}

fn has_bearable_size(shaped: &Shaped, findings: &mut Collector) -> bool {
    let Some(member) = containers(&shaped.task) else { return true };
    let Value::List(items) = &member.node.value else { return true };
    if items.len() > MAX_CONTAINERS {
        let place = member.place_in(&shaped.place);
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
