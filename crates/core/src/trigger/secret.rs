//! Secrets in a file of triggers stand there by name only: `$HOOK_SECRET`.

use std::fmt;

/// The name of a secret, without the `$`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretName(String);

/// The keys whose values are secrets.
const KEYS: [&str; 2] = ["secret", "token"];

impl SecretName {
    /// Takes `$NAME`; nothing else is one.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix('$')?;
        let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        is_name.then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.0)
    }
}

/// The text of a file with secrets that somebody wrote out in it struck through, each byte for a `*`: findings show the
/// line that they are about. Also a text that is no YAML is gone through, so this goes by what it looks like.
pub fn hide_literals(text: &str) -> String {
    text.split_inclusive('\n').map(hide_in_line).collect()
}

fn hide_in_line(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(start) = KEYS.iter().filter_map(|key| value_of(rest, key)).min() {
        let (before, after) = rest.split_at(start);
        shown += before;
        let end = value_end(after);
        let (value, after) = after.split_at(end);
        let is_named = value.trim_matches(['"', '\'']).starts_with('$');
        if is_named {
            shown += value;
        } else {
            shown.extend(std::iter::repeat_n('*', value.len()));
        }
        rest = after;
    }
    shown + rest
}

/// Where the value of a key begins, if the line has the key.
fn value_of(line: &str, key: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = line[from..].find(key) {
        let end = from + found + key.len();
        let after = line[end..].trim_start_matches(['"', '\'', ' ']);
        if let Some(value) = after.strip_prefix(':') {
            let value = value.trim_start_matches([' ', '\t']);
            return Some(line.len() - value.len());
        }
        from = end;
    }
    None
}

/// To the end of the quotes, of the entry, or of the line. Rather too much than too little.
fn value_end(text: &str) -> usize {
    let whole = text.trim_end_matches(['\n', '\r']).len();
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..whole].find(quote).map_or(whole, |at| at + 2),
        Some('$') => text[..whole].find([',', '}', ' ']).unwrap_or(whole),
        Some(_) | None => whole,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_secret_is_named_and_nothing_else_is_a_name() {
        assert_eq!(SecretName::parse("$HOOK_2").unwrap().to_string(), "$HOOK_2");
        for wrong in ["HOOK", "$", "$hook", "$2A", "$HOOK-A", "hunter2", "${HOOK}", "$HOOK "] {
            assert_eq!(SecretName::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_was_written_out_is_struck_through_and_names_stay() {
        for (text, shown) in [
            ("    secret: hunter2\nx: 1\n", "    secret: *******\nx: 1\n"),
            ("webhook: { secret: 'a b', header: X }", "webhook: { secret: *****, header: X }"),
            ("webhook: { secret: $HOOK, header: X }", "webhook: { secret: $HOOK, header: X }"),
            ("webhook: { secret: \"$HOOK\", token: tü }", "webhook: { secret: \"$HOOK\", token: *****"),
            ("\"secret\": abc, x: y", "\"secret\": *********"),
            ("goal: keep the secret", "goal: keep the secret"),
            ("secret:\r\n", "secret:\r\n"),
        ] {
            assert_eq!(hide_literals(text), shown);
        }
    }

    proptest! {
        #[test]
        fn every_byte_keeps_its_place(text in "(secret|token|[:'\"$ ,}{ü\n\ra])*") {
            prop_assert_eq!(hide_literals(&text).len(), text.len());
        }
    }
}
