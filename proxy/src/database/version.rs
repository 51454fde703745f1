//! Numbers of versions. Pure.

/// The numbers of a version that changes of the interface between proxy and extension show in: `0.1` of `0.1.7` and of
/// `0.1.0-rc.1`.
pub(crate) fn line_of(version: &str) -> &str {
    let released = version.split('-').next().unwrap_or(version);
    released.rsplit_once('.').map_or(released, |(line, _)| line)
}

/// A version that is not made of numbers counts as an older one.
pub(crate) fn numbers_of(line: &str) -> Vec<u32> {
    line.split('.').map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_neither_patch_nor_candidate() {
        for (version, line) in [("0.1.7", "0.1"), ("0.1.0-rc.1", "0.1"), ("12.3.4", "12.3"), ("7", "7")] {
            assert_eq!(line_of(version), line);
        }
        assert!(numbers_of("0.10") > numbers_of("0.9"));
        assert!(numbers_of("unknown") < numbers_of("0.1"));
    }
}
