//! Readers with concurrent writers, both at a limited rate. Otherwise, the readers' wait for a CPU would only measure
//! the number of CPUs.

use super::{Sql, Turn};
use harness::Cluster;
use std::thread;
use std::time::Duration;

/// A load next to another one, whose results do not count.
pub(crate) struct Concurrent {
    pub(crate) reading: Sql,
    pub(crate) writing: Sql,
}

impl Concurrent {
    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        thread::scope(|scope| {
            // The writers start before the readers and end after them.
            let writing = scope.spawn(|| self.writing.run(cluster, seconds + 1));
            thread::sleep(Duration::from_millis(500));
            let mut turn = self.reading.run(cluster, seconds);
            let written = writing.join().expect("it does not panic");
            // Divides the CPU time of the servers by all operations.
            turn.done += written.done;
            if written.done == 0.0 {
                turn.problems.push("nothing was written meanwhile".to_owned());
            }
            turn.problems.extend(written.problems);
            turn
        })
    }
}
