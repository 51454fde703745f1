//! Vectors for tests: few non-zero components, full length.

use serde_json::{Value, json};

/// The number of dimensions of a vector.
const DIMENSIONS: usize = 768;

/// A vector with these numbers at these indexes, and zeros elsewhere.
pub fn vector(parts: &[(usize, f64)]) -> Value {
    let mut numbers = vec![0.0; DIMENSIONS];
    for (index, number) in parts {
        numbers[*index] = *number;
    }
    json!(numbers)
}

/// A vector with this similarity to `vector(&[(0, 1.0)])`.
pub fn similar(similarity: f64) -> Value {
    vector(&[(0, similarity), (1, (1.0 - similarity * similarity).sqrt())])
}

/// A vector in the syntax of a PostgreSQL array.
pub fn array(vector: &Value) -> String {
    vector.to_string().replace('[', "{").replace(']', "}")
}

/// SQL that creates `synthetic() returns vector`. Each call returns another vector of a set that resembles a model's
/// embeddings: one of 40 centers, moved along 32 directions, with a little noise. The set is the same in every run.
pub const SYNTHETIC: &str = "
    select setseed(0.42);
    create table axis as select k, array_agg((random() - 0.5)::real order by d)::vector as v
      from generate_series(1, 272) k, generate_series(1, 768) d group by k;
    create function synthetic() returns vector language sql volatile as $$
      select l2_normalize(sum(a.v * array_fill(w.weight::real, array[768])::vector))
      from (select 1 + floor(random() * 40)::int as k, 1.0 as weight
            union all select k, 0.4 * (random() + random() + random() - 1.5) from generate_series(41, 72) k
            union all select 73 + floor(random() * 200)::int, 0.1) w
      join axis a on a.k = w.k
    $$;";
