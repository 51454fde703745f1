//! The order of the modules: each depends only on earlier ones, and files depend on each other in one direction.

/// The folders and top-level files, from the lowest to the highest.
const ORDER: [&str; 9] =
    ["settings", "vector", "outcome", "hash", "response", "isolation", "openai", "embedder", "worker"];

source_layers::rules!(ORDER, []);
