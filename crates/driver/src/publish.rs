//! What readers get to see. Readers never enter the loop, and none can hold it up.

use std::{collections::BTreeMap, sync::Arc};

use lighterman_calls::PullProgress;
use lighterman_engine::SubmitError;
use lighterman_ids::{ImageRef, TaskId};
use lighterman_view::{HostView, RuntimeLink, TaskView};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    oneshot, watch,
};

/// Updates that are kept for a reader who is behind: some hundred tasks may change several times while a
/// terminal is being drawn.
pub const UPDATES: usize = 1_024;

/// Steps of pulls that are kept for a reader who is behind; only the latest matter.
pub const PROGRESS: usize = 256;

/// All tasks as they were last shown, without those whose last view said that they are removed.
pub type TaskMap = Arc<BTreeMap<TaskId, Arc<TaskView>>>;

/// Something that readers are shown, in order, after the commit of what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// A task changed.
    Task(Arc<TaskView>),
    /// The host changed.
    Host(Arc<HostView>),
    /// A task was not accepted.
    Refused {
        /// Which.
        task: TaskId,
        /// Why.
        error: SubmitError,
    },
    /// The reader was too slow: so many updates were dropped before it took them. What holds now is in
    /// [`Handle::tasks`](crate::Handle::tasks).
    Missed(u64),
}

/// One step of a pull. It comes straight from the executor and never passes through the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullNews {
    /// Which image.
    pub image: ImageRef,
    /// What moved.
    pub step: PullProgress,
}

/// A value of which only the latest matters.
#[derive(Clone, Debug)]
pub struct Latest<T> {
    receiver: watch::Receiver<T>,
}

impl<T: Clone> Latest<T> {
    /// The value as it is.
    #[must_use]
    pub fn get(&self) -> T {
        self.receiver.borrow().clone()
    }

    /// The value, as soon as it differs from the one this reader saw last; `None` when the driver ended.
    pub async fn changed(&mut self) -> Option<T> {
        self.receiver.changed().await.ok()?;
        Some(self.receiver.borrow_and_update().clone())
    }

    /// The value, as soon as it is so; `None` when the driver ended and it is not.
    pub async fn wait_for(&mut self, mut is_so: impl FnMut(&T) -> bool) -> Option<T> {
        let mut value = self.receiver.borrow_and_update().clone();
        while !is_so(&value) {
            value = self.changed().await?;
        }
        Some(value)
    }
}

/// Every update from the moment of asking on.
#[derive(Debug)]
pub struct Updates {
    /// `None`: the driver had ended before.
    receiver: Option<broadcast::Receiver<Update>>,
}

impl Updates {
    /// The next update; `None` when the driver ended. Can be cancelled without loss.
    pub async fn next(&mut self) -> Option<Update> {
        match self.receiver.as_mut()?.recv().await {
            Ok(update) => Some(update),
            Err(RecvError::Lagged(count)) => Some(Update::Missed(count)),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Every step of every pull from the moment of asking on, but for those that a slow reader missed. When a pull
/// ends, the last step of each of its layers comes once more, so that nobody misses how it ended.
#[derive(Debug)]
pub struct Progress {
    /// `None`: the driver had ended before.
    receiver: Option<broadcast::Receiver<PullNews>>,
}

impl Progress {
    /// The next step; `None` when the driver ended. Can be cancelled without loss.
    pub async fn next(&mut self) -> Option<PullNews> {
        loop {
            match self.receiver.as_mut()?.recv().await {
                Ok(news) => return Some(news),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

/// Where readers begin. Holds nothing open: all ends with the driver.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    tasks: watch::Receiver<TaskMap>,
    host: watch::Receiver<Arc<HostView>>,
    updates: broadcast::WeakSender<Update>,
    progress: broadcast::WeakSender<PullNews>,
}

impl Readers {
    pub(crate) fn tasks(&self) -> Latest<TaskMap> {
        Latest { receiver: self.tasks.clone() }
    }

    pub(crate) fn host(&self) -> Latest<Arc<HostView>> {
        Latest { receiver: self.host.clone() }
    }

    pub(crate) fn updates(&self) -> Updates {
        Updates { receiver: self.updates.upgrade().map(|sender| sender.subscribe()) }
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress { receiver: self.progress.upgrade().map(|sender| sender.subscribe()) }
    }
}

/// What whoever submitted a task waits for.
pub(crate) type Verdict = Result<Arc<TaskView>, SubmitError>;

/// The driver's end.
#[derive(Debug)]
pub(crate) struct Publisher {
    tasks: watch::Sender<TaskMap>,
    host: watch::Sender<Arc<HostView>>,
    updates: broadcast::Sender<Update>,
    progress: broadcast::Sender<PullNews>,
    /// Who waits to hear that a task was accepted.
    waiting: BTreeMap<TaskId, Vec<oneshot::Sender<Verdict>>>,
}

impl Publisher {
    pub(crate) fn new() -> Self {
        let host = HostView {
            runtime: RuntimeLink::Connecting { trouble: None },
            store_failing: None,
            checked: false,
            unfinished: 0,
            gave_up: false,
            left_alone: Vec::new(),
        };
        Self {
            tasks: watch::Sender::default(),
            host: watch::Sender::new(Arc::new(host)),
            updates: broadcast::Sender::new(UPDATES),
            progress: broadcast::Sender::new(PROGRESS),
            waiting: BTreeMap::new(),
        }
    }

    pub(crate) fn readers(&self) -> Readers {
        Readers {
            tasks: self.tasks.subscribe(),
            host: self.host.subscribe(),
            updates: self.updates.downgrade(),
            progress: self.progress.downgrade(),
        }
    }

    /// For the executors, which publish the steps of pulls by themselves.
    pub(crate) fn progress(&self) -> broadcast::Sender<PullNews> {
        self.progress.clone()
    }

    /// The verdict on this task is awaited.
    pub(crate) fn awaits(&mut self, task: TaskId, reply: oneshot::Sender<Verdict>) {
        let waiting = self.waiting.entry(task).or_default();
        // Those who gave up must not pile up while the store hangs.
        waiting.retain(|reply| !reply.is_closed());
        waiting.push(reply);
    }

    /// Shows what changed in one turn. The map is up to date before anybody is told to look.
    pub(crate) fn publish(&mut self, updates: Vec<Update>) {
        if updates.iter().any(|update| matches!(update, Update::Task(_))) {
            self.tasks.send_modify(|tasks| enter(Arc::make_mut(tasks), &updates));
        }
        for update in updates {
            match &update {
                Update::Task(view) => self.answer(&view.id, || Ok(Arc::clone(view))),
                Update::Refused { task, error } => self.answer(task, || Err(error.clone())),
                Update::Host(view) => {
                    self.host.send_replace(Arc::clone(view));
                }
                Update::Missed(_) => {}
            }
            // An error only says that nobody looks.
            let _nobody_looks = self.updates.send(update);
        }
    }

    fn answer(&mut self, task: &TaskId, verdict: impl Fn() -> Verdict) {
        for reply in self.waiting.remove(task).unwrap_or_default() {
            // An error only says that whoever asked does not wait any more.
            let _gave_up = reply.send(verdict());
        }
    }
}

fn enter(tasks: &mut BTreeMap<TaskId, Arc<TaskView>>, updates: &[Update]) {
    for update in updates {
        if let Update::Task(view) = update {
            if view.removed {
                tasks.remove(&view.id);
            } else {
                tasks.insert(view.id.clone(), Arc::clone(view));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gave_up_waiting_is_forgotten_with_the_next_who_asks() {
        let mut publisher = Publisher::new();
        let task = TaskId::from_bits(1);
        for _ in 0..100 {
            let (reply, _gives_up) = oneshot::channel();
            publisher.awaits(task.clone(), reply);
        }
        let (reply, mut verdict) = oneshot::channel();
        publisher.awaits(task.clone(), reply);
        assert_eq!(publisher.waiting[&task].len(), 1);
        let error = SubmitError::Closing;
        publisher.publish(vec![Update::Refused { task, error: error.clone() }]);
        assert_eq!(verdict.try_recv(), Ok(Err(error)));
        assert!(publisher.waiting.is_empty());
    }
}
