//! Every field of the API model, what it holds, and what becomes of it: the one place that knows.
//!
//! The reader walks a document along [`TASK_FIELDS`]; the page of fields is written from it too.
//! A field that is not here is unknown, and warned about by name; one that is here and not built
//! is refused by name. Nothing is dropped in silence.

use crate::{
    definition::{Compatibility, LogDriver, NetworkMode, Protocol, UlimitName},
    fields::{
        FieldKind::{
            Boolean, CpuAmount, Integer, Integers, MemoryAmount, Name, Object, Objects, Opaque, Pairs, Text, TextMap,
            Texts, Word, Words,
        },
        Support::{Honoured, Ignored, Later, Noted, Refused},
    },
};

/// One member of an object of the API model.
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    /// Its key, in the spelling of the API.
    pub key: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// What becomes of it.
    pub support: Support,
}

/// What a field holds (types of taskdef.md 1.5).
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// Text that reaches a program or driver as it is.
    Text,
    /// Text in which a placeholder is a mistake (taskdef.md 1.6).
    Name,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// One word of a closed set: those that are built, and those that are not yet.
    Word(&'static [&'static str], &'static [&'static str]),
    /// Processor amount of a task, as units.
    CpuAmount,
    /// Memory amount of a task, as MiB.
    MemoryAmount,
    /// List of text.
    Texts,
    /// List of whole numbers.
    Integers,
    /// List of words of a closed set.
    Words(&'static [&'static str]),
    /// Object with free keys and text as values.
    TextMap,
    /// List of two-member objects, or one object `{"name": "value"}`: names of the two members.
    Pairs(&'static str, &'static str),
    /// Object with the members of these rows.
    Object(&'static [FieldRow]),
    /// List of objects with the members of these rows.
    Objects(&'static [FieldRow]),
    /// Anything; not looked into.
    Opaque,
}

/// What becomes of a field in a local run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Does what the API says.
    Honoured,
    /// Accepted, with a warning that says what happens instead.
    Noted(&'static str),
    /// Read-only in the API (taskdef.md 1.2): accepted, not used, no finding.
    Ignored,
    /// Not built yet: refused by name, unless it holds nothing or this text, which changes nothing.
    Later(&'static str),
    /// Refused by name, for this reason.
    Refused(&'static str),
}

const fn row(key: &'static str, kind: FieldKind, support: Support) -> FieldRow {
    FieldRow { key, kind, support }
}

/// Not built, and no value but nothing is without effect.
const LATER: Support = Later("");

/// Members of a task definition.
pub const TASK_FIELDS: &[FieldRow] = &[
    row("family", Name, Honoured),
    row("taskRoleArn", Name, Noted("no credentials are served to the containers")),
    row("executionRoleArn", Name, Noted("images are fetched with the engine's own access")),
    row("networkMode", Word(NetworkMode::WORDS, &["awsvpc"]), Honoured),
    row("containerDefinitions", Objects(CONTAINER_FIELDS), Honoured),
    row("volumes", Objects(VOLUME_FIELDS), LATER),
    row("cpu", CpuAmount, Noted("the limit of the task is not set")),
    row("memory", MemoryAmount, Noted("the limit of the task is not set")),
    row("requiresCompatibilities", Words(Compatibility::WORDS), Honoured),
    row("placementConstraints", Objects(PLACEMENT_FIELDS), Noted("there is one place to run")),
    row("runtimePlatform", Object(PLATFORM_FIELDS), Honoured),
    row("pidMode", Word(&[], &["host", "task"]), LATER),
    row("ipcMode", Word(&[], &["host", "task", "none"]), LATER),
    row("proxyConfiguration", Object(PROXY_FIELDS), LATER),
    row("inferenceAccelerators", Objects(ACCELERATOR_FIELDS), Refused("the service has retired it")),
    row(
        "ephemeralStorage",
        Object(&[row("sizeInGiB", Integer, Honoured)]),
        Noted("the size of the disk is the host's"),
    ),
    row("tags", Pairs("key", "value"), Honoured),
    row("enableFaultInjection", Boolean, LATER),
    row("trustedExecutionConfiguration", Object(TRUSTED_FIELDS), Honoured),
    row("taskDefinitionArn", Text, Honoured),
    row("revision", Integer, Honoured),
    row("status", Word(&["ACTIVE", "INACTIVE", "DELETE_IN_PROGRESS"], &[]), Honoured),
    row("requiresAttributes", Opaque, Ignored),
    row("compatibilities", Opaque, Ignored),
    row("registeredAt", Opaque, Ignored),
    row("deregisteredAt", Opaque, Ignored),
    row("deleteRequestedAt", Opaque, Ignored),
    row("registeredBy", Opaque, Ignored),
];

/// Members of a container definition.
pub const CONTAINER_FIELDS: &[FieldRow] = &[
    row("name", Name, Honoured),
    row("image", Name, Honoured),
    row("repositoryCredentials", Object(&[row("credentialsParameter", Name, LATER)]), LATER),
    row("versionConsistency", Word(&["enabled"], &["disabled"]), Honoured),
    row("essential", Boolean, Honoured),
    row("entryPoint", Texts, Honoured),
    row("command", Texts, Honoured),
    row("environment", Pairs("name", "value"), Honoured),
    row("environmentFiles", Objects(&[row("value", Text, LATER), row("type", Word(&[], &["s3"]), LATER)]), LATER),
    row("secrets", Objects(SECRET_FIELDS), LATER),
    row("user", Text, Honoured),
    row("workingDirectory", Text, Honoured),
    row("hostname", Text, Honoured),
    row("interactive", Boolean, Honoured),
    row("pseudoTerminal", Boolean, Honoured),
    row("privileged", Boolean, Honoured),
    row("readonlyRootFilesystem", Boolean, Honoured),
    row("dockerLabels", TextMap, Honoured),
    row("dockerSecurityOptions", Texts, LATER),
    row("credentialSpecs", Texts, Refused("joining a domain needs a daemon that is not here")),
    row("dependsOn", Objects(DEPENDENCY_FIELDS), LATER),
    row("startTimeout", Integer, Honoured),
    row("stopTimeout", Integer, Honoured),
    row("restartPolicy", Object(RESTART_FIELDS), LATER),
    row("portMappings", Objects(PORT_FIELDS), Honoured),
    row("links", Texts, LATER),
    row("dnsServers", Texts, LATER),
    row("dnsSearchDomains", Texts, LATER),
    row("extraHosts", Objects(&[row("hostname", Text, LATER), row("ipAddress", Text, LATER)]), LATER),
    row("disableNetworking", Boolean, LATER),
    row("cpu", Integer, Honoured),
    row("memory", Integer, Honoured),
    row("memoryReservation", Integer, Honoured),
    row("healthCheck", Object(HEALTH_FIELDS), Honoured),
    row("linuxParameters", Object(LINUX_FIELDS), Honoured),
    row("ulimits", Objects(ULIMIT_FIELDS), Honoured),
    row("systemControls", Objects(&[row("namespace", Text, LATER), row("value", Text, LATER)]), LATER),
    row("resourceRequirements", Objects(RESOURCE_FIELDS), LATER),
    row("logConfiguration", Object(LOG_FIELDS), Honoured),
    row("firelensConfiguration", Object(ROUTER_FIELDS), LATER),
    row("mountPoints", Objects(MOUNT_FIELDS), LATER),
    row("volumesFrom", Objects(&[row("sourceContainer", Text, LATER), row("readOnly", Boolean, LATER)]), LATER),
];

const HEALTH_FIELDS: &[FieldRow] = &[
    row("command", Texts, Honoured),
    row("interval", Integer, Honoured),
    row("timeout", Integer, Honoured),
    row("retries", Integer, Honoured),
    row("startPeriod", Integer, Honoured),
];

const PORT_FIELDS: &[FieldRow] = &[
    row("containerPort", Integer, Honoured),
    row("hostPort", Integer, Honoured),
    row("protocol", Word(Protocol::WORDS, &[]), Honoured),
    row("containerPortRange", Name, LATER),
    row("name", Text, Honoured),
    row("appProtocol", Word(&["http", "http2", "grpc"], &[]), Noted("there is no service connect")),
];

const LINUX_FIELDS: &[FieldRow] = &[
    row("initProcessEnabled", Boolean, Honoured),
    row("maxSwap", Integer, LATER),
    row("swappiness", Integer, LATER),
    row("sharedMemorySize", Integer, Later("0")),
    row(
        "tmpfs",
        Objects(&[row("containerPath", Text, LATER), row("size", Integer, LATER), row("mountOptions", Texts, LATER)]),
        LATER,
    ),
    row("capabilities", Object(&[row("add", Texts, LATER), row("drop", Texts, LATER)]), LATER),
    row(
        "devices",
        Objects(&[row("hostPath", Text, LATER), row("containerPath", Text, LATER), row("permissions", Texts, LATER)]),
        LATER,
    ),
];

const ULIMIT_FIELDS: &[FieldRow] = &[
    row("name", Word(UlimitName::WORDS, &[]), Honoured),
    row("softLimit", Integer, Honoured),
    row("hardLimit", Integer, Honoured),
];

const LOG_FIELDS: &[FieldRow] = &[
    row("logDriver", Word(LogDriver::WORDS, &["awsfirelens"]), Honoured),
    row("options", TextMap, Honoured),
    row("secretOptions", Objects(SECRET_FIELDS), LATER),
];

const SECRET_FIELDS: &[FieldRow] = &[row("name", Text, LATER), row("valueFrom", Text, LATER)];

const DEPENDENCY_FIELDS: &[FieldRow] = &[
    row("containerName", Name, LATER),
    row("condition", Word(&[], &["START", "COMPLETE", "SUCCESS", "HEALTHY"]), LATER),
];

const RESTART_FIELDS: &[FieldRow] = &[
    row("enabled", Boolean, LATER),
    row("ignoredExitCodes", Integers, LATER),
    row("restartAttemptPeriod", Integer, LATER),
];

const MOUNT_FIELDS: &[FieldRow] =
    &[row("sourceVolume", Name, LATER), row("containerPath", Text, LATER), row("readOnly", Boolean, LATER)];

const ROUTER_FIELDS: &[FieldRow] =
    &[row("type", Word(&[], &["fluentd", "fluentbit"]), LATER), row("options", TextMap, LATER)];

const RESOURCE_FIELDS: &[FieldRow] = &[
    row("type", Word(&[], &["GPU", "InferenceAccelerator", "NeuronDevice"]), LATER),
    row("value", Text, LATER),
    row(
        "sharingStrategy",
        Object(&[row(
            "nvidiaMps",
            Object(&[row("memory", Integer, LATER), row("maxComputePercent", Integer, LATER)]),
            LATER,
        )]),
        LATER,
    ),
];

const PLACEMENT_FIELDS: &[FieldRow] =
    &[row("type", Word(&["memberOf"], &[]), Honoured), row("expression", Text, Honoured)];

const PLATFORM_FIELDS: &[FieldRow] = &[
    row("cpuArchitecture", Word(&[], &["X86_64", "ARM64"]), LATER),
    row("operatingSystemFamily", Word(&["LINUX"], WINDOWS), Honoured),
];

const WINDOWS: &[&str] = &[
    "WINDOWS_SERVER_2016_FULL",
    "WINDOWS_SERVER_2019_FULL",
    "WINDOWS_SERVER_2019_CORE",
    "WINDOWS_SERVER_2004_CORE",
    "WINDOWS_SERVER_20H2_CORE",
    "WINDOWS_SERVER_2022_FULL",
    "WINDOWS_SERVER_2022_CORE",
    "WINDOWS_SERVER_2025_FULL",
    "WINDOWS_SERVER_2025_CORE",
];

const PROXY_FIELDS: &[FieldRow] = &[
    row("type", Word(&[], &["APPMESH"]), LATER),
    row("containerName", Name, LATER),
    row("properties", Pairs("name", "value"), LATER),
];

const ACCELERATOR_FIELDS: &[FieldRow] = &[row("deviceName", Text, LATER), row("deviceType", Text, LATER)];

const TRUSTED_FIELDS: &[FieldRow] = &[
    row("isolationMode", Word(&["SHARED"], &["ISOLATED_SANDBOX", "CONFIDENTIAL_SANDBOX"]), Honoured),
    row("attestationPolicy", Text, LATER),
];

const AUTHORIZATION_FIELDS: &[FieldRow] =
    &[row("accessPointId", Text, LATER), row("iam", Word(&[], &["ENABLED", "DISABLED"]), LATER)];

const EFS_FIELDS: &[FieldRow] = &[
    row("fileSystemId", Name, LATER),
    row("rootDirectory", Text, LATER),
    row("transitEncryption", Word(&[], &["ENABLED", "DISABLED"]), LATER),
    row("transitEncryptionPort", Integer, LATER),
    row("authorizationConfig", Object(AUTHORIZATION_FIELDS), LATER),
];

const S3_FILES_FIELDS: &[FieldRow] = &[
    row("fileSystemArn", Name, LATER),
    row("rootDirectory", Text, LATER),
    row("transitEncryptionPort", Integer, LATER),
    row("accessPointArn", Name, LATER),
];

const FSX_FIELDS: &[FieldRow] = &[
    row("fileSystemId", Name, LATER),
    row("rootDirectory", Text, LATER),
    row("authorizationConfig", Object(&[row("credentialsParameter", Name, LATER), row("domain", Text, LATER)]), LATER),
];

const DOCKER_VOLUME_FIELDS: &[FieldRow] = &[
    row("scope", Word(&[], &["task", "shared"]), LATER),
    row("autoprovision", Boolean, LATER),
    row("driver", Text, LATER),
    row("driverOpts", TextMap, LATER),
    row("labels", TextMap, LATER),
];

const VOLUME_FIELDS: &[FieldRow] = &[
    row("name", Name, LATER),
    row("host", Object(&[row("sourcePath", Name, LATER)]), LATER),
    row("dockerVolumeConfiguration", Object(DOCKER_VOLUME_FIELDS), LATER),
    row("efsVolumeConfiguration", Object(EFS_FIELDS), LATER),
    row("s3filesVolumeConfiguration", Object(S3_FILES_FIELDS), LATER),
    row("fsxWindowsFileServerVolumeConfiguration", Object(FSX_FIELDS), LATER),
    row("configuredAtLaunch", Boolean, LATER),
];
