//! What looks like a secret: a prefix that its issuer chose to be recognised by, and a tail of the right kind.
//!
//! A table instead of regular expressions: it needs no compilation at start, and a newcomer can read it.

use aho_corasick::{AhoCorasick, Anchored, Input};

use super::Case;

struct Rule {
    name: &'static str,
    prefix: &'static str,
    tail: Tail,
    /// The fewest bytes of tail that make it a secret.
    least: usize,
}

#[derive(Clone, Copy)]
enum Tail {
    UpperDigits,
    Alphanumeric,
    /// Alphanumeric, `_` and `-`.
    Word,
    /// Three base 64 parts with dots between them.
    Token,
    /// Up to and with the closing line of the block.
    PrivateKey,
}

const fn rule(name: &'static str, prefix: &'static str, tail: Tail, least: usize) -> Rule {
    Rule { name, prefix, tail, least }
}

const RULES: &[Rule] = &[
    rule("aws-access-key", "AKIA", Tail::UpperDigits, 16),
    rule("aws-access-key", "ASIA", Tail::UpperDigits, 16),
    rule("github-token", "ghp_", Tail::Alphanumeric, 30),
    rule("github-token", "gho_", Tail::Alphanumeric, 30),
    rule("github-token", "ghu_", Tail::Alphanumeric, 30),
    rule("github-token", "ghs_", Tail::Alphanumeric, 30),
    rule("github-token", "ghr_", Tail::Alphanumeric, 30),
    rule("github-token", "github_pat_", Tail::Word, 22),
    rule("gitlab-token", "glpat-", Tail::Word, 20),
    rule("anthropic-key", "sk-ant-", Tail::Word, 20),
    rule("openai-key", "sk-proj-", Tail::Word, 20),
    rule("openai-key", "sk-svcacct-", Tail::Word, 20),
    rule("openai-key", "sk-", Tail::Alphanumeric, 32),
    rule("stripe-key", "sk_live_", Tail::Alphanumeric, 16),
    rule("stripe-key", "rk_live_", Tail::Alphanumeric, 16),
    rule("slack-token", "xoxb-", Tail::Word, 10),
    rule("slack-token", "xoxp-", Tail::Word, 10),
    rule("slack-token", "xoxa-", Tail::Word, 10),
    rule("slack-token", "xoxr-", Tail::Word, 10),
    rule("slack-token", "xapp-", Tail::Word, 10),
    rule("google-key", "AIza", Tail::Word, 35),
    rule("npm-token", "npm_", Tail::Alphanumeric, 36),
    rule("pypi-token", "pypi-", Tail::Word, 50),
    rule("hugging-face-token", "hf_", Tail::Alphanumeric, 30),
    rule("json-web-token", "eyJ", Tail::Token, 40),
    rule("private-key", "-----BEGIN ", Tail::PrivateKey, 0),
];

/// A place that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    start: usize,
    end: usize,
    rule: usize,
}

#[derive(Debug)]
pub(super) struct Rules {
    prefixes: AhoCorasick,
    case: Case,
}

impl Rules {
    pub(super) fn new(case: Case) -> Self {
        let prefixes = AhoCorasick::builder()
            .ascii_case_insensitive(case == Case::Any)
            .build(RULES.iter().map(|rule| rule.prefix));
        Self { prefixes: prefixes.expect("a few short prefixes"), case }
    }

    /// The first match at or after `from`.
    pub(super) fn first(&self, bytes: &[u8], from: usize) -> Option<Found> {
        let mut start_at = from;
        while start_at < bytes.len() {
            let input = Input::new(bytes).range(start_at..).anchored(Anchored::No);
            let start = self.prefixes.find(input)?.start();
            // Several prefixes may begin here (`sk-` and `sk-ant-`): take the rule that reaches farthest.
            let reach = RULES.iter().enumerate().filter_map(|(rule, candidate)| {
                candidate.end(bytes, start, self.case).map(|end| Found { start, end, rule })
            });
            if let Some(found) = reach.max_by_key(|found| found.end) {
                return Some(found);
            }
            start_at = start + 1;
        }
        None
    }

    /// The name of the first rule that matches.
    pub(super) fn first_name(&self, bytes: &[u8]) -> Option<&'static str> {
        self.first(bytes, 0).map(|found| RULES[found.rule].name)
    }

    pub(super) fn replace(&self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        let mut done = 0;
        while let Some(found) = self.first(bytes, done) {
            clean.extend_from_slice(&bytes[done..found.start]);
            clean.extend_from_slice(format!("[secret:{}]", RULES[found.rule].name).as_bytes());
            done = found.end;
        }
        clean.extend_from_slice(&bytes[done..]);
        clean
    }
}

impl Rule {
    /// Where a match that starts at `start` ends.
    fn end(&self, bytes: &[u8], start: usize, case: Case) -> Option<usize> {
        let (prefix, rest) = bytes[start..].split_at_checked(self.prefix.len())?;
        let is_prefix = match case {
            Case::AsWritten => prefix == self.prefix.as_bytes(),
            Case::Any => prefix.eq_ignore_ascii_case(self.prefix.as_bytes()),
        };
        if !is_prefix {
            return None;
        }
        let inside_a_word =
            start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
        if inside_a_word {
            return None; // `task-…` is no key
        }
        let length = self.tail.in_case(case).length(rest)?;
        (length >= self.least).then_some(start + self.prefix.len() + length)
    }
}

impl Tail {
    const fn in_case(self, case: Case) -> Self {
        match (self, case) {
            (Self::UpperDigits, Case::Any) => Self::Alphanumeric,
            (
                Self::UpperDigits | Self::Alphanumeric | Self::Word | Self::Token | Self::PrivateKey,
                Case::AsWritten | Case::Any,
            ) => self,
        }
    }

    fn length(self, rest: &[u8]) -> Option<usize> {
        // Longer than any token, and short enough that hostile text costs no more than it is worth.
        let rest = if matches!(self, Self::PrivateKey) { rest } else { &rest[..rest.len().min(4096)] };
        let run = |allowed: fn(u8) -> bool| rest.iter().take_while(|byte| allowed(**byte)).count();
        match self {
            Self::UpperDigits => Some(run(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())),
            Self::Alphanumeric => Some(run(|byte| byte.is_ascii_alphanumeric())),
            Self::Word => Some(run(is_word)),
            Self::Token => {
                let length = run(|byte| is_word(byte) || byte == b'.');
                (rest[..length].split(|byte| *byte == b'.').count() == 3).then_some(length)
            }
            Self::PrivateKey => private_key_length(rest),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A block without its closing line is taken to its end: half a key is a key too.
fn private_key_length(rest: &[u8]) -> Option<usize> {
    let title_end = find(rest, b"-----")?;
    if !rest[..title_end].ends_with(b"PRIVATE KEY") {
        return None;
    }
    let Some(closing) = find(rest, b"-----END ") else { return Some(rest.len()) };
    let after = closing + b"-----END ".len();
    Some(find(&rest[after..], b"-----").map_or(rest.len(), |dashes| after + dashes + 5))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        String::from_utf8(Rules::new(Case::AsWritten).replace(text.as_bytes())).unwrap()
    }

    #[test]
    fn every_rule_finds_a_sample_of_its_kind() {
        for rule in RULES {
            let sample = match rule.tail {
                Tail::UpperDigits => "A1".repeat(10),
                Tail::Alphanumeric | Tail::Word => "aB3".repeat(20),
                Tail::Token => format!("{}.{}.{}", "a1".repeat(10), "b2".repeat(10), "c3".repeat(10)),
                Tail::PrivateKey => "RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----".to_owned(),
            };
            let text = format!("key={}{sample};", rule.prefix);
            assert_eq!(clean(&text), format!("key=[secret:{}];", rule.name), "{text}");
        }
    }

    #[test]
    fn words_that_only_resemble_a_prefix_stay() {
        for text in
            ["task-force-and-a-very-long-branch-name-indeed", "sk-short", "AKIA", "eyJhbGciOi", "xhf_"]
        {
            assert_eq!(clean(text), text);
        }
        let public = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----";
        assert_eq!(clean(public), public);
    }

    #[test]
    fn the_longer_rule_wins_where_two_begin_together() {
        assert_eq!(clean(&format!("sk-ant-api03-{}", "x".repeat(40))), "[secret:anthropic-key]");
    }

    #[test]
    fn half_a_private_key_is_taken_to_the_end() {
        assert_eq!(clean("a -----BEGIN PRIVATE KEY-----\nMIIE"), "a [secret:private-key]");
    }

    #[test]
    fn several_secrets_in_one_text_all_go() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        assert_eq!(clean(&format!("{token} {token}")), "[secret:github-token] [secret:github-token]");
    }
}
