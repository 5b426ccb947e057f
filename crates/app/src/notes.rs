//! What a state directory holds beside its store: short notes, one file each.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// The instance id. The store has it too, and counts; without a store, only this note knows under which label
/// containers are found.
pub(crate) const INSTANCE: &str = "instance";

/// The address of the Docker that its containers are in.
pub(crate) const DOCKER: &str = "docker";

/// Up to when output was shown.
pub(crate) const SHOWN: &str = "shown";

/// What a note says; `None` where there is none, or an empty one, as a power cut may leave it.
pub(crate) fn read(directory: &Path, name: &str) -> io::Result<Option<String>> {
    let path = directory.join(name);
    // Opening a pipe would wait for its other end.
    if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
    }
    match fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            Ok(Some(text).filter(|text| !text.is_empty()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Durable before anything is created that needs it to be found again.
pub(crate) fn write(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    put(directory, name, text, fs::File::sync_all)?;
    fs::File::open(directory)?.sync_all()
}

/// A note that may be lost with the power, but never with the process.
pub(crate) fn write_lightly(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    put(directory, name, text, |_| Ok(()))
}

fn put(directory: &Path, name: &str, text: &str, settle: impl Fn(&fs::File) -> io::Result<()>) -> io::Result<()> {
    let aside = directory.join(format!(".{name}.new"));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    writeln!(file, "{text}")?;
    settle(&file)?;
    fs::rename(&aside, directory.join(name))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_a_note_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path(), INSTANCE).unwrap(), None);
        assert!(Command::new("mkfifo").arg(directory.path().join(INSTANCE)).status().unwrap().success());
        assert_eq!(read(directory.path(), INSTANCE).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
