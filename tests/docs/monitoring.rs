//! The alert rules and the dashboard use metrics that the proxy has, and each alert has a runbook.

use crate::page::file;
use harness::Service;
use promql_parser::parser::{AggregateExpr, Expr, VectorSelector, parse};
use promql_parser::util::{ExprVisitor, walk_expr};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

const ALERTS: &str = "packages/monitoring/alerts.yml";
const DASHBOARD: &str = "packages/monitoring/dashboard.json";
const PAGE: &str = "docs/how-to/respond-to-alerts.md";

/// Labels that Prometheus adds to scraped metrics, and the label of histogram buckets.
const ADDED_LABELS: [&str; 3] = ["instance", "job", "le"];

/// Metrics that Prometheus creates for each target.
const OF_PROMETHEUS: [&str; 1] = ["up"];

fn alerts() -> Vec<Value> {
    let rules: Value = serde_saphyr::from_str(&file(ALERTS)).expect("YAML");
    let groups = rules["groups"].as_array().expect("groups").clone();
    groups.iter().flat_map(|group| group["rules"].as_array().expect("rules").clone()).collect()
}

/// All expressions in the dashboard, with the title of their panel.
fn collect(value: &Value, title: &str, expressions: &mut Vec<(String, String)>) {
    let title = value["title"].as_str().unwrap_or(title);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str() {
                    Some(text) if name == "expr" => expressions.push((title.to_owned(), text.to_owned())),
                    _ => collect(member, title, expressions),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, title, expressions)),
        _ => {}
    }
}

/// The expressions in both files, with their locations.
fn expressions() -> Vec<(String, String)> {
    let dashboard: Value = serde_json::from_str(&file(DASHBOARD)).expect("JSON");
    let mut expressions = Vec::new();
    collect(&dashboard, "dashboard", &mut expressions);
    for variable in dashboard["templating"]["list"].as_array().expect("variables") {
        if let Some(query) = variable["query"]["query"].as_str() {
            let arguments = query.strip_prefix("label_values(").and_then(|rest| rest.strip_suffix(')'));
            let (metric, label) = arguments.and_then(|it| it.rsplit_once(", ")).expect("label_values");
            expressions.push((format!("variable {label}"), format!("sum by ({label}) ({metric})")));
        }
    }
    let rules = alerts();
    expressions.extend(rules.iter().map(|rule| {
        let text = |name: &str| rule[name].as_str().expect("a text").to_owned();
        (text("alert"), text("expr"))
    }));
    // Grafana substitutes the interval between points.
    expressions.iter_mut().for_each(|(_, text)| *text = text.replace("$__rate_interval", "5m"));
    expressions
}

/// The metrics and labels of an expression, and the labels that it groups by.
#[derive(Default)]
struct Asked {
    metrics: Vec<(String, BTreeSet<String>)>,
    groups: BTreeSet<String>,
}

impl ExprVisitor for Asked {
    type Error = Infallible;

    fn pre_visit(&mut self, expression: &Expr) -> Result<bool, Infallible> {
        let mut selected = |selector: &VectorSelector| {
            let name = selector.name.clone().expect("a metric has a name");
            let labels = selector.matchers.matchers.iter().map(|matcher| matcher.name.clone()).collect();
            self.metrics.push((name, labels));
        };
        match expression {
            Expr::VectorSelector(selector) => selected(selector),
            Expr::MatrixSelector(selector) => selected(&selector.vs),
            Expr::Aggregate(AggregateExpr { modifier: Some(modifier), .. }) => {
                self.groups.extend(modifier.labels().labels.iter().cloned());
            }
            _ => {}
        }
        Ok(true)
    }
}

fn asked(location: &str, expression: &str) -> Asked {
    let parsed = parse(expression).unwrap_or_else(|error| panic!("{location}: {error} in {expression}"));
    let mut asked = Asked::default();
    let Ok(_) = walk_expr(&mut asked, &parsed);
    asked
}

/// The metrics of a running proxy: name, and the labels that the documentation lists for it.
async fn metrics() -> BTreeMap<String, BTreeSet<String>> {
    let service = Service::start_with(&[("KEYED_METRICS_LISTEN", "127.0.0.1:0")]).await;
    let exposition = service.proxy.metrics().await;
    let page = file("docs/reference/metrics.md");
    let mut metrics = BTreeMap::new();
    for (name, (kind, _)) in &exposition.families {
        let labels = labels_of(&page, name);
        for suffix in if kind == "histogram" { &["_bucket", "_sum", "_count"][..] } else { &[""] } {
            metrics.insert(format!("{name}{suffix}"), labels.clone());
        }
    }
    metrics
}

/// The labels of a metric according to the page that lists all metrics.
fn labels_of(page: &str, metric: &str) -> BTreeSet<String> {
    let row = page.lines().find(|line| line.starts_with(&format!("| `{metric}` |")));
    let row = row.unwrap_or_else(|| panic!("docs/reference/metrics.md lacks {metric}"));
    let cell = row.split('|').nth(3).expect("the column of labels");
    cell.split(',')
        .map(|label| label.trim().trim_matches('`').to_owned())
        .filter(|it| !it.is_empty())
        .collect()
}

#[tokio::test]
async fn alerts_and_dashboard_use_existing_metrics() {
    let metrics = metrics().await;
    for (location, expression) in expressions() {
        let asked = asked(&location, &expression);
        let mut labels: BTreeSet<String> = ADDED_LABELS.map(str::to_owned).into();
        for (name, matched) in &asked.metrics {
            if OF_PROMETHEUS.contains(&name.as_str()) {
                continue;
            }
            let known = metrics.get(name).unwrap_or_else(|| panic!("{location}: there is no metric {name}"));
            for label in matched {
                let is_known = known.contains(label) || ADDED_LABELS.contains(&label.as_str());
                assert!(is_known, "{location}: {name} has no label {label}");
            }
            labels.extend(known.iter().cloned());
        }
        let unknown: Vec<&String> = asked.groups.difference(&labels).collect();
        assert!(unknown.is_empty(), "{location}: no metric of {expression} has the labels {unknown:?}");
    }
}

#[test]
fn alerts_have_summary_description_and_runbook() {
    let page = file(PAGE);
    let sections: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let mut names = BTreeSet::new();
    let rules = alerts();
    for rule in &rules {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = rule["alert"].as_str().expect("a name");
        assert!(names.insert(name), "{name} exists twice");
        assert!(["page", "ticket"].contains(&text(&rule["labels"]["severity"]).as_str()), "{name}");
        for annotation in ["summary", "description"] {
            assert!(!text(&rule["annotations"][annotation]).is_empty(), "{name} has no {annotation}");
        }
        let link = text(&rule["annotations"]["runbook_url"]);
        assert_eq!(link, format!("{PAGE}#{}", name.to_lowercase()), "{name}");
    }
    assert_eq!(names, sections, "an alert without a section, or a section without an alert");
}
