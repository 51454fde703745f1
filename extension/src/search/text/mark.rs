//! The marks between the parts of a document: control characters, which folded texts do not contain.

/// Begins a field.
pub const FIELD: char = '\u{1f}';
/// Begins a value.
pub const VALUE: char = '\u{1e}';
/// Stands on both sides of a lexeme.
pub const STEM: char = '\u{1d}';
/// Marks the repetition of a word that does not follow a space.
pub const START: char = '\u{1c}';
