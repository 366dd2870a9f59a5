//! Files that are whole or not there: written beside their place, synced, then renamed over it.
//! Knows nothing of what is in them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

#[derive(Debug, Error)]
#[error("cannot write {}: {source}{}", path.display(), remedy(source))]
pub struct WriteError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// Puts `bytes` at `path`, over what was there. After an error the old file, if any, is still there
/// and nothing else.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_atomically_with(path, |out| out.write_all(bytes))
}

/// The same for what is too large to be held in memory first.
pub fn write_atomically_with(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let temporary = beside(path);
    write_synced(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder_of(path))
        .map_err(|source| {
            // Best effort: the error that matters is the first one.
            let _ = fs::remove_file(&temporary);
            WriteError { path: path.to_path_buf(), source }
        })
}

/// What the user can do about an error of the file system, as the end of a message; empty if there
/// is nothing to say.
pub fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write to"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space or choose a folder on another disk"
        }
        io::ErrorKind::FileTooLarge => "; raise the limit of the size of files (ulimit -f)",
        _ => "",
    }
}

/// In the same folder, so that the rename stays on one file system; with the process id, so that
/// two programs writing the same file do not write into one another.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write_synced(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    content(&mut file)?;
    file.into_inner().map_err(IntoInnerError::into_error)?.sync_all()
}

/// Makes the rename itself survive a power cut.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
