//! Colour, or none.

use lighterman_status::{ContainerStatus, Health, TaskStatus};

/// What a piece of text means; how that looks is decided here only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Good,
    Bad,
    Attention,
    Busy,
    Faint,
    Strong,
    Link,
}

impl Ink {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Attention => "33",
            Self::Busy => "36",
            Self::Faint => "2",
            Self::Strong => "1",
            Self::Link => "4",
        }
    }

    pub(crate) const fn of_status(status: ContainerStatus) -> Self {
        match status {
            ContainerStatus::Running | ContainerStatus::ResourcesProvisioned => Self::Good,
            ContainerStatus::None
            | ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created => Self::Busy,
            ContainerStatus::Stopped => Self::Strong,
        }
    }

    pub(crate) const fn of_task(status: TaskStatus) -> Self {
        match status {
            TaskStatus::Running => Self::Good,
            TaskStatus::None | TaskStatus::ManifestPulled | TaskStatus::Pulled | TaskStatus::Created => Self::Busy,
            TaskStatus::Stopped => Self::Strong,
        }
    }

    pub(crate) const fn of_health(health: Health) -> Self {
        match health {
            Health::Healthy => Self::Good,
            Health::Unhealthy => Self::Bad,
            Health::Unknown => Self::Faint,
        }
    }
}

/// Paints, or leaves text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brush {
    pub(crate) colour: bool,
}

impl Brush {
    pub(crate) const PLAIN: Self = Self { colour: false };

    pub(crate) fn paint(self, ink: Ink, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code()) } else { text.into() }
    }

    /// The colour of a container: the same all the time, another for its neighbours.
    pub(crate) fn paint_name(self, index: usize, text: &str) -> String {
        const COLOURS: [&str; 6] = ["36", "35", "34", "33", "32", "96"];
        let code = COLOURS[index % COLOURS.len()];
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
    }
}
