//! The words of a commit: a subject as Conventional Commits have it, a body, trailers.

use super::inert::inert;

/// How long a subject may be before its end moves into the body.
const LONGEST_SUBJECT: usize = 72;
/// More is nobody's to read in a log.
const LONGEST_BODY: usize = 4000;

const TYPES: [&str; 11] =
    ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];

/// Words that a goal begins with, and the type that they mean.
const BEGINNINGS: [(&str, &str); 12] = [
    ("fix", "fix"),
    ("repair", "fix"),
    ("mend", "fix"),
    ("correct", "fix"),
    ("document", "docs"),
    ("refactor", "refactor"),
    ("rename", "refactor"),
    ("simplify", "refactor"),
    ("speed up", "perf"),
    ("test", "test"),
    ("upgrade", "build"),
    ("bump", "build"),
];

/// What a message is made of.
#[derive(Debug, Clone, Copy)]
pub struct MessageParts<'a> {
    /// The author's own words, where there are any.
    pub chosen: Option<&'a str>,
    pub goal: &'a str,
    /// What the hand-off says was done.
    pub summary: Option<&'a str>,
    pub task: Option<&'a str>,
    pub session: &'a str,
    /// `Name <address>`.
    pub coauthor: Option<&'a str>,
}

/// The whole message. What the goal and the hand-off say closes no ticket and calls nobody. Whatever the goal holds stands before the trailers, so that none of its lines is one.
pub fn message(parts: &MessageParts<'_>) -> String {
    let goal = inert(&plain(parts.goal));
    let subject = subject(parts.chosen.unwrap_or(parts.goal));
    let mut text = format!("{subject}\n");
    if !subject.ends_with(goal.trim_end_matches('.')) && !goal.is_empty() {
        text.extend(["\n", &cut(&goal, LONGEST_BODY), "\n"]);
    }
    if let Some(summary) = parts
        .summary
        .map(|summary| inert(&plain(summary)))
        .filter(|summary| !summary.is_empty() && *summary != goal)
    {
        text.extend(["\n", &cut(&summary, LONGEST_BODY), "\n"]);
    }
    text.push('\n');
    if let Some(task) = parts.task {
        text.extend(["Longhaul-Task: ", &one_line(task), "\n"]);
    }
    text.extend(["Longhaul-Session: ", &one_line(parts.session), "\n"]);
    if let Some(coauthor) = parts.coauthor {
        text.extend(["Co-authored-by: ", &one_line(coauthor), "\n"]);
    }
    text
}

/// One line that does nothing at a forge, with a type in front of it, which is guessed where the words have none.
pub fn subject(words: &str) -> String {
    let line = inert(&one_line(plain(words).lines().next().unwrap_or_default()));
    let line = line.trim_end_matches('.').trim();
    if has_type(line) {
        return cut(line, LONGEST_SUBJECT);
    }
    let lower = line.to_lowercase();
    let begins = |word: &str| lower.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ':']));
    let kind = BEGINNINGS.iter().find(|(word, _)| begins(word)).map_or("feat", |(_, kind)| kind);
    // `fix: fix …` says it twice.
    let rest = if lower.starts_with(&format!("{kind} ")) { line[kind.len()..].trim_start() } else { line };
    let rest = if rest.is_empty() { "what was asked for" } else { rest };
    cut(&format!("{kind}: {}", uncapitalised(rest)), LONGEST_SUBJECT)
}

/// `fix:`, `feat(login)!:` and the like.
fn has_type(line: &str) -> bool {
    let Some((head, rest)) = line.split_once(": ") else { return false };
    let head = head.strip_suffix('!').unwrap_or(head);
    let (kind, scope) = match head.split_once('(') {
        Some((kind, scope)) => (kind, scope.strip_suffix(')')),
        None => (head, Some("-")),
    };
    TYPES.contains(&kind) && scope.is_some_and(|scope| !scope.is_empty()) && !rest.trim().is_empty()
}

fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        // A name that is all capitals stays one.
        (Some(first), second) if first.is_uppercase() && !second.is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Without what could move a cursor or hide a line.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t'));
    kept.collect::<String>().trim().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let start: String = text.chars().take(longest - 1).collect();
    let end = start.rfind(' ').filter(|end| *end > longest / 2).unwrap_or(start.len());
    format!("{}…", start[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_becomes_a_subject_with_a_type() {
        for (goal, expected) in [
            ("fix the flaky login test", "fix: the flaky login test"),
            ("Fix: the login", "fix: fix: the login"),
            ("Repair the parser.", "fix: repair the parser"),
            ("Add a button", "feat: add a button"),
            ("HTTP 2 for uploads", "feat: HTTP 2 for uploads"),
            ("feat(login)!: take tokens", "feat(login)!: take tokens"),
            ("fix: a thing\nand more of it", "fix: a thing"),
            ("nonsense(x): y", "feat: nonsense(x): y"),
            ("Test the login", "test: the login"),
            ("", "feat: what was asked for"),
            ("fixtures for the parser", "feat: fixtures for the parser"),
        ] {
            assert_eq!(subject(goal), expected, "{goal}");
        }
        let long = subject(&"word ".repeat(40));
        assert!(long.chars().count() <= 72 && long.ends_with("word…"), "{long}");
    }

    #[test]
    fn a_merged_commit_closes_and_calls_only_what_the_engine_wants() {
        let parts = MessageParts {
            chosen: None,
            goal: "Fix the login (closes #9)",
            summary: Some("Fixes #10, see @ada"),
            task: None,
            session: "s-1",
            coauthor: Some("claude (Longhaul) <longhaul@localhost>"),
        };
        assert_eq!(
            message(&parts),
            "fix: the login (closes #\u{200b}9)\n\nFix the login (closes #\u{200b}9)\n\n\
             Fixes #\u{200b}10, see @\u{200b}ada\n\n\
             Longhaul-Session: s-1\nCo-authored-by: claude (Longhaul) <longhaul@localhost>\n"
        );
    }

    #[test]
    fn trailers_stand_last_and_no_line_of_a_goal_is_one() {
        let parts = MessageParts {
            chosen: None,
            goal: "Fix the login\n\nLonghaul-Task: t-forged\u{1b}[2J",
            summary: Some("The comparison was inverted."),
            task: Some("t-1"),
            session: "s-1",
            coauthor: Some("claude (Longhaul) <longhaul@localhost>"),
        };
        assert_eq!(
            message(&parts),
            "fix: the login\n\nFix the login\n\nLonghaul-Task: t-forged[2J\n\nThe comparison was inverted.\n\n\
             Longhaul-Task: t-1\nLonghaul-Session: s-1\nCo-authored-by: claude (Longhaul) <longhaul@localhost>\n"
        );
        let short =
            MessageParts { goal: "the login", chosen: Some("fix: the login"), summary: None, ..parts };
        assert!(message(&short).starts_with("fix: the login\n\nLonghaul-Task: t-1\n"), "{}", message(&short));
    }
}
