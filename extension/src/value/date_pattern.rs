//! Patterns in which applications show dates and times: fields of letters as Unicode defines them. Pure.

/// The fields of a date.
const DATE_FIELDS: [&str; 11] = ["yyyy", "yy", "y", "MMMM", "MMM", "MM", "M", "EEEE", "EEE", "dd", "d"];
/// The fields of a time.
const TIME_FIELDS: [&str; 9] = ["HH", "H", "hh", "h", "mm", "m", "ss", "s", "a"];
/// The maximum number of characters of a pattern.
const LONGEST: usize = 50;

/// Checks a pattern; the error says what is wrong with it.
pub fn check(pattern: &str, has_time: bool) -> Result<(), String> {
    if pattern.chars().count() > LONGEST {
        return Err(format!("a pattern has at most {LONGEST} characters"));
    }
    if pattern.chars().any(char::is_control) {
        return Err("a pattern has no control characters".to_owned());
    }
    let mut fields = 0;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = behind_quoted(rest).ok_or("a quote in the pattern has no end")?;
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
            return Err(format!("{run:?} is a field of a time, and a date has no time"));
        }
        if !DATE_FIELDS.contains(&run) && !TIME_FIELDS.contains(&run) {
            return Err(format!("{run:?} is not a field of a pattern"));
        }
        fields += 1;
    }
    if fields == 0 { Err("a pattern needs a field".to_owned()) } else { Ok(()) }
}

/// What follows a text in quotes; none where the second quote is missing. Two quotes are one.
fn behind_quoted(text: &str) -> Option<&str> {
    let end = text.get(1..)?.find('\'')?;
    text.get(end + 2..)
}

/// What a pattern may have.
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
    fn fields_signs_and_quoted_texts_make_a_pattern() {
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
    fn what_is_no_pattern_is_named() {
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
