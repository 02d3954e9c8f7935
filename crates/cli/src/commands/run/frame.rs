//! The picture of a run: a heading, a line with a bar for each step, and below it a line for each session that it led to.
//! No colour says anything, and no line is longer than the terminal is wide.

use longhaul_runtime::ProgressBelow;
use longhaul_runtime::terminal::{Room, visible};
use longhaul_runtime::types::{
    CloseOutcome, Estimate, Now, SessionProgress, Spent, StepProgress, StepState, Timestamp, show_money,
};

use crate::moment;
use crate::output::{count, cut};

const BAR: usize = 10;
/// Narrower terminals get no bars.
const ROOM_FOR_BARS: usize = 50;
const LONGEST_NAME: usize = 24;

/// What is drawn, when, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picture<'a> {
    pub(super) goal: &'a str,
    pub(super) progress: &'a SessionProgress,
    /// The sessions that its steps led to.
    pub(super) below: &'a [ProgressBelow],
    /// What it and they used.
    pub(super) spent: Spent,
    /// What earlier runs say of what is left.
    pub(super) left: Option<Estimate>,
    pub(super) now: Timestamp,
    pub(super) room: Room,
}

pub(super) fn frame(picture: &Picture<'_>) -> Vec<String> {
    let Picture { goal, progress, spent, now, room, .. } = *picture;
    // As many as there are lines for, gates that nobody came to among them.
    let is_behind = |step: &&StepProgress| matches!(step.state, StepState::Done | StepState::Skipped);
    let (done, total) = (progress.steps.iter().filter(is_behind).count(), progress.steps.len());
    let goal = visible(goal.lines().next().unwrap_or_default());
    let elapsed = progress.started_at.map_or(0, |start| now.since_ms(start));
    let left = picture.left.map(|left| format!(", {}", moment::left(&left))).unwrap_or_default();
    let used = format!(
        "{done} of {total} steps, {}, {} in, {} out, {}, {}{left}",
        count(spent.turns, "turn"),
        thousands(spent.tokens.input),
        thousands(spent.tokens.output),
        show_money(spent.money_micros),
        clock(elapsed)
    );
    let mut lines = vec![cut(&goal, room.letters), cut(&used, room.letters)];
    let name = progress.steps.iter().map(|step| step.step.0.chars().count()).max().unwrap_or(0);
    let name = name.min(LONGEST_NAME);
    let rows = rows(picture, name);
    // The heading, what is left out on both sides, and the line that the cursor is on.
    let shown = around(&rows, room.lines.saturating_sub(5).max(1));
    lines.extend(left_out(shown.start, "before"));
    lines.extend(rows[shown.clone()].iter().map(|row| cut(&row.text, room.letters)));
    lines.extend(left_out(rows.len() - shown.end, "ahead"));
    lines
}

/// A line of the picture.
struct Line {
    text: String,
    is_at: bool,
}

fn rows(picture: &Picture<'_>, name: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for step in &picture.progress.steps {
        let is_at = matches!(step.state, StepState::AtWork | StepState::Waits);
        rows.push(Line { text: line(step, picture, name), is_at });
        add_below(&mut rows, picture.below, step, picture.now);
    }
    rows
}

/// The sessions that a step led to, and those below them at the steps where they stand.
fn add_below(rows: &mut Vec<Line>, all: &[ProgressBelow], step: &StepProgress, now: Timestamp) {
    fn add(rows: &mut Vec<Line>, child: &ProgressBelow, indent: usize, now: Timestamp) {
        let progress = &child.tail.progress;
        let is_at = !matches!(progress.now, Now::Over { .. });
        let at = progress
            .steps
            .iter()
            .find(|step| is_at && matches!(step.state, StepState::AtWork | StepState::Waits));
        let what = match at {
            Some(step) => {
                let going = step.since.map_or(0, |since| now.since_ms(since));
                format!("`{}`, {}, {}", visible(&step.step.0), doing(&progress.now), clock(going))
            }
            None => doing(&progress.now),
        };
        let indent_text = "  ".repeat(indent);
        rows.push(Line { text: format!("  {indent_text}{}: {what}", visible(&child.workflow)), is_at });
        for below in child.tail.below.iter().filter(|below| at.is_some_and(|at| at.step == below.step)) {
            add(rows, below, indent + 1, now);
        }
    }
    all.iter().filter(|child| child.step == step.step).for_each(|child| add(rows, child, 1, now));
}

/// As many lines as there is room for, with the innermost one at work among them.
fn around(rows: &[Line], most: usize) -> std::ops::Range<usize> {
    let number = rows.len();
    let at = rows.iter().rposition(|row| row.is_at).unwrap_or(number.saturating_sub(1));
    let start = at.saturating_sub(most / 2).min(number.saturating_sub(most));
    start..number.min(start + most)
}

fn left_out(number: usize, side: &str) -> Option<String> {
    (number > 0).then(|| format!("  … {number} more {side}"))
}

fn line(step: &StepProgress, picture: &Picture<'_>, width: usize) -> String {
    let Picture { progress, now, room, .. } = *picture;
    let name = cut(&visible(&step.step.0), width);
    let gap = " ".repeat(width.saturating_sub(name.chars().count()));
    let bar = if room.letters < ROOM_FOR_BARS { String::new() } else { format!("{}  ", bar(step)) };
    let going = step.since.map_or(0, |since| now.since_ms(since));
    let what = match step.state {
        StepState::Ahead => String::new(),
        StepState::Skipped => "skipped".to_owned(),
        StepState::Done => format!("done, {}", clock(step.spent_ms)),
        StepState::AtWork => format!("{}, {}", doing(&progress.now), clock(step.spent_ms + going)),
        // Of what waits for a person it counts how long it does.
        StepState::Waits => format!("{}, {}", doing(&progress.now), clock(going)),
    };
    format!("  {name}{gap}  {bar}{what}").trim_end().to_owned()
}

fn doing(now: &Now) -> String {
    match now {
        Now::Nothing => "begins".to_owned(),
        Now::Thinking { turn } => format!("turn {turn}, thinking"),
        Now::Calling { turn, tool } => format!("turn {turn}, {}", visible(tool)),
        Now::Working => "the engine is at work".to_owned(),
        Now::Gate => "waits at a gate".to_owned(),
        Now::Parked { because } => format!("parked: {}", visible(&because.replace('\n', " "))),
        Now::Over { outcome } => match outcome {
            CloseOutcome::Completed => "done".to_owned(),
            CloseOutcome::Cancelled { .. } => "cancelled".to_owned(),
            CloseOutcome::Failed { .. } => "failed".to_owned(),
        },
    }
}

/// Full when it is done. Before that nobody knows how much is left of a step, so it shows the calls of the turn.
fn bar(step: &StepProgress) -> String {
    let calls = usize::try_from(step.calls).unwrap_or(0).max(1);
    let made = usize::try_from(step.calls_done).unwrap_or(0).min(calls);
    let filled = match step.state {
        StepState::Ahead | StepState::Skipped => 0,
        StepState::Done => BAR,
        StepState::AtWork | StepState::Waits => 1 + (BAR - 2) * made / calls,
    };
    format!("[{}{}]", "#".repeat(filled), "-".repeat(BAR - filled))
}

fn thousands(tokens: u64) -> String {
    match tokens {
        0..10_000 => tokens.to_string(),
        10_000..10_000_000 => format!("{}k", tokens / 1000),
        _ => format!("{}M", tokens / 1_000_000),
    }
}

fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use longhaul_runtime::ProgressTail;
    use longhaul_runtime::types::StepId;

    use super::*;

    fn step(name: &str, state: StepState) -> StepProgress {
        StepProgress {
            step: StepId(name.to_owned()),
            title: String::new(),
            state,
            visits: 1,
            turns: 1,
            calls: 4,
            calls_done: 2,
            since: Some(Timestamp(60_000)),
            spent_ms: 5_000,
        }
    }

    fn shown(room: Room, steps: &[StepProgress]) -> Vec<String> {
        shown_with(room, steps, &[])
    }

    fn progress(steps: &[StepProgress]) -> SessionProgress {
        let progress = serde_json::json!({
            "steps": steps,
            "now": Now::Calling { turn: 2, tool: "bash".to_owned() },
            "turns": 12,
            "tally": { "done": 1, "total": 3 },
            "tokens": { "input": 0, "output": 0 },
            "money_micros": 1_500_000,
            "started_at": 0,
            "changed_at": 0,
        });
        serde_json::from_value(progress).unwrap()
    }

    fn shown_with(room: Room, steps: &[StepProgress], below: &[ProgressBelow]) -> Vec<String> {
        let progress = progress(steps);
        let goal = "fix it\u{1b}[2J\nand more";
        let spent = progress.spent;
        let (left, now) = (None, Timestamp(3_700_000));
        frame(&Picture { goal, progress: &progress, below, spent, left, now, room })
    }

    fn three() -> Vec<StepProgress> {
        vec![
            step("look", StepState::Done),
            step("change", StepState::AtWork),
            step("check", StepState::Ahead),
        ]
    }

    #[test]
    fn each_step_has_a_line_with_a_bar() {
        assert_eq!(
            shown(Room { lines: 24, letters: 80 }, &three()),
            [
                "fix it\\u{1b}[2J",
                "1 of 3 steps, 12 turns, 0 in, 0 out, 1.50usd, 1:01:40",
                "  look    [##########]  done, 0:05",
                "  change  [#####-----]  turn 2, bash, 1:00:45",
                "  check   [----------]",
            ]
        );
    }

    #[test]
    fn the_sessions_that_a_step_led_to_stand_below_it() {
        let child = |at: &str, workflow: &str, steps: &[StepProgress]| {
            let mut tail = ProgressTail::of("s-0123456789abc".parse().unwrap());
            tail.progress = progress(steps);
            ProgressBelow { step: StepId(at.to_owned()), workflow: workflow.to_owned(), tail }
        };
        let mut coding = child("change", "lh.coding", &[step("implement", StepState::AtWork)]);
        coding.tail.below = vec![child("implement", "lh.deep", &[])];
        let mut done = child("look", "lh.classify", &[step("judge", StepState::Done)]);
        done.tail.progress.now = Now::Over { outcome: CloseOutcome::Completed };
        assert_eq!(
            shown_with(Room { lines: 24, letters: 80 }, &three(), &[coding, done])[2..],
            [
                "  look    [##########]  done, 0:05",
                "    lh.classify: done",
                "  change  [#####-----]  turn 2, bash, 1:00:45",
                "    lh.coding: `implement`, turn 2, bash, 1:00:40",
                "      lh.deep: turn 2, bash",
                "  check   [----------]",
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_gets_no_bars_and_no_line_is_too_long() {
        for letters in [1, 5, 12, 30, 49, 50, 51, 200] {
            let lines = shown(Room { lines: 24, letters }, &three());
            assert!(lines.iter().all(|line| line.chars().count() <= letters), "{letters}: {lines:?}");
        }
        assert_eq!(shown(Room { lines: 24, letters: 40 }, &three())[3], "  change  turn 2, bash, 1:00:45");
    }

    #[test]
    fn a_low_terminal_shows_what_is_around_the_step_at_work() {
        let many = (0..40).map(|number| {
            let state = match number {
                0..20 => StepState::Done,
                20 => StepState::AtWork,
                _ => StepState::Ahead,
            };
            step(&format!("s{number}"), state)
        });
        let lines = shown(Room { lines: 10, letters: 80 }, &many.collect::<Vec<_>>());
        assert_eq!(lines.len(), 9);
        assert_eq!((lines[2].as_str(), lines[8].as_str()), ("  … 18 more before", "  … 17 more ahead"));
        assert!(lines[5].starts_with("  s20"), "{lines:?}");
    }
}
