//! Texts that stand by themselves: errors, findings in a file, what earlier runs left.

use std::path::{Path, PathBuf};

use lighterman_calls::ExitCode;
use lighterman_ids::InstanceId;

use crate::{
    escape::clean,
    event::{Failure, LeftoverEvent},
    exit,
    paint::{Brush, Ink},
    text::{counted, wrap},
};

/// What became of something that an earlier run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// A container of a run whose process is dead; it has stopped, and is removed next. [`Kept`](Self::Kept) follows
    /// should Docker not remove it.
    Cleaned {
        /// Whose.
        instance: InstanceId,
        /// Its state directory.
        state_dir: PathBuf,
        /// The container's name in Docker.
        container: String,
        /// Its exit code; `None` when it never ran to an end.
        exit_code: Option<ExitCode>,
    },
    /// A container of a run whose process is dead; it could not be removed.
    Kept {
        /// Whose.
        instance: InstanceId,
        /// Its state directory.
        state_dir: PathBuf,
        /// The container's name in Docker.
        container: String,
        /// Why it is still there.
        why: String,
    },
    /// A run that is still going on; it is not touched.
    Living {
        /// Which.
        instance: InstanceId,
        /// Its state directory.
        state_dir: PathBuf,
        /// The process that owns it, if known.
        pid: Option<u32>,
    },
    /// A run whose process is dead, and that somebody else is cleaning up after; it is not touched.
    InCleanup {
        /// Which.
        instance: InstanceId,
        /// Its state directory.
        state_dir: PathBuf,
        /// The process that cleans up, if known.
        pid: Option<u32>,
    },
    /// A run whose process is dead; it is not touched since another one is gone on with.
    Dead {
        /// Which.
        instance: InstanceId,
        /// Its state directory.
        state_dir: PathBuf,
    },
    /// A run whose containers are in another Docker; it is not touched.
    Elsewhere {
        /// Which.
        instance: InstanceId,
        /// Its state directory.
        state_dir: PathBuf,
        /// Address of that Docker.
        docker_host: String,
    },
    /// A state directory that cannot be read; it is not touched.
    Unreadable {
        /// Which.
        state_dir: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Leftover {
    pub(crate) fn event(&self) -> LeftoverEvent {
        let event = |instance: Option<&InstanceId>, state_dir: &Path, state| LeftoverEvent {
            instance: instance.map(ToString::to_string),
            state_dir: state_dir.display().to_string(),
            state,
            container: None,
            exit_code: None,
            pid: None,
            text: None,
        };
        match self {
            Self::Cleaned { instance, state_dir, container, exit_code } => LeftoverEvent {
                container: Some(container.clone()),
                exit_code: *exit_code,
                ..event(Some(instance), state_dir, "cleaned")
            },
            Self::Kept { instance, state_dir, container, why } => LeftoverEvent {
                container: Some(container.clone()),
                text: Some(why.clone()),
                ..event(Some(instance), state_dir, "kept")
            },
            Self::Living { instance, state_dir, pid } => {
                LeftoverEvent { pid: *pid, ..event(Some(instance), state_dir, "living") }
            }
            Self::InCleanup { instance, state_dir, pid } => {
                LeftoverEvent { pid: *pid, ..event(Some(instance), state_dir, "in-cleanup") }
            }
            Self::Dead { instance, state_dir } => event(Some(instance), state_dir, "dead"),
            Self::Elsewhere { instance, state_dir, docker_host } => LeftoverEvent {
                text: Some(format!("its containers are in Docker at {docker_host}")),
                ..event(Some(instance), state_dir, "elsewhere")
            },
            Self::Unreadable { state_dir, why } => {
                LeftoverEvent { text: Some(why.clone()), ..event(None, state_dir, "unreadable") }
            }
        }
    }

    fn text(&self) -> String {
        let short = |instance: &InstanceId| instance.as_str().get(..12).unwrap_or_default().to_owned();
        match self {
            Self::Cleaned { instance, container, exit_code, .. } => {
                let code = exit_code.map_or_else(
                    || "no exit code is known".into(),
                    |code| format!("exit code {}", exit::in_words(code)),
                );
                format!("earlier run {}: container {container} stopped, {code}; removing it", short(instance))
            }
            Self::Kept { instance, container, why, .. } => {
                format!("earlier run {}: container {container} could not be removed: {}", short(instance), clean(why))
            }
            Self::Living { instance, pid, .. } => {
                let owner = pid.map_or(String::new(), |pid| format!(" (process {pid})"));
                format!("run {} is still going on{owner}; left alone", short(instance))
            }
            Self::InCleanup { instance, pid, .. } => {
                let owner = pid.map_or("another process".into(), |pid| format!("process {pid}"));
                format!("earlier run {} is dead, and {owner} cleans up after it; left alone", short(instance))
            }
            Self::Dead { instance, .. } => format!(
                "earlier run {} is dead; left alone: `lighterman run --resume {}` goes on with it, any `lighterman run` \
                 of a file cleans it up",
                short(instance),
                short(instance)
            ),
            Self::Elsewhere { instance, docker_host, .. } => format!(
                "earlier run {} used Docker at {host}, not this one; left alone: `lighterman run --docker-host {host}` \
                 cleans it up",
                short(instance),
                host = clean(docker_host)
            ),
            Self::Unreadable { state_dir, why } => {
                format!("state in {} cannot be read: {}; left alone", state_dir.display(), clean(why))
            }
        }
    }
}

/// What earlier runs left, a line each.
#[must_use]
pub fn leftovers(found: &[Leftover], columns: usize) -> String {
    block(found.iter().flat_map(|leftover| hanging(&leftover.text(), "", columns)))
}

/// What is wrong with a task definition, a line each behind the file's name, errors first; then whether it is accepted.
///
/// Lines have at most `columns` columns. With `None`, which is for files and pipes, they are not broken: programs take
/// them apart.
#[must_use]
pub fn problems(file: &Path, errors: &[String], warnings: &[String], columns: Option<usize>) -> String {
    painted_problems(file, errors, warnings, columns, Brush::PLAIN)
}

pub(crate) fn painted_problems(
    file: &Path,
    errors: &[String],
    warnings: &[String],
    columns: Option<usize>,
    brush: Brush,
) -> String {
    let name = clean(&file.display().to_string());
    let finding = |label: &str, ink, text: &str| {
        let text = format!("{name}: {label} {}", clean(text));
        let lines = columns.map_or_else(|| vec![text.clone()], |columns| hanging(&text, "", columns));
        let paint = |(index, line): (usize, String)| {
            if index == 0 { line.replacen(label, &brush.paint(ink, label), 1) } else { line }
        };
        lines.into_iter().enumerate().map(paint).collect::<Vec<_>>()
    };
    let errors_first = errors.iter().flat_map(|text| finding("error:", Ink::Bad, text));
    let lines = errors_first.chain(warnings.iter().flat_map(|text| finding("warning:", Ink::Attention, text)));
    let verdict = match (errors.len(), warnings.len()) {
        (0, 0) => "accepted".into(),
        (0, warnings) => format!("accepted, with {}", counted(warnings, "warning")),
        (errors, 0) => format!("refused: {}", counted(errors, "error")),
        (errors, warnings) => format!("refused: {}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    block(lines.chain([format!("{name}: {verdict}")]))
}

/// What failed, why, and what to do about it.
#[must_use]
pub fn failure(failure: &Failure, columns: usize) -> String {
    painted_failure(failure, columns, Brush::PLAIN)
}

pub(crate) fn painted_failure(failure: &Failure, columns: usize, brush: Brush) -> String {
    let mut lines = hanging(&clean(&failure.text), "error: ", columns);
    if let Some(rest) = lines.first().and_then(|first| first.strip_prefix("error:")) {
        lines[0] = format!("{}{rest}", brush.paint(Ink::Bad, "error:"));
    }
    for cause in &failure.causes {
        lines.extend(hanging(&clean(cause), "  because: ", columns));
    }
    if let Some(advice) = &failure.advice {
        lines.extend(hanging(&clean(advice), "  what to do: ", columns));
    }
    block(lines.into_iter())
}

/// The text behind its label, its further lines indented.
fn hanging(text: &str, label: &str, columns: usize) -> Vec<String> {
    const INDENT: usize = 4;
    let mut lines: Vec<String> = wrap(&format!("{}{text}", label.trim_start()), columns.saturating_sub(INDENT));
    let indent = " ".repeat(label.len() - label.trim_start().len());
    for (index, line) in lines.iter_mut().enumerate() {
        let deeper = if index == 0 { "" } else { "  " };
        *line = format!("{indent}{deeper}{line}");
    }
    lines
}

fn block(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}
