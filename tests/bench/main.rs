//! Measures the release build: `make bench`.
//!
//! Absolute numbers depend on the machine more than on the code. So every workload is run in turn by keyed, by
//! equivalent handwritten SQL, and by PostgREST; the ratios count.

/// The measured system: a cluster, its databases, and the services in front of it.
mod bed;
/// The file of all measurements.
mod benchmarks;
/// A lower bound for a lookup over HTTP.
mod hop;
/// Load generators.
mod load;
/// Memory usage.
mod memory;
/// PostgREST.
mod postgrest;
/// CPU usage of this process, the servers and others.
mod processors;
/// The printed tables.
mod report;
/// Contenders in turn, round after round.
mod rounds;
/// The results that a run adds to the file of all measurements.
mod run;
/// One module for each group of workloads.
mod workloads;
/// Half a million records, for lists and searches.
mod works;

use bed::Bed;
use clap::{Parser, ValueEnum};
use report::Report;
use std::process::ExitCode;
use workloads::Group;

/// Measures keyed against handwritten SQL and against PostgREST. Fails if a gate is missed or a response is
/// wrong.
#[derive(Parser)]
pub(crate) struct Arguments {
    /// Only these groups of workloads, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Group>,
    /// Seconds of each contender in each round.
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Number of rounds.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Include the groups that take minutes to prepare.
    #[arg(long)]
    full: bool,
    /// Number of records of the template in the group `size`.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(10_000..))]
    size_records: u32,
    /// Number of additional templates in the group `size`.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(30..))]
    size_templates: u32,
    /// Measure without PostgREST, if its binary is not available.
    #[arg(long)]
    without_postgrest: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Groups that take more than an hour run only if they are named.
    let is_selected = |group: &Group| match arguments.only.as_slice() {
        [] => !group.takes_long() || arguments.full && *group != Group::Size,
        named => named.contains(group),
    };
    let bed = Bed::new(&arguments).await;
    let disk_latency = bed.disk_latency();
    let mut report = Report::new(&arguments, disk_latency);
    for group in Group::value_variants().iter().filter(|group| is_selected(group)) {
        report.begin_group(&group.name());
        group.run(&bed, &arguments, &mut report).await;
        if let Some(rows) = report.take_rows() {
            run::write(&bed, &arguments, disk_latency, &group.name(), rows);
        }
    }
    if report.conclude() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
