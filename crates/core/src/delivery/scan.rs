//! Secrets in what a change adds: known values, our own rules, and a set of rules of others.
//!
//! A finding says where and by which rule, never what.

use std::sync::LazyLock;

use nosecrets_rules::{Rule, Severity, load_builtin_rules};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::scrub::Scrubber;

/// A longer line is looked at in pieces that overlap.
const LONGEST_LINE: usize = 16 * 1024;
const OVERLAP: usize = 1024;
/// More of either is nobody's to read, and one is enough to refuse.
const MOST_TOLD: usize = 200;

/// What looks like a secret, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub path: String,
    /// Counted from one; 0 is the name of the file itself.
    pub line: u64,
    pub rule: String,
}

impl Finding {
    /// Where a person finds it.
    pub fn place(&self) -> String {
        match self.line {
            0 => format!("the name of the file `{}`", self.path),
            line => format!("{}:{line}", self.path),
        }
    }
}

/// Looks at one line after another.
#[derive(Debug)]
pub struct Scan<'a> {
    scrubber: &'a Scrubber,
    /// What refuses a delivery.
    pub findings: Vec<Finding>,
    /// What may well be none; told, and no more.
    pub doubts: Vec<Finding>,
    /// A private key goes on over several lines, and is one finding.
    in_key: Option<String>,
}

impl<'a> Scan<'a> {
    pub fn new(scrubber: &'a Scrubber) -> Self {
        Self { scrubber, findings: Vec::new(), doubts: Vec::new(), in_key: None }
    }

    /// The path of a file that the change adds or writes to: what is in a name is delivered with it.
    pub fn name(&mut self, path: &str) {
        if let Some(rule) = self.scrubber.first_rule(path.as_bytes()) {
            let path = self.shown(path);
            tell(&mut self.findings, Finding { path, line: 0, rule });
        }
    }

    /// A path as it may be shown: without what must not be.
    fn shown(&self, path: &str) -> String {
        self.scrubber.text(path).into_owned()
    }

    /// A line that the change adds.
    pub fn line(&mut self, path: &str, line: u64, text: &[u8]) {
        if self.in_key.as_deref() == Some(path) {
            if text.windows(9).any(|window| window == b"-----END ") {
                self.in_key = None;
            }
            return;
        }
        let mut start = 0;
        loop {
            let end = text.len().min(start + LONGEST_LINE);
            if self.piece(path, line, &text[start..end]) || end == text.len() {
                return;
            }
            start = end - OVERLAP;
        }
    }

    /// Whether something was found that refuses.
    fn piece(&mut self, path: &str, line: u64, text: &[u8]) -> bool {
        let shown = self.shown(path);
        let finding = |rule: String| Finding { path: shown.clone(), line, rule };
        if let Some(rule) = self.scrubber.first_rule(text) {
            if rule == "private-key" {
                self.in_key = Some(path.to_owned());
            }
            tell(&mut self.findings, finding(rule));
            return true;
        }
        let lower = text.to_ascii_lowercase();
        for known in RULES.iter().filter(|known| known.fits(text, &lower)) {
            if known.refuses {
                tell(&mut self.findings, finding(known.rule.id.clone()));
                return true;
            }
            tell(&mut self.doubts, finding(known.rule.id.clone()));
        }
        false
    }
}

fn tell(told: &mut Vec<Finding>, finding: Finding) {
    if told.len() < MOST_TOLD {
        told.push(finding);
    }
}

/// A rule with its patterns made ready.
struct Known {
    rule: Rule,
    /// One of these is in each line that it can fit, in small letters.
    keywords: Vec<Vec<u8>>,
    pattern: Regex,
    allowed: Vec<Regex>,
    refuses: bool,
}

static RULES: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let rules = load_builtin_rules()
        .expect("the rules come with the crate that reads them, and a test reads them all");
    rules.into_iter().map(|rule| Known::of(rule).expect("a test makes all patterns ready")).collect()
});

impl Known {
    fn of(rule: Rule) -> Result<Self, regex::Error> {
        let pattern = Regex::new(&rule.pattern)?;
        let allow = rule.allow.iter().flat_map(|allow| &allow.patterns);
        let allowed = allow.map(|text| Regex::new(&format!("(?i){text}"))).collect::<Result<_, _>>()?;
        // The others go by what a value is assigned to, and are wrong too often to stop a delivery.
        let refuses = matches!(rule.severity, Severity::Critical | Severity::High);
        let keywords = rule.keywords.iter().map(|word| word.to_lowercase().into_bytes()).collect();
        Ok(Self { rule, keywords, pattern, allowed, refuses })
    }

    /// `lower` is the text in small letters.
    fn fits(&self, text: &[u8], lower: &[u8]) -> bool {
        let has = |word: &Vec<u8>| lower.windows(word.len().max(1)).any(|window| window == word);
        if !self.keywords.is_empty() && !self.keywords.iter().any(has) {
            return false;
        }
        self.pattern.captures_iter(text).any(|found| {
            let Some(value) = found.get(self.rule.capture).or_else(|| found.get(0)) else { return false };
            !self.is_allowed(value.as_bytes())
        })
    }

    /// What its authors know to be an example.
    fn is_allowed(&self, value: &[u8]) -> bool {
        let values = self.rule.allow.iter().flat_map(|allow| &allow.values);
        let shortest = self.rule.validate.as_ref().and_then(|validate| validate.min_length).unwrap_or(0);
        value.len() < shortest
            || values.into_iter().any(|known| known.as_bytes() == value)
            || self.allowed.iter().any(|pattern| pattern.is_match(value))
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("rule", &self.rule.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrub::Secret;

    type Told = Vec<(u64, String)>;

    fn scanned(lines: &[&str]) -> (Told, Told) {
        let scrubber = Scrubber::new(&[Secret { name: "DB".into(), value: "hunter2-and-more".into() }]);
        let mut scan = Scan::new(&scrubber);
        for (number, line) in (1..).zip(lines) {
            scan.line("a.txt", number, line.as_bytes());
        }
        let told = |found: Vec<Finding>| found.into_iter().map(|one| (one.line, one.rule)).collect();
        (told(scan.findings), told(scan.doubts))
    }

    #[test]
    fn every_rule_of_the_set_can_be_used() {
        assert!(RULES.len() >= 40, "{}", RULES.len());
        assert!(RULES.iter().any(|known| known.refuses) && RULES.iter().any(|known| !known.refuses));
    }

    #[test]
    fn a_known_value_our_rules_and_the_set_are_found_with_their_line() {
        let token = format!("token = ghp_{}", "a1B2".repeat(9));
        let stripe = format!("key: {}_live_{}", "sk", "a1B2c3D4e5F6g7H8i9J0k1L2");
        let (findings, doubts) = scanned(&[
            "nothing here",
            "url = postgres://hunter2-and-more@db",
            &token,
            "task-force-and-a-very-long-branch-name-indeed",
            &stripe,
        ]);
        let lines: Vec<u64> = findings.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 5], "{findings:?}");
        assert_eq!((findings[0].1.as_str(), findings[1].1.as_str()), ("DB", "github-token"));
        assert_eq!(doubts, []);
        assert!(!format!("{findings:?}").contains("hunter2"));
    }

    #[test]
    fn a_name_is_looked_at_too_and_not_shown() {
        let scrubber = Scrubber::new(&[Secret { name: "DB".into(), value: "hunter2-and-more".into() }]);
        let mut scan = Scan::new(&scrubber);
        scan.name("src/a.txt");
        scan.name("src/hunter2-and-more.txt");
        scan.line("src/hunter2-and-more.txt", 3, b"hunter2-and-more");
        let places: Vec<String> = scan.findings.iter().map(Finding::place).collect();
        let [name, line] = &places[..] else { panic!("{places:?}") };
        assert!(name.starts_with("the name of the file `src/") && line.ends_with(".txt:3"), "{places:?}");
        assert!(!format!("{:?}", scan.findings).contains("hunter2"), "{:?}", scan.findings);
    }

    #[test]
    fn a_private_key_is_one_finding_and_what_follows_it_is_looked_at() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let (findings, _) = scanned(&[
            "-----BEGIN RSA PRIVATE KEY-----",
            "MIIEpAIBAAKCAQEA",
            "-----END RSA PRIVATE KEY-----",
            &token,
        ]);
        let expected = [(1, "private-key".to_owned()), (4, "github-token".to_owned())];
        assert_eq!(findings, expected);
    }

    #[test]
    fn what_only_its_name_makes_suspicious_is_a_doubt() {
        let (findings, doubts) =
            scanned(&["api_key = \"q8w7e6r5t4y3u2i1o0p9a8s7\"", "password = \"changeme\""]);
        assert_eq!(findings, []);
        assert_eq!(doubts, [(1, "generic-api-key".to_owned())]);
    }

    #[test]
    fn a_file_full_of_secrets_is_told_in_part_and_refused_all_the_same() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let (findings, _) = scanned(&vec![token.as_str(); 1000]);
        assert_eq!(findings.len(), MOST_TOLD);
    }

    #[test]
    fn a_secret_far_out_on_a_long_line_is_found() {
        let line = format!("{} ghp_{}", "x ".repeat(20_000), "a1B2".repeat(9));
        let (findings, _) = scanned(&[&line]);
        assert_eq!(findings, [(1, "github-token".to_owned())]);
    }
}
