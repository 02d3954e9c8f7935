//! Conversations that have no room left.

use super::*;

const ROOM: Room = Room { most: 280_000, aim: 140_000 };
/// Two megabytes over three hundred turns.
const RESULT: usize = 7_000;

const SMALL: Room = Room { most: 60_000, aim: 30_000 };

/// A story with whoever follows it.
struct Living {
    story: Story,
    transcript: Transcript,
    seen: usize,
}

impl Living {
    fn new(story: Story) -> Self {
        let mut living = Self { story, transcript: Transcript::default(), seen: 0 };
        living.catch_up();
        living
    }

    fn catch_up(&mut self) {
        self.story.events[self.seen..].iter().for_each(|event| self.transcript.apply(event));
        self.seen = self.story.events.len();
    }

    fn work(&mut self, turn: u32) {
        work(&mut self.story, turn);
        self.catch_up();
    }

    fn act(&mut self, act: AgentAct) {
        self.story.act(5, act);
        self.catch_up();
    }

    /// Makes room, if need be, and says what was done.
    fn shorten(&mut self, room: Room) -> Option<AgentAct> {
        let (story, transcript) = (&self.story, &self.transcript);
        let plan = transcript.plan(room)?;
        let read = |content: &Content| story.read(content);
        let is_needed = plan.needs_recap(transcript);
        let recap = is_needed.then(|| transcript.recap(&plan, room.for_recap(), &read).unwrap());
        let act = AgentAct::Compacted {
            turn: 1,
            results_until: plan.results_until,
            turns_until: plan.turns_until,
            longest_result: plan.longest_result,
            recap: recap.map(|recap| Content::Inline(json!(recap))),
        };
        self.act(act.clone());
        Some(act)
    }

    fn messages(&self) -> Vec<Message> {
        self.transcript.messages(0, &|content| self.story.read(content)).unwrap()
    }

    fn told(&self) -> String {
        written(&self.messages())
    }
}

/// All words, one after the other.
fn written(messages: &[Message]) -> String {
    let words = messages.iter().map(|message| match message {
        Message::User(text) => text.clone(),
        Message::Assistant { text, calls, echo } => {
            let calls =
                calls.iter().map(|call| format!("{} {} {}", call.id, call.tool, json!(call.arguments)));
            format!("{text}{}{echo:?}", calls.collect::<String>())
        }
        Message::Results(results) => results.iter().map(|result| result.text.as_str()).collect(),
    });
    words.collect::<Vec<_>>().join("\n")
}

fn planned() -> Story {
    let mut story = Story::begun();
    story.answers(2, 1, "I plan.", &[("note_fact", json!({ "fact": "f" }))]).gives(2, 1, 0, "kept");
    let fact = json!({ "fact": "The API must not change", "evidence": "README" });
    let (node_2, report) = (Some(node(2)), Content::Inline(fact));
    story.add(SessionEvent::Reported { node: node_2, kind: ReportKind::Fact, report });
    story.answers(2, 2, "", &[(COMPLETE_STEP, json!({}))]);
    story.hands_in(2, json!({ "notes": "PLAN: first the parser, then the lexer" }));
    let set = BTreeMap::from([("risk".to_owned(), text("high"))]);
    story.add(SessionEvent::VarsChanged { set, unset: Vec::new() });
    story.step(5, "change").act(5, steered("Keep to tabs"));
    story
}

/// One more turn with a file read and, every tenth time, one written.
fn work(story: &mut Story, turn: u32) {
    let result = format!("{turn:07}").repeat(RESULT / 7);
    let read = ("read", json!({ "path": format!("src/read_{turn}.rs") }));
    if turn.is_multiple_of(10) {
        let content = "y".repeat(RESULT);
        let write = ("write", json!({ "path": format!("src/made_{turn}.rs"), "content": content }));
        story.answers(5, turn, "On.", &[read, write]);
        story.gives(5, turn, 0, &result).gives(5, turn, 1, "wrote it");
    } else {
        story.answers(5, turn, "On.", &[read]).gives(5, turn, 0, &result);
    }
}

#[test]
fn three_hundred_turns_stay_in_their_room_and_keep_plan_constraints_and_files() {
    let mut living = Living::new(planned());
    let mut recaps = 0;
    for turn in 1..=300 {
        living.work(turn);
        if let Some(act) = living.shorten(ROOM) {
            recaps += u32::from(matches!(act, AgentAct::Compacted { recap: Some(_), .. }));
        }
        assert!(living.transcript.bytes() <= ROOM.most, "turn {turn}");
        let told = living.told();
        assert!(told.len() as u64 <= ROOM.most, "turn {turn}: {}", told.len());
        assert!(told.contains(&format!("src/read_{turn}.rs")));
        assert!(told.contains("Do change."), "the step that is out, turn {turn}");
    }
    assert!(recaps >= 2, "{recaps}");
    let told = living.told();
    for wanted in
        ["PLAN: first the parser", "The API must not change", "Keep to tabs", "risk", "Fix the login"]
    {
        assert!(told.contains(wanted), "{wanted}");
    }
    for turn in (10..=300).step_by(10) {
        assert!(told.contains(&format!("src/made_{turn}.rs")), "{turn}");
    }
    assert!(living.story.blobs.len() > 300, "as in the log");
    assert_eq!(living.transcript, living.story.transcript(), "from the log again");
}

#[test]
fn compaction_happens_seldom_and_nothing_before_the_end_changes_in_between() {
    let mut living = Living::new(planned());
    let (mut times, mut before) = (0, Vec::new());
    for turn in 1..=300 {
        living.work(turn);
        if living.shorten(ROOM).is_some() {
            times += 1;
            before.clear();
        }
        let now = living.messages();
        assert_eq!(now[..before.len()], before[..], "turn {turn}");
        before = now;
    }
    assert!((2..=20).contains(&times), "{times}");
}

#[test]
fn what_older_calls_gave_goes_first_and_words_stay() {
    let mut living = Living::new(planned());
    (1..=30).for_each(|turn| living.work(turn));
    let before = living.messages().len();
    let act = living.shorten(Room { most: 100_000, aim: 90_000 });
    let Some(AgentAct::Compacted {
        results_until, turns_until: 0, recap: None, longest_result: None, ..
    }) = act
    else {
        unreachable!("{act:?}")
    };
    assert!((20..32).contains(&results_until), "{results_until}");
    let (messages, told) = (living.messages(), living.told());
    assert_eq!(messages.len(), before);
    assert!(told.contains("[read src/read_1.rs: 6.8 KB, left out; do it again if you need it]"), "{told}");
    assert!(told.contains("[6.8 KB, left out]"), "what was written is left out too");
    let Message::Assistant { text, echo, .. } = &messages[1] else { unreachable!() };
    assert_eq!((text.as_str(), echo), ("I plan.", &None));
    let Some(Message::Results(results)) = messages.last() else { unreachable!() };
    assert_eq!(results[0].text.len(), RESULT, "the newest stays word for word");
}

#[test]
fn a_single_turn_that_is_too_long_is_cut() {
    let mut story = planned();
    let calls = ["a", "b", "c", "d"].map(|path| ("read", json!({ "path": path })));
    story.answers(5, 1, "", &calls);
    for call in 0..4 {
        story.gives(5, 1, call, &"x".repeat(60_000));
    }
    let mut living = Living::new(story);
    let room = Room { most: 100_000, aim: 50_000 };
    assert!(living.shorten(room).is_some());
    assert!(living.transcript.bytes() <= room.aim, "{}", living.transcript.bytes());
    assert!(living.told().contains("bytes in all]"));
    assert_eq!(living.shorten(room), None);
}

#[test]
fn when_nothing_more_can_go_nothing_is_put_on_record() {
    let mut living = Living::new(planned());
    living.work(1);
    let mut times = 0;
    while living.shorten(Room { most: 10, aim: 10 }).is_some() {
        times += 1;
        assert!(times < 4, "it would never end");
    }
    assert!(times > 0);
}

#[test]
fn a_model_without_room_is_told_less_once_for_each_time_it_says_so() {
    let overflow = AgentAct::Failed {
        turn: 2,
        fault: TurnFault::ContextOverflow,
        message: String::new(),
        ms: 1,
        retry_after_ms: None,
        resets_at: None,
    };
    let mut living = Living::new(planned());
    (1..=20).for_each(|turn| living.work(turn));
    assert_eq!(living.transcript.unanswered_overflows(), None);
    living.act(overflow.clone());
    assert_eq!(living.transcript.unanswered_overflows(), Some(1));
    let bytes = living.transcript.bytes();
    assert!(living.shorten(Room { most: 0, aim: bytes / 2 }).is_some());
    assert!(living.transcript.bytes() <= bytes / 2);
    assert_eq!(living.transcript.unanswered_overflows(), None);
    living.act(overflow);
    assert_eq!(living.transcript.unanswered_overflows(), Some(2));
    living.work(21);
    assert_eq!(living.transcript.unanswered_overflows(), None);
}

#[test]
fn a_fork_behind_a_recap_has_another_one_made() {
    let mut living = Living::new(planned());
    for turn in 1..=100 {
        living.work(turn);
        living.shorten(SMALL);
    }
    assert!(living.transcript.entries[0].is_recap());
    let nonce = Nonce::from_bytes([0; 5]);
    let forked = SessionEvent::Forked { from: node(5), nonce, left: None, restored: None };
    living.story.add(forked).step(900, "change");
    living.catch_up();
    assert_eq!(living.messages().len(), 1);
    assert!(living.shorten(SMALL).is_some());
    let told = living.told();
    assert!(told.contains("PLAN: first the parser") && told.contains("Do change."), "{told}");
    assert!(!told.contains("Keep to tabs"), "that was said after it");
    assert_eq!(living.shorten(SMALL), None);
}

#[test]
fn what_was_refused_and_noted_at_the_step_is_in_the_recap() {
    let mut story = planned();
    let reasons = vec![longhaul_events::Reason::new("x", "`notes` are missing", "write notes")];
    let (nonce, retry) = (Nonce::from_bytes([0; 5]), Nonce::from_bytes([1; 5]));
    let (payload, payload_hash) = (text("{}"), Digest::ZERO);
    let (node, notes) = (node(5), text("half of it is done"));
    story.add(SessionEvent::AttemptRefused {
        node,
        nonce,
        payload,
        payload_hash,
        reasons,
        retry,
        epoch: None,
    });
    story.add(SessionEvent::Checkpointed { node, notes });
    let mut living = Living::new(story);
    for turn in 1..=100 {
        living.work(turn);
        living.shorten(SMALL);
    }
    let told = living.told();
    for wanted in
        ["`notes` are missing Fix: write notes", "half of it is done", "What you set out with", "On."]
    {
        assert!(told.contains(wanted), "{wanted}");
    }
}
