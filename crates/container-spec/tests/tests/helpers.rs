//! A task from its text, and the request it becomes.

use lighterman_calls::ImageFacts;
use lighterman_container_spec::{Spec, SpecError, Surroundings, create_request, definition_digest, runtime_name};
use lighterman_ids::{ImageId, InstanceId, TaskId};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

pub(crate) fn image() -> ImageFacts {
    ImageFacts {
        id: ImageId::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        repo_digests: Vec::new(),
        env_names: vec!["PATH".to_string()],
        health_test: None,
    }
}

/// A task whose one container has these members besides name, image and memory.
pub(crate) fn task(members: &str) -> TaskDefinition {
    let separator = if members.is_empty() { "" } else { ", " };
    let container = format!(r#"{{"name": "web", "image": "busybox:test"{separator}{members}}}"#);
    TaskDefinition::from_register_json(&format!(r#"{{"family": "page", "containerDefinitions": [{container}]}}"#))
        .unwrap_or_else(|findings| panic!("{findings}"))
}

pub(crate) fn spec_with(task: &TaskDefinition, image: &ImageFacts, region: Option<&str>) -> Result<Spec, SpecError> {
    let id = TaskId::parse("0f1e2d3c4b5a69788796a5b4c3d2e1f0").unwrap();
    let around = Surroundings {
        instance: &InstanceId::from_bits(1),
        task_id: &id,
        task_arn: &id.local_arn(Some("us-west-2")),
        cluster: "local",
        digest: &definition_digest("what the user wrote"),
        image,
        region,
    };
    let container: &ContainerDefinition = &task.containers[0];
    create_request(task, container, &runtime_name(task, &container.name, 0xfeed), &around)
}

#[track_caller]
pub(crate) fn spec(members: &str) -> Spec {
    spec_with(&task(members), &image(), None).unwrap()
}
