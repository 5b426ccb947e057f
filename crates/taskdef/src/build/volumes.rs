//! Volumes and mounts (taskdef.md 2.8).

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

use lighterman_ids::VolumeName;

use super::{Build, logs::text_map, missing};
use crate::{
    definition::{
        DockerVolume, EfsVolume, FsxVolume, MountPoint, S3FilesVolume, TaskDefinition, Toggle, Volume, VolumeScope,
        VolumeSource,
    },
    field::Field,
    finding::{allowed, quoted},
};

/// What makes a volume; one of them at most.
const KINDS: [&str; 6] = [
    "host",
    "dockerVolumeConfiguration",
    "efsVolumeConfiguration",
    "s3filesVolumeConfiguration",
    "fsxWindowsFileServerVolumeConfiguration",
    "configuredAtLaunch",
];

impl Build<'_> {
    /// V57, V58.
    pub(super) fn volume(&mut self, volume: &Field) -> Option<Volume> {
        let at_launch = volume.boolean("configuredAtLaunch").unwrap_or(false);
        let name_rule = if at_launch { 68 } else { 57 };
        let name = self.word(volume, "name", name_rule, VolumeName::parse);
        let given = |kind: &&str| volume.get(kind).is_some() && (*kind != "configuredAtLaunch" || at_launch);
        let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| given(kind)).collect();
        if let [first, second, ..] = kinds[..] {
            let message = format!("{first} and {second}");
            self.findings.error(58, &volume.place, message, allowed("one kind"));
        }
        let source = match kinds.first().map(|kind| (*kind, volume.get(kind))) {
            Some(("host", Some(host))) => self.host_path(host),
            Some(("dockerVolumeConfiguration", Some(docker))) => Some(self.docker_volume(docker, name.as_ref())),
            Some(("efsVolumeConfiguration", Some(efs))) => self.efs(efs),
            Some(("s3filesVolumeConfiguration", Some(files))) => self.s3_files(files),
            Some(("fsxWindowsFileServerVolumeConfiguration", Some(fsx))) => self.fsx(fsx),
            Some(("configuredAtLaunch", _)) => Some(VolumeSource::ConfiguredAtLaunch),
            Some(_) | None => Some(VolumeSource::Empty),
        };
        Some(Volume { name: name?, source: source? })
    }

    /// V59.
    fn host_path(&mut self, host: &Field) -> Option<VolumeSource> {
        if host.filled_text("sourcePath").is_none() {
            return (!host.is_broken("sourcePath")).then_some(VolumeSource::Empty);
        }
        self.absolute(host, "sourcePath", 59).map(VolumeSource::HostPath)
    }

    /// V60.
    fn docker_volume(&mut self, docker: &Field, name: Option<&VolumeName>) -> VolumeSource {
        let autoprovision = docker.boolean("autoprovision").unwrap_or(false);
        let is_shared = docker.text("scope").is_some_and(|(word, _)| word == "shared");
        if autoprovision && !is_shared && !docker.is_broken("scope") {
            let place = docker.place_of("autoprovision");
            self.findings.error(60, &place, "autoprovision with scope task", allowed("scope shared"));
        }
        let fits = |name: &VolumeName| name.as_str().len() > 1 && name.as_str().as_bytes()[0].is_ascii_alphanumeric();
        if let Some(name) = name.filter(|name| is_shared && !fits(name)) {
            let message = format!("shared volume name \"{name}\"");
            let advice = allowed("2 or more of A-Z a-z 0-9 _ -, the first a letter or digit");
            self.findings.error(60, &docker.place, message, advice);
        }
        VolumeSource::Docker(DockerVolume {
            scope: if is_shared { VolumeScope::Shared { autoprovision } } else { VolumeScope::Task },
            driver: docker.filled_text("driver").map_or("local", |(driver, _)| driver).to_string(),
            driver_opts: text_map(docker, "driverOpts"),
            labels: text_map(docker, "labels"),
        })
    }

    /// V65, but for the role of the task.
    fn efs(&mut self, efs: &Field) -> Option<VolumeSource> {
        let authorization = efs.get("authorizationConfig");
        let encryption = toggle(Some(efs), "transitEncryption");
        let iam = toggle(authorization, "iam");
        let access_point = authorization.and_then(|config| config.filled_text("accessPointId"));
        let port = self.encryption_port(efs, 65);
        let root = self.absolute(efs, "rootDirectory", 65);
        if encryption == Toggle::Disabled && !efs.is_broken("transitEncryption") {
            for (is_given, what) in [
                (iam == Toggle::Enabled, "iam ENABLED"),
                (access_point.is_some(), "accessPointId"),
                (port.is_some(), "transitEncryptionPort"),
            ] {
                if is_given {
                    let message = format!("{what} without transitEncryption");
                    self.findings.error(65, &efs.place, message, allowed("transitEncryption ENABLED"));
                }
            }
        }
        self.root_with_access_point(efs, root.as_deref(), access_point.is_some(), 65);
        let (id, _) = self.required(efs, "fileSystemId", 65, "the id of a file system")?;
        Some(VolumeSource::Efs(EfsVolume {
            file_system_id: id.to_string(),
            root_directory: root.unwrap_or_else(|| "/".to_string()),
            transit_encryption: encryption,
            transit_encryption_port: port,
            access_point_id: access_point.map(|(id, _)| id.to_string()),
            iam,
        }))
    }

    /// V66, but for the role of the task.
    fn s3_files(&mut self, files: &Field) -> Option<VolumeSource> {
        let port = self.encryption_port(files, 66);
        let root = self.absolute(files, "rootDirectory", 66);
        let access_point = files.filled_text("accessPointArn").map(|(arn, _)| arn.to_string());
        self.root_with_access_point(files, root.as_deref(), access_point.is_some(), 66);
        let (arn, place) = self.required(files, "fileSystemArn", 66, "the ARN of a file system")?;
        if !arn.starts_with("arn:") {
            let message = format!("fileSystemArn {}", quoted(arn));
            self.findings.error(66, place, message, allowed("an ARN"));
        }
        Some(VolumeSource::S3Files(S3FilesVolume {
            file_system_arn: arn.to_string(),
            root_directory: root.unwrap_or_else(|| "/".to_string()),
            transit_encryption_port: port,
            access_point_arn: access_point,
        }))
    }

    fn encryption_port(&mut self, object: &Field, rule: u8) -> Option<u16> {
        self.number_of(object, "transitEncryptionPort", 1..=65_535, rule).and_then(|port| u16::try_from(port).ok())
    }

    fn root_with_access_point(&mut self, object: &Field, root: Option<&str>, has_access_point: bool, rule: u8) {
        if let Some(root) = root.filter(|root| has_access_point && *root != "/") {
            let message = format!("rootDirectory {} with an access point", quoted(root));
            self.findings.error(rule, &object.place_of("rootDirectory"), message, allowed("absent, or /"));
        }
    }

    /// V67, but for the platform.
    fn fsx(&mut self, fsx: &Field) -> Option<VolumeSource> {
        const ALL: &str = "all four members";
        let id = self.required(fsx, "fileSystemId", 67, ALL);
        let root = self.required(fsx, "rootDirectory", 67, ALL);
        let Some(config) = fsx.get("authorizationConfig") else {
            missing(self.findings, 67, fsx, "authorizationConfig", ALL);
            return None;
        };
        let credentials = self.required(config, "credentialsParameter", 67, ALL);
        let domain = self.required(config, "domain", 67, ALL);
        let text = |(text, _): (&str, _)| text.to_string();
        Some(VolumeSource::FsxWindows(FsxVolume {
            file_system_id: id.map(text)?,
            root_directory: root.map(text)?,
            credentials_parameter: credentials.map(text)?,
            domain: domain.map(text)?,
        }))
    }

    /// V61, V62, for single values.
    pub(super) fn mount_point(&mut self, mount: &Field) -> Option<MountPoint> {
        let source = self.required(mount, "sourceVolume", 61, "a volume of the task");
        let source = source.and_then(|source| self.reference(61, source, "sourceVolume", VolumeName::parse));
        let container_path = self.path_in_container(mount, 62);
        Some(MountPoint {
            source_volume: source?,
            container_path: container_path?,
            read_only: mount.boolean("readOnly").unwrap_or(false),
        })
    }

    /// An absolute path that is not the root of the container.
    pub(super) fn path_in_container(&mut self, object: &Field, rule: u8) -> Option<String> {
        const FORM: &str = "/…, not / alone";
        let (path, place) = self.required(object, "containerPath", rule, FORM)?;
        if !path.starts_with('/') || path.trim_matches('/').is_empty() {
            let what = if path.starts_with('/') { "is the root" } else { "is not absolute" };
            self.findings.error(rule, place, format!("containerPath {} {what}", quoted(path)), allowed(FORM));
            return None;
        }
        Some(path.to_string())
    }
}

/// Where nothing is known of the task, what is mounted is an empty volume (taskdef.md 1.4).
pub(super) fn add_undeclared(task: &mut TaskDefinition) {
    let declared: BTreeSet<VolumeName> = task.volumes.iter().map(|volume| volume.name.clone()).collect();
    let mounted = task.containers.iter().flat_map(|container| &container.mount_points);
    let missing: BTreeSet<VolumeName> =
        mounted.map(|mount| mount.source_volume.clone()).filter(|name| !declared.contains(name)).collect();
    task.volumes.extend(missing.into_iter().map(|name| Volume { name, source: VolumeSource::Empty }));
}

fn toggle(object: Option<&Field>, key: &str) -> Toggle {
    let word = object.and_then(|object| object.text(key));
    word.and_then(|(word, _)| Toggle::from_word(word)).unwrap_or(Toggle::Disabled)
}

/// What a path names, whatever its slashes: `/a//b/` is `/a/b`.
pub(crate) fn plain_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    format!("/{}", parts.join("/"))
}
