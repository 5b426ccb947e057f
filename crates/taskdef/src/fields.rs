//! Every field of the API model, what it holds, and what becomes of it: the one place that knows.
//!
//! The reader walks a document along [`TASK_FIELDS`]; the page `docs/fields.md` is written from it
//! too. All of it is read, typed and checked; only then a field that the rest of the program does
//! not carry yet is refused by its row here, so that building it ends with the change of one row.
//! A field that is not here is unknown, and warned about by name. Nothing is dropped in silence.

use alloc::{format, string::String, vec::Vec};

use crate::{
    definition::{
        AppProtocol, Compatibility, Condition, CpuArchitecture, IpcMode, IsolationMode, LogDriver, NetworkMode,
        OperatingSystem, PidMode, Protocol, RouterKind, Toggle, UlimitName, VersionConsistency,
    },
    fields::{
        FieldKind::{
            Boolean, CpuAmount, Integer, Integers, MemoryAmount, Name, Object, Objects, Opaque, Pairs, Text, TextMap,
            Texts, Word, Words,
        },
        Support::{Approximated, Honoured, Later, Noted, ReadOnly, Refused},
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
    /// One word of a closed set, and the words of it that fare otherwise than the field.
    Word(&'static [&'static str], &'static [(&'static str, Support)]),
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
    /// Accepted; something near it happens instead, and a warning says what.
    Approximated(&'static str),
    /// Accepted and without effect; a warning says why.
    Noted(&'static str),
    /// Read-only in the API (taskdef.md 1.2): accepted, not used, no finding.
    ReadOnly,
    /// Not built yet: refused by name, unless it holds nothing or this text, which changes nothing.
    Later(&'static str),
    /// Refused by name, for this reason.
    Refused(&'static str),
}

/// How much of the table is acted on when a definition is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Levels {
    /// All of it: what is accepted can be run by this version.
    Built,
    /// As if everything were built that is to be: `Later` counts as `Honoured`.
    Planned,
    /// None of it: only types and rules count, as for a payload that was checked elsewhere.
    Any,
}

/// A row with its place among the others.
#[derive(Clone, Debug)]
pub struct PlacedRow {
    /// Path of the field, with `[]` behind lists, such as `containerDefinitions[].portMappings[].hostPort`.
    pub path: String,
    /// The row.
    pub row: FieldRow,
    /// What becomes of the object it is in, where that is not `Honoured`: the field then fares the same.
    pub within: Option<Support>,
}

/// Every row of the table, in its order, each object before its members.
#[must_use]
pub fn all() -> Vec<PlacedRow> {
    let mut placed = Vec::new();
    place_all(TASK_FIELDS, "", None, &mut placed);
    placed
}

fn place_all(rows: &[FieldRow], parent: &str, within: Option<Support>, placed: &mut Vec<PlacedRow>) {
    for row in rows {
        let path = format!("{parent}{}", row.key);
        placed.push(PlacedRow { path: path.clone(), row: *row, within });
        let inside = within.or_else(|| (row.support != Honoured).then_some(row.support));
        match row.kind {
            Object(rows) => place_all(rows, &format!("{path}."), inside, placed),
            Objects(rows) => place_all(rows, &format!("{path}[]."), inside, placed),
            Pairs(name, value) => {
                let rows = [name, value].map(|key| self::row(key, Text, Honoured));
                place_all(&rows, &format!("{path}[]."), inside, placed);
            }
            Text
            | Name
            | Integer
            | Boolean
            | Word(_, _)
            | CpuAmount
            | MemoryAmount
            | Texts
            | Integers
            | Words(_)
            | TextMap
            | Opaque => {}
        }
    }
}

const fn row(key: &'static str, kind: FieldKind, support: Support) -> FieldRow {
    FieldRow { key, kind, support }
}

/// Not built, and no value but nothing is without effect.
const LATER: Support = Later("");

/// A second container in a task.
pub const SEVERAL_CONTAINERS: Support = LATER;

/// Members of a task definition.
pub const TASK_FIELDS: &[FieldRow] = &[
    row("family", Name, Honoured),
    row("taskRoleArn", Name, Noted("no credentials are served to the containers")),
    row("executionRoleArn", Name, Approximated("images are fetched with the engine's own access")),
    row("networkMode", Word(NetworkMode::WORDS, &[("awsvpc", LATER)]), Honoured),
    row("containerDefinitions", Objects(CONTAINER_FIELDS), Honoured),
    row("volumes", Objects(VOLUME_FIELDS), LATER),
    row("cpu", CpuAmount, Noted("the limit of the task is not set")),
    row("memory", MemoryAmount, Noted("the limit of the task is not set")),
    row("requiresCompatibilities", Words(Compatibility::WORDS), Honoured),
    row("placementConstraints", Objects(PLACEMENT_FIELDS), Noted("there is one place to run")),
    row("runtimePlatform", Object(PLATFORM_FIELDS), Honoured),
    row("pidMode", Word(PidMode::WORDS, &[]), LATER),
    row("ipcMode", Word(IpcMode::WORDS, &[]), LATER),
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
    row("requiresAttributes", Opaque, ReadOnly),
    row("compatibilities", Opaque, ReadOnly),
    row("registeredAt", Opaque, ReadOnly),
    row("deregisteredAt", Opaque, ReadOnly),
    row("deleteRequestedAt", Opaque, ReadOnly),
    row("registeredBy", Opaque, ReadOnly),
];

/// Members of a container definition.
pub const CONTAINER_FIELDS: &[FieldRow] = &[
    row("name", Name, Honoured),
    row("image", Name, Honoured),
    row("repositoryCredentials", Object(&[row("credentialsParameter", Name, Honoured)]), LATER),
    row("versionConsistency", Word(VersionConsistency::WORDS, &[("disabled", LATER)]), Honoured),
    row("essential", Boolean, Honoured),
    row("entryPoint", Texts, Honoured),
    row("command", Texts, Honoured),
    row("environment", Pairs("name", "value"), Honoured),
    row("environmentFiles", Objects(&[row("value", Text, Honoured), row("type", Word(&["s3"], &[]), Honoured)]), LATER),
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
    row("extraHosts", Objects(&[row("hostname", Text, Honoured), row("ipAddress", Text, Honoured)]), LATER),
    row("disableNetworking", Boolean, LATER),
    row("cpu", Integer, Honoured),
    row("memory", Integer, Honoured),
    row("memoryReservation", Integer, Honoured),
    row("healthCheck", Object(HEALTH_FIELDS), Honoured),
    row("linuxParameters", Object(LINUX_FIELDS), Honoured),
    row("ulimits", Objects(ULIMIT_FIELDS), Honoured),
    row("systemControls", Objects(&[row("namespace", Text, Honoured), row("value", Text, Honoured)]), LATER),
    row("resourceRequirements", Objects(RESOURCE_FIELDS), LATER),
    row("logConfiguration", Object(LOG_FIELDS), Honoured),
    row("firelensConfiguration", Object(ROUTER_FIELDS), LATER),
    row("mountPoints", Objects(MOUNT_FIELDS), LATER),
    row("volumesFrom", Objects(&[row("sourceContainer", Text, Honoured), row("readOnly", Boolean, Honoured)]), LATER),
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
    row("appProtocol", Word(AppProtocol::WORDS, &[]), Noted("there is no service connect")),
];

const LINUX_FIELDS: &[FieldRow] = &[
    row("initProcessEnabled", Boolean, Honoured),
    row("maxSwap", Integer, LATER),
    row("swappiness", Integer, LATER),
    row("sharedMemorySize", Integer, Later("0")),
    row(
        "tmpfs",
        Objects(&[
            row("containerPath", Text, Honoured),
            row("size", Integer, Honoured),
            row("mountOptions", Texts, Honoured),
        ]),
        LATER,
    ),
    row("capabilities", Object(&[row("add", Texts, Honoured), row("drop", Texts, Honoured)]), LATER),
    row(
        "devices",
        Objects(&[
            row("hostPath", Text, Honoured),
            row("containerPath", Text, Honoured),
            row("permissions", Texts, Honoured),
        ]),
        LATER,
    ),
];

const ULIMIT_FIELDS: &[FieldRow] = &[
    row("name", Word(UlimitName::WORDS, &[]), Honoured),
    row("softLimit", Integer, Honoured),
    row("hardLimit", Integer, Honoured),
];

const SHOWN_HERE: Support = Approximated("its output is shown here, not sent");

const LOG_FIELDS: &[FieldRow] = &[
    row(
        "logDriver",
        Word(LogDriver::WORDS, &[("awslogs", SHOWN_HERE), ("splunk", SHOWN_HERE), ("awsfirelens", LATER)]),
        Honoured,
    ),
    row("options", TextMap, Honoured),
    row("secretOptions", Objects(SECRET_FIELDS), LATER),
];

const SECRET_FIELDS: &[FieldRow] = &[row("name", Text, Honoured), row("valueFrom", Text, Honoured)];

const DEPENDENCY_FIELDS: &[FieldRow] =
    &[row("containerName", Name, Honoured), row("condition", Word(Condition::WORDS, &[]), Honoured)];

const RESTART_FIELDS: &[FieldRow] = &[
    row("enabled", Boolean, Honoured),
    row("ignoredExitCodes", Integers, Honoured),
    row("restartAttemptPeriod", Integer, Honoured),
];

const MOUNT_FIELDS: &[FieldRow] =
    &[row("sourceVolume", Name, Honoured), row("containerPath", Text, Honoured), row("readOnly", Boolean, Honoured)];

const ROUTER_FIELDS: &[FieldRow] =
    &[row("type", Word(RouterKind::WORDS, &[]), Honoured), row("options", TextMap, Honoured)];

const NO_SUCH_DEVICE: Support = Refused("there is no way to hand such a device out");

const RESOURCE_FIELDS: &[FieldRow] = &[
    row(
        "type",
        Word(
            &["GPU", "InferenceAccelerator", "NeuronDevice"],
            &[("InferenceAccelerator", NO_SUCH_DEVICE), ("NeuronDevice", NO_SUCH_DEVICE)],
        ),
        Honoured,
    ),
    row("value", Text, Honoured),
    row(
        "sharingStrategy",
        Object(&[row(
            "nvidiaMps",
            Object(&[row("memory", Integer, Honoured), row("maxComputePercent", Integer, Honoured)]),
            Honoured,
        )]),
        Refused("sharing a device needs a daemon that is not here"),
    ),
];

const PLACEMENT_FIELDS: &[FieldRow] =
    &[row("type", Word(&["memberOf"], &[]), Honoured), row("expression", Text, Honoured)];

const PLATFORM_FIELDS: &[FieldRow] = &[
    row("cpuArchitecture", Word(CpuArchitecture::WORDS, &[]), LATER),
    row("operatingSystemFamily", Word(OperatingSystem::WORDS, WINDOWS), Honoured),
];

const OTHER_KERNEL: Support = Refused("it needs the kernel of Windows");

const WINDOWS: &[(&str, Support)] = &[
    ("WINDOWS_SERVER_2016_FULL", OTHER_KERNEL),
    ("WINDOWS_SERVER_2019_FULL", OTHER_KERNEL),
    ("WINDOWS_SERVER_2019_CORE", OTHER_KERNEL),
    ("WINDOWS_SERVER_2004_CORE", OTHER_KERNEL),
    ("WINDOWS_SERVER_20H2_CORE", OTHER_KERNEL),
    ("WINDOWS_SERVER_2022_FULL", OTHER_KERNEL),
    ("WINDOWS_SERVER_2022_CORE", OTHER_KERNEL),
    ("WINDOWS_SERVER_2025_FULL", OTHER_KERNEL),
    ("WINDOWS_SERVER_2025_CORE", OTHER_KERNEL),
];

const PROXY_FIELDS: &[FieldRow] = &[
    row("type", Word(&["APPMESH"], &[]), Honoured),
    row("containerName", Name, Honoured),
    row("properties", Pairs("name", "value"), Honoured),
];

const ACCELERATOR_FIELDS: &[FieldRow] = &[row("deviceName", Text, Honoured), row("deviceType", Text, Honoured)];

const NO_ISOLATION: Support = Refused("the isolation that is asked for cannot be given");

const TRUSTED_FIELDS: &[FieldRow] = &[
    row(
        "isolationMode",
        Word(IsolationMode::WORDS, &[("ISOLATED_SANDBOX", NO_ISOLATION), ("CONFIDENTIAL_SANDBOX", NO_ISOLATION)]),
        Honoured,
    ),
    row("attestationPolicy", Text, NO_ISOLATION),
];

const AUTHORIZATION_FIELDS: &[FieldRow] =
    &[row("accessPointId", Text, Honoured), row("iam", Word(Toggle::WORDS, &[]), Honoured)];

const EFS_FIELDS: &[FieldRow] = &[
    row("fileSystemId", Name, Honoured),
    row("rootDirectory", Text, Honoured),
    row("transitEncryption", Word(Toggle::WORDS, &[]), Honoured),
    row("transitEncryptionPort", Integer, Honoured),
    row("authorizationConfig", Object(AUTHORIZATION_FIELDS), Honoured),
];

const S3_FILES_FIELDS: &[FieldRow] = &[
    row("fileSystemArn", Name, Honoured),
    row("rootDirectory", Text, Honoured),
    row("transitEncryptionPort", Integer, Honoured),
    row("accessPointArn", Name, Honoured),
];

const FSX_FIELDS: &[FieldRow] = &[
    row("fileSystemId", Name, Honoured),
    row("rootDirectory", Text, Honoured),
    row(
        "authorizationConfig",
        Object(&[row("credentialsParameter", Name, Honoured), row("domain", Text, Honoured)]),
        Honoured,
    ),
];

const DOCKER_VOLUME_FIELDS: &[FieldRow] = &[
    row("scope", Word(&["task", "shared"], &[]), Honoured),
    row("autoprovision", Boolean, Honoured),
    row("driver", Text, Honoured),
    row("driverOpts", TextMap, Honoured),
    row("labels", TextMap, Honoured),
];

const NOT_MOUNTED: Support = Refused("it cannot be mounted here; use host with a sourcePath");

const VOLUME_FIELDS: &[FieldRow] = &[
    row("name", Name, Honoured),
    row("host", Object(&[row("sourcePath", Name, Honoured)]), Honoured),
    row("dockerVolumeConfiguration", Object(DOCKER_VOLUME_FIELDS), Honoured),
    row("efsVolumeConfiguration", Object(EFS_FIELDS), NOT_MOUNTED),
    row("s3filesVolumeConfiguration", Object(S3_FILES_FIELDS), NOT_MOUNTED),
    row("fsxWindowsFileServerVolumeConfiguration", Object(FSX_FIELDS), NOT_MOUNTED),
    row("configuredAtLaunch", Boolean, Approximated("it is an empty volume of the task")),
];
