//! About how many tokens a text has. Every tokenizer counts otherwise; this one counts rather too many, so that what
//! fits here fits everywhere.

/// Letters that a token has at least, within a word.
const LETTERS: usize = 4;
/// Digits that a token has at most.
const DIGITS: usize = 3;

/// Counts letter by letter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meter {
    tokens: usize,
    run: Run,
    length: usize,
}

/// What the last letters were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Run {
    #[default]
    Other,
    Letters,
    Digits,
    Spaces,
}

impl Meter {
    pub const fn tokens(self) -> usize {
        self.tokens
    }

    pub fn push(&mut self, letter: char) {
        let (run, counts) = match letter {
            'a'..='z' | 'A'..='Z' => (Run::Letters, self.begins(Run::Letters, LETTERS)),
            '0'..='9' => (Run::Digits, self.begins(Run::Digits, DIGITS)),
            // One space belongs to the word after it.
            ' ' => (Run::Spaces, self.run == Run::Spaces && self.length == 1),
            _ => (Run::Other, true),
        };
        self.length = if self.run == run { self.length + 1 } else { 1 };
        self.run = run;
        // Letters of other scripts have several bytes, and rarely fewer tokens than that less one.
        self.tokens += if letter.is_ascii() { usize::from(counts) } else { letter.len_utf8() - 1 };
    }

    fn begins(self, run: Run, most: usize) -> bool {
        self.run != run || self.length.is_multiple_of(most)
    }
}

/// About how many tokens a text has.
pub fn tokens(text: &str) -> usize {
    let mut meter = Meter::default();
    text.chars().for_each(|letter| meter.push(letter));
    meter.tokens()
}

/// The text, or its beginning with a mark that there was more.
pub fn shortened(text: &str, most_tokens: usize) -> String {
    let mut meter = Meter::default();
    let mut fits = |(_, letter): &(usize, char)| {
        meter.push(*letter);
        meter.tokens() <= most_tokens
    };
    match text.char_indices().find(|place| !fits(place)) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_marks_are_counted_and_a_cut_is_marked() {
        assert_eq!(tokens("the cat sat"), 3);
        assert_eq!(tokens("understanding 12345"), 4 + 2);
        assert_eq!(tokens("{\"a\": [1]}"), 9);
        assert_eq!(tokens("日本"), 4);
        assert_eq!(shortened("the cat sat", 3), "the cat sat");
        assert_eq!(shortened("the cat sat", 2), "the cat…");
        assert_eq!(shortened("äöü", 2), "äö…");
    }
}
