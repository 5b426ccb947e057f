//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lighterman_app::InstancePrefix;

/// Version and commit, as `--version` prints them.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("LIGHTERMAN_COMMIT"), ")");

/// Container task agent for one host: runs ECS task definitions on Docker.
#[derive(Debug, Parser)]
#[command(name = "lighterman", version = VERSION, propagate_version = false, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// What to log to standard error.
    #[arg(long, global = true, value_enum, default_value_t = LogLevel::Error)]
    pub(crate) log_level: LogLevel,

    /// Log as one JSON object per line.
    #[arg(long, global = true)]
    pub(crate) log_json: bool,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Somebody has to act.
    Error,
    /// We cope.
    Warn,
    /// One line per change of a status.
    Info,
    /// Decisions.
    Debug,
    /// Everything.
    Trace,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a task definition to its end.
    Run(Run),
    /// Check task definitions without running anything.
    Validate(Validate),
    /// Look into a state directory.
    #[command(subcommand)]
    State(State),
}

/// Runs a task and shows it: statuses, waits, output. Ctrl-C stops it, a second Ctrl-C kills it.
///
/// What earlier runs left behind because they were killed is stopped and removed first, and each exit code is shown;
/// runs that are alive are not touched. With --resume or --state-dir, no other run is touched at all.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct Run {
    /// Task definition, JSON or TOML; `-` reads standard input.
    #[arg(required_unless_present = "resume")]
    pub(crate) file: Option<PathBuf>,

    /// Go on with the unfinished task of an earlier run instead of cleaning it up. The first 8 digits are enough where
    /// they tell it from others.
    #[arg(long, value_name = "INSTANCE")]
    pub(crate) resume: Option<InstancePrefix>,

    /// Keep state in this directory. If it holds an unfinished task of the same definition, that one is gone on with.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) state_dir: Option<PathBuf>,

    /// Move a damaged state store aside and find its containers by their labels. With FILE, the task definition it was
    /// started with, the task is gone on with; else it is stopped and removed.
    #[arg(long)]
    pub(crate) recover: bool,

    /// Address of Docker; else `DOCKER_HOST`, else unix:///var/run/docker.sock.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) docker_host: Option<String>,

    /// One JSON event per line instead of text (docs/json-events.md).
    #[arg(long)]
    pub(crate) json: bool,
}

const RUN_HELP: &str = "\
Examples:
  lighterman run task.json
  lighterman run --json task.toml | jq .
  lighterman run --resume 0f1e2d3c4b5a69788796a5b4c3d2e1f0

Exit codes:
  0-255  exit code of the container
  125    an error of our own: the file, Docker, the state; or it never ran
  129    stopped after SIGHUP
  130    stopped after Ctrl-C
  131    left at once after Ctrl-\\
  143    stopped after SIGTERM";

const VALIDATE_HELP: &str = "\
Exit codes:
  0    every definition is accepted
  1    a definition is refused, or cannot be read
  125  an error of our own: arguments, output";

#[derive(Debug, Args)]
#[command(after_help = VALIDATE_HELP)]
pub(crate) struct Validate {
    /// Task definitions, JSON or TOML; `-` reads standard input.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// One JSON object per file.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum State {
    /// Print every record that can be found as a line of JSON, the damaged ones too. Environment values are in them.
    Export {
        /// The state directory.
        directory: PathBuf,
    },
    /// Check that the store holds exactly what it should.
    Verify {
        /// The state directory.
        directory: PathBuf,
    },
}
