//! What a container needs of others: their networks, namespaces, names and volumes.

use alloc::{borrow::ToOwned, collections::BTreeMap, string::String, vec::Vec};

use lighterman_calls::{
    ContainerTarget, CreateRequest, HostConfig, IpcMode, MountSource, NetworkMode, PidMode, Refusal,
};
use lighterman_ids::{RuntimeId, RuntimeName};

use crate::{container::Container, model::Model, text};

/// What was made of the names in a create call: from then on it is these containers and no others (seen on 20.10).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Needs {
    /// Whose network; still a name if there was no such container.
    network: Option<ContainerTarget>,
    ipc: Option<RuntimeId>,
    pid: Option<RuntimeId>,
    links: Vec<Linked>,
    volumes: BTreeMap<RuntimeName, Hold>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Linked {
    id: RuntimeId,
    name: RuntimeName,
    alias: String,
}

/// Whether a volume can be removed under a container that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hold {
    /// It cannot.
    Fast,
    /// It can: taken from another container, and never mounted yet (seen on 20.10).
    Loose,
}

impl Needs {
    /// Whose processes share the namespace with those of this container.
    pub(crate) const fn pid(&self) -> Option<&RuntimeId> {
        self.pid.as_ref()
    }

    pub(crate) fn holds(&self, volume: &RuntimeName) -> bool {
        self.volumes.get(volume) == Some(&Hold::Fast)
    }

    /// A start has mounted everything.
    pub(crate) fn mounted(&mut self) {
        self.volumes.values_mut().for_each(|hold| *hold = Hold::Fast);
    }
}

impl Model {
    /// Namespaces of containers that are not there: refused before the image is looked for.
    pub(crate) fn missing_namespace(&self, host: &HostConfig) -> Option<Refusal> {
        let wanted = [ipc_of(host), pid_of(host)];
        let missing = wanted.into_iter().flatten().find(|target| self.resolve(target).is_none())?;
        Some(text::named_missing(missing))
    }

    /// Finds what the request names. Volumes of binds are made on the way, and stay if it is refused later.
    pub(crate) fn needs_of(&mut self, request: &CreateRequest) -> Result<Needs, Refusal> {
        let host = &request.host;
        let mut needs = Needs { network: self.network_of(host), ..Needs::default() };
        for (place, target) in [(&mut needs.ipc, ipc_of(host)), (&mut needs.pid, pid_of(host))] {
            if let Some(target) = target {
                *place = Some(self.resolve(target).ok_or_else(|| text::named_missing(target))?);
            }
        }
        for from in &host.volumes_from {
            let found = self.resolve(&from.container).and_then(|id| self.containers.get(&id));
            let found = found.ok_or_else(|| text::named_missing(&from.container))?;
            needs.volumes.extend(found.needs.volumes.keys().map(|volume| (volume.clone(), Hold::Loose)));
        }
        self.mount(host, &mut needs)?;
        for link in &host.links {
            let found = self.resolve(&link.container).and_then(|id| self.containers.get(&id));
            let found = found.ok_or_else(|| text::link_missing(&link.container))?;
            let owner = self.owner_of_network(found)?;
            needs.links.push(Linked { id: owner.id.clone(), name: owner.name().clone(), alias: link.alias.clone() });
        }
        Ok(needs)
    }

    /// A link to a container that has joined the network of another is one to that other.
    fn owner_of_network<'a>(&'a self, linked: &'a Container) -> Result<&'a Container, Refusal> {
        let mut owner = linked;
        while let Some(target) = &owner.needs.network {
            let next = self.resolve(target).and_then(|id| self.containers.get(&id));
            let next = next.ok_or_else(|| text::owner_of_link_missing(target))?;
            if next.id == owner.id {
                break;
            }
            owner = next;
        }
        Ok(owner)
    }

    fn network_of(&self, host: &HostConfig) -> Option<ContainerTarget> {
        match &host.network_mode {
            Some(NetworkMode::Container(target)) => {
                Some(self.resolve(target).map_or_else(|| target.clone(), ContainerTarget::Id))
            }
            Some(NetworkMode::Bridge | NetworkMode::Host | NetworkMode::None | NetworkMode::Named(_)) | None => None,
        }
    }

    fn mount(&mut self, host: &HostConfig, needs: &mut Needs) -> Result<(), Refusal> {
        let mut targets: Vec<&str> = Vec::new();
        for mount in host.binds.iter().chain(&host.mounts) {
            if targets.contains(&&*mount.target) || host.tmpfs.contains_key(&mount.target) {
                return Err(text::duplicate_mount(&mount.target));
            }
            targets.push(&mount.target);
            if let MountSource::Volume(name) = &mount.source {
                self.volumes.make_in_passing(name);
                needs.volumes.insert(name.clone(), Hold::Fast);
            }
        }
        Ok(())
    }

    /// What a start looks for before it takes ports.
    pub(crate) fn networks_ready(&self, container: &Container) -> Result<(), Refusal> {
        if let Some(NetworkMode::Named(network)) = &container.request.host.network_mode {
            return Err(text::no_such_network(network.as_str()));
        }
        if let Some(target) = &container.needs.network {
            let id = self.resolve(target).ok_or_else(|| text::no_such_container(target))?;
            if id == container.id {
                return Err(text::own_network());
            }
            if !self.runs(&id) {
                return Err(text::network_not_running(&id));
            }
        }
        if !container.has_bridge() {
            return Ok(());
        }
        match container.needs.links.iter().find(|link| !self.runs(&link.id)) {
            Some(link) => Err(text::link_not_running(&link.name, container.name(), &link.alias)),
            None => Ok(()),
        }
    }

    /// What it looks for last, once it has the ports and knows the user.
    pub(crate) fn namespaces_and_volumes_ready(&self, container: &Container) -> Result<(), Refusal> {
        let needs = &container.needs;
        if let Some(id) = &needs.ipc {
            match self.containers.get(id) {
                None => return Err(text::ipc_gone(id)),
                Some(donor) if !donor.is_running() => return Err(text::ipc_not_running(id)),
                Some(donor) if donor.request.host.ipc_mode != Some(IpcMode::Shareable) => {
                    return Err(text::ipc_not_shareable(id));
                }
                Some(_) => {}
            }
        }
        match &needs.pid {
            Some(id) if !self.containers.contains_key(id) => return Err(text::pid_gone(id)),
            Some(id) if !self.runs(id) => return Err(text::pid_not_running(id)),
            Some(_) | None => {}
        }
        match needs.volumes.keys().find(|volume| !self.volumes.has(volume)) {
            Some(volume) => Err(text::volume_missing(volume)),
            None => Ok(()),
        }
    }

    fn runs(&self, id: &RuntimeId) -> bool {
        self.containers.get(id).is_some_and(Container::is_running)
    }

    /// The containers that keep a volume from being removed, oldest first.
    pub(crate) fn holders(&self, volume: &RuntimeName) -> Vec<RuntimeId> {
        let holding = self.containers.values().filter(|container| container.needs.holds(volume));
        let mut holding: Vec<&Container> = holding.collect();
        holding.sort_by_key(|container| container.ordinal);
        holding.into_iter().map(|container| container.id.to_owned()).collect()
    }
}

const fn ipc_of(host: &HostConfig) -> Option<&ContainerTarget> {
    match &host.ipc_mode {
        Some(IpcMode::Container(target)) => Some(target),
        Some(IpcMode::None | IpcMode::Host | IpcMode::Shareable) | None => None,
    }
}

const fn pid_of(host: &HostConfig) -> Option<&ContainerTarget> {
    match &host.pid_mode {
        Some(PidMode::Container(target)) => Some(target),
        Some(PidMode::Host) | None => None,
    }
}
