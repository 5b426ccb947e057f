//! Loads the test program into the engine under the name that the demo uses.
#![expect(clippy::print_stdout, reason = "says what it loaded")]

use std::{env, error::Error, process::ExitCode, time::Duration};

use lighterman_calls::Outcome;
use lighterman_contracts::ImageStore;
use lighterman_docker::{Docker, DockerHost};
use lighterman_docker_tests::{DEMO_IMAGE, testbox_program};
use lighterman_ids::ImageRef;

/// Loading takes a tenth of a second; an engine with a slow disk may take its time.
const LIMIT: Duration = Duration::from_secs(120);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let host = env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
    let docker = Docker::connect(host.map_or_else(|| Ok(DockerHost::default()), |host| DockerHost::parse(&host))?);
    let archive = testbox_program()?.image().build(&ImageRef::parse(DEMO_IMAGE)?)?;
    Ok(match docker.load_image(archive.into_bytes(), LIMIT).await {
        Outcome::Done(()) => {
            println!("loaded {DEMO_IMAGE}");
            ExitCode::SUCCESS
        }
        Outcome::Refused(refusal) => fail(&refusal.text),
        Outcome::Gone => fail("the engine loads no images"),
        Outcome::Unknown(lost) => fail(&lost.text),
    })
}

#[expect(clippy::print_stderr, reason = "says why it failed")]
fn fail(why: &str) -> ExitCode {
    eprintln!("cannot load {DEMO_IMAGE}: {why}");
    ExitCode::FAILURE
}
