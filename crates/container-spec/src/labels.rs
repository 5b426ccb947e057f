//! Labels of a container: the user's, those of readers, and those that prove ownership
//! (engine.md 4.3, design.md R10).

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};

use lighterman_calls::labels::{CONTAINER, DEFINITION, INSTANCE, RECOVER, TASK};
use lighterman_ids::{ContainerName, DefinitionDigest, InstanceId, TaskId};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

use crate::request::Surroundings;

/// All labels of a container; ours come last and win over the user's (T48).
pub(crate) fn labels(
    task: &TaskDefinition,
    container: &ContainerDefinition,
    around: &Surroundings<'_>,
    recover: String,
) -> BTreeMap<String, String> {
    let name = container.name.as_str();
    let for_readers = [
        ("com.amazonaws.ecs.task-arn", around.task_arn.as_str()),
        ("com.amazonaws.ecs.container-name", name),
        ("com.amazonaws.ecs.task-definition-family", task.family.as_str()),
        ("com.amazonaws.ecs.task-definition-version", &task.revision.to_string()),
        ("com.amazonaws.ecs.cluster", around.cluster),
    ]
    .map(|(key, value)| (key.to_string(), value.to_string()));
    let own = OwnLabels {
        instance: around.instance.clone(),
        task: around.task_id.clone(),
        container: container.name.clone(),
        definition: around.digest.clone(),
    };
    let mut labels = container.docker_labels.clone();
    labels.extend(for_readers);
    labels.extend(own.entries());
    labels.insert(RECOVER.to_string(), recover);
    labels
}

/// The labels by which a container is known to be ours, and which of ours it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnLabels {
    /// The state directory that made it.
    pub instance: InstanceId,
    /// Its task.
    pub task: TaskId,
    /// Its name in the definition.
    pub container: ContainerName,
    /// Digest of what the user wrote.
    pub definition: DefinitionDigest,
}

impl OwnLabels {
    /// Reads them from an inspect or a list; `None` unless all four are there and well-formed: what
    /// is not surely ours is never touched.
    #[must_use]
    pub fn read(labels: &BTreeMap<String, String>) -> Option<Self> {
        Some(Self {
            instance: InstanceId::parse(labels.get(INSTANCE)?).ok()?,
            task: TaskId::parse(labels.get(TASK)?).ok()?,
            container: ContainerName::parse(labels.get(CONTAINER)?).ok()?,
            definition: DefinitionDigest::parse(labels.get(DEFINITION)?).ok()?,
        })
    }

    fn entries(&self) -> [(String, String); 4] {
        [
            (INSTANCE, self.instance.as_str()),
            (TASK, self.task.as_str()),
            (CONTAINER, self.container.as_str()),
            (DEFINITION, self.definition.as_str()),
        ]
        .map(|(key, value)| (key.to_string(), value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition_digest;

    #[test]
    fn ownership_is_all_or_nothing() {
        let own = OwnLabels {
            instance: InstanceId::from_bits(1),
            task: TaskId::from_bits(2),
            container: ContainerName::parse("web").unwrap(),
            definition: definition_digest(""),
        };
        let labels = BTreeMap::from(own.entries());
        assert_eq!(OwnLabels::read(&labels), Some(own));
        for key in [INSTANCE, TASK, CONTAINER, DEFINITION] {
            let mut without = labels.clone();
            without.remove(key);
            assert_eq!(OwnLabels::read(&without), None, "without {key}");
            without.insert(key.to_string(), "not ours / forged".to_string());
            assert_eq!(OwnLabels::read(&without), None, "broken {key}");
        }
    }
}
