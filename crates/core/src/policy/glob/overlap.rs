//! Whether some path could fit two patterns at once.
//!
//! Sound: where a path fits both, the answer is yes. Where it is in doubt what was meant (braces, classes, `..`, a pattern
//! that bounds nothing) the answer is yes too: two tasks that wait for each other without need cost time, two that write
//! the same file cost work.

use std::cell::OnceCell;

use super::is_everything;

/// Longer patterns are not taken to pieces, and so overlap with everything.
const LONGEST: usize = 300;

/// Whether some path could fit both patterns. Small and capital letters are the same: on some disks they are.
pub fn overlaps(one: &str, other: &str) -> bool {
    Shape::of(one).overlaps(&Shape::of(other))
}

/// A pattern that is compared with many others.
#[derive(Debug)]
pub struct Shape<'p> {
    pattern: &'p str,
    /// Taken to pieces when it is first needed: most pairs are told apart without that.
    parts: OnceCell<Vec<Part<'p>>>,
}

impl<'p> Shape<'p> {
    pub const fn of(pattern: &'p str) -> Self {
        Self { pattern, parts: OnceCell::new() }
    }

    pub const fn pattern(&self) -> &'p str {
        self.pattern
    }

    /// Whether some path could fit both.
    pub fn overlaps(&self, other: &Shape<'_>) -> bool {
        if begin_differently(self.pattern, other.pattern) {
            return false;
        }
        meet(self.parts(), other.parts(), |part| *part == Part::Many, Part::may_be_the_same)
    }

    fn parts(&self) -> &[Part<'p>] {
        self.parts.get_or_init(|| parts(self.pattern))
    }
}

/// What leaves a choice to a path, or has a meaning in the patterns of other tools.
const fn leaves_a_choice(letter: u8) -> bool {
    matches!(letter, b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'\\' | b'!')
}

/// Tells most pairs apart without taking them to pieces: a path begins as its pattern does, up to the first choice.
fn begin_differently(one: &str, other: &str) -> bool {
    let letters = |pattern: &str| pattern.strip_prefix("./").unwrap_or(pattern).len();
    let pairs =
        one.bytes().skip(one.len() - letters(one)).zip(other.bytes().skip(other.len() - letters(other)));
    for (one_letter, other_letter) in pairs {
        if leaves_a_choice(one_letter) || leaves_a_choice(other_letter) {
            return false;
        }
        if !one_letter.eq_ignore_ascii_case(&other_letter) {
            // `a//b` and `a/./b` are `a/b`.
            let is_folded = |letter| matches!(letter, b'/' | b'.');
            return !is_folded(one_letter) && !is_folded(other_letter) && !is_odd(one) && !is_odd(other);
        }
    }
    false
}

/// Whether nobody can say what it bounds.
fn is_odd(pattern: &str) -> bool {
    pattern.len() > LONGEST || is_everything(pattern) || pattern.split('/').any(|part| part == "..")
}

/// A part of a pattern, as far as it matters for paths.
#[derive(Debug, PartialEq, Eq)]
enum Part<'p> {
    /// One name, with `*` and `?` in it.
    Name(&'p str),
    /// Any number of names, or none.
    Many,
}

impl Part<'_> {
    fn may_be_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(one), Self::Name(other)) => one == other || names_meet(one, other),
            (Self::Many, _) | (_, Self::Many) => true,
        }
    }
}

/// Byte by byte. What stands for one letter may stand for some bytes, where not all letters are one.
fn names_meet(one: &str, other: &str) -> bool {
    let are_bytes = one.is_ascii() && other.is_ascii();
    let is_many = |byte: &u8| *byte == b'*' || (*byte == b'?' && !are_bytes);
    let is_same = |one: &u8, other: &u8| one.eq_ignore_ascii_case(other) || *one == b'?' || *other == b'?';
    // Names mostly differ at one of their ends.
    let may_be = |one: Option<&u8>, other: Option<&u8>| match (one, other) {
        (Some(one), Some(other)) => is_many(one) || is_many(other) || is_same(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => [one, other].into_iter().flatten().all(is_many),
    };
    let (one, other) = (one.as_bytes(), other.as_bytes());
    may_be(one.first(), other.first())
        && may_be(one.last(), other.last())
        && meet(one, other, is_many, is_same)
}

/// A pattern that is used up names all below what it led to, so all of them end in [`Part::Many`].
fn parts(pattern: &str) -> Vec<Part<'_>> {
    if is_odd(pattern) {
        return vec![Part::Many];
    }
    let mut parts = Vec::with_capacity(8);
    let mut last = "";
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        last = part;
        let is_wild = |letter| matches!(letter, b'*' | b'?');
        if part == "**" {
            parts.push(Part::Many);
        } else if part.bytes().any(|letter| leaves_a_choice(letter) && !is_wild(letter)) {
            // What was meant may have a `/` in it, so nothing after it counts.
            break;
        } else {
            parts.push(Part::Name(part));
        }
    }
    if last == "**" {
        // At the end it stands for what lies below, not for the folder itself.
        parts.push(Part::Name("*"));
    }
    parts.push(Part::Many);
    parts
}

/// Whether some sequence fits both patterns of it, in which some parts stand for any number of others.
fn meet<T>(one: &[T], other: &[T], is_many: impl Fn(&T) -> bool, is_same: impl Fn(&T, &T) -> bool) -> bool {
    // From the ends on: whether what is left of both can be the same. One row is enough, each entry of which is that of the
    // row below until it is reckoned anew.
    let mut row = vec![false; other.len() + 1];
    for from in (0..=one.len()).rev() {
        let mut below_right = false;
        for at in (0..=other.len()).rev() {
            let (below, right) = (row[at], at < other.len() && row[at + 1]);
            row[at] = match (one.get(from), other.get(at)) {
                (None, None) => true,
                (Some(part), _) | (_, Some(part)) if is_many(part) => below || right,
                (Some(part), Some(counterpart)) => below_right && is_same(part, counterpart),
                (None, Some(_)) | (Some(_), None) => false,
            };
            below_right = below;
        }
    }
    row[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fits;
    use super::*;

    #[test]
    fn patterns_overlap_where_a_path_fits_both() {
        for (one, other) in [
            ("src/login.rs", "src/login.rs"),
            ("src", "src/mail/address.rs"),
            ("src/**", "src/mail/address.rs"),
            ("src/*.rs", "src/l*"),
            ("**/*.sql", "db"),
            ("**/migrations/**", "app/**"),
            ("crates/*/src", "crates/core/**/tests.rs"),
            ("a?c", "?b?"),
            ("*.rs", "lib.*"),
            ("./src/", "src/lib.rs"),
            ("/src/lib.rs", "src//lib.rs"),
            ("src/./lib.rs", "src/lib.rs"),
            ("SRC/Lib.rs", "src/lib.rs"),
        ] {
            assert!(overlaps(one, other) && overlaps(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("src/login.rs", "src/mail.rs"),
            ("src/**", "docs/**"),
            ("src/*.rs", "src/mail/*.rs"),
            ("src/**", "srcs/lib.rs"),
            ("*.rs", "*.md"),
            ("src/a*b", "src/b*"),
            ("part-?", "part-"),
            ("crates/*/src/**", "crates/core/tests/**"),
            ("**/*.rs", "docs/*.md"),
        ] {
            // A folder could be called `lib.rs`, so a pattern of all folders meets every other.
            let is_met = one.starts_with("**");
            assert_eq!((overlaps(one, other), overlaps(other, one)), (is_met, is_met), "{one} {other}");
        }
    }

    #[test]
    fn what_is_in_doubt_overlaps() {
        for odd in ["", ".", "*", "**", "../src", "docs/../src", "{src,docs}/**", "!docs", "[ds]*"] {
            assert!(overlaps(odd, "src/lib.rs") && overlaps("src/lib.rs", odd), "{odd}");
        }
        let long = format!("docs/{}", "a".repeat(LONGEST));
        assert!(overlaps(&long, "src/lib.rs"));
        assert!(overlaps("app/[id]/page.tsx", "app/7/page.tsx"));
        assert!(!overlaps("app/{a,b}/**", "src/**"), "what stands before the doubt is certain");
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let stars = "*a".repeat(LONGEST / 2);
        assert!(overlaps(&stars, &"a*".repeat(LONGEST / 2)));
        let folders = "**/".repeat(LONGEST / 3);
        assert!(overlaps(&folders, &folders));
    }

    fn name() -> impl Strategy<Value = String> {
        proptest::sample::select(vec!["a", "b", "ab", "A", "lib.rs", "[b]", "{a}", "é"])
            .prop_map(str::to_owned)
    }

    fn part() -> impl Strategy<Value = String> {
        let wild =
            proptest::sample::select(vec!["*", "**", "?", "a*", "*b", "?b", "*.rs", "", ".", "[b]", "{a}"]);
        prop_oneof![name(), wild.prop_map(str::to_owned)]
    }

    fn pattern() -> impl Strategy<Value = String> {
        proptest::collection::vec(part(), 1..5).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_path_fits_two_patterns_that_do_not_overlap(
            one in pattern(),
            other in pattern(),
            path in proptest::collection::vec(name(), 1..6).prop_map(|names| names.join("/")),
        ) {
            let fits_both = fits(&one, &path) && fits(&other, &path);
            prop_assert!(!fits_both || overlaps(&one, &other), "{path} fits {one} and {other}");
            prop_assert_eq!(overlaps(&one, &other), overlaps(&other, &one));
            prop_assert!(overlaps(&one, &one));
        }

        #[test]
        fn a_pattern_overlaps_every_path_that_fits_it(
            one in pattern(),
            path in proptest::collection::vec(name(), 1..6).prop_map(|names| names.join("/")),
        ) {
            prop_assert!(!fits(&one, &path) || overlaps(&one, &path));
        }
    }
}
