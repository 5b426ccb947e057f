//! The screen, on a thread of its own: a slow terminal slows only its reader.

use std::{
    io::{self, Write},
    os::fd::AsFd,
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use lighterman_calls::PullProgress;
use lighterman_contracts::{Clock, LogChunk};
use lighterman_ids::{ContainerName, ImageRef};
use lighterman_ui::{End, Failure, Leftover, Mode, Screen, Size, Started, StopAction, StopSignal};
use lighterman_view::TaskView;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    time::timeout,
};

use crate::{patient::Patient, shown::Mark};

/// Pieces of output that wait for the screen; the engine keeps the rest.
const WAITING_LOGS: usize = 256;

/// Something to be shown.
#[derive(Debug)]
pub(crate) enum Show {
    Started(Started),
    View(Arc<TaskView>),
    Pull(ImageRef, PullProgress),
    Log(ContainerName, LogChunk, OwnedSemaphorePermit),
    LogEnd(ContainerName),
    /// Comes behind what it is about.
    Shown(Mark),
    Signal(StopSignal, StopAction),
    Leftovers(Vec<Leftover>),
    Problems {
        file: PathBuf,
        errors: Vec<String>,
        warnings: Vec<String>,
    },
    Note(String),
    Warning(String),
    Failure(Failure),
    End(End),
    OwnLog(String),
    Resize(Size),
    Close,
}

/// Sends to the screen. What it is sent waits without bound but for output, which is the only thing that is
/// without bound itself.
#[derive(Debug)]
pub struct Stage {
    shows: mpsc::Sender<Show>,
    logs: Arc<Semaphore>,
    /// Counts what has been written.
    written: watch::Receiver<u64>,
    ended: oneshot::Receiver<()>,
}

impl Stage {
    /// Begins to show. `logs` gets container output, or all of JSON; `status` our own words. A writer that does not block
    /// is waited for all the same.
    ///
    /// # Errors
    /// The system gives no thread.
    #[expect(
        clippy::disallowed_methods,
        reason = "a writer that blocks must not hold up anybody: it has its own thread"
    )]
    pub fn open(
        mode: Mode,
        logs: impl Write + AsFd + Send + 'static,
        status: impl Write + AsFd + Send + 'static,
        clock: impl Clock,
    ) -> io::Result<Self> {
        let (shows, incoming) = mpsc::channel();
        let (done, ended) = oneshot::channel();
        let (count, written) = watch::channel(0);
        let work = move || {
            show_all(Screen::new(mode, Patient::new(logs), Patient::new(status)), &incoming, &count, &clock);
            // Nobody may be waiting any more.
            let _ = done.send(());
        };
        thread::Builder::new().name("screen".into()).spawn(work)?;
        Ok(Self { shows, logs: Arc::new(Semaphore::new(WAITING_LOGS)), written, ended })
    }

    /// Takes lines of the program's own log, so that they do not run into what lives on the screen.
    #[must_use]
    pub fn log_writer(&self) -> LogWriter {
        LogWriter { shows: self.shows.clone() }
    }

    /// Tells the screen that the terminal has another size now.
    pub fn resizer(&self) -> impl Fn(Size) + Send + 'static {
        let shows = self.shows.clone();
        move |size| drop(shows.send(Show::Resize(size)))
    }

    /// Shows something. A screen that broke shows nothing more, and the work goes on.
    pub(crate) fn show(&self, show: Show) {
        let _ = self.shows.send(show);
    }

    /// A place for a piece of output, and whether it had to be waited for: the screen is slow.
    pub(crate) async fn place(&self) -> (OwnedSemaphorePermit, bool) {
        match Arc::clone(&self.logs).try_acquire_owned() {
            Ok(place) => (place, false),
            Err(_) => (Arc::clone(&self.logs).acquire_owned().await.expect("nobody closes it"), true),
        }
    }

    /// Waits until nothing has been written for so long: there was nothing, or nobody reads what was.
    pub(crate) fn silence(&self, limit: Duration) -> impl Future<Output = ()> + Send + use<> {
        let mut written = self.written.clone();
        written.mark_unchanged();
        async move {
            // A screen that has ended writes nothing more either, and says so at once.
            while let Ok(Ok(())) = timeout(limit, written.changed()).await {}
        }
    }

    /// Waits until everything has been shown, or nothing could be for so long.
    pub(crate) async fn close(self, patience: Duration) {
        let silence = self.silence(patience);
        let Self { shows, ended, .. } = self;
        // Writers of the log may live on; this is the end all the same.
        let _ = shows.send(Show::Close);
        // A terminal that takes nothing must not keep the command from ending.
        tokio::select! {
            _ = ended => {}
            () = silence => {}
        }
    }
}

/// Lines of the program's own log, on their way to the screen.
#[derive(Clone, Debug)]
pub struct LogWriter {
    shows: mpsc::Sender<Show>,
}

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = String::from_utf8_lossy(bytes).into_owned();
        self.shows.send(Show::OwnLog(lines)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn show_all<L: Write, S: Write>(
    mut screen: Screen<L, S>,
    shows: &mpsc::Receiver<Show>,
    written: &watch::Sender<u64>,
    clock: &impl Clock,
) {
    let mut is_broken = false;
    loop {
        let next = match screen.poll_timeout() {
            Some(at) => shows.recv_timeout(at.since(clock.now().mono)),
            None => shows.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
        };
        let now = clock.now();
        let outcome = match next {
            Ok(Show::Close) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
            // What could not be written was not shown.
            Ok(Show::Shown(_)) if is_broken => continue,
            Ok(Show::Shown(mark)) => {
                keep(mark);
                continue;
            }
            Ok(show) => put(&mut screen, now, show),
            Err(mpsc::RecvTimeoutError::Timeout) => screen.handle_timeout(now),
        };
        written.send_modify(|count| *count += 1);
        // Said once: the log goes to the screen, too.
        if let Err(error) = outcome
            && !std::mem::replace(&mut is_broken, true)
        {
            tracing::debug!(error = %error, "the screen could not be written");
        }
    }
}

/// Without it, output is shown twice after a kill: no reason to stop anything.
fn keep(mark: Mark) {
    if let Err(error) = mark.keep() {
        tracing::debug!(error = %error, "what was shown could not be noted");
    }
}

fn put<L: Write, S: Write>(screen: &mut Screen<L, S>, now: lighterman_ids::Moment, show: Show) -> io::Result<()> {
    match show {
        Show::Started(started) => screen.started(now, &started),
        Show::View(view) => screen.view(now, &view),
        Show::Pull(image, step) => screen.pull(now, &image, &step),
        Show::Log(name, chunk, _place) => screen.log(now, &name, &chunk),
        Show::LogEnd(name) => screen.log_end(now, &name),
        Show::Shown(_) | Show::Close => Ok(()),
        Show::Signal(signal, action) => screen.signal(now, signal, action),
        Show::Leftovers(found) => screen.leftovers(now, &found),
        Show::Problems { file, errors, warnings } => screen.problems(now, &file, &errors, &warnings),
        Show::Note(text) => screen.note(now, &text),
        Show::Warning(text) => screen.warning(now, &text),
        Show::Failure(failure) => screen.failure(now, &failure),
        Show::End(end) => screen.end(now, &end),
        Show::OwnLog(lines) => screen.own_log(now, &lines),
        Show::Resize(size) => {
            screen.resize(size);
            screen.handle_timeout(now)
        }
    }
}
