//! A strict parser for metrics in the text format of Prometheus.

use std::collections::{BTreeMap, BTreeSet};

/// Label names and values, sorted.
type Labels = Vec<(String, String)>;

/// A series of a histogram: the name of the metric family, and its labels without `le`.
type Histogram = (String, Labels);

/// A parsed scrape.
pub struct Exposition {
    /// Type and help text of each metric.
    pub families: BTreeMap<String, (String, String)>,
    samples: BTreeMap<(String, Labels), f64>,
}

impl Exposition {
    /// Parses a scrape. Invalid input fails the test.
    #[track_caller]
    pub fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let (mut helps, mut types) = (BTreeMap::new(), BTreeMap::new());
        let mut samples = BTreeMap::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a help text");
                assert!(helps.insert(name.to_owned(), help.to_owned()).is_none(), "twice: {line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a type");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(types.insert(name.to_owned(), kind.to_owned()).is_none(), "twice: {line}");
            } else {
                let (name, labels, value) = sample(line);
                assert!(family_of(&types, &name).is_some(), "no type before {line}");
                assert!(samples.insert((name, labels), value).is_none(), "twice: {line}");
            }
        }
        assert_eq!(helps.keys().collect::<BTreeSet<_>>(), types.keys().collect::<BTreeSet<_>>());
        let families = types.into_iter().map(|(name, kind)| (name.clone(), (kind, helps[&name].clone())));
        let read = Self { families: families.collect(), samples };
        read.check_histograms();
        read
    }

    fn check_histograms(&self) {
        let mut last: BTreeMap<Histogram, (f64, f64)> = BTreeMap::new();
        let mut buckets: Vec<(Histogram, f64, f64)> = Vec::new();
        for ((name, labels), value) in &self.samples {
            if let Some(family) = name.strip_suffix("_bucket") {
                let bound = labels.iter().find(|(name, _)| name == "le").expect("a bucket has its bound");
                let bound = if bound.1 == "+Inf" { f64::INFINITY } else { bound.1.parse().expect("a bound") };
                let rest = labels.iter().filter(|(name, _)| name != "le").cloned().collect();
                buckets.push(((family.to_owned(), rest), bound, *value));
            }
        }
        buckets.sort_by(|one, other| one.1.total_cmp(&other.1));
        for (series, bound, value) in buckets {
            let before = last.get(&series).map_or(0.0, |last| last.1);
            assert!(value >= before, "{series:?} falls at {bound}");
            last.insert(series, (bound, value));
        }
        for ((family, labels), (bound, value)) in last {
            assert!(bound.is_infinite(), "{family} has no last bucket");
            assert_eq!(self.samples[&(format!("{family}_count"), labels.clone())], value, "{family}");
            assert!(self.samples.contains_key(&(format!("{family}_sum"), labels)), "{family}");
        }
    }

    /// The sum of all series with this name that have these labels, possibly among others; 0 if there is none.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |own: &[(String, String)]| {
            labels.iter().all(|(name, value)| own.iter().any(|it| it.0 == *name && it.1 == *value))
        };
        let series = self.samples.iter().filter(|((own, own_labels), _)| own == name && has(own_labels));
        series.map(|(_, value)| value).sum()
    }

    /// The number of series.
    pub fn count(&self) -> usize {
        self.samples.len()
    }

    /// Whether a series of this name exists.
    pub fn has(&self, name: &str) -> bool {
        self.samples.keys().any(|(own, _)| own == name)
    }
}

/// The metric family of a sample.
fn family_of(types: &BTreeMap<String, String>, name: &str) -> Option<String> {
    if types.get(name).is_some_and(|kind| kind != "histogram") {
        return Some(name.to_owned());
    }
    let family = ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end))?;
    types.get(family).filter(|kind| *kind == "histogram").map(|_| family.to_owned())
}

/// `name{label="value",…} value`.
#[track_caller]
fn sample(line: &str) -> (String, Labels, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
    let value: f64 = value.parse().unwrap_or_else(|_| panic!("not a number: {line}"));
    let (name, rest) = series.split_once('{').map_or((series, None), |(name, rest)| (name, Some(rest)));
    let is_name = |text: &str| {
        text.starts_with(|it: char| it.is_ascii_lowercase())
            && text.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
    };
    assert!(is_name(name), "not a name: {line}");
    let mut labels = Vec::new();
    let mut rest = rest.map_or("", |rest| rest.strip_suffix('}').unwrap_or_else(|| panic!("no }}: {line}")));
    while !rest.is_empty() {
        let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        assert!(is_name(label), "not a label: {line}");
        // No label value of the proxy contains a quote or a backslash.
        let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("no end: {line}"));
        assert!(!value.contains('\\'), "{line}");
        labels.push((label.to_owned(), value.to_owned()));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    labels.sort();
    (name.to_owned(), labels, value)
}
