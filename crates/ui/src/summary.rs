//! How a task ended.

use std::time::Duration;

use lighterman_ids::Moment;
use lighterman_view::{ContainerView, TaskView};

use crate::{
    escape::clean,
    exit,
    paint::{Brush, Ink},
    text::{fit, pad, span, width, wrap},
};

const HEADINGS: [&str; 3] = ["CONTAINER", "EXIT", "REASON"];

/// Columns of the widest exit code.
const EXIT_COLUMNS: usize = 11;

const NAME_COLUMNS: usize = 20;

/// The task in a line, then a table with each container, its exit code, and why it ended and what to do about it.
/// Lines have at most `columns` columns, at least 60.
#[must_use]
pub fn summary(view: &TaskView, now: Moment, columns: usize) -> String {
    painted(view, now, columns, Brush::PLAIN)
}

pub(crate) fn painted(view: &TaskView, now: Moment, columns: usize, brush: Brush) -> String {
    let columns = columns.max(60);
    let mut lines = wrap(&head(view, now), columns);
    lines.push(String::new());
    lines.extend(table(&view.containers, columns, brush));
    lines.join("\n") + "\n"
}

fn head(view: &TaskView, now: Moment) -> String {
    let end = view.execution_stopped_at.unwrap_or(now);
    let state = if view.known.is_terminal() { "stopped" } else { "has not stopped" };
    let reason = view.reason.as_ref().map_or(String::new(), |reason| format!(": {}", clean(reason)));
    format!("{}:{} {state} after {}{reason}", view.family, view.revision, span(since(end, view)))
}

fn since(end: Moment, view: &TaskView) -> Duration {
    end.since(view.accepted_at)
}

fn table(containers: &[ContainerView], columns: usize, brush: Brush) -> Vec<String> {
    let widest = |heading: &str, most: usize, text: &dyn Fn(&ContainerView) -> String| {
        containers.iter().map(|container| width(&text(container))).fold(width(heading), usize::max).min(most)
    };
    let first = widest(HEADINGS[0], NAME_COLUMNS, &|container| container.name.to_string());
    let second = widest(HEADINGS[1], EXIT_COLUMNS, &exit_code);
    let room = columns - first - second - 4;
    let heading = format!("{}  {}  {}", pad(HEADINGS[0], first), pad(HEADINGS[1], second), HEADINGS[2]);
    let mut lines = vec![brush.paint(Ink::Faint, &heading)];
    for container in containers {
        let reasons = reasons(container).into_iter().flat_map(|reason| wrap(&reason, room));
        for (index, reason) in reasons.enumerate() {
            let row = if index == 0 {
                let name = pad(&fit(container.name.as_str(), first), first);
                let code = pad(&exit_code(container), second);
                format!("{}  {}  {reason}", brush.paint(Ink::Strong, &name), brush.paint(ink(container), &code))
            } else {
                format!("{}{reason}", " ".repeat(first + second + 4))
            };
            lines.push(row);
        }
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
    let mut paragraphs = vec![clean(&reason.to_string())];
    paragraphs.extend(reason.advice.map(|advice| format!("what to do: {advice}")));
    paragraphs
}

/// An end that nothing is recorded about.
fn without_reason(container: &ContainerView) -> String {
    if !container.known.is_terminal() {
        return format!("it is {}", container.known);
    }
    let cause = exit::cause(container.exit_code).unwrap_or("its process ended well");
    let meaning = container.exit_code.and_then(exit::meaning);
    meaning.map_or_else(|| cause.into(), |meaning| format!("{cause} ({meaning})"))
}
