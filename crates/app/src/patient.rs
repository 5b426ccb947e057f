//! A writer that waits for its reader, whoever set its descriptor to not wait.
//!
//! Descriptors are shared: another program on the same terminal or pipe may have made them non-blocking.

use std::{
    io::{self, Write},
    os::fd::AsFd,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

/// Blocks where its writer would not.
#[derive(Debug)]
pub struct Patient<W>(W);

impl<W: Write + AsFd> Patient<W> {
    /// Writes to `writer`.
    pub const fn new(writer: W) -> Self {
        Self(writer)
    }

    fn patiently<T>(&mut self, mut work: impl FnMut(&mut W) -> io::Result<T>) -> io::Result<T> {
        loop {
            match work(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(&self.0)?,
                outcome => return outcome,
            }
        }
    }
}

impl<W: Write + AsFd> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.patiently(W::flush)
    }
}

/// Until it can be written, or is broken: the write that follows says which.
fn wait_for_room(to: &impl AsFd) -> io::Result<()> {
    match poll(&mut [PollFd::new(to, PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read as _, thread};

    use rustix::fs::{OFlags, fcntl_setfl};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the reader of a pipe")]
    fn nothing_is_lost_in_a_pipe_that_does_not_block() {
        let (reader, writer) = io::pipe().unwrap();
        fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
        let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let reading = thread::spawn(move || {
            let mut all = Vec::new();
            io::BufReader::new(reader).read_to_end(&mut all).map(|_| all)
        });
        let mut patient = Patient::new(writer);
        patient.write_all(&bytes).unwrap();
        patient.flush().unwrap();
        drop(patient);
        assert!(reading.join().unwrap().unwrap() == bytes, "something is lost");
    }

    #[test]
    fn what_cannot_be_written_is_still_an_error() {
        let mut full = Patient::new(File::options().write(true).open("/dev/full").unwrap());
        assert_eq!(full.write_all(b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
        let (reader, writer) = io::pipe().unwrap();
        fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
        drop(reader);
        assert_eq!(Patient::new(writer).write_all(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
