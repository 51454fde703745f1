//! The progress on the terminal.

use indicatif::{ProgressBar, ProgressStyle};

use super::response::Counts;

/// The progress of the rows, which lags behind the upload. The text fits a terminal of 80 columns.
pub(super) fn progress_bar(size: Option<u64>) -> ProgressBar {
    let (bar, template) = match size {
        Some(size) => (ProgressBar::new(size), "{bar:20} {percent:>3}% {eta:>4} {wide_msg}"),
        None => (ProgressBar::new_spinner(), "{spinner} {wide_msg}"),
    };
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

pub(super) fn message(counts: &Counts) -> String {
    let rows = counts.rows.unwrap_or(0);
    match counts.failed {
        0 => format!("{rows} rows done"),
        failed => format!("{rows} rows done, {failed} rejected"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_fits_80_columns() {
        let counts = Counts { rows: Some(1_000_000_000), failed: 999_999_999, ..Counts::default() };
        // The bar, the percentage, the remaining time and the spaces between them.
        assert!(20 + 1 + 4 + 1 + 4 + 1 + message(&counts).len() <= 80, "{}", message(&counts));
        assert_eq!(message(&Counts { rows: Some(7), ..Counts::default() }), "7 rows done");
    }
}
