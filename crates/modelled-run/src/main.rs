//! `lighterman run FILE` on the modelled engine: for hosts without Docker.
//!
//! Everything is real but the engine: definition, state store, driver, screen. The engine is the pure model
//! of `lighterman-runtime-model`, which knows the image of the test program under the name that the
//! definition uses.

use std::{io, path::PathBuf, process, sync::Arc};

use anyhow::Context as _;
use lighterman_app::{Definition, RunOptions, Stage, Surroundings};
use lighterman_config::{Environment, ExitCode, RunSettings, StateRoot};
use lighterman_contracts::Clock as _;
use lighterman_driver::{HostClock, OsEntropy};
use lighterman_ids::ImageId;
use lighterman_runtime_model::{LocalImage, Settings};
use lighterman_testkit::FakeRuntime;
use lighterman_ui::{Look, Mode};
use tokio::sync::mpsc;

fn main() -> anyhow::Result<process::ExitCode> {
    let file: PathBuf = std::env::args_os().nth(1).context("usage: modelled-run FILE")?.into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(run(file))?;
    Ok(process::ExitCode::from(code.code()))
}

async fn run(file: PathBuf) -> anyhow::Result<ExitCode> {
    let clock = HostClock::new()?;
    let engine = engine_with_images_of(&file, clock)?;
    let env = Environment::new(std::env::vars_os());
    let options = RunOptions {
        state: StateRoot::resolve(None, &env, true)?,
        file: Some(file),
        resume: None,
        recover: false,
        settings: RunSettings::RUN,
        docker_host: "the modelled engine".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        warnings: Vec::new(),
    };
    let stage = Stage::open(Mode::Text(Look::PLAIN), io::stdout(), io::stderr(), clock)?;
    // Ctrl-C ends this process: what it leaves is in its memory.
    let (_nobody, signals) = mpsc::channel(1);
    let around = Surroundings { runtime: Arc::new(engine), clock, entropy: OsEntropy::new()?, signals, stage };
    Ok(lighterman_app::run(options, around).await)
}

/// An engine that has the test program under every image name of the definition, at the time of the host.
fn engine_with_images_of(file: &std::path::Path, clock: HostClock) -> anyhow::Result<FakeRuntime> {
    let definition = Definition::load(file)?;
    let engine = FakeRuntime::new(Settings::default());
    let behind = engine.with_model(|_, now| clock.now().wall.since(now.wall));
    engine.step_wall_clock(i64::try_from(behind.as_nanos())?);
    let id = ImageId::parse(&format!("sha256:{}", "7e".repeat(32)))?;
    for container in &definition.definition.containers {
        engine.with_model(|model, _| model.add_image(&container.image, LocalImage::testbox(id.clone())));
    }
    Ok(engine)
}
