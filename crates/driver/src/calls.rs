//! Calls that are out, and the lane of their answers (design.md R6).

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use lighterman_calls::{Answer, Call, Lost, LostCause, PullProgress, Request};
use lighterman_contracts::{ContainerRuntime, perform};
use lighterman_ids::{ActionId, ImageRef};
use tokio::{
    sync::broadcast,
    task::{self, AbortHandle, JoinError, JoinSet},
};
use tracing::Instrument;

use crate::publish::PullNews;

/// An answer, with the action that it repeats.
pub(crate) type Answered = (ActionId, Box<Answer>);

/// One executor per call. What an executor returns *is* its answer, so that the lane of answers holds at
/// most one per call that is out, and none is lost: one that panicked is an unknown outcome.
#[derive(Debug)]
pub(crate) struct Calls {
    executors: JoinSet<Answer>,
    /// Calls that are out and awaited.
    out: BTreeMap<ActionId, AbortHandle>,
    /// Whose each executor is; also of those that were cancelled and have not ended yet.
    owners: HashMap<task::Id, (ActionId, Arc<Call>)>,
    progress: broadcast::Sender<PullNews>,
}

impl Calls {
    pub(crate) fn new(progress: broadcast::Sender<PullNews>) -> Self {
        Self { executors: JoinSet::new(), out: BTreeMap::new(), owners: HashMap::new(), progress }
    }

    /// Makes the call; [`answered`](Self::answered) tells how it ended.
    pub(crate) fn begin<R: ContainerRuntime>(&mut self, runtime: Arc<R>, id: ActionId, call: Call) {
        let call = Arc::new(call);
        let kind = call.request.kind().as_str();
        let span = tracing::debug_span!("call", action.id = %id, kind);
        let executor = execute(runtime, Arc::clone(&call), self.progress.clone());
        let handle = self.executors.spawn(executor.instrument(span.or_current()));
        self.owners.insert(handle.id(), (id, call));
        self.out.insert(id, handle);
    }

    /// Stops waiting for the call: nobody will take its answer, and the runtime learns of it by the end of
    /// the connection. An answer that is there already is handed on all the same; the core drops it.
    pub(crate) fn cancel(&mut self, id: ActionId) {
        if let Some(handle) = self.out.remove(&id) {
            handle.abort();
        }
    }

    /// Calls that are out and awaited.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The next answer; `None` when no call is out. Can be cancelled without loss.
    pub(crate) async fn answered(&mut self) -> Option<Answered> {
        loop {
            let ended = self.executors.join_next_with_id().await?;
            if let Some(answered) = self.end(ended) {
                return Some(answered);
            }
        }
    }

    /// The next answer that is there already.
    pub(crate) fn try_answered(&mut self) -> Option<Answered> {
        loop {
            let ended = self.executors.try_join_next_with_id()?;
            if let Some(answered) = self.end(ended) {
                return Some(answered);
            }
        }
    }

    /// `None` for a call that was cancelled.
    fn end(&mut self, ended: Result<(task::Id, Answer), JoinError>) -> Option<Answered> {
        let executor = match &ended {
            Ok((executor, _)) => *executor,
            Err(error) => error.id(),
        };
        let (id, call) = self.owners.remove(&executor).expect("every executor was entered when it began");
        self.out.remove(&id);
        let answer = match ended {
            Ok((_, answer)) => answer,
            Err(error) => call.request.lost(broken(error.try_into_panic().ok()?.as_ref())),
        };
        Some((id, Box::new(answer)))
    }
}

async fn execute<R: ContainerRuntime>(
    runtime: Arc<R>,
    call: Arc<Call>,
    progress: broadcast::Sender<PullNews>,
) -> Answer {
    let image = match &call.request {
        Request::Pull { image, .. } => Some(image.clone()),
        Request::Ping
        | Request::Version
        | Request::InspectImage(_)
        | Request::ResolveDigest(_)
        | Request::TagImage { .. }
        | Request::RemoveImage(_)
        | Request::ListImages
        | Request::CreateVolume(_)
        | Request::InspectVolume(_)
        | Request::RemoveVolume(_)
        | Request::ListVolumes(_)
        | Request::Create(_)
        | Request::Start(_)
        | Request::Inspect(_)
        | Request::Stop { .. }
        | Request::Kill { .. }
        | Request::Remove(_)
        | Request::List(_) => None,
    };
    let mut told = image.map(|image| Told { image, progress, last: BTreeMap::new() });
    let tell = |step: PullProgress| {
        if let Some(told) = &mut told {
            told.tell(step);
        }
    };
    let answer = perform(runtime.as_ref(), &call, tell).await;
    if let Some(told) = told {
        told.tell_the_last();
    }
    answer
}

/// What readers are told of one pull.
struct Told {
    image: ImageRef,
    progress: broadcast::Sender<PullNews>,
    /// The last step of each layer; an engine refuses images with more than 127 of them.
    last: BTreeMap<String, PullProgress>,
}

impl Told {
    fn tell(&mut self, step: PullProgress) {
        self.send(step.clone());
        self.last.insert(step.layer.clone(), step);
    }

    /// How each layer ended, once more: bytes of others may have pushed it out before a slow reader took it.
    fn tell_the_last(mut self) {
        for step in std::mem::take(&mut self.last).into_values() {
            self.send(step);
        }
    }

    fn send(&self, step: PullProgress) {
        // An error only says that nobody looks.
        let _nobody_looks = self.progress.send(PullNews { image: self.image.clone(), step });
    }
}

/// What an executor that panicked leaves behind: the call may have been made.
fn broken(panic: &(dyn Any + Send)) -> Lost {
    Lost::new(LostCause::ConnectionLost, format!("the call broke off by a fault of ours: {}", panic_text(panic)))
}

/// The words of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}
