//! Reading a task definition, and making a task of it.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use lighterman_container_spec::definition_digest;
use lighterman_contracts::Entropy;
use lighterman_graph::GraphError;
use lighterman_ids::{DefinitionDigest, Moment, TaskId};
use lighterman_task_manager::{TaskManager, TaskSpec};
use lighterman_taskdef::{Findings, TaskDefinition, read};
use tokio::io::AsyncReadExt as _;

/// One byte more than a definition may have: what is longer is refused by the reader, and never taken in.
const LONGEST_READ: u64 = 1024 * 1024 + 1;

/// A definition that was read, and what there is to say about it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// As the rest of the program sees it.
    pub definition: Arc<TaskDefinition>,
    /// Digest of what the user wrote.
    pub digest: DefinitionDigest,
    /// What a person should know; empty most of the time.
    pub warnings: Findings,
}

/// Why there is no definition.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The file cannot be read.
    #[error("{name} cannot be read: {source}")]
    Unreadable {
        /// Its name, or `standard input`.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is refused.
    #[error("{0}")]
    Refused(Findings),
}

impl Definition {
    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// It cannot be read, or it is refused; all findings are in the error.
    pub fn load(path: &Path) -> Result<Self, DefinitionError> {
        Self::load_as_written(path).map(|(definition, _)| definition)
    }

    /// The same, with the canonical text of what the user wrote. Environment values are in it.
    ///
    /// # Errors
    /// As [`Definition::load`].
    pub(crate) fn load_as_written(path: &Path) -> Result<(Self, String), DefinitionError> {
        let mut bytes = Vec::new();
        let outcome = if is_standard_input(path) {
            io::stdin().lock().take(LONGEST_READ).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(LONGEST_READ).read_to_end(&mut bytes))
        };
        Self::read(path, outcome.map(|_| bytes))
    }

    /// The same, for whoever has something else to heed while nobody writes the file: a pipe may take its time.
    ///
    /// # Errors
    /// As [`Definition::load`].
    pub(crate) async fn load_when_there(path: &Path) -> Result<Self, DefinitionError> {
        let mut bytes = Vec::new();
        let outcome = if is_standard_input(path) {
            tokio::io::stdin().take(LONGEST_READ).read_to_end(&mut bytes).await
        } else {
            match tokio::fs::File::open(path).await {
                Ok(file) => file.take(LONGEST_READ).read_to_end(&mut bytes).await,
                Err(error) => Err(error),
            }
        };
        Self::read(path, outcome.map(|_| bytes)).map(|(definition, _)| definition)
    }

    fn read(path: &Path, bytes: io::Result<Vec<u8>>) -> Result<(Self, String), DefinitionError> {
        let name = if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(source) => return Err(DefinitionError::Unreadable { name, source }),
        };
        let reading = read(&name, &bytes).map_err(DefinitionError::Refused)?;
        let definition = Self {
            definition: Arc::new(reading.definition),
            digest: definition_digest(&reading.canonical_text),
            warnings: reading.warnings,
        };
        Ok((definition, reading.canonical_text))
    }

    /// A task of this definition that never runs: the same one every time.
    pub(crate) fn task_on_paper(&self) -> TaskSpec {
        self.new_task(&Nothing)
    }

    /// The task as the core would take it in; without one, everything that is wrong with the order of its containers.
    pub(crate) fn admit(&self) -> Result<TaskManager, Vec<String>> {
        let problems = |error: GraphError| error.problems().iter().map(ToString::to_string).collect();
        TaskManager::accept(self.task_on_paper(), Moment::default()).map_err(problems)
    }

    /// A new task of this definition.
    #[must_use]
    pub fn new_task(&self, entropy: &impl Entropy) -> TaskSpec {
        let id = TaskId::from_bits(entropy.bits());
        let seed = u64::try_from(entropy.bits() & u128::from(u64::MAX)).unwrap_or_default();
        let arn = id.local_arn(None);
        TaskSpec { id, arn, definition: self.definition.clone(), digest: self.digest.clone(), seed }
    }
}

/// Entropy of what is never real.
struct Nothing;

impl Entropy for Nothing {
    fn bits(&self) -> u128 {
        0
    }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

#[cfg(test)]
mod tests {
    use lighterman_ids::{ContainerName, Family, ImageRef};
    use lighterman_taskdef::{Condition, ContainerDefinition, Dependency};

    use super::*;

    #[test]
    fn containers_that_wait_for_each_other_are_not_admitted() {
        let name = |name: &str| ContainerName::parse(name).unwrap();
        let definition = |pairs: &[(&str, &str)]| {
            let container = |(this, on): &(&str, &str)| {
                let mut container = ContainerDefinition::new(name(this), ImageRef::parse("web:1").unwrap());
                container.depends_on.push(Dependency { container: name(on), condition: Condition::Start });
                container
            };
            let family = Family::parse("site").unwrap();
            let definition = TaskDefinition::new(family, pairs.iter().map(container).collect());
            let digest = definition_digest(&definition.to_register_json());
            Definition { definition: Arc::new(definition), digest, warnings: Findings::default() }
        };
        let problems = definition(&[("a", "b"), ("b", "a"), ("c", "missing")]).admit().unwrap_err();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("c waits for missing"), "{problems:?}");
        let checked = crate::validate::Checked::disordered(Path::new("x.json"), &definition(&[]), &problems);
        assert_eq!(checked.errors.len(), 2);
        assert!(checked.to_json().contains(r#""accepted":false"#), "{checked:?}");
    }
}
