//! `cargo xtask demo`: the example task on the real engine, to its end, and nothing left behind; without an engine
//! the same task on the modelled one.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::artifacts::Artifacts;
use crate::command::Cmd;
use crate::engine::{Container, Engine};
use crate::interrupt::Deferred;
use crate::sheet::Sheet;
use crate::testbox::{self, IMAGE};
use crate::workspace::{Workspace, read};

/// The task that is shown.
const TASK: &str = "docs/demo/task.json";

/// Every container of ours carries it (R10).
const INSTANCE_LABEL: &str = "dev.lighterman.instance";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Use the modelled engine even where a real one answers.
    #[arg(long)]
    modelled_engine: bool,
}

/// The programs that the demo starts.
#[derive(Debug)]
pub(crate) struct Programs<'a> {
    /// `lighterman`.
    product: &'a Path,
    /// Loads the image of the test program through the engine's API.
    loader: &'a Path,
    /// The static test program.
    testbox: &'a Path,
}

impl<'a> Programs<'a> {
    /// Those of a build; an error names the missing one.
    pub(crate) fn of(artifacts: &'a Artifacts, testbox: &'a Path) -> Result<Self> {
        Ok(Self { product: artifacts.bin("lighterman", "lighterman")?, loader: testbox::loader(artifacts)?, testbox })
    }
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let workspace = Workspace::load()?;
    let engine = if args.modelled_engine { Err(anyhow!("as asked for")) } else { Engine::find() };
    match engine {
        Ok(engine) => {
            let packages = ["--package", "lighterman", "--package", "lighterman-docker-tests"];
            let build = Cmd::cargo("build").args(packages).arg("--bins");
            let artifacts = sheet.must("build", || Artifacts::build(&workspace, build))?;
            let testbox = sheet.must("build testbox", || testbox::build(&workspace))?;
            sheet.attempt("demo", || on_engine(&workspace, &engine, &Programs::of(&artifacts, &testbox)?));
        }
        Err(why) => {
            let build = Cmd::cargo("build").args(["--package", "lighterman-modelled-run"]);
            let artifacts = sheet.must("build", || Artifacts::build(&workspace, build))?;
            println!("Showing the task on the modelled engine: {why:#}.");
            let name = "demo on the modelled engine";
            sheet.attempt(name, || {
                on_model(&workspace, artifacts.bin("lighterman-modelled-run", "lighterman-modelled-run")?)
            });
        }
    }
    Ok(())
}

/// Runs the task and looks for what it left on the engine; image and state go, also after Ctrl-C.
pub(crate) fn on_engine(workspace: &Workspace, engine: &Engine, programs: &Programs<'_>) -> Result<()> {
    let deferred = Deferred::new()?;
    let image_was_there = engine.has_image(IMAGE)?;
    let outcome = State::new(workspace).and_then(|state| show(engine, programs, &state));
    if image_was_there {
        println!("{IMAGE} was there before, and stays.");
    } else {
        testbox::remove(engine)?;
    }
    deferred.check()?;
    outcome?;
    println!("Nothing is left behind on the engine; `cargo xtask testbox` loads the image again.");
    Ok(())
}

fn show(engine: &Engine, programs: &Programs<'_>, state: &State) -> Result<()> {
    testbox::load(programs.loader, programs.testbox)?;
    // A given directory outlives the run, and its id with it.
    let directory = state.dir.join("run");
    let outcome = Cmd::new(programs.product).arg("run").arg("--state-dir").arg(&directory).arg(TASK).run();
    let left = match instance_of(&directory)? {
        Some(instance) => engine.containers_with(&format!("{INSTANCE_LABEL}={instance}"))?,
        None => Vec::new(),
    };
    outcome?;
    ensure!(left.is_empty(), "the task left behind: {}", names(&left));
    Ok(())
}

/// Id of the instance whose state is there; `None` where the command never got that far.
fn instance_of(directory: &Path) -> Result<Option<String>> {
    let file = directory.join("instance");
    if !file.exists() {
        return Ok(None);
    }
    let id = read(&file)?.trim().to_owned();
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_id.then_some(Some(id)).with_context(|| format!("{} holds no instance id", file.display()))
}

fn names(containers: &[Container]) -> String {
    containers.iter().flat_map(|container| &container.names).cloned().collect::<Vec<_>>().join(", ")
}

fn on_model(workspace: &Workspace, path: &Path) -> Result<()> {
    let state = State::new(workspace)?;
    Cmd::new(path).env("XDG_STATE_HOME", &state.dir).arg(TASK).run()
}

/// A home of its own for the state of one demo; removed when dropped.
#[derive(Debug)]
struct State {
    dir: PathBuf,
}

impl State {
    fn new(workspace: &Workspace) -> Result<Self> {
        let dir = workspace.target_dir.join("demo").join(std::process::id().to_string());
        std::fs::create_dir_all(&dir)?;
        Ok(Self { dir })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            println!("cannot remove {}: {error}", self.dir.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instance_is_read_from_the_state_directory() {
        let directory = std::env::temp_dir().join(format!("xtask-demo-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        assert_eq!(instance_of(&directory).unwrap(), None, "the command never began");
        std::fs::write(directory.join("instance"), "0f1e2d3c4b5a69788796a5b4c3d2e1f0\n").unwrap();
        assert_eq!(instance_of(&directory).unwrap().as_deref(), Some("0f1e2d3c4b5a69788796a5b4c3d2e1f0"));
        std::fs::write(directory.join("instance"), "\"]}").unwrap();
        assert!(instance_of(&directory).is_err(), "it becomes part of a question to the engine");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
