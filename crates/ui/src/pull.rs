//! How far pulls are.

use std::{collections::BTreeMap, time::Duration};

use lighterman_calls::PullProgress;
use lighterman_ids::{ImageRef, Mono};
use lighterman_status::ContainerStatus;
use lighterman_view::TaskView;

use crate::{
    event::PullEvent,
    paint::{Brush, Ink},
    text::{fit, pad, size, whole_span, width},
};

/// An engine refuses images with more layers than 127; what comes beyond this is counted in none of the sums.
const LAYER_LIMIT: usize = 256;

/// After so long without progress the line says so (B-012).
const SILENCE: Duration = Duration::from_secs(5);

/// Pulls under way, by image.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulls(BTreeMap<ImageRef, Pull>);

/// One pull.
#[derive(Clone, Debug)]
pub(crate) struct Pull {
    layers: BTreeMap<String, Layer>,
    heard: Mono,
    /// When it was told last, where not every step is told.
    told: Option<Mono>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Layer {
    done: u64,
    total: u64,
    phase: Phase,
}

/// What happens to a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waiting,
    Downloading,
    Downloaded,
    Extracting,
    Ready,
}

impl Phase {
    /// The busiest first: of several layers, what the first of these does is what the pull does.
    const BUSIEST: [Self; 4] = [Self::Downloading, Self::Extracting, Self::Waiting, Self::Downloaded];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Downloading => "downloading",
            Self::Downloaded => "downloaded",
            Self::Extracting => "extracting",
            Self::Ready => "ready",
        }
    }
}

impl Pulls {
    /// Takes a step of a pull.
    pub(crate) fn progress(&mut self, now: Mono, image: &ImageRef, step: &PullProgress) {
        let fresh = || Pull { layers: BTreeMap::new(), heard: now, told: None };
        let pull = self.0.entry(image.clone()).or_insert_with(fresh);
        pull.heard = now;
        pull.take(step);
    }

    /// Forgets pulls that are over: no container of the task still waits for the image.
    pub(crate) fn settle(&mut self, view: &TaskView) {
        self.0.retain(|image, _| is_wanted(view, image));
    }

    /// A pull that has not been told for so long, and is now.
    pub(crate) fn tell(&mut self, now: Mono, image: &ImageRef, every: Duration) -> Option<PullEvent> {
        let pull = self.0.get_mut(image)?;
        if pull.told.is_some_and(|told| now.since(told) < every) {
            return None;
        }
        pull.told = Some(now);
        Some(pull.event(image))
    }

    /// How long nothing has been heard of a pull, if that is long; `None` too when there is none.
    pub(crate) fn silence(&self, now: Mono, image: &ImageRef) -> Option<Duration> {
        self.0.get(image).map(|pull| now.since(pull.heard)).filter(|silent| *silent >= SILENCE)
    }

    pub(crate) fn contains(&self, image: &ImageRef) -> bool {
        self.0.contains_key(image)
    }

    /// One line per pull, as it is redrawn.
    pub(crate) fn lines(&self, now: Mono, columns: usize, brush: Brush) -> Vec<String> {
        self.0.iter().map(|(image, pull)| pull.line(now, image, columns, brush)).collect()
    }
}

/// Whether a container still needs the image: progress that comes late must not bring a bar back.
pub(crate) fn is_wanted(view: &TaskView, image: &ImageRef) -> bool {
    let mut users = view.containers.iter().filter(|container| container.image == *image);
    users.any(|container| container.known.is_before(ContainerStatus::Pulled))
}

impl Pull {
    fn take(&mut self, step: &PullProgress) {
        // "Pulling from library/web" comes with the tag where layers have their id.
        let is_whole = step.layer.is_empty() || step.status.starts_with("Pulling from");
        if is_whole {
            return;
        }
        let room = self.layers.len() < LAYER_LIMIT;
        let known = match self.layers.get_mut(&step.layer) {
            Some(layer) => Some(layer),
            None if room => Some(self.layers.entry(step.layer.clone()).or_default()),
            None => None,
        };
        if let Some(layer) = known {
            layer.take(step);
        }
    }

    fn event(&self, image: &ImageRef) -> PullEvent {
        let sum = |of: fn(&Layer) -> u64| self.layers.values().map(of).fold(0, u64::saturating_add);
        PullEvent {
            image: image.to_string(),
            phase: self.phase().as_str(),
            done_bytes: sum(|layer| layer.done),
            total_bytes: sum(|layer| layer.total),
            layers_done: sum(|layer| u64::from(layer.phase == Phase::Ready)),
            layers: sum(|_| 1),
        }
    }

    fn phase(&self) -> Phase {
        let is_at = |phase: &Phase| self.layers.values().any(|layer| layer.phase == *phase);
        let is_empty = self.layers.is_empty();
        Phase::BUSIEST.into_iter().find(is_at).unwrap_or(if is_empty { Phase::Waiting } else { Phase::Ready })
    }

    /// `team/web:1  downloading  [====>     ]  12.3 MiB / 45.6 MiB, 3/7 layers`
    fn line(&self, now: Mono, image: &ImageRef, columns: usize, brush: Brush) -> String {
        const NAME: usize = 18;
        const BAR: usize = 24;
        let event = self.event(image);
        let silent = now.since(self.heard);
        let is_silent = silent >= SILENCE;
        let tail = if is_silent { format!("no progress for {}", whole_span(silent)) } else { in_words(&event) };
        let name = fit_end(image.as_str(), NAME);
        let phase = pad(event.phase, "downloading".len());
        let room = columns.saturating_sub(width(&name) + width(&phase) + width(&tail) + 6);
        let bar = if room > 4 { bar(&event, room.min(BAR)) } else { String::new() };
        let ink = if is_silent { Ink::Attention } else { Ink::Busy };
        let parts = [brush.paint(Ink::Strong, &name), brush.paint(ink, &phase), bar, brush.paint(ink, &tail)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("  ")
    }
}

impl Layer {
    /// Docker's words; others change nothing.
    fn take(&mut self, step: &PullProgress) {
        self.phase = match step.status.as_str() {
            "Pulling fs layer" | "Waiting" => Phase::Waiting,
            "Downloading" => Phase::Downloading,
            "Verifying Checksum" | "Download complete" => Phase::Downloaded,
            "Extracting" => Phase::Extracting,
            "Pull complete" | "Already exists" => Phase::Ready,
            _ => return,
        };
        match self.phase {
            Phase::Waiting => {}
            Phase::Downloading => {
                self.done = step.current.unwrap_or(self.done);
                self.total = step.total.unwrap_or(self.total).max(self.done);
            }
            Phase::Downloaded | Phase::Extracting | Phase::Ready => self.done = self.total,
        }
    }
}

/// `12.3 MiB / 45.6 MiB, 3/7 layers`
pub(crate) fn in_words(event: &PullEvent) -> String {
    let layers = format!("{}/{} layers", event.layers_done, event.layers);
    match (event.total_bytes, event.layers) {
        (0, 0) => "asking the registry".into(),
        (0, _) => layers,
        (total, _) => format!("{} / {}, {layers}", size(event.done_bytes), size(total)),
    }
}

fn bar(event: &PullEvent, columns: usize) -> String {
    let room = columns - 2;
    let (done, total) = match event.total_bytes {
        0 => (event.layers_done, event.layers.max(1)),
        total => (event.done_bytes.min(total), total),
    };
    let filled = u128::from(done) * room as u128 / u128::from(total);
    let filled = usize::try_from(filled).unwrap_or(room).min(room);
    format!("[{}{}]", "=".repeat(filled), " ".repeat(room - filled))
}

/// Without the registry and as much of the path as does not fit: the end of an image reference says the most.
fn fit_end(text: &str, columns: usize) -> String {
    let mut rest = text;
    while width(rest) > columns {
        let Some((_, shorter)) = rest.split_once('/') else { return fit(rest, columns) };
        rest = shorter;
    }
    rest.into()
}
