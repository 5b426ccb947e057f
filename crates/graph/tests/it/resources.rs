//! What a resource may do, over all its statuses.

use lighterman_graph::{
    Graph, Node, Plan, ResourceBlock, ResourceName, ResourceNode, ResourcePlan, ResourceReadiness, ResourceStep,
    Snapshot,
};
use lighterman_ids::VolumeName;
use lighterman_status::{ContainerStatus as C, ResourceStatus as R, TaskStatus};

use crate::{name, plan};

fn volume() -> ResourceName {
    ResourceName::Volume(VolumeName::parse("data").unwrap())
}

/// One resource that needs credentials and is made after the pause runs.
fn graph() -> Graph {
    let resource = ResourcePlan { name: volume(), needs_role: true, after: vec![(name("pause"), C::Running)] };
    Graph::build(Plan { containers: vec![plan("pause")], resources: vec![resource] }).unwrap()
}

/// Engine.md 2.7 and 3.7.1, written down a second time.
fn spec(node: ResourceNode, pause: C, credentials: bool, task: TaskStatus) -> &'static str {
    let order = |status: R| R::ALL.iter().position(|other| *other == status).unwrap();
    let past = order(node.known) >= order(node.desired);
    let waits =
        node.known == R::None && !(pause == C::Running || pause == C::ResourcesProvisioned || pause == C::Stopped);
    let lacks = !(node.known == R::Created || task == TaskStatus::Stopped || credentials);
    match () {
        () if past => "past",
        () if waits => "container",
        () if lacks => "credentials",
        () if node.desired == R::Removed => "remove",
        () if node.applied != R::None => "in flight",
        () => "create",
    }
}

#[test]
fn over_all_statuses_a_resource_does_what_the_spec_says() {
    let graph = graph();
    let mut seen = std::collections::BTreeSet::new();
    for known in R::ALL.iter().copied() {
        for desired in R::ALL.iter().copied() {
            for applied in R::ALL.iter().copied() {
                for pause in C::ALL.iter().copied() {
                    for has_role_credentials in [false, true] {
                        for task_desired in TaskStatus::ALL.iter().copied() {
                            let node = ResourceNode { known, desired, applied };
                            let nodes = [Node { known: pause, ..graph.nodes()[0] }];
                            let resources = &[node];
                            let snapshot = Snapshot::new(&nodes);
                            let snapshot = Snapshot { task_desired, has_role_credentials, resources, ..snapshot };
                            let found = match graph.resource_readiness(&snapshot)[..] {
                                [ResourceReadiness::PastDesired] => "past",
                                [ResourceReadiness::Ready(ResourceStep::Create)] => "create",
                                [ResourceReadiness::Ready(ResourceStep::MarkRemoved)] => "remove",
                                [ResourceReadiness::Blocked(ResourceBlock::Container { .. })] => "container",
                                [ResourceReadiness::Blocked(ResourceBlock::Credentials)] => "credentials",
                                [ResourceReadiness::Blocked(ResourceBlock::InFlight { .. })] => "in flight",
                                _ => panic!("one answer for one resource"),
                            };
                            let expected = spec(node, pause, has_role_credentials, task_desired);
                            assert_eq!(found, expected, "{snapshot:?}");
                            seen.insert(found);
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen.len(), 6);
}

#[test]
fn a_resource_that_never_needs_credentials_does_not_wait_for_them() {
    let plan = Plan { containers: vec![plan("web")], resources: vec![ResourcePlan::new(ResourceName::Cgroup)] };
    let graph = Graph::build(plan).unwrap();
    let nodes = graph.nodes();
    let resources = [ResourceNode { known: R::None, desired: R::Created, applied: R::None }];
    let snapshot = Snapshot { has_role_credentials: false, resources: &resources, ..Snapshot::new(&nodes) };
    assert_eq!(graph.resource_readiness(&snapshot), [ResourceReadiness::Ready(ResourceStep::Create)]);
}

#[test]
fn which_resources_need_credentials() {
    let envfile = ResourceName::EnvFile(name("web"));
    let all = [
        (ResourceName::Cgroup, "cgroup", false),
        (volume(), "volume data", false),
        (ResourceName::AsmAuth, "asm-auth", true),
        (ResourceName::SsmSecret, "ssmsecret", true),
        (ResourceName::AsmSecret, "asmsecret", true),
        (envfile, "envfile_web", true),
        (ResourceName::Firelens, "firelens", false),
        (ResourceName::CredentialSpec, "credentialspec", false),
    ];
    for (resource, text, needs_role) in all {
        assert_eq!(resource.to_string(), text);
        assert_eq!(ResourcePlan::new(resource).needs_role, needs_role, "{text}");
    }
}

#[test]
fn what_a_resource_waits_for_is_said_in_words() {
    let graph = graph();
    let text = |block| graph.resource_block_text(&block);
    assert_eq!(text(ResourceBlock::Container { on: 0, reached: C::Running }), "pause to be RUNNING");
    assert_eq!(text(ResourceBlock::Credentials), "the credentials of the execution role");
    assert_eq!(text(ResourceBlock::InFlight { toward: R::Created }), "its transition to CREATED");
}

#[test]
#[should_panic(expected = "the nodes are the resources of the graph")]
fn a_missing_resource_is_a_broken_structure() {
    let graph = graph();
    let _ = graph.resource_readiness(&Snapshot::new(&graph.nodes()));
}
