//! `cargo xtask demo`: the example task on the real engine, to its end, and nothing left behind; without an engine
//! the same task on the modelled one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};

use crate::artifacts::Artifacts;
use crate::command::Cmd;
use crate::engine::{Container, Engine};
use crate::sheet::Sheet;
use crate::testbox::{self, TESTBOX_ENV};
use crate::workspace::Workspace;

/// The task that is shown.
const TASK: &str = "docs/demo/task.json";

/// The image that it uses, under the name that the loader gives it.
const IMAGE: &str = "lighterman/testbox:latest";

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
        let product = artifacts.bin("lighterman", "lighterman")?;
        Ok(Self { product, loader: artifacts.bin("lighterman-docker-tests", "load-testbox")?, testbox })
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

/// Runs the task and looks for what it left on the engine.
pub(crate) fn on_engine(workspace: &Workspace, engine: &Engine, programs: &Programs<'_>) -> Result<()> {
    let image_was_there = engine.has_image(IMAGE)?;
    Cmd::new(programs.loader).env(TESTBOX_ENV, programs.testbox).run()?;
    let before = ids(&engine.containers_with(INSTANCE_LABEL)?);
    let state = State::new(workspace)?;
    let outcome = product(programs.product, &state).arg(TASK).run();
    let left = left_behind(&before, engine.containers_with(INSTANCE_LABEL)?);
    if !image_was_there && !engine.remove_image(IMAGE)? {
        println!("{IMAGE} stays: somebody else uses it.");
    }
    outcome?;
    ensure!(left.is_empty(), "the task left behind: {}", left.join(", "));
    println!("Nothing is left behind on the engine.");
    Ok(())
}

fn on_model(workspace: &Workspace, path: &Path) -> Result<()> {
    let state = State::new(workspace)?;
    Cmd::new(path).env("XDG_STATE_HOME", &state.dir).arg(TASK).run()
}

/// `lighterman run` with a state of its own.
fn product(path: &Path, state: &State) -> Cmd {
    Cmd::new(path).arg("run").env("XDG_STATE_HOME", &state.dir)
}

fn ids(containers: &[Container]) -> BTreeSet<String> {
    containers.iter().map(|container| container.id.clone()).collect()
}

/// What is there now and was not before, by name and instance.
fn left_behind(before: &BTreeSet<String>, after: Vec<Container>) -> Vec<String> {
    let new = after.into_iter().filter(|container| !before.contains(&container.id));
    new.map(|container| {
        let instance = container.labels.get(INSTANCE_LABEL).cloned().unwrap_or_default();
        format!("{} (instance {instance})", container.names.join(" "))
    })
    .collect()
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

    fn container(id: &str, name: &str) -> Container {
        let labels = [(INSTANCE_LABEL.to_owned(), "i1".to_owned())].into();
        Container { id: id.into(), names: vec![name.into()], labels }
    }

    #[test]
    fn only_what_is_new_counts_as_left_behind() {
        let before = ids(&[container("1", "/old")]);
        assert_eq!(left_behind(&before, vec![container("1", "/old")]), [""; 0]);
        assert_eq!(left_behind(&before, vec![container("1", "/old"), container("2", "/new")]), ["/new (instance i1)"]);
    }
}
