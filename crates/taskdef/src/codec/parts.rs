//! The parts of a definition, each as the Register call takes it.

use alloc::{format, string::ToString};

use super::{ObjectWriter, pair, text_map, text_value, whole_seconds};
use crate::{
    definition::{
        ContainerDefinition, Device, DevicePermissions, DockerVolume, EfsVolume, EnvironmentFile, FsxVolume,
        LinuxParameters, LogRouter, MountPoint, ProxyConfiguration, ResourceRequirement, RestartPolicy, S3FilesVolume,
        Secret, Tmpfs, Toggle, Volume, VolumeScope, VolumeSource, VolumesFrom,
    },
    node::Value,
};

pub(super) fn volume(volume: &Volume) -> Value {
    let mut out = ObjectWriter::default();
    out.text("name", Some(volume.name.as_str()));
    match &volume.source {
        VolumeSource::Empty => {}
        VolumeSource::HostPath(path) => {
            let mut host = ObjectWriter::default();
            host.text("sourcePath", Some(path));
            out.object("host", host);
        }
        VolumeSource::Docker(docker) => out.put("dockerVolumeConfiguration", Some(docker_volume(docker))),
        VolumeSource::Efs(efs) => out.put("efsVolumeConfiguration", Some(efs_volume(efs))),
        VolumeSource::S3Files(files) => out.put("s3filesVolumeConfiguration", Some(s3_files(files))),
        VolumeSource::FsxWindows(fsx) => out.put("fsxWindowsFileServerVolumeConfiguration", Some(fsx_volume(fsx))),
        VolumeSource::ConfiguredAtLaunch => out.flag("configuredAtLaunch", true, false),
    }
    out.into_value()
}

fn docker_volume(docker: &DockerVolume) -> Value {
    let mut out = ObjectWriter::default();
    match docker.scope {
        VolumeScope::Task => out.text("scope", Some("task")),
        VolumeScope::Shared { autoprovision } => {
            out.text("scope", Some("shared"));
            out.flag("autoprovision", autoprovision, false);
        }
    }
    out.text("driver", Some(&docker.driver));
    out.object("driverOpts", text_map(&docker.driver_opts));
    out.object("labels", text_map(&docker.labels));
    out.into_value()
}

fn efs_volume(efs: &EfsVolume) -> Value {
    let mut authorization = ObjectWriter::default();
    authorization.text("accessPointId", efs.access_point_id.as_deref());
    authorization.text("iam", (efs.iam == Toggle::Enabled).then_some(efs.iam.as_str()));
    let mut out = ObjectWriter::default();
    out.text("fileSystemId", Some(&efs.file_system_id));
    out.text("rootDirectory", Some(&efs.root_directory));
    out.text("transitEncryption", Some(efs.transit_encryption.as_str()));
    out.number("transitEncryptionPort", efs.transit_encryption_port);
    out.object("authorizationConfig", authorization);
    out.into_value()
}

fn s3_files(files: &S3FilesVolume) -> Value {
    let mut out = ObjectWriter::default();
    out.text("fileSystemArn", Some(&files.file_system_arn));
    out.text("rootDirectory", Some(&files.root_directory));
    out.number("transitEncryptionPort", files.transit_encryption_port);
    out.text("accessPointArn", files.access_point_arn.as_deref());
    out.into_value()
}

fn fsx_volume(fsx: &FsxVolume) -> Value {
    let mut out = ObjectWriter::default();
    out.text("fileSystemId", Some(&fsx.file_system_id));
    out.text("rootDirectory", Some(&fsx.root_directory));
    let authorization = pair(("credentialsParameter", &fsx.credentials_parameter), ("domain", &fsx.domain));
    out.put("authorizationConfig", Some(authorization));
    out.into_value()
}

pub(super) fn proxy(proxy: &ProxyConfiguration) -> Value {
    let mut out = ObjectWriter::default();
    out.text("type", Some("APPMESH"));
    out.text("containerName", Some(proxy.container.as_str()));
    let properties = proxy.properties.iter();
    out.list("properties", properties.map(|(name, value)| pair(("name", name), ("value", value))));
    out.into_value()
}

pub(super) fn linux(linux: &LinuxParameters) -> ObjectWriter {
    let mut capabilities = ObjectWriter::default();
    capabilities.texts("add", linux.capabilities_added.iter().map(|capability| capability.as_str()));
    capabilities.texts("drop", linux.capabilities_dropped.iter().map(|capability| capability.as_str()));
    let mut out = ObjectWriter::default();
    out.put("initProcessEnabled", linux.init_process_enabled.map(Value::Boolean));
    out.number("maxSwap", linux.max_swap.map(|size| size.0));
    out.number("swappiness", linux.swappiness);
    out.number("sharedMemorySize", linux.shared_memory_size.map(|size| size.0));
    out.list("tmpfs", linux.tmpfs.iter().map(tmpfs));
    out.object("capabilities", capabilities);
    out.list("devices", linux.devices.iter().map(device));
    out
}

fn tmpfs(tmpfs: &Tmpfs) -> Value {
    let mut out = ObjectWriter::default();
    out.text("containerPath", Some(&tmpfs.container_path));
    out.number("size", Some(tmpfs.size.0));
    out.texts("mountOptions", tmpfs.mount_options.iter().map(|option| option.as_str()));
    out.into_value()
}

fn device(device: &Device) -> Value {
    let mut out = ObjectWriter::default();
    out.text("hostPath", Some(&device.host_path));
    out.text("containerPath", Some(&device.container_path));
    if device.permissions != DevicePermissions::ALL {
        let words = device.permissions.words();
        out.texts("permissions", words.iter().filter(|(_, has)| *has).map(|(word, _)| *word));
    }
    out.into_value()
}

pub(super) fn resource(resource: &ResourceRequirement) -> Value {
    let of = |kind, value: &str| pair(("type", kind), ("value", value));
    match resource {
        ResourceRequirement::Gpus(count) => of("GPU", &count.to_string()),
        ResourceRequirement::AllGpus => of("GPU", "ALL"),
        ResourceRequirement::AllNeuronDevices => of("NeuronDevice", "ALL"),
        ResourceRequirement::InferenceAccelerator(name) => of("InferenceAccelerator", name),
        ResourceRequirement::SharedGpu { memory, max_compute_percent } => {
            let mut mps = ObjectWriter::default();
            mps.number("memory", Some(memory.0));
            mps.number("maxComputePercent", *max_compute_percent);
            let mut sharing = ObjectWriter::default();
            sharing.object("nvidiaMps", mps);
            let mut out = ObjectWriter::default();
            out.text("type", Some("GPU"));
            out.object("sharingStrategy", sharing);
            out.into_value()
        }
    }
}

/// Links, hosts and name servers.
pub(super) fn network(container: &ContainerDefinition, out: &mut ObjectWriter) {
    out.list("links", container.links.iter().map(|link| text_value(&format!("{}:{}", link.container, link.alias))));
    out.list("dnsServers", container.dns_servers.iter().map(|address| text_value(&address.to_string())));
    out.texts("dnsSearchDomains", container.dns_search_domains.iter().map(|domain| domain.as_str()));
    let hosts = container.extra_hosts.iter();
    out.list(
        "extraHosts",
        hosts.map(|host| pair(("hostname", &host.hostname), ("ipAddress", &host.address.to_string()))),
    );
    out.flag("disableNetworking", container.disable_networking, false);
}

/// What is fetched from elsewhere.
pub(super) fn elsewhere(container: &ContainerDefinition, out: &mut ObjectWriter) {
    let mut credentials = ObjectWriter::default();
    credentials.text("credentialsParameter", container.repository_credentials.as_deref());
    out.object("repositoryCredentials", credentials);
    let files = container.environment_files.iter().map(EnvironmentFile::as_str);
    out.list("environmentFiles", files.map(|file| pair(("value", file), ("type", "s3"))));
    out.list("secrets", container.secrets.iter().map(secret));
}

pub(super) fn secret(secret: &Secret) -> Value {
    pair(("name", &secret.name), ("valueFrom", secret.value_from.as_str()))
}

/// What it waits for, and whether it is started again.
pub(super) fn order(container: &ContainerDefinition, out: &mut ObjectWriter) {
    let dependencies = container.depends_on.iter();
    out.list(
        "dependsOn",
        dependencies.map(|dependency| {
            pair(("containerName", dependency.container.as_str()), ("condition", dependency.condition.as_str()))
        }),
    );
    out.put("restartPolicy", container.restart_policy.as_ref().map(restart_policy));
}

fn restart_policy(policy: &RestartPolicy) -> Value {
    let mut out = ObjectWriter::default();
    out.flag("enabled", true, false);
    let codes = policy.ignored_exit_codes.iter();
    out.list("ignoredExitCodes", codes.map(|code| Value::Number(code.to_string().into_boxed_str())));
    out.number("restartAttemptPeriod", Some(whole_seconds(policy.attempt_period)));
    out.into_value()
}

pub(super) fn log_router(router: &LogRouter) -> Value {
    let mut out = ObjectWriter::default();
    out.text("type", Some(router.kind.as_str()));
    out.object("options", text_map(&router.options));
    out.into_value()
}

pub(super) fn mount_point(mount: &MountPoint) -> Value {
    let mut out = ObjectWriter::default();
    out.text("sourceVolume", Some(mount.source_volume.as_str()));
    out.text("containerPath", Some(&mount.container_path));
    out.flag("readOnly", mount.read_only, false);
    out.into_value()
}

pub(super) fn volumes_from(source: &VolumesFrom) -> Value {
    let mut out = ObjectWriter::default();
    out.text("sourceContainer", Some(source.source_container.as_str()));
    out.flag("readOnly", source.read_only, false);
    out.into_value()
}
