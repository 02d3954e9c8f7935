//! From the letters of a pattern to its tree.

use regex_syntax::hir::ClassUnicode;

use super::class;
use super::escape::{self, Escaped};
use super::node::{Assertion, Bounds, Case, Direction, Greed, Look, Node, Repeat};
use super::source::{Flags, Modifiers, Source, Switch, Syntax};

/// How deep groups may lie in one another.
const MOST_LEVELS: usize = 100;

/// A tree, and how many capturing groups it has.
pub(super) struct Parsed {
    pub(super) node: Node,
    pub(super) groups: usize,
}

pub(super) fn parse(pattern: &str, flags: Flags) -> Result<Parsed, String> {
    let source = Source::new(pattern);
    let names = source.group_names();
    let Flags { modifiers, syntax, sticky: _ } = flags;
    let mut parser = Parser { source, names, modifiers, syntax, groups: 0, levels: 0 };
    let node = parser.alternatives()?;
    if parser.source.peek().is_some() {
        return Err(parser.fault(r"a `)` closes nothing; write `\)` for the character itself"));
    }
    Ok(Parsed { node, groups: parser.groups })
}

struct Parser {
    source: Source,
    /// Of all groups, also of those further on.
    names: Vec<Option<String>>,
    modifiers: Modifiers,
    syntax: Syntax,
    /// How many were opened so far.
    groups: usize,
    levels: usize,
}

impl Parser {
    fn fault(&self, message: &str) -> String {
        self.source.fault(self.source.at, message)
    }

    fn case(&self) -> Case {
        self.modifiers.case(self.syntax)
    }

    fn one(&self, set: ClassUnicode) -> Node {
        Node::Set(class::folded(set, self.case()))
    }

    /// Up to a `)` or the end.
    fn alternatives(&mut self) -> Result<Node, String> {
        let mut alternatives = vec![self.sequence()?];
        while self.source.take("|") {
            alternatives.push(self.sequence()?);
        }
        let only = if alternatives.len() == 1 { alternatives.pop() } else { None };
        Ok(only.unwrap_or(Node::Either(alternatives)))
    }

    fn sequence(&mut self) -> Result<Node, String> {
        let mut nodes = Vec::new();
        while !matches!(self.source.peek(), None | Some('|' | ')')) {
            nodes.push(self.term()?);
        }
        Ok(Node::Sequence(nodes))
    }

    fn term(&mut self) -> Result<Node, String> {
        let before = self.groups;
        let start = self.source.at;
        let node = self.atom()?;
        let Some(bounds) = self.quantifier()? else { return Ok(node) };
        if !self.may_repeat(&node) {
            return Err(self
                .source
                .fault(start, "a place between characters cannot be repeated; leave out the quantifier"));
        }
        Ok(Node::Repeat(Repeat { node: Box::new(node), bounds, groups: before..self.groups }))
    }

    /// Looking ahead may be repeated in the lenient syntax, though it makes no sense.
    fn may_repeat(&self, node: &Node) -> bool {
        match node {
            Node::Assert(_) => false,
            Node::Look(look) => self.syntax == Syntax::Lenient && look.direction == Direction::Forward,
            Node::Set(_)
            | Node::Back { .. }
            | Node::Group { .. }
            | Node::Sequence(_)
            | Node::Either(_)
            | Node::Repeat(_) => true,
        }
    }

    fn quantifier(&mut self) -> Result<Option<Bounds>, String> {
        let (least, most) = match self.source.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let Some(braced) = self.braced()? else { return Ok(None) };
                self.source.at -= 1;
                braced
            }
            _ => return Ok(None),
        };
        self.source.at += 1;
        let greed = if self.source.take("?") { Greed::Lazy } else { Greed::Greedy };
        Ok(Some(Bounds { least, most, greed }))
    }

    /// `{2}`, `{2,}` or `{2,5}`; anything else in braces is itself, and nothing is taken.
    fn braced(&mut self) -> Result<Option<(usize, usize)>, String> {
        let start = self.source.at;
        self.source.take("{");
        let least = self.source.take_while(|letter| letter.is_ascii_digit());
        let comma = self.source.take(",");
        let most =
            if comma { self.source.take_while(|letter| letter.is_ascii_digit()) } else { least.clone() };
        if least.is_empty() || !self.source.take("}") {
            self.source.at = start;
            return Ok(None);
        }
        // Numbers beyond any text are as good as the largest.
        let number = |digits: &str| digits.parse().unwrap_or(usize::MAX);
        let bounds = (number(&least), if most.is_empty() { usize::MAX } else { number(&most) });
        if bounds.0 > bounds.1 {
            return Err(self
                .source
                .fault(start, "the numbers in the braces are out of order; put the smaller first"));
        }
        Ok(Some(bounds))
    }

    fn atom(&mut self) -> Result<Node, String> {
        let Modifiers { multiline, dot_all, .. } = self.modifiers;
        let letter = self.source.peek().expect("a sequence ends where the letters end");
        match letter {
            '(' => return self.group(),
            '*' | '+' | '?' => {
                return Err(self.fault(&format!(r"`{letter}` has nothing to repeat; write `\{letter}`")));
            }
            '{' => self.lone_brace()?,
            '}' | ']' if self.syntax == Syntax::Unicode => {
                return Err(self.fault(&format!(r"`{letter}` closes nothing; write `\{letter}`")));
            }
            _ => {}
        }
        self.source.at += 1;
        Ok(match letter {
            '^' => Node::Assert(if multiline { Assertion::LineStart } else { Assertion::TextStart }),
            '$' => Node::Assert(if multiline { Assertion::LineEnd } else { Assertion::TextEnd }),
            '.' if dot_all => Node::Set(class::everything()),
            '.' => Node::Set(class::negated(class::line_ends())),
            '[' => return self.class(),
            '\\' => return self.escape(),
            _ => self.one(class::of_char(letter)),
        })
    }

    fn lone_brace(&mut self) -> Result<(), String> {
        let start = self.source.at;
        let is_quantifier = self.braced()?.is_some();
        self.source.at = start;
        if is_quantifier {
            return Err(self.fault(r"the braces have nothing to repeat; write `\{`"));
        }
        match self.syntax {
            Syntax::Lenient => Ok(()),
            Syntax::Unicode => Err(self.fault(r"a `{` stands alone; write `\{`")),
        }
    }

    fn group(&mut self) -> Result<Node, String> {
        let start = self.source.at;
        self.levels += 1;
        if self.levels > MOST_LEVELS {
            return Err(self.fault(&format!("groups lie more than {MOST_LEVELS} deep; flatten the pattern")));
        }
        let outside = self.modifiers;
        let node = self.open_group()?;
        if !self.source.take(")") {
            return Err(self
                .source
                .fault(start, r"a `(` is never closed; write `\(` for the character itself"));
        }
        self.modifiers = outside;
        self.levels -= 1;
        Ok(node)
    }

    fn open_group(&mut self) -> Result<Node, String> {
        for (opening, direction, wanted) in [
            ("(?=", Direction::Forward, true),
            ("(?!", Direction::Forward, false),
            ("(?<=", Direction::Backward, true),
            ("(?<!", Direction::Backward, false),
        ] {
            if self.source.take(opening) {
                let node = Box::new(self.alternatives()?);
                return Ok(Node::Look(Look { direction, wanted, node }));
            }
        }
        if self.source.take("(?<") {
            self.group_name()?;
        } else if self.source.take("(?") {
            self.modify()?;
            return self.alternatives();
        } else {
            self.source.take("(");
        }
        self.groups += 1;
        let index = self.groups;
        Ok(Node::Group { index, node: Box::new(self.alternatives()?) })
    }

    fn group_name(&mut self) -> Result<String, String> {
        let start = self.source.at;
        let name = self.source.take_while(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
        let begins_well = !name.starts_with(|first: char| first.is_numeric());
        if name.is_empty() || !begins_well || !self.source.take(">") {
            return Err(self
                .source
                .fault(start, "this is not the name of a group; write it like `(?<name>…)`"));
        }
        Ok(name)
    }

    /// `(?i:`, `(?-s:`, `(?im-s:`, or just `(?:`.
    fn modify(&mut self) -> Result<(), String> {
        let start = self.source.at;
        let on = self.source.take_while(|letter| matches!(letter, 'i' | 'm' | 's'));
        let minus = self.source.take("-");
        let off = if minus {
            self.source.take_while(|letter| matches!(letter, 'i' | 'm' | 's'))
        } else {
            String::new()
        };
        let is_empty = minus && on.is_empty() && off.is_empty();
        let repeats = |flags: &str| flags.char_indices().any(|(at, flag)| flags[..at].contains(flag));
        if is_empty || repeats(&format!("{on}{off}")) || !self.source.take(":") {
            return Err(self
                .source
                .fault(start, "`(?` begins no group that ECMAScript knows; write `(?:…)` or `(?=…)`"));
        }
        on.chars().for_each(|flag| self.modifiers.switch(flag, Switch::On));
        off.chars().for_each(|flag| self.modifiers.switch(flag, Switch::Off));
        Ok(())
    }

    /// Behind a backslash, outside of brackets.
    fn escape(&mut self) -> Result<Node, String> {
        match self.source.peek() {
            Some('b') => {
                self.source.at += 1;
                return Ok(Node::Assert(Assertion::WordEdge(class::words(self.case()))));
            }
            Some('B') => {
                self.source.at += 1;
                return Ok(Node::Assert(Assertion::NotWordEdge(class::words(self.case()))));
            }
            Some('k') if self.syntax == Syntax::Unicode || self.names.iter().any(Option::is_some) => {
                self.source.at += 1;
                return self.named_back();
            }
            Some('1'..='9') => {
                if let Some(back) = self.numbered_back()? {
                    return Ok(back);
                }
            }
            _ => {}
        }
        let case = self.case();
        Ok(match escape::read(&mut self.source, self.syntax, case)? {
            Escaped::Set(set) => self.one(set),
            Escaped::CodePoint(code) => self.one(class::of_code_points(code, code)),
        })
    }

    fn named_back(&mut self) -> Result<Node, String> {
        let start = self.source.at;
        let name = if self.source.take("<") { self.group_name()? } else { String::new() };
        let is_named = |other: &Option<String>| other.as_ref() == Some(&name);
        let groups: Vec<usize> = self
            .names
            .iter()
            .enumerate()
            .filter(|(_, other)| is_named(other))
            .map(|(index, _)| index + 1)
            .collect();
        if groups.is_empty() {
            return Err(self.source.fault(start, "no group has this name; name one with `(?<name>…)`"));
        }
        Ok(Node::Back { groups, case: self.case() })
    }

    /// In the lenient syntax, a number that no group has is an escape like any other.
    fn numbered_back(&mut self) -> Result<Option<Node>, String> {
        let start = self.source.at;
        let digits = self.source.take_while(|letter| letter.is_ascii_digit());
        let group: usize = digits.parse().unwrap_or(usize::MAX);
        if group <= self.names.len() {
            return Ok(Some(Node::Back { groups: vec![group], case: self.case() }));
        }
        self.source.at = start;
        match self.syntax {
            Syntax::Lenient => Ok(None),
            Syntax::Unicode => {
                Err(self.fault(&format!("there is no group {digits}; count the `(` of the pattern")))
            }
        }
    }

    /// Behind a `[`.
    fn class(&mut self) -> Result<Node, String> {
        let start = self.source.at;
        let negated = self.source.take("^");
        let mut set = ClassUnicode::empty();
        while !self.source.take("]") {
            if self.source.peek().is_none() {
                return Err(self
                    .source
                    .fault(start, r"a `[` is never closed; write `\[` for the character itself"));
            }
            set.union(&self.class_range()?);
        }
        let set = class::folded(set, self.case());
        Ok(Node::Set(if negated { class::negated(set) } else { set }))
    }

    fn class_range(&mut self) -> Result<ClassUnicode, String> {
        let start = self.source.at;
        let low = self.class_atom()?;
        let is_range = self.source.peek() == Some('-') && !matches!(self.source.peek_at(1), None | Some(']'));
        if !is_range {
            return Ok(as_set(low));
        }
        self.source.at += 1;
        match (low, self.class_atom()?) {
            (Escaped::CodePoint(low), Escaped::CodePoint(high)) if low <= high => {
                Ok(class::of_code_points(low, high))
            }
            (Escaped::CodePoint(_), Escaped::CodePoint(_)) => {
                Err(self.source.fault(start, "the range is out of order; put the smaller character first"))
            }
            (low, high) if self.syntax == Syntax::Lenient => {
                let mut set = as_set(low);
                set.union(&class::of_char('-'));
                set.union(&as_set(high));
                Ok(set)
            }
            (_, _) => Err(self
                .source
                .fault(start, r"a set cannot be the end of a range; write `\-` for the character itself")),
        }
    }

    fn class_atom(&mut self) -> Result<Escaped, String> {
        let letter = self.source.next().ok_or_else(|| self.fault("a `[` is never closed; add a `]`"))?;
        if letter != '\\' {
            return Ok(Escaped::CodePoint(letter.into()));
        }
        if self.source.take("b") {
            return Ok(Escaped::CodePoint(8));
        }
        let case = self.case();
        escape::read(&mut self.source, self.syntax, case)
    }
}

fn as_set(escaped: Escaped) -> ClassUnicode {
    match escaped {
        Escaped::Set(set) => set,
        Escaped::CodePoint(code) => class::of_code_points(code, code),
    }
}
