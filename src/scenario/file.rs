//! A file as it was written: its name and its text, read within the limits, and places in it. Knows nothing of YAML.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::limits;
use super::mistake::Mistake;

/// A text file that was read whole.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    /// As it is shown in messages; what is written relative to this file is looked up beside it.
    pub path: PathBuf,
    pub text: String,
}

/// Some bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<File>,
    pub span: Range<usize>,
}

impl File {
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), text: text.into() })
    }

    /// Reads a file of at most [`limits::FILE_BYTES`], which has to be UTF-8 text.
    pub fn read(path: &Path) -> Result<Arc<Self>, Mistake> {
        let bytes = read_bytes(path)?;
        if bytes.contains(&0) {
            return Err(Mistake::Binary);
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| Mistake::NotUtf8 { offset: error.utf8_error().valid_up_to() })?;
        Ok(Self::new(path, text))
    }

    /// The folder the file is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The place where the file begins, for what is wrong with it as a whole.
    pub fn start(self: &Arc<Self>) -> Place {
        let end = self.text.chars().next().map_or(0, char::len_utf8);
        Place { file: Arc::clone(self), span: 0..end }
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Mistake> {
    let unreadable = |error: io::Error| Mistake::Unreadable { error };
    let file = fs::File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Mistake::NotAFile);
    }
    if metadata.len() > limits::FILE_BYTES {
        return Err(Mistake::FileTooLarge { bytes: metadata.len() });
    }
    let mut bytes = Vec::new();
    // A file can grow while it is read: the limit holds for what is read, too.
    file.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 {
        length if length > limits::FILE_BYTES => Err(Mistake::FileTooLarge { bytes: length }),
        _ => Ok(bytes),
    }
}
