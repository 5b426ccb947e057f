//! The create request of a container, with its label unpacked again.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lighterman_calls::ImageFacts;
use lighterman_container_spec::{Surroundings, create_request, definition_digest, recover, runtime_name};
use lighterman_ids::{ImageId, InstanceId, TaskId};
use lighterman_taskdef::TaskDefinition;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = r#"{"family": "page", "containerDefinitions": [{"name": "web", "image": "busybox:test", "memory": 64,
        "portMappings": [{"containerPort": 8080}], "environment": [{"name": "MODE", "value": "blue"}]}]}"#;
    let task = TaskDefinition::from_register_json(text)?;
    let container = &task.containers[0];
    let id = TaskId::from_bits(7);
    let image = ImageFacts {
        id: ImageId::parse(&format!("sha256:{}", "0".repeat(64)))?,
        repo_digests: vec![],
        env_names: vec![],
        health_test: Some(vec!["CMD".to_string()]),
    };
    let surroundings = Surroundings {
        instance: &InstanceId::from_bits(1),
        task_id: &id,
        task_arn: &id.local_arn(None),
        cluster: "local",
        digest: &definition_digest(text),
        image: &image,
        region: None,
    };
    let name = runtime_name(&task, &container.name, 0xfeed);
    let spec = create_request(&task, container, &name, &surroundings)?;
    for warning in &spec.warnings {
        println!("warning: {warning}");
    }
    println!("{:#?}", spec.request);
    let recovered = recover::read(&spec.request.config.labels["dev.lighterman.recover"])?;
    println!("recovered: {} with {}", recovered.kept, recovered.definition.to_register_json());
    Ok(())
}
