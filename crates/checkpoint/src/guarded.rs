//! Work on a thread of its own that may panic or never end.

use std::{
    any::Any,
    future::Future,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

/// Why guarded work has no result.
#[derive(Debug)]
pub(crate) enum Abandoned {
    /// With this message.
    Panicked(String),
    /// It may still be running; its result will be dropped.
    TimedOut(Duration),
    /// The system gave no thread.
    NoThread(io::Error),
}

/// Runs `work` on a thread named `name`, for at most `limit`.
pub(crate) fn run<T: Send + 'static>(
    name: &str,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Abandoned> {
    let (sender, receiver) = sync_channel(1);
    let body = move || {
        // Nobody listens any more once the limit has passed.
        let _ = sender.send(unwinding(work));
    };
    spawn(name, body).map_err(Abandoned::NoThread)?;
    match receiver.recv_timeout(limit) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Err(Abandoned::TimedOut(limit)),
        Err(RecvTimeoutError::Disconnected) => Err(Abandoned::Panicked("the thread ended early".to_owned())),
    }
}

/// Starts a thread that nobody joins.
#[expect(clippy::disallowed_methods, reason = "sled blocks, panics and hangs: it has threads of its own")]
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(body).map(drop)
}

/// Runs `work` here and turns its panic into a value.
///
/// What `work` was changing must be dropped afterwards, never used again.
pub(crate) fn unwinding<T>(work: impl FnOnce() -> T) -> Result<T, Abandoned> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Abandoned::Panicked(message(payload.as_ref())))
}

/// Waits for a future on this thread. Every `tick` that passes in vain is reported to `on_tick`;
/// after `ticks` of them the future is dropped and the answer is `None`.
pub(crate) fn wait<F: Future>(future: F, tick: Duration, ticks: u32, mut on_tick: impl FnMut()) -> Option<F::Output> {
    let (sender, woken) = sync_channel(1);
    let waker = Waker::from(Arc::new(Signal(sender)));
    let mut future = pin!(future);
    let mut passed = 0;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        if !is_woken(&woken, tick) {
            passed += 1;
            if passed >= ticks {
                return None;
            }
            on_tick();
        }
    }
}

struct Signal(SyncSender<()>);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        // A full channel holds a signal already; a closed one has no waiter.
        let _ = self.0.try_send(());
    }
}

fn is_woken(woken: &Receiver<()>, tick: Duration) -> bool {
    woken.recv_timeout(tick).is_ok()
}

fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_comes_back() {
        assert_eq!(run("test", Duration::from_secs(5), || 7).unwrap(), 7);
    }

    #[test]
    fn a_panic_is_a_value_with_its_message() {
        let outcome = run("test", Duration::from_secs(5), || -> u8 { panic!("torn at {}", 3) });
        assert!(matches!(outcome, Err(Abandoned::Panicked(message)) if message == "torn at 3"));
    }

    #[test]
    fn work_without_end_is_left_behind() {
        let (release, gate) = sync_channel::<()>(1);
        let outcome = run("test", Duration::from_millis(10), move || gate.recv().is_ok());
        assert!(matches!(outcome, Err(Abandoned::TimedOut(_))));
        release.send(()).unwrap();
    }

    #[test]
    fn waiting_ends_after_the_last_tick_and_reports_those_before() {
        let mut reported = 0;
        let outcome = wait(std::future::pending::<()>(), Duration::from_millis(1), 4, || reported += 1);
        assert_eq!((outcome, reported), (None, 3));
    }

    #[test]
    fn waiting_returns_what_another_thread_makes_ready() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        spawn("test", move || sender.send(5).unwrap()).unwrap();
        let outcome = wait(receiver, Duration::from_secs(5), 2, || ());
        assert_eq!(outcome, Some(Ok(5)));
    }
}
