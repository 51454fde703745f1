//! The results that a run adds to `BENCHMARKS.md`, and whether they qualify.

use crate::Arguments;
use crate::bed::Bed;
use crate::benchmarks::{Benchmarks, Row};
use crate::postgrest;
use crate::workloads::Group;
use clap::ValueEnum;
use std::fs;
use std::path::Path;

/// With fewer rounds or seconds than this, the results are not stored.
pub(crate) const LEAST_ROUNDS: usize = 5;
pub(crate) const LEAST_SECONDS: u32 = 2;

/// Replaces the rows of a group in the file.
pub(crate) fn write(bed: &Bed, arguments: &Arguments, disk_latency: f64, group: &str, rows: Vec<Row>) {
    let Arguments { rounds, seconds, .. } = arguments;
    if *rounds < LEAST_ROUNDS || *seconds < LEAST_SECONDS {
        println!(
            "\nBENCHMARKS.md stays as it is: it takes {LEAST_ROUNDS} rounds of {LEAST_SECONDS} s at least."
        );
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../BENCHMARKS.md");
    let mut benchmarks = fs::read_to_string(&file).map(|text| Benchmarks::parse(&text)).unwrap_or_default();
    let order: Vec<String> = Group::value_variants().iter().map(|group| group.name()).collect();
    benchmarks.replace(&[group.to_owned()], rows, &describe(bed, arguments, disk_latency), &order);
    match fs::write(&file, benchmarks.render()) {
        Ok(()) => println!("\nBENCHMARKS.md has the figures of the group {group}."),
        Err(error) => println!("\nBENCHMARKS.md cannot be written: {error}"),
    }
}

/// The machine and settings of a run.
fn describe(bed: &Bed, arguments: &Arguments, disk_latency: f64) -> String {
    let keyed = env!("CARGO_PKG_VERSION");
    let postgresql = bed.cluster.sql("postgres", "show server_version");
    let disk = if disk_latency < 0.1 { "under 0.1 ms".to_owned() } else { format!("{disk_latency:.1} ms") };
    let peer = if bed.postgrest.is_some() { format!(", {}", postgrest::VERSION) } else { String::new() };
    let Arguments { rounds, seconds, .. } = arguments;
    format!(
        "keyed {keyed}, PostgreSQL {postgresql}{peer}; {}, {} GiB; fsync of a page takes {disk}; \
         {rounds} rounds of {seconds} s per contender",
        processors(),
        memory()
    )
}

/// The CPUs of this machine.
fn processors() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let names = || text.lines().filter(|line| line.starts_with("model name"));
    let name = names().next().and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown model");
    format!("{} processors ({name})", names().count())
}

/// Its memory in GiB.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    (kilobytes.unwrap_or_default() + (1 << 19)) >> 20
}
