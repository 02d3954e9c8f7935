//! A person vouches for what an import would bring. Nothing else can: an export proves nothing of who wrote it.

use longhaul_core::session::channel_word;
use longhaul_events::Verdict;
use longhaul_store::{AnsweredGate, Claims, Imported};

use crate::error::Error;
use crate::terminal::{self, Question};

/// More than this nobody reads, and a word that covers what was not read is none.
const MOST_LETTERS: usize = 100_000;

/// Asks a person at the terminal, if there is anything to vouch for.
pub(super) fn ask(seen: &Imported) -> Result<(), Error> {
    if seen.claims.is_empty() {
        return Ok(());
    }
    let lines = lines(seen);
    if lines.iter().map(|line| line.chars().count()).sum::<usize>() > MOST_LETTERS {
        return Err(Error::TooMuchToVouch { claims: in_short(&seen.claims) });
    }
    match terminal::confirm(&Question { lines, word: "import" }) {
        Ok(_) => Ok(()),
        Err(Error::NoTerminal) => Err(Error::NobodyToVouch { claims: in_short(&seen.claims) }),
        Err(error) => Err(error),
    }
}

/// What the person is shown.
fn lines(seen: &Imported) -> Vec<String> {
    let Claims { answers, commands, doubtful, going_on, queued } = &seen.claims;
    let mut lines = vec![format!(
        "New here: {}, {} and {}; sessions that were here and go on: {}",
        count(seen.decisions, "decision"),
        count(seen.streams.saturating_sub(seen.new_tasks), "session"),
        count(seen.new_tasks, "task"),
        seen.going_on,
    )];
    list(&mut lines, "Answers to gates", answers.iter().map(in_words));
    list(&mut lines, "Commands that workflows in it run", commands);
    list(&mut lines, "Sessions that were here, have gates or commands, and go on", going_on);
    list(&mut lines, "Tasks that a daemon starts by itself", queued);
    list(&mut lines, "Workflows that cannot be looked into, or were changed", doubtful);
    lines.push(
        "Nothing in an export proves who wrote it, and all of it counts as if it had happened here."
            .to_owned(),
    );
    lines
}

/// All of it: the person's word covers all of it.
fn list(lines: &mut Vec<String>, title: &str, entries: impl IntoIterator<Item = impl ToString>) {
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.to_string()).collect();
    if entries.is_empty() {
        return;
    }
    lines.push(format!("{title}: {}", entries.len()));
    lines.extend(entries.iter().map(|entry| format!("  {entry}")));
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
    let Claims { answers, commands, doubtful, going_on, queued } = claims;
    let kinds = [
        (answers.len(), "answer to a gate", "answers to gates"),
        (commands.len(), "command", "commands"),
        (
            going_on.len(),
            "session with gates or commands that goes on",
            "sessions with gates or commands that go on",
        ),
        (queued.len(), "task that a daemon starts by itself", "tasks that a daemon starts by itself"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(number: usize, letters: usize) -> Imported {
        let commands = (0..number).map(|number| format!("run {number} {}", "x".repeat(letters))).collect();
        Imported { claims: Claims { commands, ..Claims::default() }, ..Imported::default() }
    }

    #[test]
    fn everything_that_the_word_covers_is_shown() {
        let lines = lines(&commands(60, 500));
        assert_eq!(lines.len(), 1 + 1 + 60 + 1);
        assert_eq!(lines[1], "Commands that workflows in it run: 60");
        assert!(lines.contains(&format!("  run 59 {}", "x".repeat(500))), "{lines:#?}");
    }

    #[test]
    fn what_nobody_would_read_is_refused_with_a_way_to_read_it() {
        let refused = ask(&commands(60, 5000)).unwrap_err().to_string();
        assert!(refused.contains("60 commands") && refused.contains("one session at a time"), "{refused}");
    }

    #[test]
    fn an_import_that_claims_nothing_asks_nobody() {
        let seen = Imported { decisions: 3, streams: 1, ..Imported::default() };
        assert!(ask(&seen).is_ok());
    }
}
