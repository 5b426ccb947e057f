//! Takes one container up and down again, step by step.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lighterman_graph::{Graph, Node, Readiness};
use lighterman_ids::ContainerName;
use lighterman_status::{ContainerStatus, SteadyState};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let web = ContainerName::parse("web")?;
    let graph = Graph::build([web.clone()])?;
    let mut known = ContainerStatus::None;
    for desired in [ContainerStatus::Running, ContainerStatus::Stopped] {
        loop {
            let node =
                Node { name: &web, known, desired, steady: SteadyState::Running, applied: ContainerStatus::None };
            let [Readiness::Ready(step)] = graph.readiness(&[node])[..] else { break };
            print!("{}", graph.to_text(&[node]));
            println!("     {step:?}");
            known = step.toward();
        }
    }
    println!("web  {known}");
    Ok(())
}
