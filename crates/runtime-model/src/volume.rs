//! Volumes, and the calls about them.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use lighterman_calls::{Answer, Outcome, Refusal, VolumeFacts, VolumeRequest, labels};
use lighterman_ids::{InstanceId, RuntimeName};

use crate::{model::Model, text};

/// The only driver that is there.
const LOCAL: &str = "local";
/// How long the engine looks for a driver that is not there (measured on 20.10).
const DRIVER_SEARCH: Duration = Duration::from_secs(15);

/// What the engine holds of a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Volume {
    options: BTreeMap<String, String>,
    labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Volumes(BTreeMap<RuntimeName, Volume>);

impl Volumes {
    pub(crate) fn has(&self, name: &RuntimeName) -> bool {
        self.0.contains_key(name)
    }

    /// A bind names it: it is made without labels, unless it is there.
    pub(crate) fn make_in_passing(&mut self, name: &RuntimeName) {
        self.0.entry(name.clone()).or_default();
    }

    /// One that has the name stays as it is, whatever else is asked for (seen on 20.10).
    fn make(&mut self, request: &VolumeRequest) -> Result<(), Refusal> {
        if request.driver != LOCAL {
            return Err(text::no_such_driver(&request.name, &request.driver));
        }
        if self.has(&request.name) {
            return Ok(());
        }
        if let Some(unknown) = request.options.keys().find(|key| !matches!(&***key, "type" | "o" | "device" | "size")) {
            return Err(text::bad_option(&request.name, unknown));
        }
        let mounts = ["type", "o"].iter().any(|key| request.options.contains_key(*key));
        if mounts && !request.options.contains_key("device") {
            return Err(text::missing_option(&request.name, "device"));
        }
        let volume = Volume { options: request.options.clone(), labels: request.labels.clone() };
        self.0.insert(request.name.clone(), volume);
        Ok(())
    }

    fn facts(&self, name: &RuntimeName) -> Option<VolumeFacts> {
        let Volume { options, labels } = self.0.get(name)?.clone();
        let mountpoint = format!("/var/lib/docker/volumes/{name}/_data");
        Some(VolumeFacts { name: name.to_string(), driver: LOCAL.to_owned(), options, labels, mountpoint })
    }

    fn listed(&self, instance: &InstanceId) -> Vec<VolumeFacts> {
        let ours = |volume: &Volume| volume.labels.get(labels::INSTANCE).is_some_and(|id| id == instance.as_str());
        self.0.iter().filter(|(_, volume)| ours(volume)).filter_map(|(name, _)| self.facts(name)).collect()
    }
}

/// How long a create takes that asks for this driver.
pub(crate) fn search(request: &VolumeRequest) -> Duration {
    if request.driver == LOCAL { Duration::ZERO } else { DRIVER_SEARCH }
}

impl Model {
    pub(crate) fn volume_created(&mut self, token: u64, request: &VolumeRequest) {
        let made = self.volumes.make(request);
        let outcome = match made.map(|()| self.volumes.facts(&request.name)) {
            Ok(Some(facts)) => {
                self.other_events(1); // create
                Outcome::Done(Box::new(facts))
            }
            Ok(None) => Outcome::Gone,
            Err(refusal) => Outcome::Refused(refusal),
        };
        self.reply(token, Answer::CreateVolume(outcome));
    }

    pub(crate) fn volume_inspected(&mut self, token: u64, name: &RuntimeName) {
        let facts = self.volumes.facts(name).map(Box::new);
        self.reply(token, Answer::InspectVolume(facts.map_or(Outcome::Gone, Outcome::Done)));
    }

    pub(crate) fn volume_removed(&mut self, token: u64, name: &RuntimeName) {
        let holders = self.holders(name);
        let outcome = if !self.volumes.has(name) {
            Outcome::Gone
        } else if holders.is_empty() {
            self.volumes.0.remove(name);
            self.other_events(1); // destroy
            Outcome::Done(())
        } else {
            Outcome::Refused(text::volume_in_use(name, &holders))
        };
        self.reply(token, Answer::RemoveVolume(outcome));
    }

    pub(crate) fn volumes_listed(&mut self, token: u64, instance: &InstanceId) {
        let listed = self.volumes.listed(instance);
        self.reply(token, Answer::ListVolumes(Outcome::Done(listed)));
    }

    /// Every volume, whoever made it; no call, no event.
    #[must_use]
    pub fn volumes(&self) -> Vec<VolumeFacts> {
        self.volumes.0.keys().filter_map(|name| self.volumes.facts(name)).collect()
    }
}
