//! A recording as one JSON file: one line, its version first, messages in columns. Equal recordings
//! give equal bytes, and a recording of another version is refused rather than misread.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::file::{WriteError, write_atomically};
use super::plausible::{self, Implausible};
use super::{FORMAT, Recording};

/// Bytes of a file that is still read: about twenty million messages.
pub const MAX_FILE: u64 = 512 << 20;

#[derive(Debug, Error)]
pub enum DecodeError {
    #[error("not a recording: {0}")]
    NotARecording(#[source] serde_json::Error),
    #[error(
        "a recording of format {found}, but this impairlab reads format {FORMAT}: \
         use the version of impairlab that wrote it"
    )]
    OtherFormat { found: u64 },
    #[error("damaged: {0}")]
    Damaged(#[source] serde_json::Error),
    #[error("damaged or edited: {0}")]
    Implausible(#[from] Implausible),
}

#[derive(Debug, Error)]
pub enum ReadError {
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is not a file", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} is larger than the {} MiB that are read", path.display(), MAX_FILE >> 20)]
    TooLarge { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Decode { path: PathBuf, source: DecodeError },
}

pub fn write(path: &Path, recording: &Recording) -> Result<(), WriteError> {
    write_atomically(path, &encode(recording))
}

pub fn read(path: &Path) -> Result<Recording, ReadError> {
    let bytes = read_limited(path)?;
    decode(&bytes).map_err(|source| ReadError::Decode { path: path.to_path_buf(), source })
}

pub fn encode(recording: &Recording) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(recording).expect("a recording has no map with odd keys");
    bytes.push(b'\n');
    bytes
}

pub fn decode(bytes: &[u8]) -> Result<Recording, DecodeError> {
    let version: Version = serde_json::from_slice(bytes).map_err(unversioned)?;
    if version.format != u64::from(FORMAT) {
        return Err(DecodeError::OtherFormat { found: version.format });
    }
    let recording = serde_json::from_slice(bytes).map_err(DecodeError::Damaged)?;
    plausible::check(&recording)?;
    Ok(recording)
}

fn unversioned(error: serde_json::Error) -> DecodeError {
    // JSON as far as it goes, but it ends too soon: what is left of a recording.
    if error.is_eof() { DecodeError::Damaged(error) } else { DecodeError::NotARecording(error) }
}

/// Read before everything else: what the rest of the file means depends on it.
#[derive(Deserialize)]
struct Version {
    format: u64,
}

/// The bytes of a file of at most [`MAX_FILE`].
pub fn read_limited(path: &Path) -> Result<Vec<u8>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_path_buf(), source };
    // Opening a pipe would wait for somebody to write to it.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(ReadError::NotAFile { path: path.to_path_buf() });
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(ReadError::TooLarge { path: path.to_path_buf() });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
