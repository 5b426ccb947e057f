//! Images of the engine, and of the registries behind it.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use lighterman_calls::{
    Answer, HealthcheckConfig, ImageFacts, ImageSummary, ImageTarget, Outcome, Refusal, RefusalClass, RemoteImage,
};
use lighterman_ids::{Digest, ImageId, ImageRef, Wall};

use crate::{container::Container, model::Model, text};

/// A program that the model can play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgramKind {
    /// The test program; its arguments say what it does.
    Testbox,
    /// Sleeps until SIGTERM and ends with 0, whatever its arguments.
    Pause,
}

/// An image as the engine holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalImage {
    /// Digest of its configuration; one id, one image.
    pub id: ImageId,
    /// `RepoDigests`.
    pub repo_digests: Vec<String>,
    /// `Config.Entrypoint`.
    pub entrypoint: Vec<String>,
    /// `Config.Cmd`.
    pub cmd: Vec<String>,
    /// `Config.Env`.
    pub env: BTreeMap<String, String>,
    /// `Config.Labels`.
    pub labels: BTreeMap<String, String>,
    /// `Config.Healthcheck`; also with a test that must not be sent.
    pub health_test: Option<Vec<String>>,
    /// `Config.Healthcheck`, where its test is one that can be run.
    pub healthcheck: Option<HealthcheckConfig>,
    /// When it was built, in whole seconds.
    pub created_at: Option<Wall>,
    /// Bytes that it takes.
    pub size: u64,
    /// What can be executed, by absolute path. A command that is not among them is missing.
    pub programs: BTreeMap<String, ProgramKind>,
}

impl LocalImage {
    /// An image with nothing but this program, which is its entry point.
    fn of_program(id: ImageId, path: &str, kind: ProgramKind) -> Self {
        Self {
            id,
            repo_digests: Vec::new(),
            entrypoint: Vec::from([path.to_owned()]),
            cmd: Vec::new(),
            env: BTreeMap::new(),
            labels: BTreeMap::new(),
            health_test: None,
            healthcheck: None,
            created_at: Some(Wall(0)),
            size: 1 << 20,
            programs: BTreeMap::from([(path.to_owned(), kind)]),
        }
    }

    /// The image of the test program: entry point `/testbox`, no command.
    #[must_use]
    pub fn testbox(id: ImageId) -> Self {
        Self::of_program(id, "/testbox", ProgramKind::Testbox)
    }

    /// The image of the pause program: entry point `/pause`, no command.
    #[must_use]
    pub fn pause(id: ImageId) -> Self {
        Self::of_program(id, "/pause", ProgramKind::Pause)
    }

    pub(crate) fn facts(&self) -> ImageFacts {
        ImageFacts {
            id: self.id.clone(),
            repo_digests: self.repo_digests.clone(),
            env_names: self.env.keys().cloned().collect(),
            health_test: self.health_test.clone(),
        }
    }
}

/// How a registry answers to the pull of one reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// It has the image.
    Available {
        /// What is there in the end.
        image: Box<LocalImage>,
        /// Layers, each with a line at its beginning and its end.
        layers: u32,
        /// From the call to the end.
        takes: Duration,
    },
    /// It does not know the reference.
    Missing,
    /// It wants other credentials.
    Unauthorised,
    /// It refuses some pulls, and then answers otherwise.
    RateLimited {
        /// How many pulls are still refused.
        refusals: u32,
        /// What then holds.
        then: Box<Self>,
    },
    /// Nothing answers at its address.
    Unreachable,
    /// It sends a few lines of progress and then nothing more.
    Stalls {
        /// Lines, one every 10 ms.
        lines: u32,
    },
}

/// What a pull will do, decided when it reaches the registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fetch {
    /// Lines come at this interval; after the last the image is there.
    Comes { image: Box<LocalImage>, lines: u32, every: Duration },
    /// Some lines come, then silence.
    Stalls { lines: u32, every: Duration },
    /// It fails at once.
    Fails(Refusal),
}

/// What the engine and its registries hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Images {
    by_id: BTreeMap<ImageId, LocalImage>,
    /// Complete references, such as `web:latest`, and what they name.
    names: BTreeMap<String, ImageId>,
    sources: BTreeMap<String, Source>,
}

impl Images {
    pub(crate) fn find(&self, image: &ImageRef) -> Option<&LocalImage> {
        let by_name = self.names.get(&image.pull_name()).and_then(|id| self.by_id.get(id));
        by_name.or_else(|| {
            let digest = image.digest()?;
            let wanted = format!("{}@{digest}", image.name());
            self.by_id.values().find(|local| local.repo_digests.contains(&wanted))
        })
    }

    /// Gives the image this name; one that had the name before becomes nameless.
    pub(crate) fn add(&mut self, name: &ImageRef, image: LocalImage) {
        self.names.insert(name.pull_name(), image.id.clone());
        self.by_id.insert(image.id.clone(), image);
    }

    /// Takes the name away, and the image with its last one. A container that was made from it still starts.
    pub(crate) fn remove(&mut self, name: &ImageRef) -> bool {
        let Some(id) = self.names.remove(&name.pull_name()) else { return false };
        let named: BTreeSet<&ImageId> = self.names.values().collect();
        if !named.contains(&id) {
            self.by_id.remove(&id);
        }
        true
    }

    fn locate(&self, target: &ImageTarget) -> Option<&LocalImage> {
        match target {
            ImageTarget::Name(name) => self.find(name),
            ImageTarget::Id(id) => self.by_id.get(id),
        }
    }

    fn names_of(&self, id: &ImageId) -> Vec<String> {
        self.names.iter().filter(|(_, named)| *named == id).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn listed(&self) -> Vec<ImageSummary> {
        let summary = |image: &LocalImage| ImageSummary {
            id: image.id.clone(),
            names: self.names_of(&image.id),
            repo_digests: image.repo_digests.clone(),
            created_at: image.created_at,
            size: image.size,
        };
        self.by_id.values().map(summary).collect()
    }

    pub(crate) fn set_source(&mut self, name: &ImageRef, source: Source) {
        self.sources.insert(name.pull_name(), source);
    }

    /// The registry is asked for the reference.
    pub(crate) fn fetch(&mut self, name: &ImageRef) -> Fetch {
        let reference = name.pull_name();
        match self.sources.get_mut(&reference) {
            None => Fetch::Fails(missing(name)),
            Some(source) => source.ask(name),
        }
    }
}

impl Model {
    pub(crate) fn image_tagged(&mut self, token: u64, target: &ImageTarget, tag: &ImageRef) {
        let outcome = match self.images.locate(target).cloned() {
            None => Outcome::Gone,
            Some(image) => {
                self.images.add(tag, image);
                self.other_events(1); // tag
                Outcome::Done(())
            }
        };
        self.reply(token, Answer::TagImage(outcome));
    }

    pub(crate) fn image_removed(&mut self, token: u64, target: &ImageTarget) {
        let outcome = match self.images.locate(target).map(|image| image.id.clone()) {
            None => Outcome::Gone,
            Some(id) => match self.image_held(target, &id) {
                Some(refusal) => Outcome::Refused(refusal),
                None => {
                    self.untag(target, &id);
                    Outcome::Done(())
                }
            },
        };
        self.reply(token, Answer::RemoveImage(outcome));
    }

    /// What keeps an image, or its last name, from being removed without force (seen on 20.10).
    fn image_held(&self, target: &ImageTarget, id: &ImageId) -> Option<Refusal> {
        let several = self.images.names_of(id).len() > 1;
        let mut users: Vec<&Container> = self.containers.values().filter(|user| user.image == *id).collect();
        users.sort_by_key(|user| user.ordinal);
        let running = users.iter().find(|user| user.is_running());
        match (target, running.or_else(|| users.first())) {
            (ImageTarget::Name(_), _) if several => None,
            (ImageTarget::Name(name), Some(user)) => Some(text::image_in_use(&name.pull_name(), id, &user.id)),
            (ImageTarget::Id(_), Some(user)) if !several || user.is_running() => {
                Some(text::image_of_container(id, &user.id, user.is_running()))
            }
            (ImageTarget::Id(_), _) if several => Some(text::image_has_names(id)),
            (ImageTarget::Name(_) | ImageTarget::Id(_), _) => None,
        }
    }

    fn untag(&mut self, target: &ImageTarget, id: &ImageId) {
        match target {
            ImageTarget::Name(name) if self.images.names_of(id).len() > 1 => drop(self.images.remove(name)),
            ImageTarget::Name(_) | ImageTarget::Id(_) => {
                self.images.names.retain(|_, named| named != id);
                self.images.by_id.remove(id);
                self.other_events(1); // delete
            }
        }
        self.other_events(1); // untag
    }

    pub(crate) fn digest_resolved(&mut self, token: u64, name: &ImageRef) {
        let outcome = match self.images.fetch(name) {
            Fetch::Fails(refusal) => Outcome::Refused(refusal),
            Fetch::Comes { image, .. } => Outcome::Done(remote(&image)),
            // A registry that stalls does so for every question; only the limit of the call ends it.
            Fetch::Stalls { .. } => return,
        };
        self.reply(token, Answer::ResolveDigest(outcome));
    }
}

/// What a registry says of an image; one without a digest of its own goes by that of its configuration.
fn remote(image: &LocalImage) -> RemoteImage {
    let written = image.repo_digests.first().and_then(|text| text.split_once('@'));
    let digest = written.and_then(|(_, digest)| Digest::parse(digest).ok());
    let otherwise = || Digest::parse(image.id.as_str()).expect("ids and digests are written alike");
    RemoteImage {
        digest: digest.unwrap_or_else(otherwise),
        media_type: "application/vnd.docker.distribution.manifest.v2+json".to_owned(),
    }
}

impl Source {
    fn ask(&mut self, name: &ImageRef) -> Fetch {
        const EVERY: Duration = Duration::from_millis(10);
        match self {
            Self::Available { image, layers, takes } => {
                let lines = layers.saturating_mul(2).saturating_add(1);
                Fetch::Comes { image: image.clone(), lines, every: *takes / lines.max(1) }
            }
            Self::Missing => Fetch::Fails(missing(name)),
            Self::Unauthorised => Fetch::Fails(Refusal::new(
                RefusalClass::Unauthorised,
                format!("Head \"https://{}/v2/manifests\": unauthorized: authentication required", name.name()),
            )),
            Self::RateLimited { refusals, .. } if *refusals > 0 => {
                *refusals -= 1;
                Fetch::Fails(Refusal::new(
                    RefusalClass::RateLimited,
                    "toomanyrequests: You have reached your pull rate limit.",
                ))
            }
            Self::RateLimited { then, .. } => then.ask(name),
            Self::Unreachable => Fetch::Fails(Refusal::new(
                RefusalClass::PeerFault,
                format!("Get \"https://{}/v2/\": dial tcp: connect: connection refused", host(name)),
            )),
            Self::Stalls { lines } => Fetch::Stalls { lines: *lines, every: EVERY },
        }
    }
}

fn host(name: &ImageRef) -> String {
    match name.name().split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host.to_string(),
        Some(_) | None => "registry-1.docker.io".to_owned(),
    }
}

fn missing(name: &ImageRef) -> Refusal {
    let text = format!("manifest for {} not found: manifest unknown: manifest unknown", name.pull_name());
    Refusal::new(RefusalClass::NotFound, text)
}
