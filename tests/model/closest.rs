//! The records closest to random vectors, computed in memory.

use super::case::{Case, formatted};
use super::random::Random;
use super::values::{parse_id, write_id};
use super::world::{Template, World};
use harness::{Session, array, vector};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The number of non-zero components of a vector.
const AXES: usize = 4;
/// The database rounds distances of single-precision numbers to millionths.
const UNIT: f64 = 1.5e-6;

pub(crate) type Axes = [f64; AXES];

/// Small integers, so that many vectors are equally close.
fn random_axes(random: &mut Random) -> Axes {
    loop {
        let axes = std::array::from_fn(|_| random.below(5) as f64 - 1.0);
        if axes != [0.0; AXES] {
            return axes;
        }
    }
}

fn whole(axes: &Axes) -> Value {
    vector(&axes.iter().copied().enumerate().collect::<Vec<_>>())
}

fn similarity(one: &Axes, other: &Axes) -> f64 {
    let dot = |one: &Axes, other: &Axes| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

impl World {
    /// Gives most things a vector, including deleted ones.
    pub(super) async fn embed(&mut self, session: &Session, random: &mut Random) {
        for id in self.ids(Template::Things) {
            if !random.one_in(8) {
                let axes = random_axes(random);
                let numbers = array(&whole(&axes));
                session.rows("select keyed.set_embedding($1, $2)", &[&write_id(id), &numbers]).await;
                self.vectors.insert(id, axes);
            }
        }
    }
}

impl Case {
    /// Compares the records closest to a random vector among the results of this search.
    pub(crate) async fn check_closest(
        &self,
        session: &Session,
        world: &World,
        random: &mut Random,
    ) -> Result<(), String> {
        let asked = random_axes(random);
        let (limit, threshold) = (*random.pick(&[1, 3, 10, 200]), *random.pick(&[0.0, 0.0, 0.33, 0.77]));
        let body = format!(
            r#"{{{},"template_id":"p.things","query_vector":{},"limit":{limit},"threshold":{threshold}}}"#,
            self.condition,
            whole(&asked)
        );
        let result = session.attempt("select keyed.semantic_search($1)", &[&body]).await;
        let result = result.map_err(|error| format!("the closest to {asked:?}: {error}"))?;
        let result: Value = serde_json::from_str(result[0][0].as_deref().unwrap_or_default()).expect("JSON");
        let found: Vec<(u128, f64)> = result
            .as_array()
            .into_iter()
            .flatten()
            .map(|hit| {
                let id = hit.pointer("/entity/id").and_then(Value::as_str).unwrap_or_default();
                (parse_id(id), hit["similarity_score"].as_f64().unwrap_or(f64::NAN))
            })
            .collect();

        let mut expected: Vec<(u128, f64)> = self
            .expected
            .iter()
            .filter_map(|id| Some((*id, similarity(&asked, world.vectors.get(id)?))))
            .filter(|(_, similarity)| similarity.max(0.0) >= threshold)
            .collect();
        expected.sort_by(|one, other| other.1.total_cmp(&one.1));
        let candidates: HashMap<u128, f64> = expected.iter().copied().collect();
        expected.truncate(limit);
        // For equally close records, single precision decides which come first.
        let is_same = found.len() == expected.len()
            && found.iter().map(|(id, _)| id).collect::<HashSet<_>>().len() == found.len()
            && found.iter().zip(&expected).all(|((id, score), expected)| {
                candidates.get(id).is_some_and(|similarity| (similarity - expected.1).abs() < UNIT)
                    && (score - expected.1.max(0.0)).abs() < UNIT
            });
        is_same.then_some(()).ok_or_else(|| {
            let ids = |pairs: &[(u128, f64)]| pairs.iter().map(|pair| pair.0).collect::<Vec<_>>();
            format!(
                "at most {limit} from {threshold} on are closest to {asked:?}: {:#?}\nand not {:#?}",
                formatted(&ids(&found)),
                formatted(&ids(&expected))
            )
        })
    }
}
