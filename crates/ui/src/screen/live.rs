//! The lines below all others that are drawn again and again: what each container waits for, and how far pulls are.

use lighterman_calls::RequestKind;
use lighterman_ids::{Moment, Mono};
use lighterman_view::{ContainerView, Wait, WaitReason};

use super::{text::Stage, waits::TELL_AFTER};
use crate::{
    Size,
    escape::clean,
    event::Port,
    paint::{Brush, Ink},
    ports,
    text::{fit, pad, whole_span, width},
};

/// Most lines: a task of many containers must not push its own output off the screen.
const MOST: usize = 10;

pub(super) struct Scene<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) names: usize,
    pub(super) brush: Brush,
}

impl Scene<'_> {
    pub(super) fn lines(&self, now: Moment, size: Size) -> Vec<String> {
        let columns = usize::from(size.columns).max(20);
        let most = MOST.min(usize::from(size.rows).saturating_sub(2)).max(1);
        let mut lines = self.stage.pulls.lines(now.mono, columns, self.brush);
        let containers = self.stage.timeline.last().into_iter().flat_map(|view| &view.containers);
        lines.extend(containers.filter_map(|container| self.container(now, container, columns)));
        if lines.len() > most {
            let more = lines.len() - (most - 1);
            lines.truncate(most - 1);
            lines.push(self.brush.paint(Ink::Faint, &format!("and {more} more")));
        }
        lines
    }

    /// `None` when there is nothing to say: it waits for nothing, or its pull has a line already.
    fn container(&self, now: Moment, container: &ContainerView, columns: usize) -> Option<String> {
        let wait = container.wait.as_ref()?;
        let waited = now.since(self.stage.timeline.waiting_since(&container.name).unwrap_or(wait.since));
        if matches!(wait.reason, WaitReason::Cleanup) && waited < TELL_AFTER {
            return None;
        }
        let has_bar = self.stage.pulls.contains(&container.image);
        let is_pull = matches!(wait.reason, WaitReason::Call { kind: RequestKind::Pull, .. });
        if is_pull && has_bar {
            return None;
        }
        let name = pad(&fit(container.name.as_str(), self.names), self.names);
        let time = whole_span(waited);
        let (ink, text) = phrase(container, wait, now.mono);
        let room = columns.saturating_sub(width(&name) + width(&time) + 4);
        let text = pad(&fit(&text, room), room.min(52));
        let parts =
            [self.brush.paint(Ink::Strong, &name), self.brush.paint(ink, &text), self.brush.paint(Ink::Faint, &time)];
        Some(parts.join("  "))
    }
}

fn phrase(container: &ContainerView, wait: &Wait, now: Mono) -> (Ink, String) {
    let left = wait.until.map(|until| whole_span(until.since(now)));
    let within = |text: String| match &left {
        Some(left) => format!("{text}, at most {left} more"),
        None => text,
    };
    match &wait.reason {
        WaitReason::Running => (Ink::Good, running(container)),
        WaitReason::Cleanup => (Ink::Faint, within("stopped; kept".into())),
        WaitReason::Call { .. } => (Ink::Busy, within(format!("waits for {}", wait.reason))),
        WaitReason::Pause { .. }
        | WaitReason::Store { .. }
        | WaitReason::RuntimeAway { .. }
        | WaitReason::LateCreate
        | WaitReason::Closing
        | WaitReason::Connecting => (Ink::Attention, within(format!("waits for {}", clean(&wait.reason.to_string())))),
    }
}

/// `runs, HEALTHY, http://127.0.0.1:32810`
fn running(container: &ContainerView) -> String {
    let mut text = String::from("runs");
    if container.has_health_check {
        text.push_str(", ");
        text.push_str(container.health.as_str());
    }
    let all: Vec<Port> = container.ports.iter().map(ports::port).collect();
    if let Some((address, _)) = ports::for_people(&all).first() {
        text.push_str(", ");
        text.push_str(address);
    }
    text
}
