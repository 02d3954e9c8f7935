//! What an agent did in a turn, put together from what it lets us know. Must never grow with what it sends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use longhaul_events::{CallOutcome, TokenCount};

use crate::turn::{Call, Did, EndCause, Permission, PlanEntry, TurnEnd, Update, Waiting, Watch, Window};

/// Of what it says, the end counts.
const MOST_SAID_BYTES: usize = 1024 * 1024;
/// One piece of what it says, thinks or plans.
const MOST_PIECE_BYTES: usize = 64 * 1024;
const MOST_TITLE_BYTES: usize = 400;
const MOST_TOOL_BYTES: usize = 100;
const MOST_DEEDS: usize = 2_000;
const MOST_OPEN_CALLS: usize = 200;
const MOST_PLAN_ENTRIES: usize = 200;

/// Something that came from an agent, whatever its protocol calls it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum News {
    /// A piece of a message, with the id of the message if it has one.
    Said {
        message: Option<String>,
        text: String,
    },
    Thought(String),
    Call {
        id: String,
        tool: Option<String>,
        title: Option<String>,
        status: Option<CallStatus>,
    },
    Planned(Vec<PlanEntry>),
    Used(Window),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallStatus {
    Open,
    Done,
    Failed,
}

pub(crate) struct Record<'a> {
    watch: &'a dyn Watch,
    /// Nobody needs to hear what comes.
    is_unheard: bool,
    said: String,
    last: Last,
    open: BTreeMap<String, OpenCall>,
    did: Vec<Did>,
    did_more: u64,
}

/// What the latest news was about.
#[derive(Debug, PartialEq, Eq)]
enum Last {
    NotSaid,
    /// A piece of this message, if messages have ids.
    Said {
        message: Option<String>,
    },
}

struct OpenCall {
    call: Call,
    began: Instant,
}

impl<'a> Record<'a> {
    pub(crate) fn new(watch: &'a dyn Watch) -> Self {
        Self {
            watch,
            is_unheard: false,
            said: String::new(),
            last: Last::NotSaid,
            open: BTreeMap::new(),
            did: Vec::new(),
            did_more: 0,
        }
    }

    /// One that nothing is kept in and told from, for the same watch.
    pub(crate) fn unheard(other: &Record<'a>) -> Self {
        Self { is_unheard: true, ..Self::new(other.watch) }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.watch.is_wanted()
    }

    pub(crate) fn patience(&self) -> Duration {
        self.watch.patience(if self.open.is_empty() { Waiting::Answer } else { Waiting::Tool })
    }

    pub(crate) fn sign_of_life(&self) {
        self.watch.heard(&Update::Other);
    }

    pub(crate) fn take(&mut self, news: News) {
        if self.is_unheard {
            return self.sign_of_life();
        }
        match news {
            News::Said { message, text } => self.said(message, text),
            News::Thought(text) => self.watch.heard(&Update::Thought(cut(text, MOST_PIECE_BYTES))),
            News::Call { id, tool, title, status } => self.called(id, tool, title, status),
            News::Planned(mut entries) => {
                entries.truncate(MOST_PLAN_ENTRIES);
                for entry in &mut entries {
                    entry.words = cut(std::mem::take(&mut entry.words), MOST_TITLE_BYTES);
                }
                self.watch.heard(&Update::Planned(entries));
            }
            News::Used(window) => self.watch.heard(&Update::Used(window)),
            News::Other => self.watch.heard(&Update::Other),
        }
    }

    pub(crate) fn asked(&mut self, permission: Permission) {
        let Permission { tool, title, answer } = permission;
        let (tool, title) = (cut(tool, MOST_TOOL_BYTES), cut(title, MOST_TITLE_BYTES));
        self.watch.heard(&Update::Asked(Permission { tool, title, answer }));
    }

    fn said(&mut self, message: Option<String>, text: String) {
        let text = cut(text, MOST_PIECE_BYTES);
        let last = std::mem::replace(&mut self.last, Last::Said { message });
        if last != self.last && !self.said.is_empty() {
            self.said.push_str("\n\n");
        }
        self.said.push_str(&text);
        // Rarely, so that it is not moved with every piece.
        if self.said.len() > 2 * MOST_SAID_BYTES {
            self.trim();
        }
        self.watch.heard(&Update::Said(text));
    }

    fn trim(&mut self) {
        let over = self.said.len().saturating_sub(MOST_SAID_BYTES);
        self.said.drain(..self.said.ceil_char_boundary(over));
    }

    fn called(
        &mut self,
        id: String,
        tool: Option<String>,
        title: Option<String>,
        status: Option<CallStatus>,
    ) {
        self.last = Last::NotSaid;
        let tool = tool.map(|tool| cut(tool, MOST_TOOL_BYTES));
        let title = title.map(|title| cut(title, MOST_TITLE_BYTES));
        let Some(open) = self.open.get_mut(&id) else { return self.began(id, tool, title, status) };
        if let Some(tool) = tool {
            open.call.tool = tool;
        }
        if let Some(title) = title {
            open.call.title = title;
        }
        match status {
            Some(CallStatus::Done) => self.ended(&id, CallOutcome::Done),
            Some(CallStatus::Failed) => self.ended(&id, CallOutcome::Refused),
            Some(CallStatus::Open) | None => self.watch.heard(&Update::Other),
        }
    }

    /// A call that is new to us. Some agents tell of one only when it is over.
    fn began(&mut self, id: String, tool: Option<String>, title: Option<String>, status: Option<CallStatus>) {
        let tool = tool.unwrap_or_else(|| "other".to_owned());
        let call = Call { title: title.unwrap_or_else(|| tool.clone()), tool };
        match status {
            // More about a call that is over, or was never told.
            None => return self.watch.heard(&Update::Other),
            Some(CallStatus::Done) => return self.keep(call, CallOutcome::Done, 0),
            Some(CallStatus::Failed) => return self.keep(call, CallOutcome::Refused, 0),
            Some(CallStatus::Open) => {}
        }
        self.watch.heard(&Update::Began(call.clone()));
        if self.open.len() < MOST_OPEN_CALLS {
            self.open.insert(id, OpenCall { call, began: Instant::now() });
        }
    }

    fn ended(&mut self, id: &str, outcome: CallOutcome) {
        if let Some(OpenCall { call, began }) = self.open.remove(id) {
            let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.keep(call, outcome, ms);
        }
    }

    fn keep(&mut self, call: Call, outcome: CallOutcome, ms: u64) {
        let did = Did { tool: call.tool, title: call.title, outcome, ms };
        self.watch.heard(&Update::Ended(did.clone()));
        if self.did.len() < MOST_DEEDS {
            self.did.push(did);
        } else {
            self.did_more += 1;
        }
    }

    /// Calls whose end nobody told are over too: done with the turn, or stopped with it.
    pub(crate) fn finish(mut self, cause: EndCause, usage: Option<TokenCount>) -> TurnEnd {
        let outcome = match cause {
            EndCause::Cancelled => CallOutcome::Stopped,
            EndCause::EndTurn | EndCause::MaxTokens | EndCause::MaxRequests | EndCause::Refusal => {
                CallOutcome::Interrupted
            }
        };
        let open: Vec<String> = self.open.keys().cloned().collect();
        for id in open {
            self.ended(&id, outcome);
        }
        self.trim();
        TurnEnd { said: self.said, cause, did: self.did, did_more: self.did_more, usage }
    }
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}
