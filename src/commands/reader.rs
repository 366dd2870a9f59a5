//! Standard output while somebody reads it, and nothing after: an exit code is a verdict, which no
//! reader that has seen enough may change.

use std::io::{self, ErrorKind, Write};

pub struct WhileRead<'a> {
    out: &'a mut dyn Write,
    is_read: bool,
}

impl<'a> WhileRead<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out, is_read: true }
    }

    /// For who wants to know when nobody reads any more.
    pub fn unguarded(&mut self) -> &mut dyn Write {
        self.out
    }

    fn hear<T>(&mut self, result: io::Result<T>, unread: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_read = false;
                Ok(unread)
            }
            heard => heard,
        }
    }
}

impl Write for WhileRead<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_read {
            return Ok(bytes.len());
        }
        let result = self.out.write(bytes);
        self.hear(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.is_read {
            return Ok(());
        }
        let result = self.out.flush();
        self.hear(result, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many writes, and then ends each with this.
    struct Reader(usize, ErrorKind);

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(self.1)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_has_read_enough_stops_nothing_and_a_full_disk_does() {
        let written = |kind| {
            let mut reader = Reader(1, kind);
            let mut out = WhileRead::new(&mut reader);
            [(); 3].map(|()| out.write_all(b"line\n").map_err(|error| error.kind()))
        };
        assert_eq!(written(ErrorKind::BrokenPipe), [Ok(()); 3]);
        let full = Err(ErrorKind::StorageFull);
        assert_eq!(written(ErrorKind::StorageFull), [Ok(()), full, full]);
    }
}
