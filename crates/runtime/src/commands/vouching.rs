//! A person vouches for what an import would bring. Nothing else can: an export proves nothing of who wrote it.

use longhaul_core::session::channel_word;
use longhaul_events::Verdict;
use longhaul_store::{AnsweredGate, Claims, Imported};

use crate::error::Error;
use crate::terminal::{self, Question};

/// How many of a kind are shown, and how much of each; whoever has more in one file looks into the file.
const MOST_SHOWN: usize = 50;
const LONGEST_SHOWN: usize = 400;

/// Asks a person at the terminal, if there is anything to vouch for.
pub(super) fn ask(seen: &Imported) -> Result<(), Error> {
    if seen.claims.is_empty() {
        return Ok(());
    }
    match terminal::confirm(&Question { lines: lines(seen), word: "import" }) {
        Ok(_) => Ok(()),
        Err(Error::NoTerminal) => Err(Error::NobodyToVouch { claims: in_short(&seen.claims) }),
        Err(error) => Err(error),
    }
}

/// What the person is shown.
fn lines(seen: &Imported) -> Vec<String> {
    let Claims { answers, commands, doubtful, going_on } = &seen.claims;
    let mut lines = vec![format!(
        "New here: {} and {}; sessions that were here and go on: {}",
        count(seen.decisions, "decision"),
        count(seen.streams, "session"),
        seen.going_on,
    )];
    list(&mut lines, "Answers to gates", answers.iter().map(in_words));
    list(&mut lines, "Commands that workflows in it run", commands);
    list(&mut lines, "Sessions that were here, have gates or commands, and go on", going_on);
    list(&mut lines, "Workflows that cannot be looked into, or were changed", doubtful);
    lines.push(
        "Nothing in an export proves who wrote it, and all of it counts as if it had happened here."
            .to_owned(),
    );
    lines
}

fn list(lines: &mut Vec<String>, title: &str, entries: impl IntoIterator<Item = impl ToString>) {
    let entries: Vec<String> = entries.into_iter().map(|entry| shortened(&entry.to_string())).collect();
    if entries.is_empty() {
        return;
    }
    lines.push(format!("{title}: {}", entries.len()));
    lines.extend(entries.iter().take(MOST_SHOWN).map(|entry| format!("  {entry}")));
    if let Some(more) = entries.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more"));
    }
}

fn in_words(answer: &AnsweredGate) -> String {
    let verdict = match answer.verdict {
        Verdict::Approved => "approved",
        Verdict::Rejected => "rejected",
    };
    let channel = channel_word(answer.channel);
    format!("{}.{} {verdict} by {} ({channel})", answer.session, answer.gate, answer.by)
}

fn in_short(claims: &Claims) -> String {
    let Claims { answers, commands, doubtful, going_on } = claims;
    let kinds = [
        (answers.len(), "answer to a gate", "answers to gates"),
        (commands.len(), "command", "commands"),
        (
            going_on.len(),
            "session with gates or commands that goes on",
            "sessions with gates or commands that go on",
        ),
        (doubtful.len(), "workflow that cannot be looked into", "workflows that cannot be looked into"),
    ];
    let told = kinds.into_iter().filter(|(number, ..)| *number > 0);
    told.map(|(number, one, more)| format!("{number} {}", if number == 1 { one } else { more }))
        .collect::<Vec<_>>()
        .join(", ")
}

fn count(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// Short enough not to scroll the rest away.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(LONGEST_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_says_how_much_of_it_is_not_shown() {
        let commands = (0..60).map(|number| format!("run {number} {}", "x".repeat(500))).collect();
        let seen = Imported { claims: Claims { commands, ..Claims::default() }, ..Imported::default() };
        let lines = lines(&seen);
        assert_eq!(lines.len(), 1 + 1 + MOST_SHOWN + 1 + 1);
        assert_eq!(
            (lines[1].as_str(), lines[52].as_str()),
            ("Commands that workflows in it run: 60", "  and 10 more")
        );
        assert!(lines[2].ends_with("xx…"), "{}", lines[2]);
    }

    #[test]
    fn an_import_that_claims_nothing_asks_nobody() {
        let seen = Imported { decisions: 3, streams: 1, ..Imported::default() };
        assert!(ask(&seen).is_ok());
    }
}
