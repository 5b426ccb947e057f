//! Volumes and mounts over the task (V57, V61 to V63, V65 to V68).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
};

use lighterman_ids::VolumeName;

use super::Rules;
use crate::{
    build::plain_path,
    definition::{OperatingSystem, Toggle, VolumeSource},
    field::Field,
    finding::{Collector, Place, allowed, hint, quoted},
    wording::listed,
};

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    unique_names(rules, findings);
    mounted(rules, findings);
    for container in rules.root.list("containerDefinitions") {
        paths(container, findings);
    }
    roles_and_platform(rules, findings);
    at_launch(rules, findings);
}

/// V57, over the task.
fn unique_names(rules: &Rules<'_>, findings: &mut Collector) {
    let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
    for (name, place) in rules.root.list("volumes").iter().filter_map(|volume| volume.text("name")) {
        if let Some(at) = first.get(name) {
            let message = format!("volume name {} used twice, first at {}, again", quoted(name), at.path_text());
            findings.error(57, place, message, allowed("unique names"));
        } else {
            first.insert(name, place);
        }
    }
}

/// V61, V63.
fn mounted(rules: &Rules<'_>, findings: &mut Collector) {
    const SHOWN: usize = 20;
    let volumes = rules.root.list("volumes");
    let declared: BTreeSet<&str> =
        volumes.iter().filter_map(|volume| volume.text("name")).map(|(name, _)| name).collect();
    let undecided = rules.root.is_broken("volumes") || volumes.iter().any(|volume| volume.is_broken("name"));
    let mut used = BTreeSet::new();
    let mounts = rules.root.list("containerDefinitions").iter().flat_map(|container| container.list("mountPoints"));
    for (name, place) in mounts.filter_map(|mount| mount.filled_text("sourceVolume")) {
        used.insert(name);
        if declared.contains(name) || undecided || VolumeName::parse(name).is_err() {
            continue;
        }
        let message = format!("unknown volume {}", quoted(name));
        if rules.shape.lacks_task_level() {
            findings.warning(61, place, message, hint("it is an empty volume of the task"));
        } else if declared.is_empty() {
            findings.error(61, place, message, allowed("a name of volumes"));
        } else {
            findings.error(61, place, message, allowed(listed(declared.iter().copied().take(SHOWN))));
        }
    }
    for volume in volumes {
        if let Some((name, _)) = volume.text("name").filter(|(name, _)| !used.contains(name)) {
            let message = format!("volume {} is not mounted anywhere", quoted(name));
            findings.warning(63, &volume.place, message, None);
        }
    }
}

/// V62, over one container.
fn paths(container: &Field, findings: &mut Collector) {
    let tmpfs = container.get("linuxParameters").map_or(&[][..], |linux| linux.list("tmpfs"));
    let mut first: BTreeMap<_, &Place> = BTreeMap::new();
    for mount in container.list("mountPoints").iter().chain(tmpfs) {
        let Some((path, place)) = mount.filled_text("containerPath") else { continue };
        let plain = plain_path(path);
        if let Some(at) = first.get(&plain) {
            let message = format!("containerPath {} used twice, first at {}, again", quoted(path), at.path_text());
            findings.error(62, place, message, allowed("unique in the container"));
        } else {
            first.insert(plain, place);
        }
    }
}

/// V65, V66, V67 with what the task says.
fn roles_and_platform(rules: &Rules<'_>, findings: &mut Collector) {
    let has_role = rules.task.task_role_arn.is_some() || rules.root.is_broken("taskRoleArn");
    let fields: BTreeMap<&str, &Field> =
        rules.root.list("volumes").iter().filter_map(|field| Some((field.text("name")?.0, field))).collect();
    for volume in &rules.task.volumes {
        let Some(field) = fields.get(volume.name.as_str()) else { continue };
        match &volume.source {
            VolumeSource::Efs(efs) if efs.iam == Toggle::Enabled && !has_role => {
                findings.error(65, &field.place, "iam ENABLED without taskRoleArn", allowed("with a taskRoleArn"));
            }
            VolumeSource::S3Files(_) if !has_role => {
                let message = "taskRoleArn is missing for an S3 Files volume";
                findings.error(66, &field.place, message, allowed("with a taskRoleArn"));
            }
            VolumeSource::FsxWindows(_) if rules.task.runtime_platform.operating_system == OperatingSystem::Linux => {
                findings.error(67, &field.place, "FSx volume on LINUX", allowed("Windows platforms"));
            }
            VolumeSource::Empty
            | VolumeSource::HostPath(_)
            | VolumeSource::Docker(_)
            | VolumeSource::Efs(_)
            | VolumeSource::S3Files(_)
            | VolumeSource::FsxWindows(_)
            | VolumeSource::ConfiguredAtLaunch => {}
        }
    }
}

/// V68.
fn at_launch(rules: &Rules<'_>, findings: &mut Collector) {
    let volumes = rules.root.list("volumes").iter();
    let count = volumes.filter(|volume| volume.boolean("configuredAtLaunch") == Some(true)).count();
    if count > 1 {
        let message = format!("{count} volumes configured at launch");
        findings.error(68, &rules.root.place_of("volumes"), message, allowed("one"));
    }
}
