//! What is done, drawn from a seed.

use std::fmt;

/// How many containers play a part in a sequence, at most.
pub(crate) const PARTS: usize = 2;
/// How many deeds a sequence has, at most.
const LONGEST: u64 = 8;

/// One thing to do; `part` is which container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Create {
        part: usize,
        cast: Cast,
    },
    Start {
        part: usize,
    },
    /// With a grace of a second: less would be a race with a program that reacts.
    Stop {
        part: usize,
    },
    /// A stop that is given up, and ends all the same.
    StopGivenUp {
        part: usize,
    },
    /// A stop with a long grace, and a kill that comes to its help.
    StopThenKill {
        part: usize,
    },
    /// Two stops at once.
    StopTwice {
        part: usize,
    },
    /// A look at a container while it is being started.
    StartAndLook {
        part: usize,
    },
    Kill {
        part: usize,
        hard: bool,
    },
    Remove {
        part: usize,
    },
    List,
    /// Somebody else removes it by force.
    ForceRemove {
        part: usize,
    },
    /// Somebody else restarts it.
    Restart {
        part: usize,
    },
    MissingImage,
    InspectImage,
}

/// What a container is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cast {
    /// The words of its program.
    Plain(&'static str),
    /// With a check of these words every 300 ms.
    Checked(&'static str, &'static str),
    /// With a limit of 16 MiB; a child dies of it.
    Limited(&'static str),
    /// With a limit of 16 MiB, of which the program itself dies.
    Doomed(&'static str),
    /// Its program is not there.
    NoProgram(&'static str),
    /// Publishes one and the same port of the host.
    Port,
    /// Publishes a port that the engine picks.
    AnyPort,
    /// Runs as somebody whom the image does not know.
    User,
    /// With docker-init as process 1.
    Init(&'static str),
    /// Wants a network that is not there.
    NoNetwork,
    /// Something the engine refuses.
    LittleMemory,
    RelativeDirectory,
    NoCommand,
    TooManyShares,
    /// A variable that no program can be started with.
    LongVariable,
}

/// A container that runs, for those who want no surprises.
pub(crate) const CREATE_AND_RUN: &[Deed] =
    &[Deed::Create { part: 0, cast: Cast::Plain("ignore-term") }, Deed::Start { part: 0 }];

const CASTS: &[Cast] = &[
    Cast::Plain("exit 0"),
    Cast::Plain("exit 3"),
    Cast::Plain("exit 255"),
    Cast::Plain("sleep 600"),
    Cast::Plain("ignore-term"),
    // Those that react say so first: a signal that comes before they do is lost.
    Cast::Plain("serve 8080"),
    Cast::Plain("print ready + on-term 7"),
    Cast::Plain("print ready + term-after 0.3 5"),
    Cast::Plain("trap 4 + eprint ready + sleep 600"),
    Cast::Plain("put /f one + read /f + print two + eprint three + exit 1"),
    Cast::Plain("write 1000 0.2 50 + exit 2"),
    Cast::Plain("sleep 0.4 + exit 9"),
    Cast::Plain("nonsense"),
    Cast::Checked("ignore-term", "print well"),
    Cast::Checked("ignore-term", "exit 7"),
    Cast::Checked("put /ok x + sleep 600", "healthy /ok"),
    Cast::Checked("sleep 1.2 + put /ok x + sleep 600", "healthy /ok"),
    Cast::Doomed("sleep 0.5 + alloc 64"),
    Cast::Limited("sleep 0.5 + alloc-child 64 + exit 6"),
    Cast::Limited("sleep 0.5 + alloc-child 64 + ignore-term"),
    Cast::NoProgram("/nope"),
    Cast::NoProgram("nope"),
    Cast::NoProgram("/proc"),
    Cast::Port,
    Cast::Port,
    Cast::AnyPort,
    Cast::User,
    Cast::Init("sleep 600"),
    Cast::Init("print ready + on-term 3"),
    Cast::NoNetwork,
    Cast::LittleMemory,
    Cast::RelativeDirectory,
    Cast::NoCommand,
    Cast::TooManyShares,
    Cast::LongVariable,
];

/// The sequence of this seed. It always has something to do it to.
pub(crate) fn sequence(seed: u64) -> Vec<Deed> {
    let mut dice = Dice(seed);
    let mut deeds = vec![Deed::Create { part: 0, cast: dice.pick(CASTS) }, Deed::Start { part: 0 }];
    let more = dice.below(LONGEST - 2) + 1;
    deeds.extend((0..more).map(|_| deed(&mut dice)));
    deeds
}

fn deed(dice: &mut Dice) -> Deed {
    // The first is asked more often: most of a life happens to it.
    let part = usize::from(dice.below(4) == 0);
    match dice.below(28) {
        0..=3 => Deed::Create { part, cast: dice.pick(CASTS) },
        4..=8 => Deed::Start { part },
        9..=11 => Deed::Stop { part },
        12 => Deed::StopGivenUp { part },
        13 => Deed::StopThenKill { part },
        14 => Deed::StopTwice { part },
        15 => Deed::StartAndLook { part },
        16..=19 => Deed::Kill { part, hard: dice.below(2) == 0 },
        20..=22 => Deed::Remove { part },
        23 => Deed::List,
        24 => Deed::ForceRemove { part },
        25 => Deed::Restart { part },
        26 => Deed::MissingImage,
        _ => Deed::InspectImage,
    }
}

/// Draws from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let bound = u64::try_from(from.len()).expect("a short list");
        let index = usize::try_from(self.below(bound)).expect("an index of the list");
        from[index]
    }
}

/// The name of a part in what is printed.
pub(crate) fn name(part: usize) -> &'static str {
    ["alpha", "beta"][part]
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Create { part, cast } => write!(f, "create {} {cast:?}", name(part)),
            Self::Start { part } => write!(f, "start {}", name(part)),
            Self::Stop { part } => write!(f, "stop {}", name(part)),
            Self::StopGivenUp { part } => write!(f, "stop {} and give up", name(part)),
            Self::StopThenKill { part } => write!(f, "stop {}, then kill it", name(part)),
            Self::StopTwice { part } => write!(f, "stop {} twice at once", name(part)),
            Self::StartAndLook { part } => write!(f, "start {} and look meanwhile", name(part)),
            Self::Kill { part, hard: true } => write!(f, "kill {}", name(part)),
            Self::Kill { part, hard: false } => write!(f, "signal {}", name(part)),
            Self::Remove { part } => write!(f, "remove {}", name(part)),
            Self::List => f.write_str("list"),
            Self::ForceRemove { part } => write!(f, "somebody removes {} by force", name(part)),
            Self::Restart { part } => write!(f, "somebody restarts {}", name(part)),
            Self::MissingImage => f.write_str("create from a missing image"),
            Self::InspectImage => f.write_str("look at the image"),
        }
    }
}
