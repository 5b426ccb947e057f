//! Up to when the output of containers was shown, so that whoever goes on after a kill shows the rest.
//!
//! The note is written at most once a second. What was shown after it is shown twice, and nothing is left out: an
//! instant counts only once all that Docker stamped before it must have been shown.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lighterman_contracts::Clock;
use lighterman_ids::{Moment, Mono, RuntimeId, Wall};

use crate::notes;

/// The note is written at most so often.
const EVERY: Duration = Duration::from_secs(1);

/// Longest time that a line takes from Docker's stamp to us on a busy host.
const ON_ITS_WAY: Duration = Duration::from_millis(500);

/// Whoever waits so long for more has got all there was.
const PAUSE: Duration = Duration::from_millis(20);

type Instants = BTreeMap<RuntimeId, Wall>;

/// The note of one state directory.
pub(crate) struct Shown {
    directory: PathBuf,
    now: Box<dyn Fn() -> Moment + Send + Sync>,
    /// As it was found.
    before: Instants,
    from_start: bool,
    /// As it is to be written; `None` once nothing may be written any more.
    state: Mutex<Option<Instants>>,
}

/// How containers are followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Following {
    /// From their start: there is no history to be caught up with.
    pub(crate) from_start: bool,
    /// Docker is on this host. The clock of another one may be wrong by more than anything here allows for.
    pub(crate) by_our_clock: bool,
}

/// All output of this container up to this instant has been handed on.
#[derive(Debug)]
pub(crate) struct Mark {
    shown: Arc<Shown>,
    container: RuntimeId,
    up_to: Wall,
}

impl Shown {
    /// Reads the note. Without one that can be relied on, everything is shown.
    pub(crate) fn open(directory: &Path, following: Following, clock: impl Clock) -> io::Result<Arc<Self>> {
        let Following { from_start, by_our_clock } = following;
        let text = notes::read(directory, notes::SHOWN)?.unwrap_or_default();
        let before = text.lines().filter(|_| by_our_clock).filter_map(read_line).collect();
        let (now, state) = (Box::new(move || clock.now()), Mutex::new(Some(Instants::new())));
        Ok(Arc::new(Self { directory: directory.into(), now, before, from_start, state }))
    }

    /// From when on the output of a container is to be shown. An instant to come says that the clock was set back.
    pub(crate) fn since(&self, container: &RuntimeId) -> Option<Wall> {
        self.before.get(container).copied().filter(|up_to| *up_to <= (self.now)().wall)
    }

    /// Nothing is written from now on. Without a task left, the note is of no use to anybody.
    pub(crate) fn close(&self, nothing_is_left: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = None;
        if nothing_is_left
            && let Err(error) = fs::remove_file(self.directory.join(notes::SHOWN))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(error = %error, "a note on shown output could not be removed");
        }
    }
}

impl Mark {
    /// Writes it down: it has been shown.
    pub(crate) fn keep(self) -> io::Result<()> {
        let mut state = self.shown.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(instants) = state.as_mut() else { return Ok(()) };
        instants.insert(self.container, self.up_to);
        let lines: Vec<String> = instants.iter().map(|(container, up_to)| format!("{container} {}", up_to.0)).collect();
        notes::write_lightly(&self.shown.directory, notes::SHOWN, &lines.join("\n"))
    }
}

fn read_line(line: &str) -> Option<(RuntimeId, Wall)> {
    let (container, up_to) = line.split_once(' ')?;
    Some((RuntimeId::parse(container).ok()?, Wall(up_to.parse().ok()?)))
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// When the output of one container is marked as shown.
///
/// Whoever reads is level with a new container, and with another one once a pause has come, and stays so until the screen
/// makes it wait: what is held back then was stamped long ago. Who is not level marks nothing.
pub(crate) struct Pace {
    shown: Arc<Shown>,
    container: RuntimeId,
    is_level: bool,
    marked: Mono,
    /// When the last piece came, if that is not marked yet.
    unmarked: Option<Mono>,
}

impl Pace {
    pub(crate) fn new(shown: Arc<Shown>, container: RuntimeId) -> Self {
        let marked = (shown.now)().mono;
        Self { is_level: shown.from_start, shown, container, marked, unmarked: None }
    }

    /// How long to wait for more before [`Pace::paused`] is due; `None`: for ever.
    pub(crate) fn patience(&self) -> Option<Duration> {
        if !self.is_level {
            return Some(PAUSE);
        }
        let due = self.marked.after(EVERY).since((self.shown.now)().mono);
        self.unmarked.map(|_| due.max(PAUSE))
    }

    /// A piece was handed on; `held_up`: the screen made it wait.
    pub(crate) fn handed_on(&mut self, held_up: bool) -> Option<Mark> {
        let now = (self.shown.now)();
        self.is_level &= !held_up;
        self.unmarked = Some(now.mono);
        self.mark(now)
    }

    /// Nothing more has come for as long as was asked for.
    pub(crate) fn paused(&mut self) -> Option<Mark> {
        self.is_level = true;
        self.mark((self.shown.now)())
    }

    /// The output has ended in order.
    pub(crate) fn ended(self) -> Mark {
        let up_to = (self.shown.now)().wall;
        Mark { shown: self.shown, container: self.container, up_to }
    }

    fn mark(&mut self, now: Moment) -> Option<Mark> {
        let is_due = self.is_level && now.mono.since(self.marked) >= EVERY;
        let last = self.unmarked.filter(|_| is_due)?;
        self.marked = now.mono;
        self.unmarked = Some(last).filter(|last| now.mono.since(*last) < ON_ITS_WAY);
        let way = i64::try_from(ON_ITS_WAY.as_nanos()).unwrap_or(i64::MAX);
        let up_to = Wall(now.wall.0.saturating_sub(way));
        Some(Mark { shown: Arc::clone(&self.shown), container: self.container.clone(), up_to })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const MS: u64 = 1_000_000;

    const LATER: Following = Following { from_start: false, by_our_clock: true };

    /// A clock that is set by hand.
    #[derive(Clone, Default)]
    struct ByHand(Arc<AtomicU64>);

    impl ByHand {
        fn set_ms(&self, ms: u64) {
            self.0.store(ms * MS, Ordering::Relaxed);
        }
    }

    impl Clock for ByHand {
        fn now(&self) -> Moment {
            let nanos = self.0.load(Ordering::Relaxed);
            Moment { mono: Mono(nanos), wall: Wall(nanos.try_into().unwrap()), ..Moment::default() }
        }
    }

    fn container() -> RuntimeId {
        RuntimeId::parse(&"ab".repeat(32)).unwrap()
    }

    fn up_to_ms(mark: Option<Mark>) -> Option<i64> {
        mark.map(|mark| mark.up_to.0 / 1_000_000)
    }

    #[test]
    fn a_mark_comes_once_a_second_and_leaves_time_for_what_is_on_its_way() {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ByHand::default());
        let mut pace = Pace::new(Shown::open(directory.path(), LATER, clock.clone()).unwrap(), container());
        assert_eq!(pace.patience(), Some(PAUSE));
        let mut marks = Vec::new();
        for ms in (0..3_000).step_by(10) {
            clock.set_ms(ms);
            if ms == 50 {
                marks.extend(up_to_ms(pace.paused()));
            }
            marks.extend(up_to_ms(pace.handed_on(false)));
        }
        assert_eq!(marks, [500, 1_500]);
        // The last pieces are marked a second later, when nothing of before them can be on its way.
        clock.set_ms(3_000);
        assert_eq!(up_to_ms(pace.paused()), Some(2_500));
        assert_eq!(pace.patience(), Some(EVERY));
        clock.set_ms(4_000);
        assert_eq!(up_to_ms(pace.paused()), Some(3_500));
        assert_eq!(pace.patience(), None, "everything is marked");
    }

    /// What waits behind it was stamped long ago.
    #[test]
    fn who_is_behind_marks_nothing_before_the_next_pause() {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ByHand::default());
        let mut pace = Pace::new(Shown::open(directory.path(), LATER, clock.clone()).unwrap(), container());
        clock.set_ms(5_000);
        assert!(pace.handed_on(false).is_none(), "there may be a long history");
        assert!(pace.paused().is_some());
        clock.set_ms(10_000);
        assert!(pace.handed_on(true).is_none(), "the screen was slow");
        assert!(pace.handed_on(false).is_none());
        assert!(pace.paused().is_some());
    }

    /// A steady output has no pauses.
    #[test]
    fn a_new_container_needs_no_pause() {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ByHand::default());
        let mut pace = Pace::new(
            Shown::open(directory.path(), Following { from_start: true, ..LATER }, clock.clone()).unwrap(),
            container(),
        );
        assert_eq!(pace.patience(), None, "nothing came yet");
        assert!(pace.handed_on(false).is_none());
        assert_eq!(pace.patience(), Some(EVERY));
        clock.set_ms(1_000);
        assert_eq!(up_to_ms(pace.handed_on(false)), Some(500));
    }

    #[test]
    fn what_is_kept_is_found_again_until_nothing_is_left() {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ByHand::default());
        let open = || Shown::open(directory.path(), LATER, clock.clone()).unwrap();
        clock.set_ms(7_000);
        let first = open();
        assert_eq!(first.since(&container()), None);
        Pace::new(Arc::clone(&first), container()).ended().keep().unwrap();
        assert_eq!(open().since(&container()), Some(Wall(7_000_000_000)));
        let elsewhere = Following { by_our_clock: false, ..LATER };
        assert_eq!(Shown::open(directory.path(), elsewhere, clock.clone()).unwrap().since(&container()), None);
        clock.set_ms(6_000);
        assert_eq!(open().since(&container()), None, "the clock was set back");
        clock.set_ms(7_000);
        // An empty note, as a power cut leaves it, says nothing.
        fs::write(directory.path().join(notes::SHOWN), "").unwrap();
        assert_eq!(open().since(&container()), None);

        let late = Pace::new(Arc::clone(&first), container()).ended();
        first.close(true);
        late.keep().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is written any more");
    }
}
