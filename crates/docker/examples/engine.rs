//! Asks the engine at `DOCKER_HOST`, or at the default socket, who it is: `cargo run --example engine`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use lighterman_calls::Outcome;
use lighterman_contracts::ContainerRuntime;
use lighterman_docker::{Docker, DockerHost, DockerHostError};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), DockerHostError> {
    let host =
        std::env::var("DOCKER_HOST").map_or_else(|_| Ok(DockerHost::default()), |text| DockerHost::parse(&text))?;
    let docker = Docker::connect(host);
    match docker.version(Duration::from_secs(5)).await {
        Outcome::Done(engine) => {
            println!("{}: Docker {}, API {}", docker.host(), engine.version, engine.api_version);
            println!("spoken: API {}", docker.api_version());
        }
        Outcome::Refused(refusal) => println!("refused ({}): {refusal}", refusal.class),
        Outcome::Gone => println!("there is no such call"),
        Outcome::Unknown(lost) => println!("unknown: {lost}"),
    }
    Ok(())
}
