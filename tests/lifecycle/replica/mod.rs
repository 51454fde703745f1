//! Replicas that answer the reads of the proxy.

/// Which server answers, and what it shows.
mod freshness;
/// Replicas that do not answer, lag, or are none.
mod outage;
/// Keys and grants on a replica.
mod rights;
