//! The order of the modules: each depends only on earlier ones, and files depend on each other in one direction.

use source_layers::Exception;

/// The folders and top-level files, from the lowest to the highest.
const ORDER: [&str; 42] = [
    "shard",
    "problem",
    "error",
    "metrics",
    "cors",
    "settings",
    "listener_tls",
    "traces",
    "header",
    "position",
    "source",
    "query",
    "numbers",
    "conditional",
    "preference",
    "packing",
    "compression",
    "lingering",
    "observation",
    "envelope",
    "idempotency",
    "admission",
    "caller",
    "database",
    "readiness",
    "housekeeping",
    "query_text",
    "changes",
    "state",
    "authentication",
    "body",
    "response",
    "call",
    "file",
    "import",
    "routes",
    "openapi",
    "application",
    "router",
    "shards",
    "server",
    "scrape",
];

/// The allowed cycles.
const EXCEPTIONS: [Exception; 2] = [
    Exception { from: "database/server.rs", to: "database/attempt.rs", reason: METHODS_OF_ONE_TYPE },
    Exception { from: "problem.rs", to: "problem/body.rs", reason: METHODS_OF_ONE_TYPE },
];

const METHODS_OF_ONE_TYPE: &str =
    "The methods of a type are split into several files, and the file of the type calls them.";

source_layers::rules!(ORDER, EXCEPTIONS);
