//! The order of the modules: each depends only on earlier ones, and files depend on each other in one direction.

/// The folders and top-level files, from the lowest to the highest.
const ORDER: [&str; 8] =
    ["value", "log", "shutdown", "database_url", "tls", "http_client", "statement", "worker"];

source_layers::rules!(ORDER, []);
