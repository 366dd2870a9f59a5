//! What a trial in a guest tells, read from the file that it writes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::error::UmlError;
use super::job;
use super::machine::Machine;
use crate::engine::Event;

pub struct Events {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines that were read.
    read: u64,
}

/// A guest that has ended tells nothing any more, so what it has told is read in one piece.
const MOST: u64 = 16 << 20;

impl Events {
    pub fn of(machine: &Machine) -> Result<Self, UmlError> {
        let path = machine.file(job::EVENTS);
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file, read: 0 }),
            Err(source) => Err(UmlError::File { action: "open", path, source }),
        }
    }

    /// Hands on what is new, all of it even after a `Break`.
    pub fn pass_on(
        &mut self,
        events: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, UmlError> {
        let mut text = Vec::new();
        let mut flow = ControlFlow::Continue(());
        let read = self.file.seek(SeekFrom::Start(self.read));
        let read = read.and_then(|_| (&self.file).take(MOST).read_to_end(&mut text));
        read.map_err(|source| {
            let path = self.path.clone();
            UmlError::File { action: "read", path, source }
        })?;
        // The last line may not be whole yet.
        for line in text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            self.read += line.len() as u64;
            if events(serde_json::from_slice(line)?).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        Ok(flow)
    }
}
