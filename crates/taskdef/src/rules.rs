//! Rules that look at more than one value (taskdef.md 3.2).

mod fargate;
mod host;
mod logs;
mod network;
mod order;
mod references;
mod volumes;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
};

use crate::{
    definition::{Compatibility, ContainerDefinition, IpcMode, Mebibytes, TaskDefinition, VolumeSource},
    field::Field,
    finding::{Collector, Place, allowed, hint},
    shape::Shape,
};

/// What the service takes.
const SERVICE_CONTAINERS: usize = 10;

/// What the service takes as compact JSON.
const SERVICE_TEXT: usize = 65_536;

/// Runs every rule; `canonical` is the compact text of the document.
pub(crate) fn check(root: &Field, task: &TaskDefinition, shape: Shape, canonical: &str, findings: &mut Collector) {
    let rules = Rules { root, task, shape };
    rules.whole(canonical, findings);
    rules.unique_names(findings);
    rules.essential(findings);
    rules.task_amounts(findings);
    rules.tags(findings);
    for (field, container) in rules.containers() {
        rules.container_memory(field, container, findings);
        rules.timeouts(field, findings);
        rules.swap(field, container, findings);
        ulimits(field, findings);
    }
    rules.sums(findings);
    rules.storage(findings);
    network::check(&rules, findings);
    order::check(&rules, findings);
    volumes::check(&rules, findings);
    logs::check(&rules, findings);
    references::check(&rules, findings);
    host::check(&rules, findings);
    fargate::check(&rules, findings);
}

/// Index of the first container of each name.
struct Names<'d> {
    index: BTreeMap<&'d str, usize>,
    /// Otherwise a name that is missed may be one that was refused.
    is_complete: bool,
}

struct Rules<'d> {
    root: &'d Field,
    task: &'d TaskDefinition,
    shape: Shape,
}

impl<'d> Rules<'d> {
    /// Each container with the place it was read from: `build` keeps them in step.
    fn containers(&self) -> impl Iterator<Item = (&'d Field, &'d ContainerDefinition)> {
        self.root.list("containerDefinitions").iter().zip(&self.task.containers)
    }

    fn names(&self) -> Names<'d> {
        let containers = self.root.list("containerDefinitions");
        let mut names = Names { index: BTreeMap::new(), is_complete: true };
        for (index, field) in containers.iter().enumerate() {
            match field.text("name") {
                Some((name, _)) => drop(names.index.entry(name).or_insert(index)),
                None => names.is_complete = false,
            }
        }
        names
    }

    /// The volume of each name.
    fn volumes(&self) -> BTreeMap<&'d str, &'d VolumeSource> {
        self.task.volumes.iter().map(|volume| (volume.name.as_str(), &volume.source)).collect()
    }

    fn is_for(&self, place: Compatibility) -> bool {
        self.task.requires_compatibilities.contains(&place)
    }

    /// V9, V88.
    fn whole(&self, canonical: &str, findings: &mut Collector) {
        let root = &self.root.place;
        if canonical.len() > SERVICE_TEXT {
            let message = format!("{} bytes as compact JSON", canonical.len());
            findings.warning(9, root, message, hint(format!("the service allows {SERVICE_TEXT}")));
        }
        if let Some((status, place)) = self.root.text("status").filter(|(status, _)| *status != "ACTIVE") {
            findings.warning(88, place, format!("task definition is {status}"), None);
        }
        let containers = self.task.containers.len();
        if containers > SERVICE_CONTAINERS {
            let place = self.root.place_of("containerDefinitions");
            let advice = hint(format!("the service allows {SERVICE_CONTAINERS}"));
            findings.warning(9, &place, format!("{containers} containers"), advice);
        }
    }

    /// V11.
    fn unique_names(&self, findings: &mut Collector) {
        let mut first: BTreeMap<String, (&str, Place)> = BTreeMap::new();
        for (field, _) in self.containers() {
            let Some((name, place)) = field.text("name") else { continue };
            let folded = name.to_ascii_lowercase();
            let Some((other, at)) = first.get(&folded) else {
                first.insert(folded, (name, place.clone()));
                continue;
            };
            if *other == name {
                let message = format!("name \"{name}\" used twice, first at {}, again", at.path_text());
                findings.error(11, place, message, allowed("unique names"));
            } else {
                let message = format!("name \"{name}\" differs from \"{other}\" only in letter case");
                findings.warning(11, place, message, None);
            }
        }
    }

    /// V12.
    fn essential(&self, findings: &mut Collector) {
        let undecided = self.containers().any(|(field, _)| field.is_broken("essential"));
        if !self.task.containers.is_empty() && !undecided && !self.task.containers.iter().any(|c| c.essential) {
            let place = self.root.place_of("containerDefinitions");
            let advice = allowed("at least one without \"essential\": false");
            findings.error(12, &place, "no essential container", advice);
        }
    }

    /// V28, the range.
    fn task_amounts(&self, findings: &mut Collector) {
        const UNITS: core::ops::RangeInclusive<u32> = 128..=196_608;
        let Some(cpu) = self.task.cpu.filter(|cpu| !UNITS.contains(&cpu.0)) else { return };
        let place = self.root.place_of("cpu");
        let message = format!("cpu {} is outside what the service takes", cpu.0);
        if self.is_for(Compatibility::Fargate) {
            findings.error(28, &place, message, allowed("128 to 196608"));
        } else {
            findings.warning(28, &place, message, allowed("128 to 196608"));
        }
    }

    /// V83, over all tags.
    fn tags(&self, findings: &mut Collector) {
        const MOST: usize = 50;
        let tags = self.root.list("tags");
        if tags.len() > MOST {
            findings.error(83, &self.root.place_of("tags"), format!("{} tags", tags.len()), allowed("up to 50"));
        }
        let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
        for (key, place) in tags.iter().filter_map(|tag| tag.text("key")) {
            if let Some(at) = first.get(key) {
                let message =
                    format!("tag key \"{}\" used twice, first at {}, again", key.escape_debug(), at.path_text());
                findings.error(83, place, message, allowed("unique keys"));
            } else {
                first.insert(key, place);
            }
        }
    }

    /// V31, V33, V34 for one container.
    fn container_memory(&self, field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
        let (hard, soft) = (container.memory, container.memory_reservation);
        if let (Some(hard), Some(soft)) = (hard, soft) {
            let place = field.place_of("memoryReservation");
            if soft > hard {
                let message = format!("memoryReservation {} above memory {}", soft.0, hard.0);
                findings.error(33, &place, message, allowed(format!("up to {}", hard.0)));
            } else if soft == hard {
                findings.warning(33, &place, format!("memoryReservation {} equals memory", soft.0), None);
            }
        }
        let given = |key| field.is_broken(key) || field.integer(key).is_some_and(|(amount, _)| amount != 0);
        match (self.task.memory, hard) {
            (None, _) if !given("memory") && !given("memoryReservation") && !self.root.is_broken("memory") => {
                let advice = allowed("memory or memoryReservation, or memory for the task");
                if self.shape.lacks_task_level() {
                    findings.warning(31, &field.place, "no memory limit", advice);
                } else {
                    findings.error(31, &field.place, "no memory limit", advice);
                }
            }
            (Some(task), Some(hard)) if hard > task => {
                let message = format!("memory {} above the task's {}", hard.0, task.0);
                findings.error(34, &field.place_of("memory"), message, allowed(format!("up to {}", task.0)));
            }
            (None | Some(_), None | Some(_)) => {}
        }
    }

    /// V34, V35 over the task.
    fn sums(&self, findings: &mut Collector) {
        let place = self.root.place_of("containerDefinitions");
        let sum = |amount: fn(&ContainerDefinition) -> u64| self.task.containers.iter().map(amount).sum::<u64>();
        let cpu = sum(|container| container.cpu.0.into());
        if let Some(task) = self.task.cpu.filter(|task| cpu > task.0.into()) {
            let message = format!("cpu of all containers is {cpu}");
            findings.error(35, &place, message, allowed(format!("up to the task's {}", task.0)));
        }
        let Some(task) = self.task.memory else { return };
        let reserved = if self.is_for(Compatibility::Fargate) {
            sum(|container| amount(container.memory_reservation.or(container.memory)))
        } else {
            sum(|container| amount(container.memory_reservation))
        };
        if reserved > task.0.into() {
            let message = format!("memoryReservation of all containers is {reserved}");
            findings.error(34, &place, message, allowed(format!("up to the task's {}", task.0)));
        }
        let limits = sum(|container| amount(container.memory));
        if limits > task.0.into() && self.task.containers.len() > 1 {
            let message = format!("memory of all containers is {limits}");
            findings.warning(34, &place, message, hint(format!("the task has {}", task.0)));
        }
    }

    /// V36, V37, V38 with the values beside them.
    fn swap(&self, field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
        let Some(linux) = field.get("linuxParameters") else { return };
        let place = linux.place_of("maxSwap");
        if linux.has("maxSwap") && container.memory.is_none() && !field.is_broken("memory") {
            findings.error(37, &place, "maxSwap without memory", allowed("with a container memory limit"));
        }
        if let Some((swappiness, place)) = linux.integer("swappiness")
            && linux.get("maxSwap").is_none()
        {
            let message = format!("swappiness {swappiness} without maxSwap");
            findings.warning(36, place, message, hint("it has no effect"));
        }
        let shared = self.task.ipc_mode.filter(|mode| matches!(mode, IpcMode::Host | IpcMode::None));
        if let (Some(mode), Some(_)) = (shared, container.linux_parameters.shared_memory_size) {
            let message = format!("sharedMemorySize with ipcMode {mode}");
            findings.warning(38, &linux.place_of("sharedMemorySize"), message, hint("it has no effect"));
        }
    }

    /// V82.
    fn storage(&self, findings: &mut Collector) {
        const SIZES: core::ops::RangeInclusive<u32> = 21..=200;
        let Some(size) = self.task.ephemeral_storage_gib.filter(|size| !SIZES.contains(size)) else { return };
        let Some(storage) = self.root.get("ephemeralStorage") else { return };
        let (place, message) = (storage.place_of("sizeInGiB"), format!("sizeInGiB {size}"));
        if self.is_for(Compatibility::Fargate) {
            findings.error(82, &place, message, allowed("21 to 200"));
        } else {
            findings.warning(82, &place, message, allowed("21 to 200"));
        }
    }

    /// V46, where the service is stricter.
    fn timeouts(&self, field: &Field, findings: &mut Collector) {
        if !self.is_for(Compatibility::Fargate) {
            return;
        }
        for key in ["startTimeout", "stopTimeout"] {
            let Some((seconds, place)) = field.integer(key) else { continue };
            if seconds > 0 && !(2..=120).contains(&seconds) {
                findings.error(46, place, format!("{key} {seconds}"), allowed("on FARGATE 2 to 120"));
            }
        }
    }
}

/// V72, over one container: two of a name fail at start.
fn ulimits(container: &Field, findings: &mut Collector) {
    let mut seen = BTreeSet::new();
    for (name, place) in container.list("ulimits").iter().filter_map(|ulimit| ulimit.text("name")) {
        if !seen.insert(name) {
            findings.error(72, place, format!("ulimit {name} is given twice"), allowed("one per name"));
        }
    }
}

fn amount(memory: Option<Mebibytes>) -> u64 {
    memory.map_or(0, |memory| memory.0.into())
}
