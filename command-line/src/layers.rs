//! The order of the modules: each depends only on earlier ones, and files depend on each other in one direction.

/// The folders and top-level files, from the lowest to the highest.
const ORDER: [&str; 17] = [
    "outcome",
    "renamed",
    "named",
    "format",
    "connection",
    "service",
    "output",
    "import",
    "export",
    "changes",
    "keys",
    "doctor",
    "demo",
    "openapi",
    "completions",
    "man_pages",
    "serve",
];

source_layers::rules!(ORDER, []);
