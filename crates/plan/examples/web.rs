//! What a run of a web server would do, call by call: `cargo run -p lighterman-plan --example web`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{collections::BTreeMap, sync::Arc};

use lighterman_engine::{HostSettings, TaskSpec};
use lighterman_ids::{ContainerName, DefinitionDigest, Family, ImageRef, TaskId};
use lighterman_plan::{Ending, Planned, plan};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

fn main() {
    let name = ContainerName::parse("web").expect("a good name");
    let web = ContainerDefinition::new(name, ImageRef::parse("web:1").expect("a good reference"));
    let id = TaskId::from_bits(1);
    let task = TaskSpec {
        arn: id.local_arn(None),
        id,
        definition: Arc::new(TaskDefinition::new(Family::parse("site").expect("a good name"), vec![web])),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).expect("64 hex digits"),
        seed: 1,
    };
    let plan = plan(task, &BTreeMap::new(), HostSettings::REFERENCE);
    show(&plan.calls);
    if let Ending::Stays { since, stop, .. } = plan.ending {
        println!("from {:.3} s on it stays so; a stop would do this:", since.as_secs_f64());
        show(&stop);
    }
}

fn show(calls: &[Planned]) {
    for call in calls {
        let causes: Vec<String> = call.causes.iter().map(ToString::to_string).collect();
        let (at, about) = (call.at.as_secs_f64(), call.subject.to_string());
        println!("{at:8.3}  {:13}  {about:8}  {}", call.ask.word(), causes.join("; "));
    }
}
