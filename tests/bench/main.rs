//! Measures the release build: `make bench`.
//!
//! Absolute numbers say more about the machine than about the code. So every workload is done in turn by keyed, by
//! hand-written SQL that writes or answers the same, and by PostgREST; what counts are the ratios.

/// What is measured: a cluster, its databases, the services in front of it.
mod bed;
/// The file of all measurements.
mod benchmarks;
/// The least that a lookup over HTTP takes.
mod hop;
/// Programs that make load and tell how it went.
mod load;
/// How much memory is held.
mod memory;
/// The other service.
mod postgrest;
/// How much others kept the processors from us.
mod processors;
/// The tables that are printed.
mod report;
/// Contenders in turn, round after round.
mod rounds;
/// What a run adds to the file of all measurements.
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

/// Measures keyed against hand-written SQL and against PostgREST. Fails when a gate does not hold or an answer is wrong.
#[derive(Parser)]
pub(crate) struct Arguments {
    /// Only these groups of workloads, with commas between them.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Group>,
    /// How long each contender works in each round.
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// How often each contender has its turn.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Also the groups that take minutes to prepare.
    #[arg(long)]
    full: bool,
    /// How many records the group `size` fills a template with.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(10_000..))]
    size_records: u32,
    /// How many templates it makes beside.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(30..))]
    size_templates: u32,
    /// Measure without PostgREST, if its binary is not available.
    #[arg(long)]
    without_postgrest: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // What takes more than an hour runs only when it is named.
    let is_wanted = |group: &Group| match arguments.only.as_slice() {
        [] => !group.takes_long() || arguments.full && *group != Group::Size,
        named => named.contains(group),
    };
    let bed = Bed::new(&arguments).await;
    let disk_latency = bed.disk_latency();
    let mut report = Report::new(&arguments, disk_latency);
    for group in Group::value_variants().iter().filter(|group| is_wanted(group)) {
        report.begin_group(&group.name());
        group.run(&bed, &arguments, &mut report).await;
        if let Some(rows) = report.take_rows() {
            run::write(&bed, &arguments, disk_latency, &group.name(), rows);
        }
    }
    if report.conclude() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
