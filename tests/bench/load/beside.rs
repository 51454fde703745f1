//! Reading while others write, both at a pace of their own: a reader who waits for writers to let go of the processors
//! would only show how many of those there are.

use super::{Sql, Turn};
use harness::Cluster;
use std::thread;
use std::time::Duration;

/// One load beside another, whose figures count for nothing.
pub(crate) struct Beside {
    pub(crate) reading: Sql,
    pub(crate) writing: Sql,
}

impl Beside {
    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        thread::scope(|scope| {
            // They begin before the readers and end after them.
            let writing = scope.spawn(|| self.writing.run(cluster, seconds + 1));
            thread::sleep(Duration::from_millis(500));
            let mut turn = self.reading.run(cluster, seconds);
            let written = writing.join().expect("it does not panic");
            // So that the time of the servers is shared out among all that they did.
            turn.done += written.done;
            if written.done == 0.0 {
                turn.problems.push("nothing was written meanwhile".to_owned());
            }
            turn.problems.extend(written.problems);
            turn
        })
    }
}
