//! Logs of QUIC connections in the format of qlog (draft-ietf-quic-qlog-main-schema, as JSON text
//! sequences, RFC 7464), kept in memory: an engine hands a book out, the libraries write in it, and
//! whoever asked for it takes the logs and puts them on a disk. Knows no library and no file.

mod seconds;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::Role;
use crate::units::PathId;

/// Bytes of one log; what does not fit is counted and left out. A connection that carries 50
/// messages a second writes about 20 MB in ten minutes.
pub const LOG_LIMIT: usize = 64 << 20;

/// The logs of both sides of a trial. Copies are the same book.
#[derive(Debug, Clone, Default)]
pub struct QlogBook {
    logs: Arc<Mutex<Vec<QlogWriter>>>,
}

/// What one side of one connection logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qlog {
    pub role: Role,
    /// Of the connection; the first, if it has several.
    pub path: PathId,
    pub bytes: Vec<u8>,
    /// Records beyond [`LOG_LIMIT`].
    pub left_out: u64,
}

impl QlogBook {
    /// A new log, for one side of one connection.
    pub fn open(&self, role: Role, path: PathId) -> QlogWriter {
        let log = Qlog { role, path, bytes: Vec::new(), left_out: 0 };
        let log = Log { log, whole: 0, full: false, limit: LOG_LIMIT, in_seconds: false };
        let writer = QlogWriter { log: Arc::new(Mutex::new(log)) };
        self.lock().push(writer.clone());
        writer
    }

    /// Takes over a log that was kept elsewhere.
    pub fn put(&self, log: Qlog) {
        let whole = log.bytes.len();
        let log = Log { log, whole, full: true, limit: LOG_LIMIT, in_seconds: false };
        self.lock().push(QlogWriter { log: Arc::new(Mutex::new(log)) });
    }

    /// Every log that was opened, in this order: the client's, the server's, each by path.
    pub fn take(&self) -> Vec<Qlog> {
        let mut logs: Vec<Qlog> = self.lock().drain(..).map(|writer| writer.take()).collect();
        logs.sort_by_key(|log| (log.role as u8, log.path));
        logs
    }

    fn lock(&self) -> MutexGuard<'_, Vec<QlogWriter>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a library writes. It never fails: what finds no room is counted.
#[derive(Debug, Clone)]
pub struct QlogWriter {
    log: Arc<Mutex<Log>>,
}

#[derive(Debug)]
struct Log {
    log: Qlog,
    /// Bytes that are whole records: each ends with a line feed, and has none within.
    whole: usize,
    full: bool,
    limit: usize,
    /// Whether its round trips are.
    in_seconds: bool,
}

impl QlogWriter {
    /// For a library that writes round trips in seconds: they are taken out in milliseconds.
    pub fn in_seconds(self) -> Self {
        self.lock().in_seconds = true;
        self
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Qlog {
        let held = self.lock();
        let whole = &held.log.bytes[..held.whole];
        let bytes = match held.in_seconds {
            true => with_vantage_point(&seconds::to_milliseconds(whole), held.log.role),
            false => with_vantage_point(whole, held.log.role),
        };
        let Qlog { role, path, left_out, .. } = held.log;
        Qlog { role, path, bytes, left_out }
    }
}

/// The log with its side in the header, which quinn leaves out and the others do not name.
fn with_vantage_point(log: &[u8], role: Role) -> Vec<u8> {
    let (kind, name) = match role {
        Role::Client => ("client", "vehicle"),
        Role::Server => ("server", "cloud"),
    };
    let end = log.iter().position(|byte| *byte == b'\n').unwrap_or(log.len());
    let (header, events) = log.split_at(end);
    let header = header.strip_prefix(SEPARATOR).unwrap_or(header);
    let Ok(mut header) = serde_json::from_slice::<Value>(header) else { return log.to_vec() };
    if let Some(trace) = header.get_mut("trace").and_then(Value::as_object_mut) {
        trace.insert("vantage_point".to_owned(), json!({ "name": name, "type": kind }));
    }
    [SEPARATOR, header.to_string().as_bytes(), events].concat()
}

/// RFC 7464: in front of each record.
const SEPARATOR: &[u8] = b"\x1e";

impl Write for QlogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn push(&mut self, bytes: &[u8]) {
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let log = &mut self.log;
        if self.full || log.bytes.len() + bytes.len() > self.limit {
            // What is there of the record that found no room goes too; it counts when it ends.
            self.full = true;
            log.bytes.truncate(self.whole);
            log.left_out += ends;
            return;
        }
        log.bytes.extend_from_slice(bytes);
        if ends > 0 {
            self.whole = log.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathId = PathId(0);

    #[test]
    fn a_log_holds_whole_records_up_to_its_limit_and_counts_the_rest() {
        let book = QlogBook::default();
        let mut writer = book.open(Role::Client, PATH);
        writer.lock().limit = 25;
        for record in ["first", "second", "a third one", "4"] {
            // As the libraries write: a separator, the record in pieces, a line feed.
            for piece in ["\x1e", &record[..1], &record[1..], "\n"] {
                writer.write_all(piece.as_bytes()).unwrap();
            }
        }
        let [log] = &book.take()[..] else { panic!("one log was opened") };
        assert_eq!(log.bytes, b"\x1efirst\n\x1esecond\n");
        assert_eq!(log.left_out, 2);
    }

    #[test]
    fn a_record_that_never_ended_is_no_part_of_a_log() {
        let book = QlogBook::default();
        let mut writer = book.open(Role::Server, PATH);
        writer.write_all(b"whole\nbegun").unwrap();
        assert_eq!(book.take()[0].bytes, b"whole\n");
        assert!(book.take().is_empty());
    }

    #[test]
    fn logs_come_in_the_order_of_sides_and_paths_whenever_they_were_opened() {
        let book = QlogBook::default();
        for (role, path) in [(Role::Server, 1), (Role::Client, 1), (Role::Server, 0)] {
            let _ = book.open(role, PathId(path));
        }
        let order: Vec<_> = book.take().iter().map(|log| (log.role, log.path.0)).collect();
        assert_eq!(order, [(Role::Client, 1), (Role::Server, 0), (Role::Server, 1)]);
    }
}
