//! The log: lines go to standard error by a thread of their own, so that no request waits for a slow reader.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// The most bytes that wait to be written. Lines beyond are lost, and counted.
const ROOM: usize = 4 << 20;

/// How long lines are gathered: one call of the system writes all of them.
const GATHER: Duration = Duration::from_millis(5);

/// Takes lines. Copies write to the same place.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    /// There is something to write, or to end.
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
    fn take(&self, line: &[u8]) {
        let mut waiting = self.0.waiting();
        if waiting.bytes.len() + line.len() > ROOM {
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

    /// Lines that were lost because the reader of the log was too slow.
    pub(crate) fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }
}

/// Writes what waits when it is dropped.
pub(crate) struct Writer {
    lines: Lines,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread that writes.
    pub(crate) fn start(mut out: impl Write + Send + 'static) -> io::Result<Writer> {
        let waiting = Mutex::default();
        let shared = Arc::new(Shared { waiting, news: Condvar::new(), lost: AtomicU64::new(0) });
        let lines = Lines(Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("log".to_owned()).spawn(move || {
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
                // Nobody is left to be told that the log cannot be written.
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
                bytes.clear();
                if !is_over {
                    std::thread::sleep(GATHER);
                }
            }
        })?;
        Ok(Writer { lines, thread: Some(thread) })
    }

    pub(crate) fn lines(&self) -> Lines {
        self.lines.clone()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lines.0.waiting().is_over = true;
        self.lines.0.news.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

/// A line is written by one call.
pub(crate) struct Line<'a>(&'a Lines);

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.take(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A reader that takes nothing before it is told to.
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

    #[test]
    fn a_slow_reader_of_the_log_holds_nobody_up_and_lost_lines_are_counted() {
        let ((go, may_write), (written, received)) = (channel(), channel());
        let writer = Writer::start(Slow { may_write, written }).expect("a thread");
        let lines = writer.lines();
        let line = vec![b'x'; 1 << 20];
        // One that the thread may have taken already, and those that fit.
        for _ in 0..20 {
            lines.make_writer().write_all(&line).expect("it never fails");
        }
        let lost = lines.lost();
        assert!((15..=16).contains(&lost), "{lost} of 20");
        drop(go);
        drop(writer);
        let bytes: usize = received.iter().map(|bytes| bytes.len()).sum();
        assert_eq!(bytes as u64, (20 - lost) << 20, "what was not lost is written at the end");
    }
}
