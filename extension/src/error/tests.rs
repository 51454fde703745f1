//! Tests of DETAIL and of joined errors.

use super::*;

#[test]
fn detail_is_json_that_names_code_and_pointers() {
    let error = Error::at(Code::InvalidValue, "/attributes/a\"b", "must be a string").below("/operations/3");
    assert_eq!(
        error.detail(),
        r#"{"code":"invalid_value","errors":[{"pointer":"/operations/3/attributes/a\"b","code":"invalid_value","detail":"must be a string"}]}"#
    );
}

#[test]
fn joined_errors_keep_every_violation() {
    let errors = ["/a", "/b"].map(|pointer| Error::at(Code::InvalidValue, pointer, "no"));
    let joined = Error::join(errors.to_vec()).expect("two errors");
    assert_eq!(
        joined.violations.iter().map(|violation| violation.pointer.as_str()).collect::<Vec<_>>(),
        ["/a", "/b"]
    );
    assert_eq!(Error::join(Vec::new()), None);
}
