//! Extracts the TLS parameters from a database URL, because the client library does not support all of them. Pure.

use percent_encoding::percent_decode_str;

/// The extracted parameters.
const WORDS: [&str; 5] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl"];

/// Splits a URL or keywords into the rest and the TLS parameters.
pub(super) fn take(url: &str) -> (String, Vec<(String, String)>) {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        take_from_url(url)
    } else {
        take_from_keywords(url)
    }
}

fn take_from_url(url: &str) -> (String, Vec<(String, String)>) {
    let after_credentials = url.find('@').map_or(0, |index| index + 1);
    let Some(begin) = url[after_credentials..].find('?').map(|index| after_credentials + index) else {
        return (url.to_owned(), Vec::new());
    };
    let mut words = Vec::new();
    let others: Vec<&str> = url[begin + 1..]
        .split('&')
        .filter(|parameter| {
            let Some((name, value)) = parameter.split_once('=') else { return true };
            let is_ours = WORDS.contains(&name);
            if is_ours {
                words.push((name.to_owned(), percent_decode_str(value).decode_utf8_lossy().into_owned()));
            }
            !is_ours
        })
        .collect();
    let question = if others.is_empty() { "" } else { "?" };
    (format!("{}{question}{}", &url[..begin], others.join("&")), words)
}

fn take_from_keywords(text: &str) -> (String, Vec<(String, String)>) {
    let (mut others, mut words) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((name, value, after)) = keyword(rest) {
        if WORDS.contains(&name) {
            words.push((name.to_owned(), value));
        } else {
            others.push_str(&rest[..rest.len() - after.len()]);
            others.push(' ');
        }
        rest = after;
    }
    // The library reports the syntax error.
    others.push_str(rest);
    (others.trim().to_owned(), words)
}

/// The first keyword, its value, and the rest; `None` at the end or at a syntax error.
fn keyword(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = text.trim_start().split_once('=')?;
    let name = name.trim_end();
    let rest = rest.trim_start();
    let (quoted, rest) = rest.strip_prefix('\'').map_or((false, rest), |rest| (true, rest));
    let mut value = String::new();
    let mut characters = rest.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '\'' if quoted => return Some((name, value, &rest[index + 1..])),
            character if character.is_whitespace() && !quoted => return Some((name, value, &rest[index..])),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            character => value.push(character),
        }
    }
    (!quoted).then_some((name, value, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_parameters_are_removed_from_url_and_keywords() {
        let words =
            |url: &str| take(url).1.into_iter().map(|(name, value)| format!("{name} {value}")).collect();
        let none: Vec<String> = words("postgres://u:p?sslmode=a@db/crm");
        assert_eq!(none, Vec::<String>::new(), "it is the password");
        let (rest, _) = take("postgres://u@db/crm?sslcert=%2Fa%20b&connect_timeout=5&sslkey=k");
        assert_eq!(rest, "postgres://u@db/crm?connect_timeout=5");
        let found: Vec<String> = words("postgres://u@db/crm?sslcert=%2Fa%20b&connect_timeout=5&sslkey=k");
        assert_eq!(found, ["sslcert /a b", "sslkey k"]);
        let keywords = "host=db  sslrootcert = '/a \\'b' password='sslmode=x' sslmode=require";
        assert_eq!(take(keywords).0, "host=db  password='sslmode=x'");
        let found: Vec<String> = words(keywords);
        assert_eq!(found, ["sslrootcert /a 'b", "sslmode require"]);
        assert_eq!(take("host=db password='x").0, "host=db  password='x");
    }
}
