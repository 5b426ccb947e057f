//! Payloads of schema 1. A field may be added with a default; none is renamed, and none changes its meaning.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use lighterman_engine::{HostState, ImageState, Record};
use lighterman_ids::{
    BootId, ContainerName, DefinitionDigest, ImageRef, InstanceId, Moment, Mono, NameError, RuntimeId, RuntimeName,
    TaskArn, TaskId, Wall,
};
use lighterman_status::{ContainerStatus, StatusTextError, TaskStatus, TextFault};
use lighterman_task_manager::{ContainerError, ContainerState, ErrorName, TaskState};
use lighterman_taskdef::{RuleId, TaskDefinition};
use serde::{Deserialize, Serialize};

use crate::envelope::Kind;

/// Why a payload whose checksum fits cannot be understood: a matter of programs, not of the disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) enum PayloadError {
    /// A program wrote what no version would.
    Fault(String),
    /// It has a status, an error or a part of a definition that this version does not have: they are only ever added.
    Newer(String),
}

impl From<serde_json::Error> for PayloadError {
    fn from(error: serde_json::Error) -> Self {
        Self::Fault(error.to_string())
    }
}

impl From<NameError> for PayloadError {
    fn from(error: NameError) -> Self {
        Self::Fault(error.to_string())
    }
}

impl From<StatusTextError> for PayloadError {
    fn from(error: StatusTextError) -> Self {
        match error.fault {
            TextFault::UnknownName => Self::Newer(error.to_string()),
            TextFault::NotQuoted | TextFault::Impossible => Self::Fault(error.to_string()),
        }
    }
}

pub(crate) fn encode(record: &Record) -> (Kind, Vec<u8>) {
    match record {
        Record::Host(state) => (Kind::Host, json(&Host::from(state))),
        Record::Definition(definition) => (Kind::Definition, definition.to_register_json().into_bytes()),
        Record::Task(state) => (Kind::Task, json(&Task::from(state))),
        Record::Container(state) => (Kind::Container, json(&Container::from(state))),
        Record::Image(state) => (Kind::Image, json(&Image::from(state))),
    }
}

/// `None` for the head, which is not a record of the engine.
pub(crate) fn decode(kind: Kind, payload: &[u8]) -> Result<Option<Record>, PayloadError> {
    Ok(Some(match kind {
        Kind::Head => return Ok(None),
        Kind::Host => Record::Host(serde_json::from_slice::<Host>(payload)?.try_into()?),
        Kind::Definition => Record::Definition(Arc::new(definition(payload)?)),
        Kind::Task => Record::Task(serde_json::from_slice::<Task>(payload)?.try_into()?),
        Kind::Container => Record::Container(serde_json::from_slice::<Container>(payload)?.try_into()?),
        Kind::Image => Record::Image(serde_json::from_slice::<Image>(payload)?.try_into()?),
    }))
}

fn definition(payload: &[u8]) -> Result<TaskDefinition, PayloadError> {
    let text = core::str::from_utf8(payload).map_err(|error| PayloadError::Fault(error.to_string()))?;
    TaskDefinition::from_register_json(text).map_err(|findings| {
        let is_newer = findings.errors.iter().any(|finding| NOT_YET.contains(&finding.rule));
        if is_newer { PayloadError::Newer(findings.to_string()) } else { PayloadError::Fault(findings.to_string()) }
    })
}

/// Rules that a definition of ours breaks only where a newer version took it in: a word that is not known, and a field
/// or word that is not honoured yet.
const NOT_YET: [RuleId; 2] = [RuleId(14), RuleId(86)];

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain structs with text keys become JSON")
}

/// What the store as a whole must look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) generation: u64,
    pub(crate) records: usize,
    pub(crate) digest: u128,
}

#[derive(Serialize, Deserialize)]
struct HeadText {
    generation: u64,
    records: usize,
    digest: String,
}

impl Head {
    pub(crate) fn encode(generation: u64, records: usize, digest: u128) -> Vec<u8> {
        json(&HeadText { generation, records, digest: format!("{digest:032x}") })
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, PayloadError> {
        let text: HeadText = serde_json::from_slice(payload)?;
        let digest = u128::from_str_radix(&text.digest, 16).map_err(|error| PayloadError::Fault(error.to_string()))?;
        Ok(Self { generation: text.generation, records: text.records, digest })
    }
}

/// An instant on both clocks.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct At {
    boot: Hex128,
    mono_ns: u64,
    wall_ns: i64,
}

/// 128 bits as hex text: JSON numbers end at 64.
#[derive(Clone, Copy)]
struct Hex128(u128);

impl Serialize for Hex128 {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Hex128 {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

impl From<Moment> for At {
    fn from(at: Moment) -> Self {
        Self { boot: Hex128(at.boot.0), mono_ns: at.mono.0, wall_ns: at.wall.0 }
    }
}

impl From<At> for Moment {
    fn from(at: At) -> Self {
        Self { boot: BootId(at.boot.0), mono: Mono(at.mono_ns), wall: Wall(at.wall_ns) }
    }
}

#[derive(Serialize, Deserialize)]
struct Host {
    instance: String,
    incarnation: u64,
}

impl From<&HostState> for Host {
    fn from(state: &HostState) -> Self {
        Self { instance: state.instance.to_string(), incarnation: state.incarnation }
    }
}

impl TryFrom<Host> for HostState {
    type Error = PayloadError;

    fn try_from(host: Host) -> Result<Self, PayloadError> {
        Ok(Self { instance: InstanceId::parse(&host.instance)?, incarnation: host.incarnation })
    }
}

#[derive(Serialize, Deserialize)]
struct Task {
    id: String,
    arn: String,
    definition_digest: String,
    seed: u64,
    known: String,
    desired: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    accepted_at: At,
    known_at: At,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    execution_stopped_at: Option<At>,
}

impl From<&TaskState> for Task {
    fn from(state: &TaskState) -> Self {
        Self {
            id: state.id.to_string(),
            arn: state.arn.to_string(),
            definition_digest: state.digest.to_string(),
            seed: state.seed,
            known: state.known.as_str().into(),
            desired: state.desired.as_str().into(),
            reason: state.reason.clone(),
            accepted_at: state.accepted_at.into(),
            known_at: state.known_at.into(),
            execution_stopped_at: state.execution_stopped_at.map(Into::into),
        }
    }
}

impl TryFrom<Task> for TaskState {
    type Error = PayloadError;

    fn try_from(task: Task) -> Result<Self, PayloadError> {
        Ok(Self {
            id: TaskId::parse(&task.id)?,
            arn: TaskArn::parse(&task.arn)?,
            digest: DefinitionDigest::parse(&task.definition_digest)?,
            seed: task.seed,
            known: TaskStatus::parse(&task.known)?,
            desired: TaskStatus::parse(&task.desired)?,
            reason: task.reason,
            accepted_at: task.accepted_at.into(),
            known_at: task.known_at.into(),
            execution_stopped_at: task.execution_stopped_at.map(Into::into),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Container {
    name: String,
    known: String,
    desired: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runtime_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runtime_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    create_sent: Option<At>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    create_doubt: Option<At>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    renamed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_ns: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished_ns: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_ns: Option<i64>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    restopped: bool,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    removed: bool,
}

#[derive(Serialize, Deserialize)]
struct Error {
    name: String,
    text: String,
}

impl From<&ContainerState> for Container {
    fn from(state: &ContainerState) -> Self {
        let ContainerState {
            name,
            known,
            desired,
            runtime_name,
            runtime_id,
            create_sent,
            create_doubt,
            renamed,
            exit_code,
            error,
            started_at,
            finished_at,
            run,
            restopped,
            removed,
        } = state;
        Self {
            name: name.to_string(),
            known: known.as_str().into(),
            desired: desired.as_str().into(),
            runtime_name: runtime_name.as_ref().map(ToString::to_string),
            runtime_id: runtime_id.as_ref().map(ToString::to_string),
            create_sent: create_sent.map(Into::into),
            create_doubt: create_doubt.map(Into::into),
            renamed: *renamed,
            exit_code: *exit_code,
            error: error.as_ref().map(|e| Error { name: e.name.as_str().into(), text: e.text.clone() }),
            started_ns: started_at.map(|at| at.0),
            finished_ns: finished_at.map(|at| at.0),
            run_ns: run.map(|at| at.0),
            restopped: *restopped,
            removed: *removed,
        }
    }
}

impl TryFrom<Container> for ContainerState {
    type Error = PayloadError;

    fn try_from(container: Container) -> Result<Self, PayloadError> {
        let error = container.error.map(|error| {
            let name = ErrorName::parse(&error.name);
            let unknown = || PayloadError::Newer(format!("{:?} is not the name of an error", error.name));
            Ok::<_, PayloadError>(ContainerError { name: name.ok_or_else(unknown)?, text: error.text })
        });
        Ok(Self {
            name: ContainerName::parse(&container.name)?,
            known: ContainerStatus::parse(&container.known)?,
            desired: ContainerStatus::parse(&container.desired)?,
            runtime_name: container.runtime_name.as_deref().map(RuntimeName::parse).transpose()?,
            runtime_id: container.runtime_id.as_deref().map(RuntimeId::parse).transpose()?,
            create_sent: container.create_sent.map(Into::into),
            create_doubt: container.create_doubt.map(Into::into),
            renamed: container.renamed,
            exit_code: container.exit_code,
            error: error.transpose()?,
            started_at: container.started_ns.map(Wall),
            finished_at: container.finished_ns.map(Wall),
            run: container.run_ns.map(Wall),
            restopped: container.restopped,
            removed: container.removed,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Image {
    image: String,
    pull_succeeded: bool,
    pulled_at: At,
}

impl From<&ImageState> for Image {
    fn from(state: &ImageState) -> Self {
        Self { image: state.image.to_string(), pull_succeeded: state.pull_succeeded, pulled_at: state.pulled_at.into() }
    }
}

impl TryFrom<Image> for ImageState {
    type Error = PayloadError;

    fn try_from(image: Image) -> Result<Self, PayloadError> {
        Ok(Self {
            image: ImageRef::parse(&image.image)?,
            pull_succeeded: image.pull_succeeded,
            pulled_at: image.pulled_at.into(),
        })
    }
}
