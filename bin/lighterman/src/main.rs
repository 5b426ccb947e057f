//! The command `lighterman`: arguments in, exit code out. Everything else is in `lighterman-app`.

mod cli;
mod logging;
mod offline;
mod signals;

use std::{
    io::{self, IsTerminal as _, Write as _},
    process,
    sync::Arc,
};

use anyhow::Context as _;
use clap::Parser as _;
use lighterman_app::{Patient, RunOptions, Stage, Surroundings, state};
use lighterman_config::{DockerAddress, Environment, ExitCode, StateRoot};
use lighterman_docker::{Docker, DockerHost};
use lighterman_driver::{HostClock, OsEntropy};
use lighterman_telemetry::Guard;
use lighterman_ui::{Failure, Look, Mode, Size, Zone};
use tokio::sync::mpsc;

use cli::{Cli, Command, Run, State};

fn main() -> process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse_arguments(&error),
    };
    let code = start(cli).unwrap_or_else(|error| {
        // The end of the line: if standard error is closed too, only the exit code is left.
        let _ = write!(io::stderr(), "{}", lighterman_ui::failure(&told(&error), UNBROKEN));
        ExitCode::OwnError
    });
    process::ExitCode::from(code.code())
}

/// Columns of lines that a terminal breaks, and a tool does not have to put together.
const UNBROKEN: usize = usize::MAX;

fn told(error: &anyhow::Error) -> Failure {
    let advice = error.downcast_ref::<state::StateError>().and_then(state::StateError::advice);
    Failure {
        text: error.to_string(),
        causes: error.chain().skip(1).map(ToString::to_string).collect(),
        advice: advice.map(Into::into),
    }
}

/// `--help` and `--version` are no errors; everything else is ours (125).
fn refuse_arguments(error: &clap::Error) -> process::ExitCode {
    let code = if error.use_stderr() { ExitCode::OwnError } else { ExitCode::SUCCESS };
    let _ = error.print();
    process::ExitCode::from(code.code())
}

fn start(cli: Cli) -> anyhow::Result<ExitCode> {
    let clock = HostClock::new()?;
    let log = |writer: Box<dyn io::Write + Send>| logging::start(cli.log_level, cli.log_json, clock, writer);
    match cli.command {
        Command::Run(arguments) => run(arguments, clock, log),
        Command::Plan(arguments) => offline::plan(arguments),
        Command::Graph(arguments) => offline::graph(&arguments),
        Command::Validate(arguments) => offline::validate(&arguments),
        Command::Completions { shell } => offline::completions(shell),
        Command::State(State::Export { directory }) => {
            state::export_to(&directory, &mut Patient::new(io::stdout().lock()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::State(State::Verify { directory }) => {
            state::verify(&directory, &mut Patient::new(io::stdout().lock()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run(
    arguments: Run,
    clock: HostClock,
    log: impl FnOnce(Box<dyn io::Write + Send>) -> anyhow::Result<Guard>,
) -> anyhow::Result<ExitCode> {
    let env = Environment::new(std::env::vars_os());
    let address = DockerAddress::resolve(arguments.docker_host.as_deref(), &env);
    let host = DockerHost::parse(&address.text).with_context(|| format!("{} ({})", address.text, address.source))?;
    let effective = offline::effective(&env)?;
    let warnings = address.warnings.iter().map(ToString::to_string);
    let warnings = warnings.chain(effective.warnings.iter().map(ToString::to_string)).collect();
    let is_root = rustix::process::geteuid().is_root();
    let options = RunOptions {
        state: StateRoot::resolve(arguments.state_dir.as_deref(), &env, is_root)?,
        file: arguments.file,
        resume: arguments.resume,
        recover: arguments.recover,
        settings: effective.settings,
        docker_host: host.to_string(),
        version: cli::VERSION.into(),
        warnings,
    };
    let stage = Stage::open(mode(arguments.json, &env), io::stdout(), io::stderr(), clock)?;
    let _guard = log(Box::new(stage.log_writer()))?;
    let entropy = OsEntropy::new()?;
    // Two workers are enough: the loop is one task, and what acts waits most of its time.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let code = runtime.block_on(async {
        let (to_run, signals) = mpsc::channel(4);
        let forward = signals::forward(to_run, clock, stage.resizer())?;
        let docker = Arc::new(Docker::connect(host));
        let around = Surroundings { runtime: docker, clock, entropy, signals, stage };
        tokio::select! {
            code = lighterman_app::run(options, around) => anyhow::Ok(code),
            never = forward => match never {},
        }
    })?;
    // What a third Ctrl-C leaves running must not keep the command.
    runtime.shutdown_background();
    Ok(code)
}

fn mode(json: bool, env: &Environment) -> Mode {
    if json {
        return Mode::Json;
    }
    let term = env.text("TERM");
    Mode::Text(Look::new(lighterman_ui::Surroundings {
        status: Size::of(io::stderr()),
        logs_to_terminal: io::stdout().is_terminal(),
        no_color: env.text("NO_COLOR").is_some_and(|text| !text.is_empty()),
        term: term.as_deref(),
        zone: Zone::system(),
    }))
}
