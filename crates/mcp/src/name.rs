//! Names that somebody else wrote, fit for one line of ours.

use longhaul_runtime::terminal::visible;

/// The most letters of a name that are shown.
const MOST_LETTERS: usize = 80;

/// On one line, shortened, and without what could pass for words of ours.
pub(crate) fn shown(name: &str) -> String {
    let letters: String = name.chars().take(MOST_LETTERS).collect();
    let rest = if letters.len() < name.len() { "…" } else { "" };
    visible(&letters) + rest
}

/// On one line, whole.
pub(crate) fn one_line(text: &str) -> String {
    text.split('\n').map(|line| visible(line.trim_end_matches('\r'))).collect::<Vec<_>>().join("\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line_and_has_an_end() {
        assert_eq!(shown("editor\n  approved by root\u{1b}[2J"), "editor\\n  approved by root\\u{1b}[2J");
        assert_eq!(shown(&"x".repeat(1_000)).chars().count(), MOST_LETTERS + 1);
        assert_eq!(one_line("a\r\nb\tc"), "a\\nb\\tc");
    }
}
