//! Keeping what cannot be read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{error::OpenError, layout, lock::DirectoryLock};

/// Renames the store and its witness to a new `damaged-N` in the same directory, and answers its path.
/// Opening starts anew then. Never deletes anything.
///
/// A crash on the way leaves the witness of a store that is gone, which is refused as damaged again.
///
/// # Errors
/// What the system says; parts may have been moved.
pub fn move_aside(lock: &DirectoryLock) -> Result<PathBuf, OpenError> {
    let directory = lock.directory();
    move_files(directory).map_err(|error| OpenError::from_io(directory, error))
}

fn move_files(directory: &Path) -> io::Result<PathBuf> {
    let aside = layout::damaged(directory, layout::next_damaged(directory)?);
    layout::create_private_directory(&aside)?;
    let stores = layout::stores(directory)?.into_iter().map(|number| layout::store(directory, number));
    // The witness last: while it stays, nothing can look like a new store.
    for path in stores.chain([layout::witness_file(directory)]) {
        if let Some(name) = path.file_name()
            && path.try_exists()?
        {
            fs::rename(&path, aside.join(name))?;
        }
    }
    layout::sync_directory(&aside)?;
    layout::sync_directory(directory)?;
    Ok(aside)
}
