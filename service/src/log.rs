//! The log: a separate thread writes lines to standard error, so that no request waits for a slow reader.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// The maximum size of the buffer. Lines that do not fit are dropped and counted.
const CAPACITY: usize = 4 << 20;

/// The part of the buffer that is reserved for the levels `warn` and `error`, so that lines about requests cannot
/// displace them.
const RESERVE: usize = 256 << 10;

/// The maximum time that shutdown waits for the reader of the log.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for which lines are collected before one system call writes them.
const COLLECT_TIME: Duration = Duration::from_millis(5);

/// Accepts lines. Clones share the buffer.
#[derive(Clone)]
pub struct Lines(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    /// Signals that there are lines to write, or that the log ends.
    news: Condvar,
    lost: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that can panic half-way runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn take(&self, line: &[u8], room: usize) {
        let mut waiting = self.0.waiting();
        if waiting.bytes.len() + line.len() > room {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let was_empty = waiting.bytes.is_empty();
        waiting.bytes.extend_from_slice(line);
        drop(waiting);
        if was_empty {
            self.0.news.notify_one();
        }
    }

    /// The number of lines that were dropped because the reader of the log was too slow.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }
}

/// The writing thread. When this is dropped, the buffered lines are written.
pub struct Writer {
    lines: Lines,
    /// Closed when the thread ends.
    end: Receiver<()>,
}

impl Writer {
    /// Starts the writing thread.
    pub fn start(mut out: impl Write + Send + 'static) -> io::Result<Writer> {
        let waiting = Mutex::default();
        let shared = Arc::new(Shared { waiting, news: Condvar::new(), lost: AtomicU64::new(0) });
        let lines = Lines(Arc::clone(&shared));
        let (alive, end) = channel();
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            let _alive: Sender<()> = alive;
            let mut bytes = Vec::new();
            loop {
                let mut waiting = shared.waiting();
                while waiting.bytes.is_empty() && !waiting.is_over {
                    waiting = shared.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
                if waiting.bytes.is_empty() {
                    return;
                }
                std::mem::swap(&mut bytes, &mut waiting.bytes);
                let is_over = waiting.is_over;
                drop(waiting);
                // There is nowhere to report a failure to write the log.
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
                bytes.clear();
                if !is_over {
                    std::thread::sleep(COLLECT_TIME);
                }
            }
        })?;
        Ok(Writer { lines, end })
    }

    /// A handle for writing lines.
    pub fn lines(&self) -> Lines {
        self.lines.clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lines.0.waiting().is_over = true;
        self.lines.0.news.notify_one();
        // A thread cannot be joined with a timeout. It closes the channel when it has written everything.
        let _ = self.end.recv_timeout(SHUTDOWN_TIMEOUT);
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { lines: self, room: CAPACITY - RESERVE }
    }

    fn make_writer_for(&'a self, line: &Metadata<'_>) -> Line<'a> {
        let room = if *line.level() <= Level::WARN { CAPACITY } else { CAPACITY - RESERVE };
        Line { lines: self, room }
    }
}

/// Each call writes one line.
pub struct Line<'a> {
    lines: &'a Lines,
    room: usize,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.take(line, self.room);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that reads nothing until released.
    struct Slow {
        may_write: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.may_write.recv();
            let _ = self.written.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Writes a line, and waits until the thread is blocked by the reader. The thread writes all buffered lines in one call.
    fn let_the_writer_wait(lines: &Lines, line: &[u8]) {
        lines.take(line, CAPACITY);
        while !lines.0.waiting().bytes.is_empty() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn slow_log_reader_delays_no_writer_and_lost_lines_are_counted() {
        let ((go, may_write), (written, received)) = (channel(), channel());
        let writer = Writer::start(Slow { may_write, written }).expect("a thread");
        let lines = writer.lines();
        let line = vec![b'x'; 1 << 20];
        let_the_writer_wait(&lines, &line);
        for _ in 1..20 {
            lines.make_writer().write_all(&line).expect("it never fails");
        }
        let lost = lines.lost();
        assert_eq!(lost, 16, "one is being written, and three are buffered");
        drop(go);
        drop(writer);
        let bytes: usize = received.iter().map(|bytes| bytes.len()).sum();
        assert_eq!(bytes as u64, (20 - lost) << 20, "the remaining lines are written at the end");
    }

    #[test]
    fn warnings_have_reserved_capacity() {
        let ((go, may_write), (written, _received)) = (channel(), channel());
        let writer = Writer::start(Slow { may_write, written }).expect("a thread");
        let lines = writer.lines();
        let line = vec![b'x'; 64 << 10];
        let_the_writer_wait(&lines, &line);
        for _ in 0..100 {
            lines.take(&line, CAPACITY - RESERVE);
        }
        let lost = 100 - (CAPACITY - RESERVE) as u64 / line.len() as u64;
        assert_eq!(lines.lost(), lost);
        lines.take(b"error", CAPACITY);
        assert_eq!(lines.lost(), lost);
        drop(go);
    }

    #[test]
    fn shutdown_does_not_wait_for_a_stalled_reader() {
        let ((_go, may_write), (written, _received)) = (channel(), channel());
        let writer = Writer::start(Slow { may_write, written }).expect("a thread");
        writer.lines().make_writer().write_all(b"line").expect("it never fails");
        // It would never return.
        drop(writer);
    }
}
