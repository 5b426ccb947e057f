//! The way in: requests of people and of other parts of the agent.

use std::sync::Arc;

use lighterman_engine::SubmitError;
use lighterman_ids::{ContainerName, TaskId};
use lighterman_task_manager::TaskSpec;
use lighterman_view::{HostView, TaskView};
use tokio::sync::{
    Notify,
    mpsc::{self, error::TrySendError},
    oneshot,
};

use crate::{
    Latest, Progress, Stats, TaskMap, Updates,
    publish::{Readers, Verdict},
    stats::Counters,
};

/// Requests that may wait for a turn (design.md R6). A turn takes all of them, so that they wait only while
/// one is being handled; whoever sends more at once can wait better than the loop can.
pub const REQUESTS: usize = 64;

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Too many requests wait; the caller may ask again.
    #[error("too many requests wait")]
    Busy,
    /// The driver ended.
    #[error("the agent has ended")]
    Ended,
    /// The task was not accepted.
    #[error(transparent)]
    Refused(#[from] SubmitError),
}

/// What is asked of the loop.
#[derive(Debug)]
pub(crate) enum Request {
    Submit { spec: Box<TaskSpec>, reply: oneshot::Sender<Verdict> },
    Stop { task: TaskId, reason: Option<String>, force: bool },
    CleanUp(TaskId),
    OutputEnded(TaskId, ContainerName),
}

/// Talks to a driver. Cheap to clone; holds nothing open, so that a driver may end while handles live on.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) requests: mpsc::Sender<Request>,
    pub(crate) close: Arc<Notify>,
    pub(crate) readers: Readers,
    pub(crate) counters: Arc<Counters>,
}

impl Handle {
    /// Asks to run a task, and waits until that is durable: the view is the first one of it. A task that is
    /// known already stays as it is.
    ///
    /// The request is made when the future is first polled; dropping it afterwards withdraws nothing.
    ///
    /// # Errors
    /// See [`RequestError`]. [`Ended`](RequestError::Ended) leaves open whether the task was accepted.
    pub async fn submit(&self, spec: TaskSpec) -> Result<Arc<TaskView>, RequestError> {
        let (reply, verdict) = oneshot::channel();
        self.send(Request::Submit { spec: Box::new(spec), reply })?;
        Ok(verdict.await.map_err(|_| RequestError::Ended)??)
    }

    /// Asks to stop a task, for this reason if it has none yet; `force` does not wait for the graces. A task
    /// that is not known is none to be stopped.
    ///
    /// # Errors
    /// [`Busy`](RequestError::Busy) or [`Ended`](RequestError::Ended).
    pub fn stop(&self, task: TaskId, reason: Option<String>, force: bool) -> Result<(), RequestError> {
        self.send(Request::Stop { task, reason, force })
    }

    /// Says that nobody needs the containers of a stopped task any more: they need not be kept for the rest
    /// of the clean-up wait.
    ///
    /// # Errors
    /// [`Busy`](RequestError::Busy) or [`Ended`](RequestError::Ended).
    pub fn clean_up(&self, task: TaskId) -> Result<(), RequestError> {
        self.send(Request::CleanUp(task))
    }

    /// Says that the output of a container has ended, as it does with the container: where it is known to run it is
    /// looked at, so that its end is known although no event tells of it.
    ///
    /// # Errors
    /// [`Busy`](RequestError::Busy) or [`Ended`](RequestError::Ended).
    pub fn output_ended(&self, task: TaskId, container: ContainerName) -> Result<(), RequestError> {
        self.send(Request::OutputEnded(task, container))
    }

    /// Asks the driver to end, in order (engine.md 3.12); never busy, and no different when asked twice.
    /// Containers are left as they are. What is saved does not depend on it: ending the process at once
    /// instead, as a second signal does, is as good as a crash, and a crash loses nothing.
    pub fn shutdown(&self) {
        self.close.notify_one();
    }

    /// All tasks as they were last shown.
    #[must_use]
    pub fn tasks(&self) -> Latest<TaskMap> {
        self.readers.tasks()
    }

    /// The host as it was last shown.
    #[must_use]
    pub fn host(&self) -> Latest<Arc<HostView>> {
        self.readers.host()
    }

    /// Everything that is shown from now on, in order. Ask before the driver runs to see all of it.
    #[must_use]
    pub fn updates(&self) -> Updates {
        self.readers.updates()
    }

    /// The steps of all pulls from now on.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.readers.progress()
    }

    /// What the loop has counted.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.read()
    }

    fn send(&self, request: Request) -> Result<(), RequestError> {
        self.requests.try_send(request).map_err(|error| match error {
            TrySendError::Full(_) => {
                self.counters.busy.add_one();
                RequestError::Busy
            }
            TrySendError::Closed(_) => RequestError::Ended,
        })
    }
}
