//! The label that survives the loss of our records (design.md R10).
//!
//! Every container carries the definition of its task, compressed, so that `--recover` can stop
//! the task in order and adopt it. Environment values, labels and log options are left out: they
//! may be secret, and neither stopping nor adopting needs them.
//!
//! `v1.<kept>.<base64 of zlib of Register JSON>`, at most 16 KiB.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use lighterman_ids::ContainerName;
use lighterman_taskdef::{ContainerDefinition, LogConfiguration, TaskDefinition, limits::MAX_TEXT};
use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib_with_limit};

/// Bytes of a label's value: an engine lists all labels of all containers in one answer.
pub const MAX_LABEL: usize = 16 * 1024;

const VERSION: &str = "v1";

/// How much of a definition a label holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kept {
    /// All but environment, labels and log options.
    Definition,
    /// Names, images, order, stop timeouts and which containers are essential.
    Outline,
    /// The same, of the container that carries the label only.
    OwnOutline,
}

impl Kept {
    const ALL: [Self; 3] = [Self::Definition, Self::Outline, Self::OwnOutline];

    /// The word in the label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Outline => "outline",
            Self::OwnOutline => "own-outline",
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A value for the label `dev.lighterman.recover`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecoverLabel {
    /// At most [`MAX_LABEL`] bytes of ASCII.
    pub text: String,
    /// How much of the definition is in it.
    pub kept: Kept,
}

/// The label of one container: as much of the definition as fits.
#[must_use]
pub fn label(task: &TaskDefinition, own: &ContainerName) -> RecoverLabel {
    let encoded = |kept| RecoverLabel { text: encode(kept, &stripped(task, kept, own)), kept };
    [Kept::Definition, Kept::Outline]
        .into_iter()
        .map(encoded)
        .find(|label| label.text.len() <= MAX_LABEL)
        .unwrap_or_else(|| encoded(Kept::OwnOutline))
}

/// What a label gives back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recovered {
    /// The definition as far as it was kept: good for stopping and adopting, not for creating.
    pub definition: TaskDefinition,
    /// How far that is.
    pub kept: Kept,
}

/// Why a label cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum RecoverError {
    /// Longer than we ever write.
    #[error("the recovery label is longer than {MAX_LABEL} bytes")]
    TooLong,
    /// Not of this version's form: written by a newer one, or not by us.
    #[error("the recovery label is of an unknown form")]
    UnknownForm,
    /// The bytes behind the form are damaged, or unpack to more than any definition is long.
    #[error("the recovery label is damaged")]
    Damaged,
    /// It unpacks, and is no definition.
    #[error("the recovery label holds no task definition")]
    NoDefinition,
}

/// Reads a label back, in bounded memory.
///
/// # Errors
/// The label is not one that we wrote whole; the variant says in which way.
pub fn read(label: &str) -> Result<Recovered, RecoverError> {
    if label.len() > MAX_LABEL {
        return Err(RecoverError::TooLong);
    }
    let parts: Vec<&str> = label.splitn(3, '.').collect();
    let [VERSION, kept, body] = parts[..] else { return Err(RecoverError::UnknownForm) };
    let kept = Kept::ALL.into_iter().find(|known| known.as_str() == kept).ok_or(RecoverError::UnknownForm)?;
    let packed = STANDARD_NO_PAD.decode(body).map_err(|_| RecoverError::Damaged)?;
    let bytes = decompress_to_vec_zlib_with_limit(&packed, MAX_TEXT).map_err(|_| RecoverError::Damaged)?;
    let text = core::str::from_utf8(&bytes).map_err(|_| RecoverError::NoDefinition)?;
    let definition = TaskDefinition::from_register_json(text).map_err(|_| RecoverError::NoDefinition)?;
    Ok(Recovered { definition, kept })
}

fn encode(kept: Kept, task: &TaskDefinition) -> String {
    // 9 is the best and slowest; a definition is a few KiB.
    const LEVEL: u8 = 9;
    let packed = compress_to_vec_zlib(task.to_register_json().as_bytes(), LEVEL);
    format!("{VERSION}.{kept}.{}", STANDARD_NO_PAD.encode(packed))
}

fn stripped(task: &TaskDefinition, kept: Kept, own: &ContainerName) -> TaskDefinition {
    let containers = task.containers.iter();
    match kept {
        Kept::Definition => {
            TaskDefinition { containers: containers.map(without_values).collect(), tags: Vec::new(), ..task.clone() }
        }
        Kept::Outline => outline(task, containers.map(outlined).collect()),
        Kept::OwnOutline => {
            outline(task, containers.filter(|container| container.name == *own).map(outlined).collect())
        }
    }
}

fn without_values(container: &ContainerDefinition) -> ContainerDefinition {
    ContainerDefinition {
        environment: BTreeMap::new(),
        docker_labels: BTreeMap::new(),
        log_configuration: container.log_configuration.as_ref().map(without_options),
        ..container.clone()
    }
}

fn outline(task: &TaskDefinition, containers: Vec<ContainerDefinition>) -> TaskDefinition {
    TaskDefinition {
        revision: task.revision,
        network_mode: task.network_mode,
        ..TaskDefinition::new(task.family.clone(), containers)
    }
}

fn outlined(container: &ContainerDefinition) -> ContainerDefinition {
    ContainerDefinition {
        essential: container.essential,
        stop_timeout: container.stop_timeout,
        ..ContainerDefinition::new(container.name.clone(), container.image.clone())
    }
}

/// The driver alone; options can hold tokens.
fn without_options(log: &LogConfiguration) -> LogConfiguration {
    LogConfiguration { driver: log.driver, options: BTreeMap::new(), secret_options: Vec::new() }
}
