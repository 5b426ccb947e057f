//! Following the output of containers. It goes straight to the screen and never through the loop.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use lighterman_calls::{ContainerTarget, Outcome};
use lighterman_contracts::{LogRequest, LogSource};
use lighterman_ids::{ContainerName, RuntimeId};
use lighterman_view::ContainerView;
use tokio::time::timeout;

use crate::{
    shown::{Pace, Shown},
    stage::{Show, Stage},
};

/// The output of a container that is to be shown.
pub(crate) struct Output {
    name: ContainerName,
    id: RuntimeId,
    request: LogRequest,
    shown: Arc<Shown>,
}

impl Output {
    /// All of it, or what was not shown before. `None` while the container never ran.
    pub(crate) fn of(container: &ContainerView, shown: &Arc<Shown>) -> Option<Self> {
        container.started_at?;
        let id = container.runtime_id.clone()?;
        let target = ContainerTarget::Id(id.clone());
        let request = LogRequest { container: target, follow: true, since: shown.since(&id), tty: container.tty };
        Some(Self { name: container.name.clone(), id, request, shown: Arc::clone(shown) })
    }
}

/// Reads to the end, one piece at a time, as fast as the screen takes them. Answers the name.
pub(crate) async fn follow<R: LogSource>(source: Arc<R>, output: Output, stage: &Stage) -> ContainerName {
    let Output { name, id, request, shown } = output;
    let mut chunks = pin!(source.logs(request));
    let mut pace = Pace::new(shown, id);
    let mut failed = false;
    loop {
        match within(pace.patience(), chunks.next()).await {
            Some(Some(Ok(chunk))) => {
                let (place, held_up) = stage.place().await;
                stage.show(Show::Log(name.clone(), chunk, place));
                pace.handed_on(held_up).map(Show::Shown).into_iter().for_each(|mark| stage.show(mark));
            }
            Some(Some(Err(outcome))) => {
                failed = true;
                let why = why(&outcome);
                stage.show(Show::Warning(format!("the output of {name} cannot be read further: {why}")));
            }
            Some(None) => break,
            None => pace.paused().map(Show::Shown).into_iter().for_each(|mark| stage.show(mark)),
        }
    }
    stage.show(Show::LogEnd(name.clone()));
    if !failed {
        stage.show(Show::Shown(pace.ended()));
    }
    name
}

/// `None` when the time is over first; without a limit it never is.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}

fn why(outcome: &Outcome<()>) -> &str {
    match outcome {
        Outcome::Done(()) => "it ended",
        Outcome::Gone => "the container is gone",
        Outcome::Refused(refusal) => &refusal.text,
        Outcome::Unknown(lost) => &lost.text,
    }
}
