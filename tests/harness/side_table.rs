//! The side tables of templates, by their SQL names. Templates get ascending ids in the order of their creation.

macro_rules! side_tables {
    ($number:literal) => {
        /// The history table.
        pub const HISTORY: &str = concat!("keyed_state.history_", $number);
        /// The table of metric points.
        pub const SERIES: &str = concat!("keyed_state.metric_", $number);
        /// The table of search documents.
        pub const DOCUMENTS: &str = concat!("keyed_state.text_", $number);
        /// The table of vectors.
        pub const VECTORS: &str = concat!("keyed_state.vector_", $number);
    };
}

/// The side tables of `crm.companies`.
pub mod companies {
    side_tables!(1);
}

/// The side tables of `crm.customers`.
pub mod customers {
    side_tables!(2);
}

/// The side tables of `crm.notes`, in tests that create that template.
pub mod notes {
    side_tables!(3);
}

/// The side tables of `desk.cards` of [`crate::relevance`].
pub mod cards {
    side_tables!(1);
}

/// The side tables of `g.paintings` of the [`Gallery`](crate::Gallery).
pub mod paintings {
    side_tables!(1);
}
