//! Tables of patterns and texts. A doubt about ECMAScript becomes a row.

use proptest::prelude::*;

use super::*;

fn is_match(pattern: &str, flags: &str, text: &str) -> bool {
    let compiled = Pattern::new(pattern, flags).unwrap_or_else(|error| panic!("`{pattern}`: {error}"));
    compiled.is_match(text).unwrap_or_else(|error| panic!("`{pattern}` on {text:?}: {error}"))
}

#[track_caller]
fn assert_table(rows: &[(&str, &str, &[&str], &[&str])]) {
    for (pattern, flags, matching, others) in rows {
        for text in *matching {
            assert!(is_match(pattern, flags, text), "/{pattern}/{flags} should match {text:?}");
        }
        for text in *others {
            assert!(!is_match(pattern, flags, text), "/{pattern}/{flags} should not match {text:?}");
        }
    }
}

#[test]
fn characters_classes_and_anchors_match_as_in_ecmascript() {
    assert_table(&[
        ("", "", &["", "x"], &[]),
        ("b", "", &["abc"], &["aBc", ""]),
        ("a.c", "", &["abc", "a😀c"], &["a\nc", "a\u{2028}c", "ac"]),
        ("a.c", "s", &["a\nc"], &["ac"]),
        ("^b", "", &["bc"], &["a\nb"]),
        ("^b$", "m", &["a\nb\nc", "a\r\nb"], &["ab"]),
        ("b$", "", &["ab"], &["b\n"]),
        (r"^\d+$", "", &["42"], &["٤٢", "", "4a"]),
        (r"^\w+$", "", &["a_1"], &["ä"]),
        (r"^\s$", "", &["\u{FEFF}", "\u{A0}", "\u{2029}"], &["\u{85}", "x"]),
        (r"^[\s\S]$", "", &["\n", "x"], &[""]),
        ("^[a-c-]$", "", &["b", "-"], &["d"]),
        ("^[^a-c]$", "", &["d", "\n"], &["a", ""]),
        ("^[]$", "", &[], &["", "x"]),
        ("^[^]$", "", &["\n", "x"], &[""]),
        ("^[[&&b]$", "", &["[", "&", "b"], &["a"]),
        (r"^[\]\-\\]$", "", &["]", "-", "\\"], &["["]),
        (r"^[\b]$", "", &["\u{8}"], &["b"]),
        (r"\bcat\b", "", &["a cat.", "cat"], &["cats", "concat"]),
        (r"\Bat", "", &["cat"], &["at"]),
        (r"^[\d-x]$", "", &["5", "-", "x"], &["a"]),
    ]);
}

#[test]
fn escapes_mean_what_they_mean_in_ecmascript() {
    assert_table(&[
        (r"^\x41\u0042\t\v\f\0$", "", &["AB\t\u{B}\u{C}\0"], &[]),
        (r"^\u{1F600}$", "u", &["😀"], &["x"]),
        (r"^\u{3}$", "", &["uuu"], &["\u{3}"]),
        (r"^\uD83D\uDE00$", "", &["😀"], &[]),
        (r"^\uD83D\uDE00$", "u", &["😀"], &[]),
        (r"\uD83D", "", &[], &["😀"]),
        (r"^\cJ$", "", &["\n"], &["J"]),
        (r"^\c$", "", &["\\c"], &["c"]),
        (r"^\/\-\a\A\z$", "", &["/-aAz"], &[]),
        (r"^\101\8$", "", &["A8"], &[]),
        (r"^\x4$", "", &["x4"], &[]),
        (r"^\p{Lu}\P{Lu}$", "u", &["Äb"], &["bÄ"]),
        (r"^\p{Script=Greek}+$", "u", &["αβγ"], &["abc"]),
        (r"^\p{Lu}$", "", &["p{Lu}"], &["A"]),
        (r"^{{x}}$", "", &["{{x}}"], &["x"]),
        ("^a{,3}$", "", &["a{,3}"], &["aa"]),
        ("^]}$", "", &["]}"], &[]),
    ]);
}

#[test]
fn groups_alternatives_and_counts_match_as_in_ecmascript() {
    assert_table(&[
        ("^(?:ab|a)(?:bc|c)$", "", &["abc", "abbc", "ac"], &["ab"]),
        ("^(a|ab)(c|bcd)(d*)$", "", &["abcd"], &["abc_"]),
        ("^a{2,3}$", "", &["aa", "aaa"], &["a", "aaaa"]),
        ("^a{2,}?b$", "", &["aab", "aaaab"], &["ab"]),
        ("^(?:ab){2}$", "", &["abab"], &["ab", "ababab"]),
        ("^(?:a?){3}$", "", &["", "a", "aaa"], &["aaaa"]),
        ("^(?:a*)*$", "", &["", "aaa"], &["b"]),
        ("^(?:a*?)*?b$", "", &["b", "aab"], &["a"]),
        ("^(?:|a)+$", "", &["", "a", "aaa"], &["b"]),
        ("^(?:a{99999999999999999999})?$", "", &[""], &["a"]),
        (r"^(a)(b)?\2c$", "", &["ac", "abbc"], &["abc"]),
        (r"^(?:(a)|b)*\1$", "", &["aa", "aab", "ab", "b"], &["c"]),
        (r"^(?<q>['\x22]).*\k<q>$", "", &["'a'", "\"a\""], &["'a\""]),
        (r"^\k<q>(?<q>a)$", "", &["a"], &["aa"]),
        (r"^(?:(?<x>a)|(?<x>b))\k<x>$", "", &["aa", "bb"], &["ab"]),
        (r"^\k$", "", &["k"], &[]),
        (r"^(z)((a+)?(b+)?(c))*$", "", &["zaacbbbcac"], &["zaacbbb"]),
    ]);
}

#[test]
fn looking_around_matches_as_in_ecmascript() {
    assert_table(&[
        (r"^(?=.*[A-Z])(?=.*\d).{4,}$", "", &["aB3x"], &["ab3x", "aBcd", "B3"]),
        ("foo(?!bar)", "", &["foobaz", "foobar foo"], &["foobar"]),
        (r"(?<=\$)\d+", "", &["$42"], &["€42"]),
        (r"(?<!\$)\b\d+", "", &["€42"], &["$42"]),
        (r"(?<=a.*)c", "", &["abbc"], &["bbc"]),
        (r"(?<=(\d+)(\d+))$", "", &["1053"], &["1"]),
        (r"(?<=\1(a))b", "", &["aab"], &["ab"]),
        (r"(?=(a+))a*b\1", "", &["baaabaa", "aba"], &["bb"]),
        (r"^(?!(a)b)\1a", "", &["ac"], &["ab"]),
        ("(?=a)*b", "", &["b"], &["a"]),
        ("^(?:(?=(a))a)+b", "", &["aab"], &["b"]),
    ]);
}

#[test]
fn case_is_ignored_as_in_ecmascript() {
    assert_table(&[
        ("straße", "i", &["STRAßE"], &["STRASSE"]),
        ("^[a-z]+$", "i", &["ABC"], &["ſ", "\u{212A}"]),
        ("^[a-z]+$", "iu", &["ABC", "ſ", "\u{212A}"], &["1"]),
        ("^[^x]$", "i", &["y"], &["x", "X"]),
        (r"^(ä)\1$", "i", &["äÄ", "ÄÄ"], &["äa"]),
        ("^a(?i:b)c$", "", &["abc", "aBc"], &["Abc", "abC"]),
        ("^a(?-i:b)c$", "i", &["AbC"], &["aBc"]),
        (r"^\W$", "iu", &["-"], &["s", "K", "ſ"]),
        ("^b", "y", &["bc"], &["ab"]),
        ("b", "y", &["bc"], &["ab"]),
        ("b", "gd", &["ab"], &["a"]),
    ]);
}

#[test]
fn what_is_not_a_pattern_is_refused_with_its_place() {
    let table = [
        ("a(b", "", "a `(` is never closed; write `\\(` for the character itself (character 2)"),
        ("a)b", "", "a `)` closes nothing; write `\\)` for the character itself (character 2)"),
        ("[a", "", "a `[` is never closed; write `\\[` for the character itself (character 2)"),
        ("*a", "", "`*` has nothing to repeat; write `\\*` (character 1)"),
        ("a**", "", "`*` has nothing to repeat; write `\\*` (character 3)"),
        ("a++", "", "`+` has nothing to repeat; write `\\+` (character 3)"),
        ("^*", "", "a place between characters cannot be repeated; leave out the quantifier (character 1)"),
        ("{2}", "", "the braces have nothing to repeat; write `\\{` (character 1)"),
        ("a{3,2}", "", "the numbers in the braces are out of order; put the smaller first (character 2)"),
        ("[z-a]", "", "the range is out of order; put the smaller character first (character 2)"),
        ("(?>a)", "", "`(?` begins no group that ECMAScript knows; write `(?:…)` or `(?=…)` (character 3)"),
        ("(?i)a", "", "`(?` begins no group that ECMAScript knows; write `(?:…)` or `(?=…)` (character 3)"),
        ("(?<1>a)", "", "this is not the name of a group; write it like `(?<name>…)` (character 4)"),
        (r"(?<a>.)\k<b>", "", "no group has this name; name one with `(?<name>…)` (character 10)"),
        ("a\\", "", "a `\\` stands at the end; write `\\\\` for the character itself (character 3)"),
        (r"\a", "u", "`\\a` means nothing with the flag `u`; leave out the `\\` (character 2)"),
        (r"\1", "u", "there is no group 1; count the `(` of the pattern (character 2)"),
        (
            r"\p{Nonsense}",
            "u",
            "this is not a property; write one such as `\\p{L}` or `\\p{Script=Greek}` (character 3)",
        ),
        ("{", "u", "a `{` stands alone; write `\\{` (character 1)"),
        ("a", "x", "`x` is not a flag; use some of `dgimsuy`"),
        ("a", "ii", "the flag `i` stands there twice; leave one out"),
        ("a", "v", "the flag `v` is not supported; use `u`"),
    ];
    for (pattern, flags, wanted) in table {
        let error = Pattern::new(pattern, flags).expect_err(pattern);
        assert_eq!(error, wanted, "{pattern}");
    }
}

#[test]
fn a_pattern_that_is_too_long_or_too_deep_is_refused() {
    assert!(Pattern::new(&"a".repeat(10_001), "").is_err());
    assert!(Pattern::new(&format!("{}{}", "(".repeat(5_000), ")".repeat(5_000)), "").is_err());
    assert!(Pattern::new(&format!("{}{}", "(?=".repeat(100), ")".repeat(100)), "").is_ok());
}

#[test]
fn a_pattern_that_backtracks_for_ever_ends_as_too_many_steps() {
    let many = "a".repeat(40);
    for (pattern, text) in [
        ("^(a+)+$", format!("{many}!")),
        ("^(a|aa)+$", format!("{many}!")),
        ("^(a|a)*$", format!("{many}!")),
        ("^(.*a){20}$", format!("{many}!")),
        (r"^(?=(a+)+!)b", format!("{many}?")),
        (r"(?<=^x(a+)+)!", format!("{many}!")),
        (r"^(a?){40}a{40}b", many.clone()),
        (r"(.*)\1\1\1x", "ab".repeat(400)),
        ("(?:){4000000000}", String::new()),
    ] {
        let compiled = Pattern::new(pattern, "").expect(pattern);
        assert_eq!(compiled.is_match(&text), Err(TooManySteps), "{pattern}");
    }
}

#[test]
fn a_plain_search_gets_through_the_longest_notes() {
    let text = "The quick brown fox jumps.\n".repeat(37_000);
    assert!(!is_match("lazy dog", "", &text));
    assert!(!is_match(r"^## .*evidence.*$", "mi", &text));
    assert!(is_match(r"fox(?= jumps\.\n$)", "", &text));
    assert!(is_match(r"^[\s\S]*jumps\.\n$", "", &text));
}

/// Found with a made-up file: a condition of twenty thousand such patterns, each within its own limit.
#[test]
fn all_patterns_of_a_decision_share_one_allowance() {
    let hopeless = Pattern::new("(a*)*b", "").unwrap();
    let plain = Pattern::new("b", "").unwrap();
    let (allowance, text) = (Allowance::default(), "a".repeat(40));
    assert_eq!(hopeless.is_match_within(&text, &allowance), Err(TooManySteps));
    assert_eq!(plain.is_match_within("ab", &allowance), Ok(true));
    allowance.spend_pattern_steps(allowance.pattern_steps());
    assert_eq!(plain.is_match_within("ab", &allowance), Err(TooManySteps));
    assert_eq!(plain.is_match("ab"), Ok(true));
}

proptest! {
    #[test]
    fn no_pattern_and_no_text_make_it_panic(
        pattern in r"[ab.|*+?^$(){}\[\]\\<>=!:,0-9dwskupbB\-]{0,24}",
        flags in "[imsuy]{0,2}",
        text in "[abAB1 \n]{0,16}",
    ) {
        if let Ok(pattern) = Pattern::new(&pattern, &flags) {
            let _ = pattern.is_match(&text);
        }
    }

    #[test]
    fn any_text_is_found_by_itself_escaped(text in ".{0,40}", around in ".{0,20}") {
        let escaped: Vec<String> =
            text.chars().map(|letter| format!(r"\u{{{:x}}}", u32::from(letter))).collect();
        let pattern = escaped.concat();
        let text = [around.as_str(), text.as_str(), around.as_str()].concat();
        prop_assert!(is_match(&pattern, "u", &text));
    }
}
