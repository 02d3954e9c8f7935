//! Values made from bytes. Where the bytes end, every choice is the first one, so every input comes to an end.

use serde_json::{Map, Number, Value};

/// How deep a made-up value lies at most, unless depth itself is the point.
const LEVELS: u32 = 4;

/// Names, templates, patterns and numbers as words: what the core looks at closely.
const WORDS: &[&str] = &[
    "goal",
    "risk",
    "slices",
    "items",
    "checks",
    "checks.outcome",
    "currentItem",
    "length",
    "notes",
    "vars",
    "artifacts",
    "kind",
    "decision",
    "continue",
    "stop",
    "loopId",
    "the-loop",
    "low",
    "high",
    "wide",
    "narrow",
    "passed",
    "wr.loop_control",
    "wr.assessment",
    "assessmentId",
    "dimensions",
    "evidence",
    "scope",
    "finding",
    "cause",
    "title",
    "detail",
    "name",
    "",
    " ",
    "a",
    "ä",
    "😀",
    "\u{202e}",
    "\n",
    "__proto__",
    "constructor",
    "{{goal}}",
    "{{ items.0.name | json }}",
    "{{x | default(1)}}",
    "{{",
    "}}",
    "{{{",
    "{x}",
    "(",
    ")",
    "[",
    "]",
    "(a+)+$",
    "(?=a)b",
    "(?<n>a)\\k<n>",
    "\\p{L}",
    "[a-z]{1,3}",
    "^",
    "$",
    ".*",
    "a{2147483648}",
    "0",
    "-1",
    "1e400",
    "true",
    "no",
    "90s",
    "64k",
    "1.50usd",
    "99999999999999999999d",
    "1.0.0",
    "lh.review",
    "routine.plan",
    "#",
    "&a",
];

#[derive(Debug)]
pub(crate) struct Draw<'a> {
    bytes: &'a [u8],
}

impl<'a> Draw<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `count`, which is not zero.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let high = if count > 256 { usize::from(self.byte()) } else { 0 };
        (high * 256 + usize::from(self.byte())) % count
    }

    pub(crate) fn one_of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    pub(crate) fn text(&mut self) -> String {
        match self.below(8) {
            0..=3 => (*self.one_of(WORDS)).to_owned(),
            4 => {
                let count = self.below(6);
                (0..count).map(|_| *self.one_of(WORDS)).collect()
            }
            5 => self.one_of(WORDS).repeat(self.below(2000)),
            _ => self.raw(),
        }
    }

    /// The next bytes as they are.
    pub(crate) fn raw(&mut self) -> String {
        let length = self.below(32).min(self.bytes.len());
        let (taken, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8_lossy(taken).into_owned()
    }

    pub(crate) fn number(&mut self) -> Number {
        match self.below(6) {
            0 => Number::from(self.byte()),
            1 => Number::from(-i64::from(self.byte())),
            2 => Number::from(u64::MAX - u64::from(self.byte())),
            3 => Number::from(i64::MIN),
            4 => Number::from_f64(f64::from(self.byte()) / 7.0).expect("a seventh is finite"),
            _ => Number::from_f64(1e300).expect("it is finite"),
        }
    }

    pub(crate) fn value(&mut self) -> Value {
        self.value_within(LEVELS)
    }

    pub(crate) fn object(&mut self) -> Map<String, Value> {
        self.fields(LEVELS)
    }

    fn value_within(&mut self, levels: u32) -> Value {
        let kinds = if levels == 0 { 7 } else { 10 };
        match self.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 1),
            2 | 3 => Value::Number(self.number()),
            4..=6 => Value::String(self.text()),
            7 => {
                let count = self.below(5);
                Value::Array((0..count).map(|_| self.value_within(levels - 1)).collect())
            }
            8 => Value::Object(self.fields(levels - 1)),
            _ => self.deep(),
        }
    }

    fn fields(&mut self, levels: u32) -> Map<String, Value> {
        let count = self.below(5);
        (0..count).map(|_| (self.text(), self.value_within(levels))).collect()
    }

    /// Lists in lists, around the depths at which limits stand.
    fn deep(&mut self) -> Value {
        let depth = self.below(130);
        (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
    }
}
