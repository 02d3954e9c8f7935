//! Sets of characters.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::node::Case;

pub(super) fn of_char(letter: char) -> ClassUnicode {
    of_ranges(&[(letter, letter)])
}

pub(super) fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(start, end)| ClassUnicodeRange::new(*start, *end)))
}

/// Code points as ECMAScript counts them. Halves of pairs occur in no text of ours, so they fall out.
pub(super) fn of_code_points(start: u32, end: u32) -> ClassUnicode {
    let mut set = ClassUnicode::empty();
    for (low, high) in [(0, 0xD7FF), (0xE000, 0x10_FFFF)] {
        let (low, high) = (start.max(low), end.min(high));
        if let (true, Some(low), Some(high)) = (low <= high, char::from_u32(low), char::from_u32(high)) {
            set.push(ClassUnicodeRange::new(low, high));
        }
    }
    set
}

pub(super) fn digits() -> ClassUnicode {
    of_ranges(&[('0', '9')])
}

/// Without regard to case, two letters outside of ASCII belong to words: they are `s` and `k` in another case.
pub(super) fn words(case: Case) -> ClassUnicode {
    let mut words = of_ranges(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);
    match case {
        Case::Matters | Case::Ignored => {}
        Case::IgnoredUnicode => words.union(&of_ranges(&[('\u{17F}', '\u{17F}'), ('\u{212A}', '\u{212A}')])),
    }
    words
}

pub(super) fn spaces() -> ClassUnicode {
    of_ranges(&[
        ('\t', '\r'),
        (' ', ' '),
        ('\u{A0}', '\u{A0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200A}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202F}', '\u{202F}'),
        ('\u{205F}', '\u{205F}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{FEFF}', '\u{FEFF}'),
    ])
}

pub(super) fn line_ends() -> ClassUnicode {
    of_ranges(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')])
}

pub(super) fn everything() -> ClassUnicode {
    negated(ClassUnicode::empty())
}

pub(super) fn negated(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

pub(super) fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// `Script=Greek`, `Lu`, `Emoji`. The tables are those of the `regex` crate.
pub(super) fn of_property(name: &str) -> Option<ClassUnicode> {
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '='));
    if !is_name {
        return None;
    }
    let parsed = regex_syntax::parse(&format!(r"\p{{{name}}}")).ok()?;
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Some(set),
        // A property of one character is a literal to that library; ECMAScript has none such.
        _ => None,
    }
}

/// With every letter also its other cases.
pub(super) fn folded(set: ClassUnicode, case: Case) -> ClassUnicode {
    match case {
        Case::Matters => set,
        Case::IgnoredUnicode => fold_simple(set),
        Case::Ignored => {
            let ascii = of_ranges(&[('\0', '\x7F')]);
            let (mut inside, mut outside) = (set.clone(), set);
            inside.intersect(&ascii);
            outside.difference(&ascii);
            let (mut inside, mut outside) = (fold_simple(inside), fold_simple(outside));
            inside.intersect(&ascii);
            outside.difference(&ascii);
            inside.union(&outside);
            inside
        }
    }
}

fn fold_simple(mut set: ClassUnicode) -> ClassUnicode {
    set.try_case_fold_simple().expect("the tables of case folding are built in");
    set
}

pub(super) fn contains(set: &ClassUnicode, letter: char) -> bool {
    let ranges = set.ranges();
    let index = ranges.partition_point(|range| range.end() < letter);
    ranges.get(index).is_some_and(|range| range.start() <= letter)
}

pub(super) fn same(left: char, right: char, case: Case) -> bool {
    match case {
        Case::Matters => left == right,
        Case::Ignored | Case::IgnoredUnicode => {
            left == right || contains(&folded(of_char(left), case), right)
        }
    }
}
