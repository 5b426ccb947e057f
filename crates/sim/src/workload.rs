//! What the tasks of a run do: programs of the test image, images, limits, health checks.

use std::{sync::Arc, time::Duration};

use lighterman_backoff::derive_nth;
use lighterman_container_spec::definition_digest;
use lighterman_ids::{ContainerName, Family, ImageId, ImageRef, TaskId};
use lighterman_runtime_model::{LocalImage, Model, Source};
use lighterman_task_manager::TaskSpec;
use lighterman_taskdef::{
    ContainerDefinition, HealthCheck, HealthTest, Mebibytes, PortMapping, Protocol, TaskDefinition,
};

use crate::dice::Dice;

/// The image that is always there.
pub(crate) const LOCAL: &str = "sim/local:1";

/// Every image a task may name. All but [`LOCAL`] have to be pulled, with more or less success.
const IMAGES: [&str; 8] = [
    LOCAL,
    "sim/pulled:1",
    "sim/limited:1",
    "sim/limited-for-long:1",
    "sim/missing:1",
    "sim/denied:1",
    "sim/unreachable:1",
    "sim/stalls:1",
];

/// A port that tasks and others fight over.
pub(crate) const CONTESTED_PORT: u16 = 8080;

/// Gives the runtime and its registries the images of all workloads.
pub(crate) fn stock(model: &mut Model) {
    let parse = |text: &str| ImageRef::parse(text).expect("the names of our images are well-formed");
    let image = || LocalImage::testbox(image_id());
    let here = |takes| Source::Available { image: Box::new(image()), layers: 3, takes };
    model.add_image(&parse(LOCAL), image());
    let limited = |refusals| Source::RateLimited { refusals, then: Box::new(here(Duration::from_secs(2))) };
    for name in &IMAGES[1..] {
        let source = match *name {
            "sim/pulled:1" => here(Duration::from_secs(7)),
            "sim/limited:1" => limited(2),
            "sim/limited-for-long:1" => limited(9),
            "sim/denied:1" => Source::Unauthorised,
            "sim/unreachable:1" => Source::Unreachable,
            "sim/stalls:1" => Source::Stalls { lines: 4 },
            _ => Source::Missing,
        };
        model.set_source(&parse(name), source);
    }
}

fn image_id() -> ImageId {
    ImageId::parse(&format!("sha256:{}", "5b".repeat(32))).expect("64 hex digits")
}

/// What a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// Ends with this code after a while, which may be none.
    Ends {
        /// When.
        after: Duration,
        /// How.
        code: u8,
    },
    /// Runs until SIGTERM and ends with this code so long after it.
    EndsOnTerm {
        /// From the signal to the end.
        after: Duration,
        /// How.
        code: u8,
    },
    /// Runs until it is killed.
    IgnoresTerm,
    /// Takes more memory than it may, after a while.
    RunsOutOfMemory,
    /// Cannot be started.
    IsMissing,
    /// Flips its health and ends with 3 on SIGTERM.
    FlipsHealth,
}

impl Program {
    fn draw(dice: &mut Dice) -> Self {
        // Not 137, which only a kill leaves.
        let code = u8::try_from(dice.below("program", 100)).expect("below 256");
        let after = match dice.below("program", 3) {
            0 => Duration::ZERO,
            _ => dice.span("program", Duration::from_millis(50), Duration::from_secs(120)),
        };
        match dice.below("program", 16) {
            0..=4 => Self::Ends { after, code },
            5..=8 => Self::EndsOnTerm { after: after / 4, code },
            9..=10 => Self::IgnoresTerm,
            11 => Self::RunsOutOfMemory,
            12 => Self::IsMissing,
            _ => Self::FlipsHealth,
        }
    }

    fn words(self) -> Vec<String> {
        let seconds = |time: Duration| format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
        match self {
            Self::Ends { after, code } if after.is_zero() => format!("exit {code}"),
            Self::Ends { after, code } => format!("sleep {} + exit {code}", seconds(after)),
            Self::EndsOnTerm { after, code } => format!("term-after {} {code}", seconds(after)),
            Self::IgnoresTerm => "ignore-term".into(),
            Self::RunsOutOfMemory => "sleep 1.5 + alloc 64".into(),
            Self::IsMissing => "exit 0".into(),
            Self::FlipsHealth => "put /ok 1 + flip /ok 21 + on-term 3".into(),
        }
        .split(' ')
        .map(Into::into)
        .collect()
    }

    /// Whether the kernel may kill it without anybody's doing.
    pub(crate) const fn may_be_killed_for_memory(self) -> bool {
        match self {
            Self::RunsOutOfMemory => true,
            Self::Ends { .. } | Self::EndsOnTerm { .. } | Self::IgnoresTerm | Self::IsMissing | Self::FlipsHealth => {
                false
            }
        }
    }
}

/// One task of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What is submitted.
    pub spec: TaskSpec,
    /// What its container runs.
    pub program: Program,
}

impl Workload {
    /// The `nth` task of a run.
    pub(crate) fn draw(seed: u64, nth: u64, dice: &mut Dice) -> Self {
        let program = Program::draw(dice);
        let image = if dice.chance("image", 650) { LOCAL } else { *dice.pick("image", &IMAGES) };
        Self::new(seed, nth, program, image, |container| dress(container, program, dice))
    }

    /// A task of one container `main` that runs this program, before `dress` has its say.
    ///
    /// # Panics
    /// `image` is no image reference.
    #[must_use]
    pub fn new(
        seed: u64,
        nth: u64,
        program: Program,
        image: &str,
        dress: impl FnOnce(&mut ContainerDefinition),
    ) -> Self {
        let name = ContainerName::parse("main").expect("a word");
        let image = ImageRef::parse(image).expect("an image reference");
        let mut container = ContainerDefinition::new(name, image);
        container.command = program.words();
        match program {
            Program::IsMissing => container.entry_point = vec!["/nope".into()],
            Program::RunsOutOfMemory => container.memory = Some(Mebibytes(32)),
            Program::FlipsHealth => container.health_check = Some(check()),
            Program::Ends { .. } | Program::EndsOnTerm { .. } | Program::IgnoresTerm => {}
        }
        dress(&mut container);
        let family = Family::parse("sim").expect("a word");
        let definition = TaskDefinition::new(family, vec![container]);
        let digest = definition_digest(&definition.to_register_json());
        let half = |salt: &str| u128::from(derive_nth(seed, salt, nth));
        let id = TaskId::from_bits(half("task-high") << 64 | half("task-low"));
        let spec = TaskSpec {
            arn: id.local_arn(None),
            id,
            definition: Arc::new(definition),
            digest,
            seed: derive_nth(seed, "task-seed", nth),
        };
        Self { spec, program }
    }
}

fn dress(container: &mut ContainerDefinition, program: Program, dice: &mut Dice) {
    if dice.chance("stop timeout", 500) {
        container.stop_timeout = Some(Duration::from_secs(1 + dice.below("stop timeout", 40)));
    }
    let ports = match program {
        Program::EndsOnTerm { .. } | Program::FlipsHealth => dice.chance("ports", 300),
        Program::Ends { .. } | Program::IgnoresTerm | Program::RunsOutOfMemory | Program::IsMissing => false,
    };
    if ports {
        let host_port = dice.chance("ports", 600).then_some(CONTESTED_PORT);
        container.port_mappings = vec![PortMapping {
            container_port: 80,
            last_port: None,
            host_port,
            protocol: Protocol::Tcp,
            name: None,
            app_protocol: None,
        }];
    }
}

fn check() -> HealthCheck {
    let words = ["CMD", "/testbox", "healthy", "/ok"].map(String::from);
    let mut check = HealthCheck::new(HealthTest::parse(&words).expect("a test with a program"));
    check.interval = Duration::from_secs(10);
    check.retries = 2;
    check
}
