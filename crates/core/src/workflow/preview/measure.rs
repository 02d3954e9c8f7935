//! How wide a text is when drawn, without any font at hand: a table of a wide common font, so that every other one
//! fits too.

/// Control and formatting characters must not reach a drawing: XML refuses some, others turn the text around.
pub(super) fn clean(text: &str) -> String {
    let kept: String =
        text.chars().map(|character| if character.is_whitespace() { ' ' } else { character }).collect();
    let words: Vec<&str> = kept.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().filter(|&character| is_drawable(character)).collect()
}

fn is_drawable(character: char) -> bool {
    let turns_around =
        matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let is_no_text = matches!(character, '\u{fff9}'..='\u{fffb}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    !(character.is_control() || turns_around || is_no_text)
}

/// A size of letters, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub pixels: i32,
    pub weight: Weight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// The room that a text takes, rounded up.
pub(super) fn width(text: &str, size: Size) -> i32 {
    let hundredths: i32 = text.chars().map(hundredths_of_em).fold(0, i32::saturating_add);
    let hundredths = match size.weight {
        Weight::Regular => hundredths,
        Weight::Bold => hundredths.saturating_add(hundredths / 10),
    };
    hundredths.saturating_mul(size.pixels) / 100 + 1
}

fn hundredths_of_em(character: char) -> i32 {
    match character {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' => 32,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '\\' | 'I' | '-' | '`' => 40,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '&' | '…' | '—' => 98,
        'a'..='z' | '0'..='9' | '_' | '"' | '?' | '*' | '#' | '$' | '^' | '~' => 62,
        '{' | '}' => 66,
        'A'..='Z' => 74,
        '<' | '>' | '=' | '+' => 86,
        '\u{0080}'..='\u{024f}' | '\u{0370}'..='\u{03ff}' => 75,
        '\u{0300}'..='\u{036f}' => 0,
        _ => 110,
    }
}

/// A text broken into lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrapped {
    pub lines: Vec<String>,
    /// Whether the last line ends in an ellipsis because there was more.
    pub cut: bool,
}

/// No more of a text is looked at: breaking it takes time by the square of its length.
const MOST_LETTERS: usize = 1000;

/// Breaks a text at spaces, or inside a word that is wider than a line. Never more than `most_lines`, at least one.
pub(super) fn wrap(text: &str, size: Size, room: Room) -> Wrapped {
    let text = clean(text);
    let (text, longer) = match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => (&text[..end], true),
        None => (&*text, false),
    };
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        add_word(&mut lines, word, Fit { size, width: room.width });
        if lines.len() > room.most_lines {
            break;
        }
    }
    let cut = longer || lines.len() > room.most_lines;
    if cut {
        let rest = lines.split_off(room.most_lines.clamp(1, lines.len())).join(" ");
        let last = lines.last_mut().expect("a line was put in at the start");
        if !rest.is_empty() {
            *last = format!("{last} {rest}");
        }
        end_in_ellipsis(last, Fit { size, width: room.width });
    }
    Wrapped { lines, cut }
}

/// Where a text must fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub width: i32,
    pub most_lines: usize,
}

#[derive(Clone, Copy)]
struct Fit {
    size: Size,
    width: i32,
}

impl Fit {
    fn holds(self, text: &str) -> bool {
        width(text, self.size) <= self.width
    }
}

fn add_word(lines: &mut Vec<String>, word: &str, fit: Fit) {
    let last = lines.last_mut().expect("a line was put in at the start");
    let joined = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
    if fit.holds(&joined) {
        *last = joined;
        return;
    }
    if !last.is_empty() {
        lines.push(String::new());
    }
    for character in word.chars() {
        let last = lines.last_mut().expect("a line was put in at the start");
        last.push(character);
        if !fit.holds(last) && last.chars().count() > 1 {
            let over = last.split_off(break_before(last));
            lines.push(over);
        }
    }
}

/// Where to break a word that does not fit by its last letter: after a joint of it, or else before that letter.
fn break_before(word: &str) -> usize {
    let last_letter = word.char_indices().last().map_or(0, |(at, _)| at);
    let joint = word[..last_letter].rfind(['.', '-', '_', '/', ':']).map(|at| at + 1);
    joint.filter(|at| *at * 3 >= last_letter && *at > 0).unwrap_or(last_letter)
}

fn end_in_ellipsis(line: &mut String, fit: Fit) {
    while !line.is_empty() && !fit.holds(&format!("{line}…")) {
        line.pop();
    }
    let kept = line.trim_end().len();
    line.truncate(kept);
    line.push('…');
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { pixels: 10, weight: Weight::Regular };

    fn lines(text: &str, room: Room) -> Vec<String> {
        wrap(text, SIZE, room).lines
    }

    #[test]
    fn a_text_is_broken_at_spaces() {
        assert_eq!(lines("aaa bbb ccc", Room { width: 50, most_lines: 3 }), ["aaa bbb", "ccc"]);
    }

    #[test]
    fn a_long_word_is_broken_inside() {
        assert_eq!(lines("a bbbbbbbb", Room { width: 32, most_lines: 3 }), ["a", "bbbbb", "bbb"]);
    }

    #[test]
    fn a_long_word_is_broken_at_a_joint_where_there_is_one() {
        assert_eq!(lines("lh.review.code", Room { width: 64, most_lines: 3 }), ["lh.review.", "code"]);
    }

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        let wrapped = wrap("aaa bbb ccc ddd", SIZE, Room { width: 50, most_lines: 1 });
        assert_eq!(wrapped, Wrapped { lines: vec!["aaa bb…".to_owned()], cut: true });
    }

    #[test]
    fn even_a_letter_wider_than_the_line_comes_to_an_end() {
        assert_eq!(lines("WW", Room { width: 1, most_lines: 5 }), ["W", "W"]);
    }

    /// Found with a made-up file: a title of a hundred thousand letters took minutes.
    #[test]
    fn no_more_of_a_text_is_looked_at_than_could_be_shown() {
        let marks = "\u{301}".repeat(MOST_LETTERS + 1);
        let wrapped = wrap(&marks, SIZE, Room { width: 50, most_lines: 2 });
        assert!(wrapped.cut, "all of it would fit, having no width");
        let long = wrap(&"W".repeat(100_000), SIZE, Room { width: 50, most_lines: 2 });
        assert_eq!(long, Wrapped { lines: vec!["WWWWW".to_owned(), "WWWW…".to_owned()], cut: true });
    }

    #[test]
    fn control_and_turning_characters_are_dropped() {
        assert_eq!(clean("a\u{0}b\n\tc \u{202e}d\u{ffff}"), "ab c d");
    }
}
