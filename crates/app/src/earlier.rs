//! State directories of earlier runs: which there are, and which one somebody means.

use std::{
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use lighterman_checkpoint::{DirectoryLock, OpenError, Owner};
use lighterman_ids::InstanceId;
use lighterman_ui::Leftover;

use crate::notes;

/// Fewer digits than this name a run only by chance.
const LEAST_DIGITS: usize = 8;

/// Digits of a whole id.
const ALL_DIGITS: usize = 32;

/// What a sweep declares while it holds a directory.
pub(crate) const CLEANS_UP: &str = "cleans up after its dead run";

/// The id of an instance, or how it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstancePrefix(String);

/// Why a text cannot name an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} cannot name a run; allowed: {LEAST_DIGITS} to {ALL_DIGITS} hexadecimal digits, as `instance` shows them"
)]
pub struct PrefixError {
    text: String,
}

impl FromStr for InstancePrefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let fits = (LEAST_DIGITS..=ALL_DIGITS).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(PrefixError { text: text.chars().take(80).collect() })
        }
    }
}

impl InstancePrefix {
    fn fits(&self, id: &InstanceId) -> bool {
        id.as_str().starts_with(&self.0)
    }
}

/// Why no run is meant, or none in particular.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindError {
    #[error("{} cannot be listed: {source}", .all.display())]
    Unlisted { all: PathBuf, source: io::Error },
    #[error("there is no run {prefix} in {}", .all.display())]
    Nobody { prefix: String, all: PathBuf, dead: Vec<InstanceId> },
    #[error("{prefix} is how several runs begin")]
    Several { prefix: String, found: Vec<InstanceId> },
}

impl FindError {
    pub(crate) fn advice(&self) -> Option<String> {
        let list = |ids: &[InstanceId]| ids.iter().map(InstanceId::as_str).collect::<Vec<_>>().join(", ");
        match self {
            Self::Unlisted { .. } => None,
            Self::Nobody { dead, .. } if dead.is_empty() => Some("no run there can be gone on with".into()),
            Self::Nobody { dead, .. } => Some(format!("runs that can be gone on with: {}", list(dead))),
            Self::Several { found, .. } => Some(format!("give more digits: {}", list(found))),
        }
    }
}

/// The one directory below `all` that is meant. Nothing is touched.
pub(crate) fn find(all: &Path, prefix: &InstancePrefix) -> Result<(InstanceId, PathBuf), FindError> {
    let directories = directories_below(all).map_err(|source| FindError::Unlisted { all: all.into(), source })?;
    let (mut found, others): (Vec<_>, Vec<_>) = directories.into_iter().partition(|(id, _)| prefix.fits(id));
    let prefix = prefix.0.clone();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let dead = others.into_iter().filter(|(_, directory)| DirectoryLock::check_free(directory).is_ok());
            Err(FindError::Nobody { prefix, all: all.into(), dead: dead.map(|(id, _)| id).collect() })
        }
        _ => Err(FindError::Several { prefix, found: found.into_iter().map(|(id, _)| id).collect() }),
    }
}

/// Directories named by an instance id.
pub(crate) fn directories_below(all: &Path) -> io::Result<Vec<(InstanceId, PathBuf)>> {
    let entries = match fs::read_dir(all) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let id = entry.file_name().to_str().and_then(|name| InstanceId::parse(name).ok());
        if let Some(id) = id
            && entry.file_type()?.is_dir()
        {
            found.push((id, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// How an earlier run is, told from outside. `None` for one that is just going away.
pub(crate) fn look(instance: InstanceId, state_dir: PathBuf, docker: &str) -> Option<Leftover> {
    match DirectoryLock::check_free(&state_dir) {
        Ok(()) => {}
        Err(OpenError::Locked { owner, .. }) => return Some(held(instance, state_dir, owner)),
        Err(OpenError::Missing { .. }) => return None,
        Err(error) => return Some(Leftover::Unreadable { state_dir, why: error.to_string() }),
    }
    match notes::read(&state_dir, notes::DOCKER) {
        Ok(Some(theirs)) if theirs != docker => Some(Leftover::Elsewhere { instance, state_dir, docker_host: theirs }),
        Ok(_) => Some(Leftover::Dead { instance, state_dir }),
        Err(error) => Some(Leftover::Unreadable { state_dir, why: error.to_string() }),
    }
}

/// A directory that somebody alive holds.
pub(crate) fn held(instance: InstanceId, state_dir: PathBuf, owner: Option<Owner>) -> Leftover {
    let cleans_up = owner.as_ref().is_some_and(|owner| owner.purpose == CLEANS_UP);
    let pid = owner.map(|owner| owner.pid);
    if cleans_up {
        Leftover::InCleanup { instance, state_dir, pid }
    } else {
        Leftover::Living { instance, state_dir, pid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    const SECOND: &str = "0f1e2d3c000000000000000000000000";

    fn prefix(text: &str) -> InstancePrefix {
        text.parse().unwrap()
    }

    #[test]
    fn eight_digits_of_any_case_name_a_run() {
        assert_eq!(prefix("0F1E2D3C4b"), prefix("0f1e2d3c4b"));
        prefix(FIRST);
        for refused in ["", "0f1e2d3", "0f1e2d3x4b", "../../etc", &format!("{FIRST}0")] {
            let error = refused.parse::<InstancePrefix>().unwrap_err().to_string();
            assert!(error.contains("8 to 32 hexadecimal digits"), "{error}");
        }
    }

    #[test]
    fn a_run_is_found_by_how_it_begins_and_else_the_candidates_are_named() {
        let all = tempfile::tempdir().unwrap();
        for name in [FIRST, SECOND, "other"] {
            fs::create_dir(all.path().join(name)).unwrap();
        }
        drop(DirectoryLock::try_acquire(&all.path().join(FIRST)).unwrap());
        let living = DirectoryLock::try_acquire(&all.path().join(SECOND)).unwrap();

        let (id, directory) = find(all.path(), &prefix("0F1E2D3C4")).unwrap();
        assert_eq!((id.as_str(), directory), (FIRST, all.path().join(FIRST)));
        let several = find(all.path(), &prefix("0f1e2d3c")).unwrap_err().advice().unwrap();
        assert!(several.contains(FIRST) && several.contains(SECOND), "{several}");
        let nobody = find(all.path(), &prefix("0f1e2d3d")).unwrap_err();
        let advice = nobody.advice().unwrap();
        assert!(advice.contains(FIRST) && !advice.contains(SECOND), "only the dead can be gone on with: {advice}");
        assert!(nobody.to_string().contains("0f1e2d3d"), "{nobody}");
        drop(living);
    }

    #[test]
    fn who_holds_a_directory_is_told_by_what_it_declared() {
        let scratch = tempfile::tempdir().unwrap();
        let look = || look(InstanceId::from_bits(1), scratch.path().into(), "unix:///a");
        assert_eq!(look(), None, "nobody ever held it");
        let lock = DirectoryLock::try_acquire(scratch.path()).unwrap();
        assert!(matches!(look(), Some(Leftover::Living { pid: Some(_), .. })));
        lock.declare(CLEANS_UP).unwrap();
        assert!(matches!(look(), Some(Leftover::InCleanup { pid: Some(_), .. })));
        drop(lock);
        assert!(matches!(look(), Some(Leftover::Dead { .. })));
        notes::write(scratch.path(), notes::DOCKER, "unix:///b").unwrap();
        assert!(matches!(look(), Some(Leftover::Elsewhere { docker_host, .. }) if docker_host == "unix:///b"));
    }
}
