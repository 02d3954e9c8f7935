//! Splits Rust text into code, comments and string contents, line by line.
//!
//! Not a parser: it only has to know where comments, strings and characters begin and end, so that a word in
//! a string is not taken for code. Unlike `syn` it sees comments, and text that does not compile.

/// One line of a source file, in three views. What belongs to another view is left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Code; a string or character literal is its two quotes with nothing between.
    pub code: String,
    /// Comments with their markers, documentation included.
    pub comment: String,
    /// Contents of string literals.
    pub string: String,
}

pub(crate) fn split(text: &str) -> Vec<Line> {
    let chars = text.chars().collect();
    let mut lexer = Lexer { chars, at: 0, lines: vec![Line::default()] };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    if text.ends_with('\n') {
        lexer.lines.pop();
    }
    lexer.lines
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    lines: Vec<Line>,
}

#[derive(Clone, Copy)]
enum View {
    Code,
    Comment,
    String,
}

impl Lexer {
    fn step(&mut self) {
        match self.peek(0) {
            Some('/') if self.peek(1) == Some('/') => self.line_comment(),
            Some('/') if self.peek(1) == Some('*') => self.block_comment(),
            Some('"') => self.quoted(),
            Some('r') if self.raw_hashes().is_some() => self.raw_string(),
            Some('\'') if self.is_character() => self.character(),
            _ => self.take(View::Code),
        }
    }

    fn line_comment(&mut self) {
        while !matches!(self.peek(0), None | Some('\n')) {
            self.take(View::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                (None, _) => return,
                _ => {
                    self.take(View::Comment);
                    continue;
                }
            }
            self.take(View::Comment);
            self.take(View::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn quoted(&mut self) {
        self.take(View::Code);
        while !matches!(self.peek(0), None | Some('"')) {
            if self.peek(0) == Some('\\') {
                self.take(View::String);
            }
            self.take(View::String);
        }
        self.take(View::Code);
    }

    /// The number of `#` if a raw string starts here: `r"`, `r#"`, also after `b` or `c`.
    fn raw_hashes(&self) -> Option<usize> {
        let before = self.before(1);
        let prefixed = matches!(before, Some('b' | 'c')) && !self.before(2).is_some_and(is_word);
        if before.is_some_and(is_word) && !prefixed {
            return None;
        }
        let ahead = &self.chars[self.at + 1..];
        let hashes = ahead.iter().take_while(|&&next| next == '#').count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().expect("the caller saw a raw string");
        for _ in 0..hashes + 2 {
            self.take(View::Code);
        }
        while self.peek(0).is_some() && !self.closes_raw(hashes) {
            self.take(View::String);
        }
        for _ in 0..=hashes {
            self.take(View::Code);
        }
    }

    fn closes_raw(&self, hashes: usize) -> bool {
        self.peek(0) == Some('"') && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'))
    }

    /// A quote begins a character if it is escaped or closed at once; otherwise it is a lifetime.
    fn is_character(&self) -> bool {
        self.peek(1) == Some('\\') || self.peek(2) == Some('\'')
    }

    fn character(&mut self) {
        self.take(View::Code);
        if self.peek(0) == Some('\\') {
            self.at += 1;
        }
        self.at += 1;
        while !matches!(self.peek(0), None | Some('\'' | '\n')) {
            self.at += 1;
        }
        self.take(View::Code);
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn before(&self, back: usize) -> Option<char> {
        self.at.checked_sub(back).map(|at| self.chars[at])
    }

    fn take(&mut self, view: View) {
        let Some(next) = self.peek(0) else { return };
        self.at += 1;
        if next == '\n' {
            self.lines.push(Line::default());
            return;
        }
        let line = self.lines.last_mut().expect("there is always a last line");
        match view {
            View::Code => line.code.push(next),
            View::Comment => line.comment.push(next),
            View::String => line.string.push(next),
        }
    }
}

pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether `needle` occurs with no letter, digit or `_` touching an end that is itself a word.
pub(crate) fn has_word(text: &str, needle: &str) -> bool {
    let starts_as_word = needle.starts_with(is_word);
    let ends_as_word = needle.ends_with(is_word);
    text.match_indices(needle).any(|(at, _)| {
        let touches_before = starts_as_word && text[..at].ends_with(is_word);
        let touches_after = ends_as_word && text[at + needle.len()..].starts_with(is_word);
        !touches_before && !touches_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(code: &str, comment: &str, string: &str) -> Line {
        Line { code: code.into(), comment: comment.into(), string: string.into() }
    }

    #[test]
    fn comments_and_strings_leave_the_code() {
        let lines = split("let a = \"x // y\"; // why\n/* one\ntwo */ b();\n");
        let wanted =
            [line("let a = \"\"; ", "// why", "x // y"), line("", "/* one", ""), line(" b();", "two */", "")];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn escapes_and_raw_strings_end_where_they_should() {
        assert_eq!(split(r#"f("a\"b", c)"#), [line("f(\"\", c)", "", r#"a\"b"#)]);
        assert_eq!(split("f(r#\"a\"b\"#, c)"), [line("f(r#\"\"#, c)", "", "a\"b")]);
        assert_eq!(split(r#"f(br"\", c)"#), [line(r#"f(br"", c)"#, "", r"\")]);
        assert_eq!(split("r#type: T"), [line("r#type: T", "", "")]);
    }

    #[test]
    fn a_lifetime_is_not_a_character() {
        assert_eq!(
            split("fn f<'a>(x: &'a str) -> char { '\"' }"),
            [line("fn f<'a>(x: &'a str) -> char { '' }", "", "")]
        );
        assert_eq!(split(r"['\'', '\u{41}', b'/']"), [line("['', '', b'']", "", "")]);
    }

    #[test]
    fn block_comments_nest() {
        assert_eq!(split("/* a /* b */ c */ d"), [line(" d", "/* a /* b */ c */", "")]);
    }

    #[test]
    fn a_word_inside_another_word_does_not_count() {
        assert!(has_word("use std::fs;", "std::fs"));
        assert!(!has_word("use std::fsx;", "std::fs"));
        assert!(!has_word("MyHashMap", "HashMap"));
        assert!(has_word("a.todo!()", "todo!"));
    }
}
