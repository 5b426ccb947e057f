//! One test's corner: directories of its own, a label of its own, and clean-up whatever happens.

use std::{
    env, fs,
    panic::{AssertUnwindSafe, resume_unwind},
    path::{Path, PathBuf},
};

use futures_util::FutureExt as _;
use lighterman_docker_tests::{Fixture, engine_or_skip};
use lighterman_testkit::proxy::Proxy;
use serde_json::Value;
use tempfile::TempDir;

use crate::{definition::Task, engine::Engine, launch::Launch};

/// Names the command under test, as `cargo xtask` builds it.
const BIN_ENV: &str = "LIGHTERMAN_BIN";

/// Everything that belongs to one test.
pub(crate) struct Corner {
    fixture: Fixture,
    engine: Engine,
    program: PathBuf,
    directory: TempDir,
}

/// Runs `test` in a corner of its own, then clears it, also when the test failed.
pub(crate) async fn in_corner(test: impl AsyncFnOnce(&Corner)) {
    let Some(corner) = Corner::open().await else { return };
    let outcome = AssertUnwindSafe(test(&corner)).catch_unwind().await;
    corner.engine.clean().await;
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

impl Corner {
    async fn open() -> Option<Self> {
        let program = program()?;
        let fixture = engine_or_skip().await?;
        let engine = Engine::new(fixture.raw().clone(), fixture.instance().as_str());
        Some(Self { fixture, engine, program, directory: tempfile::tempdir().unwrap() })
    }

    /// The engine, as far as this test is concerned.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A task of one container that runs the test program with these words.
    pub(crate) fn task(&self, words: &[&str]) -> Task {
        Task::new(self.fixture.image(), self.engine.mark(), words)
    }

    /// Nobody else has it.
    pub(crate) fn token(&self) -> &str {
        self.engine.mark()
    }

    /// A path in the test's own directory; nothing is made there.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a definition to a file of its own.
    pub(crate) fn file(&self, task: &Task) -> PathBuf {
        let text = task.to_string();
        let path = self.path(&format!("{:08x}.json", checksum(&text)));
        fs::write(&path, text).unwrap();
        path
    }

    /// The command, with places for its state that only this test has.
    pub(crate) fn lighterman(&self, arguments: &[&str]) -> Launch {
        Launch::new(&self.program, self.directory.path(), arguments)
    }

    /// The file of the command.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Another command that starts it in the end, in the same surroundings.
    pub(crate) fn through(&self, words: &[&str]) -> Launch {
        Launch::new(Path::new(words[0]), self.directory.path(), &words[1..])
    }

    /// `lighterman run --json` of this task.
    pub(crate) fn run(&self, task: &Task) -> Launch {
        self.lighterman(&["run", "--json"]).argument(self.file(task))
    }

    /// A proxy before the engine, for [`Launch::docker`].
    pub(crate) fn proxy(&self) -> Proxy {
        Proxy::start(&self.path("docker.sock"), self.fixture.raw().socket()).unwrap()
    }

    /// Where the command keeps the states of its runs.
    pub(crate) fn runs(&self) -> PathBuf {
        self.path("state/lighterman/run")
    }

    /// State directories of runs that are there.
    pub(crate) fn states(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.runs()) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    /// No container of this test, and no state.
    #[track_caller]
    pub(crate) fn nothing_is_left(&self) -> impl Future<Output = ()> {
        let states = self.states();
        assert!(states.is_empty(), "state is left: {states:?}");
        let containers = self.engine.containers();
        async move {
            let containers = containers.await;
            assert!(containers.is_empty(), "containers are left: {containers:#?}");
        }
    }

    /// What `state export` prints, one value per record.
    pub(crate) async fn records(&self, directory: &Path) -> Vec<Value> {
        let export = self.lighterman(&["state", "export"]).argument(directory).output().await;
        assert_eq!(export.code, Some(0), "{}", export.stderr);
        export.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[expect(clippy::print_stderr, reason = "a test that did not run must not look like one that passed")]
fn program() -> Option<PathBuf> {
    let path = env::var_os(BIN_ENV).filter(|path| !path.is_empty()).map(PathBuf::from);
    if path.is_none() {
        let why =
            format!("{BIN_ENV} does not say where the command is; `cargo xtask docker-tests` builds it and says so");
        assert!(env::var("CI").as_deref() != Ok("true"), "CI=true, and the test cannot run: {why}");
        eprintln!("DID NOT RUN: {why}");
    }
    path
}

/// Tells files apart; FNV-1a.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
