//! How a task ended.

use lighterman_ids::Moment;
use lighterman_status::ContainerStatus;
use lighterman_view::{ContainerView, TaskView};

use crate::{
    escape::clean,
    exit,
    paint::{Brush, Ink},
    text::{fit, pad, span, width, wrap},
    timeline::lasted,
};

const HEADINGS: [&str; 3] = ["CONTAINER", "EXIT", "REASON"];

/// Columns of the widest exit code.
const EXIT_COLUMNS: usize = 11;

const NAME_COLUMNS: usize = 20;

/// As narrow as text gets.
const LEAST_COLUMNS: usize = 40;

/// Reasons that have less room beside names and exit codes hang below them.
const LEAST_ROOM: usize = 24;

/// The task in a line, then a table with each container, its exit code, and why it ended and what to do about it.
/// Lines have at most `columns` columns, at least 40. `now` counts only for a task that goes on.
#[must_use]
pub fn summary(view: &TaskView, now: Moment, columns: usize) -> String {
    painted(view, now, columns, Brush::PLAIN)
}

pub(crate) fn painted(view: &TaskView, now: Moment, columns: usize, brush: Brush) -> String {
    let columns = columns.max(LEAST_COLUMNS);
    let mut lines = wrap(&head(view, now), columns);
    lines.push(String::new());
    lines.extend(table(&view.containers, columns, brush));
    lines.join("\n") + "\n"
}

fn head(view: &TaskView, now: Moment) -> String {
    let is_created = view.containers.iter().any(is_created);
    let state = match (view.known.is_terminal(), is_created) {
        (true, _) => "stopped after",
        (false, true) => "has not stopped after",
        (false, false) => "was not created in",
    };
    let reason = view.reason.as_ref().map_or(String::new(), |reason| format!(": {}", clean(reason)));
    format!("{}:{} {state} {}{reason}", view.family, view.revision, span(lasted(view, now)))
}

fn table(containers: &[ContainerView], columns: usize, brush: Brush) -> Vec<String> {
    let widest = |heading: &str, most: usize, text: &dyn Fn(&ContainerView) -> String| {
        containers.iter().map(|container| width(&text(container))).fold(width(heading), usize::max).min(most)
    };
    let first = widest(HEADINGS[0], NAME_COLUMNS, &|container| container.name.to_string());
    let second = widest(HEADINGS[1], EXIT_COLUMNS, &exit_code);
    let indent = first + second + 4;
    let (indent, is_below) = if columns < indent + LEAST_ROOM { (4, true) } else { (indent, false) };
    let heading = format!("{}  {}  {}", pad(HEADINGS[0], first), pad(HEADINGS[1], second), HEADINGS[2]);
    let mut lines = vec![brush.paint(Ink::Faint, &heading)];
    for container in containers {
        let name = brush.paint(Ink::Strong, &pad(&fit(container.name.as_str(), first), first));
        let code = |code: &str| brush.paint(ink(container), code);
        let mut reasons = reasons(container).into_iter().flat_map(|reason| wrap(&reason, columns - indent));
        let beside = if is_below { None } else { reasons.next() };
        let exit = exit_code(container);
        lines.push(match beside {
            Some(reason) => format!("{name}  {}  {reason}", code(&pad(&exit, second))),
            None => format!("{name}  {}", code(&exit)),
        });
        lines.extend(reasons.map(|reason| format!("{}{reason}", " ".repeat(indent))));
    }
    lines
}

fn exit_code(container: &ContainerView) -> String {
    container.exit_code.map_or_else(|| "none".into(), |code| code.to_string())
}

const fn ink(container: &ContainerView) -> Ink {
    match (container.exit_code, &container.reason) {
        (Some(0), None) => Ink::Good,
        (Some(_) | None, Some(_)) | (Some(_), None) => Ink::Bad,
        (None, None) => Ink::Faint,
    }
}

/// Cause and advice, a paragraph each; never empty.
fn reasons(container: &ContainerView) -> Vec<String> {
    let Some(reason) = &container.reason else { return vec![without_reason(container)] };
    let mut paragraphs = vec![clean(&exit::reason(reason.name, &reason.text, container.image.as_str()))];
    paragraphs.extend(reason.advice.map(|advice| format!("what to do: {advice}")));
    paragraphs
}

/// Whether it is or may be in Docker.
fn is_created(container: &ContainerView) -> bool {
    container.runtime_name.is_some() || container.known.at_least(ContainerStatus::Created)
}

/// An end that nothing is recorded about.
fn without_reason(container: &ContainerView) -> String {
    if !container.known.is_terminal() {
        return if is_created(container) {
            format!("last seen {}", container.known)
        } else {
            "it was not created".into()
        };
    }
    let cause = exit::cause(container.exit_code).unwrap_or("its process ended well");
    let meaning = container.exit_code.and_then(exit::meaning);
    meaning.map_or_else(|| cause.into(), |meaning| format!("{cause} ({meaning})"))
}
