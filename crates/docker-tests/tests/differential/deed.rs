//! What is done, drawn from a seed.

use std::fmt;

/// How many containers play a part in a sequence, at most.
pub(crate) const PARTS: usize = 2;
/// How many deeds a sequence has, at most.
const LONGEST: u64 = 10;

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
    /// With this option, if any.
    CreateVolume {
        label: &'static str,
        option: Option<&'static str>,
    },
    InspectVolume,
    RemoveVolume,
    TagImage,
    RemoveTag,
}

/// What a container is like. Some need the other one of the play.
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
    /// Is linked to the other.
    Linked,
    /// With the network of the other.
    OtherNetwork,
    /// With its own.
    OwnNetwork,
    /// With the processes of the other.
    OtherProcesses(&'static str),
    /// With the shared memory of the other.
    OtherMemory,
    /// Lets others join its memory.
    Shareable,
    /// With the mounts of the other.
    OtherMounts,
    /// With all of that.
    OtherEverything,
    /// Is linked to the other, and wants a port that is used elsewhere.
    LinkedWithPort,
    /// Has the volume of the play.
    Volume,
    /// Has it twice at one place.
    VolumeTwice,
    /// Has it where memory is mounted, too.
    TmpfsOverVolume,
    /// In the network of the host, where it publishes a port.
    HostWithPort,
    /// With the processes of the host.
    HostProcesses(&'static str),
    /// What does not go together.
    HostLinked,
    NamedInOtherNetwork,
    ExposedInOtherNetwork,
    PublishedInOtherNetwork,
    ResolvedInOtherNetwork,
    HostsInOtherNetwork,
    LinkedInOtherNetwork,
    NamedOnHost,
    /// Limits that contradict each other.
    LittleSwap,
    SwapAlone,
    MuchSwappiness,
    LittleReservation,
    MuchReservation,
    MuchScore,
    /// An image that is not there, and something else that is refused.
    MissingImageAnd(Also),
}

/// What else is wrong with a request, to see what is looked at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Also {
    LittleMemory,
    OtherProcesses,
    OtherMounts,
    Linked,
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
    Cast::Linked,
    Cast::Linked,
    Cast::OtherNetwork,
    Cast::OtherNetwork,
    Cast::OwnNetwork,
    Cast::OtherProcesses("sleep 600"),
    Cast::OtherProcesses("ignore-term"),
    Cast::OtherMemory,
    Cast::Shareable,
    Cast::OtherMounts,
    Cast::OtherEverything,
    Cast::LinkedWithPort,
    Cast::Volume,
    Cast::Volume,
    Cast::VolumeTwice,
    Cast::TmpfsOverVolume,
    Cast::HostWithPort,
    Cast::HostProcesses("sleep 600"),
    Cast::HostLinked,
    Cast::NamedInOtherNetwork,
    Cast::ExposedInOtherNetwork,
    Cast::PublishedInOtherNetwork,
    Cast::ResolvedInOtherNetwork,
    Cast::HostsInOtherNetwork,
    Cast::LinkedInOtherNetwork,
    Cast::NamedOnHost,
    Cast::LittleSwap,
    Cast::SwapAlone,
    Cast::MuchSwappiness,
    Cast::LittleReservation,
    Cast::MuchReservation,
    Cast::MuchScore,
    Cast::MissingImageAnd(Also::LittleMemory),
    Cast::MissingImageAnd(Also::OtherProcesses),
    Cast::MissingImageAnd(Also::OtherMounts),
    Cast::MissingImageAnd(Also::Linked),
];

/// Those that need somebody else, or a volume.
const NEEDY: &[Cast] = &[
    Cast::Linked,
    Cast::OtherNetwork,
    Cast::OtherProcesses("sleep 600"),
    Cast::OtherMemory,
    Cast::OtherMounts,
    Cast::OtherEverything,
    Cast::LinkedWithPort,
    Cast::Volume,
];

/// Those that others need.
const NEEDED: &[Cast] = &[Cast::Plain("sleep 600"), Cast::Shareable, Cast::Volume];

/// The sequence of this seed. It always has something to do it to.
pub(crate) fn sequence(seed: u64) -> Vec<Deed> {
    let mut dice = Dice(seed);
    // Every third play is one of two, the second of whom needs the first.
    let mut deeds = if seed % 3 == 2 {
        let first = [Deed::Create { part: 1, cast: dice.pick(NEEDED) }, Deed::Start { part: 1 }];
        let second = [Deed::Create { part: 0, cast: dice.pick(NEEDY) }, Deed::Start { part: 0 }];
        let left_out = if dice.below(2) == 0 { first.len() } else { 1 };
        first.into_iter().take(left_out).chain(second).collect()
    } else {
        vec![Deed::Create { part: 0, cast: dice.pick(CASTS) }, Deed::Start { part: 0 }]
    };
    let more = dice.below(LONGEST - 4) + 3;
    deeds.extend((0..more).map(|_| deed(&mut dice)));
    deeds
}

fn deed(dice: &mut Dice) -> Deed {
    // The first is asked more often: most of a life happens to it.
    let part = usize::from(dice.below(4) == 0);
    match dice.below(34) {
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
        27 => Deed::InspectImage,
        28 => Deed::CreateVolume { label: "blue", option: None },
        29 => Deed::CreateVolume { label: "red", option: dice.pick(&[None, Some("type"), Some("colour")]) },
        30 => Deed::InspectVolume,
        31 => Deed::RemoveVolume,
        32 => Deed::TagImage,
        _ => Deed::RemoveTag,
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
            Self::CreateVolume { label, option } => write!(f, "create the volume in {label} with {option:?}"),
            Self::InspectVolume => f.write_str("look at the volume"),
            Self::RemoveVolume => f.write_str("remove the volume"),
            Self::TagImage => f.write_str("give the image one more name"),
            Self::RemoveTag => f.write_str("take that name away"),
        }
    }
}
