//! What becomes of a session that should be running, or of an attempt that came to nothing: a pure policy.
//!
//! [`judge`] looks at what is on record and at which processes live. Its rules are one table, the first that holds decides, and each
//! says why. `docs/guide/queue.md` has the same rows, and a test compares both.
//!
//! What it never does: take up what a person stopped, repeat an attempt whose files nobody kept, or try for ever.

mod backoff;
mod found;
mod remedy;
#[cfg(test)]
mod tests;

pub use backoff::{ATTEMPTS, Backoff, STARTS};
pub use found::{Files, Found, Inside, Kept, Quiet, Standing, Starts, Unfit, World};
pub use remedy::{Advice, Remedy};

use longhaul_events::Timestamp;

use crate::outcome::Holder;
use crate::parking::ParkCode;
use crate::queue::about;

/// How many runners may come to nothing one after another.
pub const MOST_IN_VAIN: u32 = 10;

/// When it is looked again whether a full disk has room.
const LOOK_AT_DISK_MS: u64 = 60_000;

/// What to do, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    pub act: Act,
    pub because: String,
    /// The row that held.
    pub rule: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    LeaveAlone,
    /// A runner goes on with the session where it stands. What is parked and due is woken first, what waits for an answer of its
    /// provider goes on with the same budget, and a gate that is due is judged.
    Resume,
    /// The same after the process that holds it was ended, and seen dead.
    Replace,
    /// What a person stopped is ended for good.
    End,
    /// The session is ended, its files kept, and the task queued for another attempt that is told this.
    RetryWithHint {
        hint: String,
    },
    /// Nothing more by itself: a person has to look.
    HandOver,
    /// Nothing before then; look again at that moment.
    Wait {
        until: Timestamp,
    },
}

impl Act {
    /// As the guide has it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::LeaveAlone => "leave alone",
            Self::Resume => "resume",
            Self::Replace => "replace",
            Self::End => "end",
            Self::RetryWithHint { .. } => "retry",
            Self::HandOver => "hand over",
            Self::Wait { .. } => "wait",
        }
    }
}

/// One row.
struct Rule {
    name: &'static str,
    /// When it holds, in the words of the guide.
    when: &'static str,
    /// What it may say, in the words of the guide.
    acts: &'static str,
    judge: fn(&Found) -> Option<(Act, String)>,
}

/// A row, to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub rule: &'static str,
    pub when: &'static str,
    pub acts: &'static str,
}

/// Every row, in the order of the guide.
pub fn table() -> impl Iterator<Item = Row> {
    TABLE.iter().map(|Rule { name, when, acts, .. }| Row { rule: name, when, acts })
}

/// Says what becomes of a session. Reads what was found, changes nothing.
pub fn judge(found: &Found) -> Recovery {
    let held = TABLE.iter().find_map(|rule| Some((rule.name, (rule.judge)(found)?)));
    match held {
        Some((rule, (act, because))) => Recovery { act, because, rule },
        None => Recovery { act: Act::HandOver, because: "no rule covers this".to_owned(), rule: "else" },
    }
}

const TABLE: &[Rule] = &[
    Rule {
        name: "completed",
        when: "it is completed",
        acts: "leave alone",
        judge: |found| {
            (found.standing == Standing::Completed).then(|| (Act::LeaveAlone, "it is completed".to_owned()))
        },
    },
    Rule {
        name: "stopped",
        when: "a person stopped it, and it has ended: that is final",
        acts: "leave alone",
        judge: |found| {
            let Standing::Cancelled { by } = &found.standing else { return None };
            Some((Act::LeaveAlone, format!("{by} stopped it, and that is final")))
        },
    },
    Rule {
        name: "ending",
        when: "a person stopped it, and it has not ended; its driver has its time to do so",
        acts: "wait, end",
        judge: ending,
    },
    Rule {
        name: "with-a-person",
        when: "it was handed to a person, who has not said `retry`",
        acts: "leave alone",
        judge: |found| {
            (found.standing == Standing::HandedOver).then(|| (Act::LeaveAlone, "a person has it".to_owned()))
        },
    },
    Rule {
        name: "no-room",
        when: "the disk is full, so nothing could be put on record",
        acts: "wait",
        judge: |found| {
            (found.world == World::Unfit(Unfit::DiskFull)).then(|| {
                let until = found.now.plus_ms(LOOK_AT_DISK_MS);
                (Act::Wait { until }, "the disk is full; it goes on when there is room".to_owned())
            })
        },
    },
    Rule {
        name: "unreadable",
        when: "its stream is in quarantine",
        acts: "hand over",
        judge: |found| {
            let Standing::Unreadable { because } = &found.standing else { return None };
            Some((Act::HandOver, format!("its stream cannot be read: {because}")))
        },
    },
    Rule {
        name: "given-up",
        when: "its workflow or a gate ended it as failed",
        acts: "hand over",
        judge: |found| {
            let Standing::Failed { because } = &found.standing else { return None };
            Some((Act::HandOver, format!("it was given up: {because}")))
        },
    },
    Rule {
        name: "at-a-gate",
        when: "it waits at a gate; when nobody answered in time, that is put on record",
        acts: "wait, resume",
        judge: |found| {
            let Standing::Gate { until } = found.standing else { return None };
            Some(when_due(found, until, "it waits at a gate"))
        },
    },
    Rule {
        name: "asleep",
        when: "it is parked with a time at which it goes on by itself",
        acts: "wait, resume",
        judge: |found| {
            let Standing::Parked { wake_at: Some(due), because, .. } = &found.standing else { return None };
            // Once it is due, what keeps all from running is told first.
            (found.now < *due || found.world == World::Fit).then(|| when_due(found, *due, because))
        },
    },
    Rule {
        name: "alive",
        when: "a process holds it and is not silent for too long",
        acts: "leave alone",
        judge: alive,
    },
    Rule {
        name: "hung",
        when: "a process holds it that lives and has been silent for too long",
        acts: "replace, retry, hand over, wait",
        judge: hung,
    },
    Rule {
        name: "waits-for-somebody",
        when: "it is parked or blocked, and goes on when somebody decides or gives it what it lacks",
        acts: "leave alone",
        judge: |found| {
            let because = remedied(found, Remedy::Somebody)?;
            Some((Act::LeaveAlone, format!("it waits for somebody: {because}")))
        },
    },
    Rule {
        name: "unfit",
        when: "the repository is gone, the walls cannot be put up, the agent is missing, the key is refused, the settings cannot be read",
        acts: "hand over",
        judge: |found| match found.world {
            World::Unfit(unfit) => Some((Act::HandOver, unfit.words().to_owned())),
            World::Fit => None,
        },
    },
    Rule {
        name: "cannot-help",
        when: "it failed or could not be done, and another attempt would come to the same",
        acts: "hand over",
        judge: |found| {
            let because = remedied(found, Remedy::Nothing)?;
            Some((Act::HandOver, format!("another attempt would come to the same: {because}")))
        },
    },
    Rule {
        name: "files-gone",
        when: "its files are gone; what a snapshot has is kept",
        acts: "retry, hand over, wait",
        judge: files_gone,
    },
    Rule {
        name: "no-answer",
        when: "its provider did not answer; it goes on where it was, after a pause",
        acts: "resume, wait, hand over",
        judge: no_answer,
    },
    Rule {
        name: "try-again",
        when: "it failed in a way that another attempt may mend",
        acts: "retry, hand over, wait",
        judge: |found| match remedy(found)? {
            (Remedy::Again(advice), because) => Some(again(found, because, Some(advice))),
            (Remedy::Somebody | Remedy::Later | Remedy::Nothing, _) => None,
        },
    },
    Rule {
        name: "in-vain",
        when: "ten runners in a row came to nothing",
        acts: "retry, hand over, wait",
        judge: in_vain,
    },
    Rule {
        name: "lost",
        when: "nobody holds it, and it should be going on",
        acts: "resume, wait",
        judge: lost,
    },
];

fn ending(found: &Found) -> Option<(Act, String)> {
    let Standing::Stopping { by, patience_until } = &found.standing else { return None };
    let is_driven = matches!(found.holder, Holder::Active | Holder::Late);
    Some(if is_driven && found.now < *patience_until {
        (Act::Wait { until: *patience_until }, format!("{by} stopped it, and its driver ends it"))
    } else {
        (Act::End, format!("{by} stopped it, and nobody is ending it"))
    })
}

fn when_due(found: &Found, due: Timestamp, because: &str) -> (Act, String) {
    if found.now < due {
        (Act::Wait { until: due }, because.to_owned())
    } else {
        (Act::Resume, format!("{because}, and its time has come"))
    }
}

fn is_held(found: &Found) -> bool {
    found.standing == Standing::GoesOn && matches!(found.holder, Holder::Active | Holder::Late)
}

fn alive(found: &Found) -> Option<(Act, String)> {
    let allowed_ms = found.quiet.allowed_ms(found.holder);
    if !is_held(found) || found.quiet.for_ms >= allowed_ms {
        return None;
    }
    let (quiet, allowed) = (about(found.quiet.for_ms), about(allowed_ms));
    Some((Act::LeaveAlone, format!("its process lives, silent for {quiet} of {allowed}")))
}

fn hung(found: &Found) -> Option<(Act, String)> {
    if !is_held(found) {
        return None;
    }
    let because = format!("its process lives and shows no progress for {}", about(found.quiet.for_ms));
    if found.starts.in_vain >= MOST_IN_VAIN {
        return Some(again(found, &because, None));
    }
    Some((Act::Replace, because))
}

/// What helps what is parked, and why it is.
fn remedy(found: &Found) -> Option<(Remedy, &str)> {
    // What goes on by itself has had its row.
    let Standing::Parked { code, because, wake_at: None } = &found.standing else { return None };
    // What only a later release knows is for a person to settle.
    Some((ParkCode::of(code).map_or(Remedy::Somebody, Remedy::of), because))
}

fn remedied(found: &Found, wanted: Remedy) -> Option<&str> {
    remedy(found).filter(|(helps, _)| *helps == wanted).map(|(_, because)| because)
}

fn files_gone(found: &Found) -> Option<(Act, String)> {
    match found.files {
        Files::Gone(Kept::Nothing) => {
            Some((Act::HandOver, "its files are gone, and no snapshot has them".to_owned()))
        }
        Files::Gone(Kept::Snapshot) => Some(again(found, "its files are gone", Some(Advice::InASnapshot))),
        Files::None | Files::Kept | Files::Unkept => None,
    }
}

fn no_answer(found: &Found) -> Option<(Act, String)> {
    let because = remedied(found, Remedy::Later)?.to_owned();
    if found.starts.in_vain >= MOST_IN_VAIN {
        return Some((Act::HandOver, format!("{because}, and it was asked {MOST_IN_VAIN} times in vain")));
    }
    Some(match paused(found, ATTEMPTS, found.starts.in_vain + 1, found.since) {
        Some(until) => (Act::Wait { until }, because),
        None => (Act::Resume, because),
    })
}

fn in_vain(found: &Found) -> Option<(Act, String)> {
    let is_open = found.standing == Standing::GoesOn;
    (is_open && found.starts.in_vain >= MOST_IN_VAIN).then(|| {
        let because = format!("{} runners in a row came to nothing", found.starts.in_vain);
        again(found, &because, None)
    })
}

fn lost(found: &Found) -> Option<(Act, String)> {
    if found.standing != Standing::GoesOn || is_held(found) {
        return None;
    }
    let gone = match found.holder {
        Holder::Gone => "its process is gone",
        Holder::Nobody | Holder::Active | Holder::Late => "nobody holds it",
    };
    let in_vain = found.starts.in_vain;
    if in_vain == 0 {
        return Some((Act::Resume, format!("{gone}, and it got on since it was last started")));
    }
    let because = format!("{gone}, and it did not get on in {in_vain} starts");
    Some(match found.starts.last.and_then(|last| paused(found, STARTS, in_vain, last)) {
        Some(until) => (Act::Wait { until }, because),
        None => (Act::Resume, because),
    })
}

/// Another attempt, if there may be one and nothing is lost by it.
fn again(found: &Found, because: &str, advice: Option<Advice>) -> (Act, String) {
    let attempts = found.attempts;
    if attempts.are_used_up() {
        return (Act::HandOver, format!("{because}, and it was tried {} times", attempts.made));
    }
    if found.files == Files::Unkept {
        return (Act::HandOver, format!("{because}, and what it changed is in no snapshot"));
    }
    if let Some(until) = paused(found, ATTEMPTS, attempts.made, found.since) {
        return (Act::Wait { until }, format!("{because}; it is tried again then"));
    }
    let told = format!("{because}; attempt {} of {} is made", attempts.made + 1, attempts.most);
    (Act::RetryWithHint { hint: remedy::hint(because, advice) }, told)
}

/// Until when nothing is tried, if that is not over. A clock that went back makes nobody wait.
fn paused(found: &Found, backoff: Backoff, number: u32, since: Timestamp) -> Option<Timestamp> {
    let until = since.plus_ms(backoff.pause_ms(number, found.seed));
    (since <= found.now && found.now < until).then_some(until)
}
