//! One module for each group of workloads. A new one is a module here and a line in [`Group`].

mod answers;
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

/// Which workloads belong together. The order is that of the runs.
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
    /// Half a million rows in and out; takes minutes.
    Files,
    /// Metric points and increments.
    Metric,
    /// A thousand templates.
    Templates,
    /// Conditions, an order, fifty records.
    List,
    /// Parts of words, words.
    Text,
    /// Completions and highlights.
    Suggest,
    /// Words that half of the records have.
    Frequent,
    /// The record that a person expects first.
    Relevance,
    /// Parts of texts, on fresh tables and grown ones; takes minutes to prepare.
    Parts,
    /// The thousandth page.
    Pages,
    /// Roles that see a part of the records.
    Scopes,
    /// What BI tools send; takes minutes.
    Bi,
    /// The web application; needs a browser.
    Application,
    /// Vectors; takes minutes to prepare.
    Semantic,
    /// Searches while records change.
    Churn,
    /// A million records; takes long.
    Growth,
    /// Ten million records, ten thousand templates; takes an hour and more.
    Size,
}

impl Group {
    /// As the command line names it.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("every group can be named");
        value.get_name().to_owned()
    }

    /// Whether it runs only when asked for.
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

/// What every group needs.
struct Run<'a> {
    bed: &'a Bed,
    arguments: &'a Arguments,
    report: &'a mut Report,
}

impl Run<'_> {
    /// Over the many records, which must be in memory.
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

/// A script over the many records, for one client: a latency then contains no wait for others.
async fn over_works(bed: &Bed, script: &'static str) -> Load {
    sql(&bed.database, script, 1, &[("template", bed.works().await.template)])
}

/// The statement that the proxy sends.
const OURS: &str = "keyed, statement of the proxy";

/// Plain SQL over the tables.
const THEIRS: &str = "hand-written SQL";

/// Holds the latency of the statement that the proxy sends, our script, against that of hand-written SQL; that of a third
/// contender as well, if only to be seen.
async fn against_sql(
    run: &mut Run<'_>,
    name: &'static str,
    [ours, theirs]: [&'static str; 2],
    aim: f64,
    third: Option<Contender>,
) {
    answers::compare(run, ours, theirs, None).await;
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

/// Which keys an upsert chooses.
#[derive(Clone, Copy)]
struct Keys {
    /// How many of a hundred are new.
    fresh: u32,
    /// The others are among the first `records`.
    records: u32,
}

impl Keys {
    fn variables(self) -> [(&'static str, u32); 2] {
        [("fresh", self.fresh), ("records", self.records)]
    }
}

/// Lookups over HTTP with everything on: the API key is checked, the project and the caller's rights as well.
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

/// Upserts of four attributes over HTTP, with everything on.
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
