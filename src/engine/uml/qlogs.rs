//! The logs of a trial's connections on their way out of the guest: one file that says what each
//! is, and one with the bytes of all of them.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::protocol::{Qlog, Role};
use crate::units::PathId;

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    role: Role,
    path: PathId,
    length: usize,
    left_out: u64,
}

pub fn write(index: &Path, bytes: &Path, logs: &[Qlog]) -> io::Result<()> {
    let entry = |log: &Qlog| Entry {
        role: log.role,
        path: log.path,
        length: log.bytes.len(),
        left_out: log.left_out,
    };
    let entries: Vec<Entry> = logs.iter().map(entry).collect();
    fs::write(bytes, logs.iter().flat_map(|log| &log.bytes).copied().collect::<Vec<u8>>())?;
    fs::write(index, serde_json::to_vec(&entries)?)
}

pub fn read(index: &Path, bytes: &Path) -> io::Result<Vec<Qlog>> {
    let entries: Vec<Entry> = serde_json::from_slice(&fs::read(index)?)?;
    let all = fs::read(bytes)?;
    let mut rest = &all[..];
    let log = |Entry { role, path, length, left_out }| {
        let (log, behind) = rest.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        rest = behind;
        Ok(Qlog { role, path, bytes: log.to_vec(), left_out })
    };
    entries.into_iter().map(log).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_come_out_as_they_went_in_and_a_torn_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (index, bytes) = (folder.path().join("index"), folder.path().join("bytes"));
        let log = |role, path, text: &str| Qlog {
            role,
            path: PathId(path),
            bytes: text.into(),
            left_out: path.into(),
        };
        let logs = vec![
            log(Role::Client, 0, "one\n"),
            log(Role::Client, 1, ""),
            log(Role::Server, 0, "2"),
        ];
        write(&index, &bytes, &logs).unwrap();
        assert_eq!(read(&index, &bytes).unwrap(), logs);
        fs::write(&bytes, "one").unwrap();
        assert_eq!(read(&index, &bytes).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
