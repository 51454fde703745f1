//! Display patterns of dates and times, with the field symbols of Unicode (LDML). Pure.

/// Date fields.
const DATE_FIELDS: [&str; 11] = ["yyyy", "yy", "y", "MMMM", "MMM", "MM", "M", "EEEE", "EEE", "dd", "d"];
/// Time fields.
const TIME_FIELDS: [&str; 9] = ["HH", "H", "hh", "h", "mm", "m", "ss", "s", "a"];
/// The maximum number of characters of a pattern.
const MAX_LENGTH: usize = 50;

/// Checks a pattern. The error is a message for the caller.
pub fn check(pattern: &str, has_time: bool) -> Result<(), String> {
    if pattern.chars().count() > MAX_LENGTH {
        return Err(format!("a pattern has at most {MAX_LENGTH} characters"));
    }
    if pattern.chars().any(char::is_control) {
        return Err("a pattern must not contain control characters".to_owned());
    }
    let mut fields = 0;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = after_quoted(rest).ok_or("unterminated quote in the pattern")?;
            continue;
        }
        let length = rest.find(|letter| letter != first).unwrap_or(rest.len());
        let (run, behind) =
            rest.split_at(if first.is_ascii_alphabetic() { length } else { first.len_utf8() });
        rest = behind;
        if !first.is_ascii_alphabetic() {
            continue;
        }
        if TIME_FIELDS.contains(&run) && !has_time {
            return Err(format!("{run:?} is a time field, but a date has no time"));
        }
        if !DATE_FIELDS.contains(&run) && !TIME_FIELDS.contains(&run) {
            return Err(format!("{run:?} is not a pattern field"));
        }
        fields += 1;
    }
    if fields == 0 { Err("a pattern must contain a field".to_owned()) } else { Ok(()) }
}

/// The text after a quoted string; `None` if the closing quote is missing. Two quotes are an escaped quote.
fn after_quoted(text: &str) -> Option<&str> {
    let end = text.get(1..)?.find('\'')?;
    text.get(end + 2..)
}

/// The hint for an invalid pattern.
pub fn hint(has_time: bool) -> String {
    let (fields, example) = match has_time {
        true => ([&DATE_FIELDS[..], &TIME_FIELDS[..]].concat(), "dd.MM.yyyy HH:mm"),
        false => (DATE_FIELDS.to_vec(), "dd.MM.yyyy"),
    };
    format!(
        "The fields are {}, as in {example}. Put other letters in quotes: d 'de' MMMM.",
        fields.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn pattern_may_contain_fields_punctuation_and_quoted_text() {
        for pattern in
            ["dd.MM.yyyy", "yyyy-MM-dd", "d. MMMM y", "EEEE, d 'de' MMM", "yyyy年M月d日", "d 'o''clock'"]
        {
            assert_eq!(check(pattern, false), Ok(()), "{pattern}");
            assert_eq!(check(pattern, true), Ok(()), "{pattern}");
        }
        assert_eq!(check("dd.MM.yy HH:mm:ss", true), Ok(()));
        assert_eq!(check("h:mm a", true), Ok(()));
    }

    #[test]
    fn invalid_pattern_is_rejected_with_its_cause() {
        for (pattern, says) in [
            ("DD.MM.YYYY", "\"DD\""),
            ("dd.MM.yyyyy", "\"yyyyy\""),
            ("d de MMMM", "\"e\""),
            ("d 'de MMMM", "quote"),
            ("'", "quote"),
            ("", "field"),
            ("--", "field"),
            ("'d'", "field"),
            ("dd HH", "no time"),
            ("d\n", "control"),
        ] {
            let reason = check(pattern, false).expect_err(pattern);
            assert!(reason.contains(says), "{pattern}: {reason}");
        }
        assert!(check(&"-".repeat(51), false).is_err());
    }
}
