//! The job workers: at most two processes of PostgreSQL for each database. The embedding worker is a task of the
//! proxy (`embedding-worker/src/worker.rs`), and `KEYED_WORKERS` counts threads of the proxy.

/// What a worker is for.
///
/// An index waits for transactions of others, for as long as these are open, and nothing else can be done by the process
/// that builds it. So indexes have a worker of their own, and jobs by record are never behind one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// Jobs that do something for each record.
    Records,
    /// Indexes.
    Indexes,
}

impl Worker {
    /// All of them.
    pub const ALL: [Worker; 2] = [Worker::Records, Worker::Indexes];

    /// Its argument.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The one of that number; records for any other.
    pub fn by_number(number: u8) -> Worker {
        if number == Worker::Indexes.number() { Worker::Indexes } else { Worker::Records }
    }

    /// The number of the lock that the one at work holds. Those of jobs are above 0.
    pub fn place(self) -> i64 {
        -i64::from(self.number())
    }

    /// Which jobs are its own, as a condition on `keyed_state.job`.
    pub fn jobs(self) -> &'static str {
        match self {
            Worker::Records => "kind <> 'index'",
            Worker::Indexes => "kind = 'index'",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_found_by_its_number_and_no_job_has_the_number_of_its_place() {
        for worker in Worker::ALL {
            assert_eq!(Worker::by_number(worker.number()), worker);
            assert!(worker.place() <= 0);
        }
        assert_ne!(Worker::Records.place(), Worker::Indexes.place());
    }
}
