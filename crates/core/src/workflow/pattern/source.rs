//! The letters of a pattern, and the flags that say how they are read.

use super::node::Case;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sticky {
    Anywhere,
    AtStart,
}

/// How strictly the syntax is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// What browsers have always let pass: a lone `{`, an escape of any letter.
    Lenient,
    /// With the flag `u`.
    Unicode,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Flags {
    pub(super) modifiers: Modifiers,
    pub(super) syntax: Syntax,
    pub(super) sticky: Sticky,
}

/// The flags that a group may change for itself: `(?i:…)`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Modifiers {
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) dot_all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    On,
    Off,
}

impl Flags {
    pub(super) fn read(flags: &str) -> Result<Self, String> {
        let mut read =
            Self { modifiers: Modifiers::default(), syntax: Syntax::Lenient, sticky: Sticky::Anywhere };
        for (index, flag) in flags.char_indices() {
            if flags[..index].contains(flag) {
                return Err(format!("the flag `{flag}` stands there twice; leave one out"));
            }
            match flag {
                'i' | 'm' | 's' => {
                    read.modifiers.switch(flag, Switch::On);
                }
                'u' => read.syntax = Syntax::Unicode,
                'y' => read.sticky = Sticky::AtStart,
                // They change what a match returns, not whether there is one.
                'g' | 'd' => {}
                'v' => return Err("the flag `v` is not supported; use `u`".to_owned()),
                _ => return Err(format!("`{flag}` is not a flag; use some of `dgimsuy`")),
            }
        }
        Ok(read)
    }
}

impl Modifiers {
    pub(super) fn switch(&mut self, flag: char, to: Switch) {
        let on = to == Switch::On;
        match flag {
            'i' => self.ignore_case = on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            _ => {}
        }
    }

    pub(super) fn case(self, syntax: Syntax) -> Case {
        match (self.ignore_case, syntax) {
            (false, _) => Case::Matters,
            (true, Syntax::Lenient) => Case::Ignored,
            (true, Syntax::Unicode) => Case::IgnoredUnicode,
        }
    }
}

/// A cursor over the letters of a pattern.
#[derive(Debug)]
pub(super) struct Source {
    letters: Vec<char>,
    pub(super) at: usize,
}

impl Source {
    pub(super) fn new(pattern: &str) -> Self {
        Self { letters: pattern.chars().collect(), at: 0 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    /// Takes `text` if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let comes = text.chars().enumerate().all(|(ahead, letter)| self.peek_at(ahead) == Some(letter));
        if comes {
            self.at += text.chars().count();
        }
        comes
    }

    /// Takes letters while they are of one kind.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(letter) = self.peek().filter(|letter| belongs(*letter)) {
            taken.push(letter);
            self.at += 1;
        }
        taken
    }

    /// Exactly so many hexadecimal digits, or nothing is taken.
    pub(super) fn take_hex(&mut self, digits: usize) -> Option<u32> {
        let start = self.at;
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|letter| letter.to_digit(16)) else {
                self.at = start;
                return None;
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Some(value)
    }

    /// A message with the place, counted from one.
    pub(super) fn fault(&self, at: usize, message: &str) -> String {
        format!("{message} (character {})", at.min(self.letters.len()) + 1)
    }

    /// Names of the capturing groups in their order; most have none.
    pub(super) fn group_names(&self) -> Vec<Option<String>> {
        let mut scan = Self { letters: self.letters.clone(), at: 0 };
        let (mut names, mut in_class) = (Vec::new(), false);
        while let Some(letter) = scan.next() {
            match letter {
                '\\' => {
                    scan.next();
                }
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if in_class => {}
                '(' if scan.peek() != Some('?') => names.push(None),
                '(' if scan.take("?<") && !matches!(scan.peek(), Some('=' | '!')) => {
                    names.push(Some(scan.take_while(|letter| letter != '>')));
                }
                _ => {}
            }
        }
        names
    }
}
