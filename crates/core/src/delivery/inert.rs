//! Words of others that go to a forge: they are read there, and do nothing.

/// Stands between the letters that a forge would act on, and is not seen.
const BREAK: char = '\u{200b}';

/// Without what closes a ticket, links to one or calls somebody.
pub(super) fn inert(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        safe.push(letter);
        let next = letters.peek();
        let acts = match letter {
            '#' => next.is_some_and(char::is_ascii_digit),
            '@' => next.is_some_and(|next| next.is_alphanumeric()),
            // `GH-9` closes too, and so does the whole address of a ticket.
            '-' => safe.ends_with("GH-") || safe.ends_with("gh-"),
            '/' => safe.ends_with("/issues/") || safe.ends_with("/pull/"),
            _ => false,
        };
        if acts {
            safe.push(BREAK);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_forge_acts_on_is_broken_and_the_rest_stays() {
        for (text, expected) in [
            ("Closes #9, @team", "Closes #\u{200b}9, @\u{200b}team"),
            ("fixes GH-9", "fixes GH-\u{200b}9"),
            ("closes https://forge/a/b/issues/9", "closes https://forge/a/b/issues/\u{200b}9"),
            ("# a heading, a C# file, a @ b", "# a heading, a C# file, a @ b"),
        ] {
            assert_eq!(inert(text), expected);
        }
    }
}
