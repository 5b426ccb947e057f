//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
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
    ///
    /// Shows statuses, waits and output. Ctrl-C stops the task, a second Ctrl-C kills it.
    ///
    /// What earlier runs left behind because they were killed is stopped and removed first, and each exit code is shown;
    /// runs that are alive are not touched. With --resume or --state-dir, no other run is touched at all.
    Run(Run),
    /// Show what a run would do, call by call, without Docker.
    ///
    /// Each call comes with its time, and why it is made then. The real core decides, on a modelled Docker in virtual
    /// time; nothing is created.
    ///
    /// What a container does is assumed. Unless told otherwise its image is there, it runs until it is stopped, and its
    /// health check succeeds; SIGTERM ends it at once.
    Plan(Plan),
    /// Draw what the containers of a task definition wait for.
    Graph(Graph),
    /// Check task definitions without running anything.
    Validate(Validate),
    /// Look into a state directory.
    #[command(subcommand)]
    State(State),
    /// Print the script with which a shell completes this command.
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

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
Examples:
  lighterman validate task.json
  lighterman validate --json tasks/*.json | jq .findings

Exit codes:
  0    every definition is accepted
  1    a definition is refused, or cannot be read
  125  an error of our own: arguments, output";

#[derive(Debug, Args)]
#[command(after_help = PLAN_HELP)]
pub(crate) struct Plan {
    /// Task definition, JSON or TOML; `-` reads standard input.
    pub(crate) file: PathBuf,

    /// What a container does: exit:N, exit:N@5s, healthy:5s, unhealthy, never-healthy, pull:5s.
    #[arg(long, value_name = "NAME=WHAT")]
    pub(crate) assume: Vec<String>,

    /// One JSON object per line (docs/plan-json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

const PLAN_HELP: &str = "\
Examples:
  lighterman plan task.json
  lighterman plan task.json --assume web=healthy:20s --assume job=exit:1@5s
  lighterman plan task.json --assume web=pull:30s --json | jq .call

Exit codes:
  0      the plan was made
  1      the task definition is refused
  125    an error of our own, or an assumption that makes no sense";

#[derive(Debug, Args)]
#[command(after_help = GRAPH_HELP)]
pub(crate) struct Graph {
    /// Task definition, JSON or TOML; `-` reads standard input.
    pub(crate) file: PathBuf,

    /// How it is drawn.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One line per container, and one for each thing that it waits for.
    Text,
    /// A tree, the dependents at the left.
    Tree,
    /// A digraph for Graphviz.
    Dot,
}

const GRAPH_HELP: &str = "\
Examples:
  lighterman graph task.json
  lighterman graph task.json --format dot | dot -Tsvg > task.svg

Exit codes:
  0      the graph was drawn
  1      the task definition is refused
  125    an error of our own";

const COMPLETIONS_HELP: &str = "\
Examples:
  lighterman completions bash > /etc/bash_completion.d/lighterman
  lighterman completions fish > ~/.config/fish/completions/lighterman.fish";

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
    #[command(after_help = "Example:\n  lighterman state export DIR | jq .key")]
    Export {
        /// The state directory.
        directory: PathBuf,
    },
    /// Check that the store holds exactly what it should.
    #[command(after_help = "Example:\n  lighterman state verify ~/.local/state/lighterman/run/INSTANCE")]
    Verify {
        /// The state directory.
        directory: PathBuf,
    },
}
