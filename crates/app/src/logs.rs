//! Following the output of containers. It goes straight to the screen and never through the loop.

use std::{pin::pin, sync::Arc};

use futures_util::StreamExt as _;
use lighterman_calls::{ContainerTarget, Outcome};
use lighterman_contracts::{LogRequest, LogSource};
use lighterman_ids::{ContainerName, Wall};
use lighterman_view::ContainerView;

use crate::stage::{Show, Stage};

/// What to read of a container: all of it, or what came since `since`. `None` while it never ran.
pub(crate) fn request_for(container: &ContainerView, since: Option<Wall>) -> Option<LogRequest> {
    container.started_at?;
    let id = container.runtime_id.clone()?;
    Some(LogRequest { container: ContainerTarget::Id(id), follow: true, since, tty: container.tty })
}

/// Reads to the end, one piece at a time, as fast as the screen takes them. Answers the name.
pub(crate) async fn follow<R: LogSource>(
    source: Arc<R>,
    name: ContainerName,
    request: LogRequest,
    stage: &Stage,
) -> ContainerName {
    let mut chunks = pin!(source.logs(request));
    while let Some(item) = chunks.next().await {
        match item {
            Ok(chunk) => {
                let place = stage.place().await;
                stage.show(Show::Log(name.clone(), chunk, place));
            }
            Err(outcome) => {
                let why = why(&outcome);
                stage.show(Show::Warning(format!("the output of {name} cannot be read further: {why}")));
            }
        }
    }
    stage.show(Show::LogEnd(name.clone()));
    name
}

fn why(outcome: &Outcome<()>) -> &str {
    match outcome {
        Outcome::Done(()) => "it ended",
        Outcome::Gone => "the container is gone",
        Outcome::Refused(refusal) => &refusal.text,
        Outcome::Unknown(lost) => &lost.text,
    }
}
