//! The commands that need no Docker.

use std::io::{self, Write as _};

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;
use lighterman_app::{Checked, Drawing, Patient, PlanOptions, PlanOutcome};
use lighterman_config::{Effective, Environment, ExitCode};
use lighterman_ui::Size;

use crate::cli::{Cli, Format, Graph, Plan, Validate};

/// The settings of the environment.
pub(crate) fn effective(env: &Environment) -> anyhow::Result<Effective> {
    Effective::load(env).map_err(|errors| {
        let texts: Vec<String> = errors.into_iter().map(|error| format!("{:#}", anyhow::Error::from(error))).collect();
        anyhow::anyhow!(texts.join("; "))
    })
}

pub(crate) fn validate(arguments: &Validate) -> anyhow::Result<ExitCode> {
    let (checked, code) = lighterman_app::validate(&arguments.files);
    for checked in &checked {
        show(checked, arguments.json)?;
    }
    Ok(code)
}

pub(crate) fn plan(arguments: Plan) -> anyhow::Result<ExitCode> {
    let Plan { file, assume, json } = arguments;
    let effective = effective(&Environment::new(std::env::vars_os()))?;
    for warning in &effective.warnings {
        writeln!(io::stderr(), "lighterman: {warning}")?;
    }
    let outcome = lighterman_app::plan(&PlanOptions { file, assume, settings: effective.settings })?;
    match &outcome {
        PlanOutcome::Refused(checked) => show(checked, json)?,
        PlanOutcome::Made(page) => {
            let text = if json { page.to_json() } else { page.to_text() };
            print(&text)?;
        }
    }
    Ok(outcome.exit_code())
}

pub(crate) fn graph(arguments: &Graph) -> anyhow::Result<ExitCode> {
    let drawing = match arguments.format {
        Format::Text => Drawing::Text,
        Format::Tree => Drawing::Tree,
        Format::Dot => Drawing::Dot,
    };
    match lighterman_app::graph(&arguments.file, drawing) {
        Ok(drawn) => {
            print(&drawn)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(checked) => {
            show(&checked, false)?;
            Ok(ExitCode::Refused)
        }
    }
}

pub(crate) fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lighterman", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// What was found in a definition.
fn show(checked: &Checked, json: bool) -> anyhow::Result<()> {
    if json {
        return print(&format!("{}\n", checked.to_json()));
    }
    let columns = Size::of(io::stdout()).map(Size::text_width);
    print(&lighterman_ui::problems(&checked.file, &checked.errors, &checked.warnings, columns))
}

/// All of a text, however slowly it is read.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = Patient::new(io::stdout().lock());
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.context("the answer cannot be written to standard output")
}
