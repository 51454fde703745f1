//! Which of keyed's functions is running, for the log.

use std::cell::Cell;

thread_local! {
    /// The symbol of the innermost function that is running.
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// A function that runs until this is dropped: also when an error unwinds.
pub struct Running {
    outer: Option<&'static str>,
}

impl Running {
    /// By the symbol of the function.
    #[inline]
    pub fn begin(symbol: &'static str) -> Running {
        Running { outer: RUNNING.replace(Some(symbol)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
}

/// The name of the innermost function that is running, with its schema.
pub(super) fn function() -> Option<String> {
    let symbol = RUNNING.get()?;
    Some(match symbol.strip_prefix("keyed_http_") {
        Some(name) => format!("keyed_http.{name}"),
        None => format!("keyed.{}", symbol.strip_prefix("keyed_").unwrap_or(symbol)),
    })
}
