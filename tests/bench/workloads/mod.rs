//! One module for each group of workloads. A new group needs a module and a line in [`Group`].

mod application;
mod batch;
mod batch_clash;
mod batch_contenders;
mod bi;
mod churn;
mod create;
mod files;
mod frequent;
mod growth;
mod hot_key;
mod import;
mod list;
mod lookup;
mod metric;
mod pages;
mod parts;
mod relevance;
mod responses;
mod roles;
mod scopes;
mod semantic;
mod size;
mod suggest;
mod templates;
mod text;
mod upsert;

use crate::Arguments;
use crate::bed::Bed;
use crate::load::{Http, Load, Sql};
use crate::report::Report;
use crate::rounds::{self, Claim, Contender, Quantity, READS, Workload};
use clap::ValueEnum;
use harness::Database;

/// The groups of workloads, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Group {
    /// A record by its key.
    Lookup,
    /// A new record.
    Create,
    /// Create or update by key.
    Upsert,
    /// Many writers of one key.
    HotKey,
    /// A thousand upserts in one request.
    Batch,
    /// Batches over the same records.
    BatchClash,
    /// Files of many rows.
    Import,
    /// Import and export of half a million rows; takes minutes.
    Files,
    /// Metric points and increments.
    Metric,
    /// A thousand templates.
    Templates,
    /// Conditions, a sort, fifty records.
    List,
    /// Substrings and full-text search.
    Text,
    /// Completions and highlights.
    Suggest,
    /// Words that half of the records have.
    Frequent,
    /// The rank of the expected record.
    Relevance,
    /// Substrings, on fresh tables and grown ones; takes minutes to prepare.
    Parts,
    /// The thousandth page.
    Pages,
    /// Roles with scopes.
    Scopes,
    /// The statements of BI tools; takes minutes.
    Bi,
    /// The web application; needs a browser.
    Application,
    /// Vectors; takes minutes to prepare.
    Semantic,
    /// Searches while records change.
    Churn,
    /// A million records; takes long.
    Growth,
    /// Ten million records, ten thousand templates; takes an hour or more.
    Size,
}

impl Group {
    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("every group can be named");
        value.get_name().to_owned()
    }

    /// Whether it runs only when it is named.
    pub(crate) fn takes_long(self) -> bool {
        matches!(
            self,
            Self::Application
                | Self::Bi
                | Self::Files
                | Self::Growth
                | Self::Parts
                | Self::Semantic
                | Self::Size
        )
    }

    pub(crate) async fn run(self, bed: &Bed, arguments: &Arguments, report: &mut Report) {
        let mut run = Run { bed, arguments, report };
        match self {
            Self::Lookup => lookup::run(&mut run),
            Self::Create => create::run(&mut run),
            Self::Upsert => upsert::run(&mut run),
            Self::HotKey => hot_key::run(&mut run).await,
            Self::Batch => batch::run(&mut run),
            Self::BatchClash => batch_clash::run(&mut run),
            Self::Import => import::run(&mut run),
            Self::Files => files::run(&mut run).await,
            Self::Metric => metric::run(&mut run),
            Self::Templates => templates::run(&mut run).await,
            Self::List => list::run(&mut run).await,
            Self::Text => text::run(&mut run).await,
            Self::Suggest => suggest::run(&mut run).await,
            Self::Frequent => frequent::run(&mut run).await,
            Self::Relevance => relevance::run(&mut run).await,
            Self::Parts => parts::run(&mut run).await,
            Self::Pages => pages::run(&mut run).await,
            Self::Scopes => scopes::run(&mut run).await,
            Self::Bi => bi::run(&mut run).await,
            Self::Application => application::run(&mut run).await,
            Self::Semantic => semantic::run(&mut run).await,
            Self::Churn => churn::run(&mut run).await,
            Self::Growth => growth::run(&mut run).await,
            Self::Size => size::run(&mut run).await,
        }
    }
}

/// The environment of every group.
struct Run<'a> {
    bed: &'a Bed,
    arguments: &'a Arguments,
    report: &'a mut Report,
}

impl Run<'_> {
    /// The database with half a million records, which must be in memory.
    async fn measure_warm(&mut self, workload: &Workload) {
        self.bed.works().await.warm(self.bed);
        self.measure(workload);
    }

    fn measure(&mut self, workload: &Workload) {
        let outcome = rounds::run(self.bed, workload, self.arguments);
        self.report.add(workload, outcome);
    }
}

/// A script for pgbench on a database.
fn sql(database: &Database, script: &'static str, clients: u32, variables: &[(&'static str, u32)]) -> Load {
    Load::Sql(Sql { clients, variables: variables.to_vec(), ..Sql::new(script, database.name()) })
}

/// A script for half a million records, with one client, so that a latency contains no wait for others.
async fn over_works(bed: &Bed, script: &'static str) -> Load {
    sql(&bed.database, script, 1, &[("template", bed.works().await.template)])
}

/// The statement that the proxy sends.
const OURS: &str = "keyed, statement of the proxy";

/// Plain SQL on the tables.
const THEIRS: &str = "hand-written SQL";

/// Compares the latency of the proxy's statement, given as the script of keyed, with handwritten SQL, and with a third
/// contender for information.
async fn against_sql(
    run: &mut Run<'_>,
    name: &'static str,
    [ours, theirs]: [&'static str; 2],
    aim: f64,
    third: Option<Contender>,
) {
    responses::compare(run, ours, theirs, None).await;
    let claim = |about, gate, aim| {
        let (against, quantity) = (THEIRS, Quantity::Latency);
        Claim { about, against, quantity, gate, aim }
    };
    let mut claims = vec![claim(OURS, Some(1.5), Some(aim))];
    claims.extend(third.iter().map(|third| claim(third.name, None, None)));
    let mut contenders = vec![
        Contender::new(OURS, over_works(run.bed, ours).await),
        Contender::new(THEIRS, over_works(run.bed, theirs).await),
    ];
    contenders.extend(third);
    run.measure_warm(&Workload { name, commits: READS, contenders, claims }).await;
}

/// The keys that an upsert chooses.
#[derive(Clone, Copy)]
struct Keys {
    /// The percentage of new keys.
    fresh: u32,
    /// The others are among the first `records`.
    records: u32,
}

impl Keys {
    fn variables(self) -> [(&'static str, u32); 2] {
        [("fresh", self.fresh), ("records", self.records)]
    }
}

/// Lookups over HTTP with all checks: the API key, the project and the caller's privileges.
fn lookup_over_http(bed: &Bed, clients: u32, records: u32) -> Load {
    Load::Http(Http {
        script: include_str!("../scripts/lookup.lua"),
        service: bed.proxy.url(""),
        clients,
        threads: 2,
        environment: vec![
            ("ADDRESS", "/v1/entities/template/customers/by-key?key=".to_owned()),
            ("HEADERS", headers_of_keyed(bed)),
            ("RECORDS", records.to_string()),
        ],
        least_bytes: 300.0,
    })
}

/// Upserts of four attributes over HTTP, with all checks.
fn upsert_over_http(bed: &Bed, clients: u32, keys: Keys) -> Http {
    Http {
        script: include_str!("../scripts/upsert.lua"),
        service: bed.proxy.url(""),
        clients,
        threads: 2,
        environment: vec![
            ("METHOD", "PUT".to_owned()),
            ("ADDRESS", "/v1/entities/template/customers/by-key".to_owned()),
            ("HEADERS", headers_of_keyed(bed)),
            ("BODY", format!(r#"{{"external_key":"A-%d","attributes":{{{VALUES}}}}}"#)),
            ("PEER", "keyed".to_owned()),
            ("FRESH", keys.fresh.to_string()),
            ("RECORDS", keys.records.to_string()),
        ],
        least_bytes: 100.0,
    }
}

/// The values of an upsert's body; the script fills in the numbers.
const VALUES: &str = r#""name":"Name %d","email":"user%d@example.org","city":"City %d","score":%d"#;

fn headers_of_keyed(bed: &Bed) -> String {
    let token = token_of_keyed(bed);
    format!("Host: keyed\r\nAuthorization: {token}\r\nX-Service-Project-Id: bench\r\n")
}

fn token_of_keyed(bed: &Bed) -> String {
    format!("Bearer {}", bed.proxy.key())
}
