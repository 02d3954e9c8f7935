//! Text that others wrote, made fit to be shown: in one line, without what hides or moves letters; and for people outside,
//! without anything that looks like a name of something internal.

use crate::workflow::scope::cut;

/// The longest title.
pub const TITLE_LETTERS: usize = 80;
/// No word that people outside should read is longer.
const LONGEST_WORD: usize = 30;
/// What stands where something was left out.
const LEFT_OUT: &str = "…";

/// The first line that says something, without what could deceive.
pub fn title(text: &str) -> String {
    let first = text.lines().map(clean).find(|line| !line.is_empty());
    first.map_or_else(|| "(no title)".to_owned(), |line| cut(&line, TITLE_LETTERS))
}

/// A title of which only plain words are left: no path, address, host, id, sum, option or code.
pub fn public_title(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let title = title(text);
    for word in title.split(' ') {
        let shown = if is_plain_word(word) { word } else { LEFT_OUT };
        if shown != LEFT_OUT || words.last() != Some(&LEFT_OUT) {
            words.push(shown);
        }
    }
    if words.iter().all(|word| *word == LEFT_OUT) { "an untitled task".to_owned() } else { words.join(" ") }
}

/// One line: no control character, nothing that turns the direction of text or takes no room, no runs of spaces.
pub fn clean(line: &str) -> String {
    let kept: String = line.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect();
    let words: Vec<String> = kept
        .split(' ')
        .map(|word| word.chars().filter(|letter| !is_deceptive(*letter)).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Several lines, each made clean; what is indented stays so.
pub fn clean_lines(text: &str) -> String {
    let line = |line: &str| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        format!("{}{}", " ".repeat(indent), clean(line)).trim_end().to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Control characters, and the marks that make text run the other way or take no room.
pub fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{61c}')
}

/// Letters, with the marks of usual writing around and between them. A number of up to three digits is one too.
fn is_plain_word(word: &str) -> bool {
    let bare = word.trim_matches(|letter: char| "().,;:!?\"'„“”‚‘’«»–—".contains(letter));
    if bare.is_empty() || bare == "-" {
        return word.chars().count() <= 3;
    }
    let parts: Vec<&str> = bare.split(['-', '\'', '’']).collect();
    let is_number = |part: &str| part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_letters = |part: &str| part.chars().all(char::is_alphabetic);
    let is_part = |part: &&str| !part.is_empty() && (is_letters(part) || is_number(part));
    // `s-041061050r3gg` is no word; `log-in` and `3-way` are.
    let is_id = parts.len() == 2 && parts[0].len() == 1 && parts[1].len() >= 8;
    bare.chars().count() <= LONGEST_WORD && parts.iter().all(is_part) && !is_id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        assert_eq!(title("\n  \n Fix the\tlogin \r\nand more"), "Fix the login");
        assert_eq!(title("\u{202e}\u{200b}\n\u{1b}[2J"), "[2J");
        assert_eq!(title(""), "(no title)");
        assert_eq!(title(&"x".repeat(100)).chars().count(), TITLE_LETTERS + 1);
    }

    #[test]
    fn people_outside_read_words_and_nothing_that_is_the_name_of_something() {
        for (title, shown) in [
            ("Fix the flaky log-in test", "Fix the flaky log-in test"),
            ("Rename src/login.rs db/schema.sql now", "Rename … now"),
            ("Ask @ada or ada@example.org", "Ask … or …"),
            ("Merge t-4k2m9x0c7v1qd, s-041061050r3gg.12", "Merge …"),
            ("See https://intern.example/x?y=1 for $TOKEN", "See … for …"),
            ("Pay 3usd for 20 seats (soon)!", "Pay … for 20 seats (soon)!"),
            ("Use `core::login` --force A=b", "Use …"),
            ("Größe der Überschrift ändern", "Größe der Überschrift ändern"),
            ("/srv/ada/secret", "an untitled task"),
            ("deadbeefcafe0123", "an untitled task"),
        ] {
            assert_eq!(public_title(title), shown);
        }
    }

    #[test]
    fn lines_keep_their_indent_and_lose_what_deceives() {
        assert_eq!(clean_lines("a\u{1b}[1m  b\n    c\u{202e}\td\n"), "a[1m b\n    c d");
    }
}
