//! Why a task is where it is.

use lighterman_ids::Moment;
use lighterman_status::ContainerStatus;
use lighterman_view::{ContainerView, TaskView, Wait};

use crate::{
    Zone,
    escape::clean,
    exit,
    text::{pad, span, whole_span, width, wrap},
};

/// Columns of the text.
const COLUMNS: usize = 80;

/// Longest name that still sets the column; longer ones stick out.
const NAME_COLUMNS: usize = 20;

/// For every container: where it is and should go, what it waits for, since when, and what ends that (design.md R5).
/// Lines have at most 80 columns.
///
/// ```text
/// demo:3 is CREATED and should be RUNNING
/// web  CREATED, should be RUNNING
///      waits for Docker to answer a call (start)
///      since 12:01:03.123, for 4.20 s
///      ends when Docker answers, or the limit of the call is over; at the
///      latest in 2 min 55 s
/// ```
#[must_use]
pub fn explain(view: &TaskView, now: Moment, zone: &Zone) -> String {
    let indent = view.containers.iter().map(|container| width(container.name.as_str())).max().unwrap_or(0);
    let indent = indent.min(NAME_COLUMNS) + 2;
    let mut lines = wrap(&task_line(view), COLUMNS);
    lines.extend(view.reason.iter().flat_map(|reason| wrap(&format!("because: {}", clean(reason)), COLUMNS)));
    for container in &view.containers {
        lines.push(format!("{}  {}", pad(container.name.as_str(), indent - 2), state(container)));
        for sentence in sentences(container, now, zone) {
            lines.extend(
                wrap(&sentence, COLUMNS - indent).into_iter().map(|line| format!("{}{line}", " ".repeat(indent))),
            );
        }
    }
    lines.join("\n") + "\n"
}

fn task_line(view: &TaskView) -> String {
    let name = format!("task {}:{} ({})", view.family, view.revision, view.id);
    if view.removed {
        format!("{name} is over, and its containers are removed")
    } else if view.known.as_str() == view.desired.as_str() {
        format!("{name} is {}, as it should be", view.known)
    } else {
        format!("{name} is {} and should be {}", view.known, view.desired)
    }
}

fn state(container: &ContainerView) -> String {
    let mut text = container.known.to_string();
    if container.known != container.desired {
        text.push_str(&format!(", should be {}", container.desired));
    }
    if container.has_health_check && container.known.is_running() {
        text.push_str(&format!(", {}", container.health));
    }
    if let Some(code) = container.exit_code {
        text.push_str(&format!(", exit code {}", exit::in_words(code)));
    }
    text
}

fn sentences(container: &ContainerView, now: Moment, zone: &Zone) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(reason) = &container.reason {
        sentences.push(clean(&exit::reason(reason.name, &reason.text, container.image.as_str())));
        sentences.extend(reason.advice.map(|advice| format!("what to do: {advice}")));
    }
    match (&container.wait, container.known) {
        (Some(wait), _) => sentences.extend(wait_sentences(wait, now, zone)),
        (None, ContainerStatus::Stopped) => sentences.push("waits for nothing: it is over".into()),
        (
            None,
            ContainerStatus::None
            | ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created
            | ContainerStatus::Running
            | ContainerStatus::ResourcesProvisioned,
        ) => sentences.push("waits for nothing: its next step is decided at once".into()),
    }
    sentences
}

fn wait_sentences(wait: &Wait, now: Moment, zone: &Zone) -> [String; 3] {
    let left = wait.until.map(|until| until.since(now.mono));
    let latest = left.map_or(String::new(), |left| format!("; at the latest in {}", whole_span(left)));
    [
        format!("waits for {}", clean(&wait.reason.to_string())),
        format!("since {}, for {}", zone.time_of_day(wait.since.wall), span(now.since(wait.since))),
        format!("ends when {}{latest}", wait.reason.ends_when()),
    ]
}
