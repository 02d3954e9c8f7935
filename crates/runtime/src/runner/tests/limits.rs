//! What a session may use, and how long nothing may be heard.

use longhaul_core::session::NewBudget;
use longhaul_events::{AgentAct, Caps, TurnFault};

use super::*;
use crate::worktrees::SetUp;

pub(super) const PLENTY: Caps = Caps {
    tokens: 400_000,
    time_ms: 3_600_000,
    money_micros: 5_000_000,
    turns: 200,
    task_money_micros: 20_000_000,
    day_money_micros: 100_000_000,
};

fn budget(caps: Caps) -> NewBudget {
    NewBudget { caps, by: "ada".to_owned() }
}

impl Home {
    fn with_caps(&self, cassette: &str, caps: Caps) -> SessionId {
        let id = self.assigned(cassette);
        self.raise(id, caps);
        id
    }

    fn raise(&self, id: SessionId, caps: Caps) {
        self.system().commands().unwrap().set_budget(id, &budget(caps)).unwrap();
    }

    /// A session that waits for work of ours, which nobody has begun.
    fn at_work(&self) -> SessionId {
        self.write_workflow(
            "steps:\n  - { id: look, prompt: Look. }\n  - { id: test, run: { command: [make] } }\n",
        );
        let id = self.assigned(THIRSTY);
        let commands = self.system().commands().unwrap();
        let handle = commands.load_session(id).unwrap().handle().unwrap();
        let answer = Answer { notes: Some("Looked.".to_owned()), ..Default::default() };
        // Not by way of the system, which would have a runner begin.
        commands.advance(&crate::Advance { handle, answer, epoch: None }).unwrap();
        let at = commands.load_session(id).unwrap().at;
        assert!(matches!(at, At::Work(_)), "{at:?}");
        id
    }

    /// The code that the session is parked with, how many turns were answered, and what they cost.
    fn parked(&self, id: SessionId) -> (String, u64, u64) {
        let session = self.system().commands().unwrap().load_session(id).unwrap();
        let At::Parked(park) = &session.at else { panic!("{:?}", session.at) };
        assert_eq!(session.lease, None);
        (park.code.clone(), session.spent.turns, session.spent.money_micros)
    }

    fn is_complete(&self, id: SessionId) -> bool {
        let session = self.system().commands().unwrap().load_session(id).unwrap();
        session.closed == Some(CloseOutcome::Completed)
    }
}

const THIRSTY: &str = "
cassette: 1
turns:
  - match: { step: look }
    usage: { input: 600, output: 100 }
    tools: [ { read: { path: login.sh } } ]
  - match: { step: look }
    usage: { input: 600, output: 100 }
    complete: { notes: It is inverted. }
  - match: { step: change }
    usage: { input: 1, output: 1 }
    complete: { notes: Nothing to do. }
";

#[test]
fn a_turn_that_might_not_fit_is_not_asked_and_goes_on_with_a_larger_budget() {
    let home = Home::new();
    let id = home.with_caps(THIRSTY, Caps { tokens: 1399, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id), ("budget_tokens".to_owned(), 1, 0));
    home.raise(id, Caps { tokens: 1400, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id), ("budget_tokens".to_owned(), 2, 0), "the step after it needs two more");
    home.raise(id, Caps { tokens: 1402, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert!(home.is_complete(id), "{:?}", home.did(id));
    let turns: Vec<u32> = home
        .did(id)
        .into_iter()
        .filter_map(|act| match act {
            AgentDid::Answered { turn, .. } => Some(turn),
            _ => None,
        })
        .collect();
    assert_eq!(turns, [1, 2, 1], "the conversation went on where it was");
}

#[test]
fn turns_are_counted() {
    let home = Home::new();
    let id = home.with_caps(THIRSTY, Caps { turns: 2, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id), ("budget_turns".to_owned(), 2, 0));
}

#[test]
fn an_answer_that_used_more_than_was_left_is_kept_and_nothing_of_it_is_done() {
    let home = Home::new();
    let surprise = "
cassette: 1
max_output: 50
turns:
  - match: { step: look }
    usage: { input: 5000, output: 50 }
    tools: [ { edit: { path: login.sh, old: '-gt', new: '-ge' } } ]
  - match: { step: look }
    complete: { notes: Done. }
  - match: { step: change }
    complete: { notes: Done. }
";
    let id = home.with_caps(surprise, Caps { tokens: 4000, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id), ("budget_tokens".to_owned(), 1, 0));
    assert_eq!(home.file(id, "login.sh"), "test 1 -gt 1\n");
    home.raise(id, Caps { tokens: 40_000, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert!(home.is_complete(id), "{:?}", home.did(id));
    assert_eq!(home.file(id, "login.sh"), "test 1 -ge 1\n", "the call of the answer that was there already");
}

#[test]
fn what_a_model_will_read_is_estimated_from_what_it_read_and_what_came_since() {
    let home = Home::new();
    home.commit("large.txt", &"a".repeat(4000));
    // The first turn reads 1,000 tokens; the second is expected to read those, the answer, and the file.
    let script = "
cassette: 1
max_output: 100
turns:
  - match: { step: look }
    usage: { input: 1000, output: 100 }
    tools: [ { read: { path: large.txt } } ]
  - match: { step: look }
    complete: { notes: Done. }
  - match: { step: change }
    complete: { notes: Done. }
";
    let id = home.with_caps(script, Caps { tokens: 3200, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id), ("budget_tokens".to_owned(), 1, 0));
    let id = home.with_caps(script, Caps { tokens: 3500, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert!(home.is_complete(id), "{:?}", home.did(id));
}

const COSTLY: &str = "
cassette: 1
price: { input: 3usd, output: 15usd }
turns:
  - match: { step: look }
    usage: { input: 100000, output: 20000 }
    complete: { notes: It is inverted. }
  - match: { step: change }
    usage: { input: 100000, output: 20000 }
    complete: { notes: Nothing to do. }
";

#[test]
fn money_is_capped_for_the_session_its_task_and_the_day() {
    let home = Home::new();
    for (caps, code) in [
        (Caps { money_micros: 1_199_999, ..PLENTY }, "budget_money"),
        (Caps { task_money_micros: 1_199_999, ..PLENTY }, "budget_task_money"),
    ] {
        let id = home.with_caps(COSTLY, caps);
        run_work(&home.system(), id).unwrap();
        assert_eq!(home.parked(id), (code.to_owned(), 1, 600_000));
    }
    // The two before have used 1.20 of the day.
    let id = home.with_caps(COSTLY, Caps { day_money_micros: 2_300_000, ..PLENTY });
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id), ("budget_day_money".to_owned(), 1, 600_000));
    let free = home.with_caps(THIRSTY, Caps { day_money_micros: 1, ..PLENTY });
    run_work(&home.system(), free).unwrap();
    assert!(home.is_complete(free), "what costs nothing is not stopped by what others paid");
}

#[test]
fn sessions_side_by_side_never_take_from_one_purse_what_is_enough_for_one() {
    let home = Home::new();
    // Each turn costs 0.60, and all sessions of the day have 1.50.
    let caps = Caps { day_money_micros: 1_500_000, ..PLENTY };
    let ids: Vec<SessionId> = (0..6).map(|_| home.with_caps(COSTLY, caps)).collect();
    std::thread::scope(|scope| {
        for id in &ids {
            scope.spawn(|| run_work(&home.system(), *id).unwrap());
        }
    });
    let commands = home.system().commands().unwrap();
    let spent: u64 = ids.iter().map(|id| commands.load_session(*id).unwrap().spent.money_micros).sum();
    assert_eq!(spent, 1_200_000, "two turns fit");
}

/// Has a call of a session go on until it is ended, and says why it was.
fn silent_call(system: &System, id: SessionId) -> Option<switch::CutShort> {
    let commands = system.commands().unwrap();
    let epoch = commands.take_driver(id, &this_process(), LEASE_MS).unwrap();
    let label = SessionLabel::of(id, &system.places().data).unwrap();
    let stopwatch = Stopwatch { before_ms: 0, since: Instant::now() };
    let driven = Driven {
        at_rest: AtRest::GoesOn,
        owner: None,
        system,
        commands: &commands,
        id,
        epoch,
        label: &label,
        sandbox: None,
        setup: &[],
        stopwatch,
    };
    let stop = StopSwitch::default();
    let finished = driven.keeping_lease(&stop, || {
        stop.begin_calls();
        let running = longhaul_exec::start(&Program::new("sleep").arg("100")).unwrap();
        stop.watch(running.stopper());
        running.wait().unwrap()
    });
    assert_eq!(finished.outcome, longhaul_exec::Outcome::Stopped);
    assert!(finished.duration < Duration::from_secs(30), "{:?}", finished.duration);
    let why = stop.was_cut_short();
    assert!(!stop.is_stopped());
    stop.calls_over();
    assert_eq!(stop.was_cut_short(), None, "the next call is not ended");
    why
}

#[test]
fn a_call_that_is_not_heard_of_is_ended_and_the_session_is_not() {
    let home = Home::new();
    let patience = Patience { call: Duration::from_millis(700), ..Patience::default() };
    let system = home.system().with_patience(patience);
    assert_eq!(silent_call(&system, home.assigned(THIRSTY)), Some(switch::CutShort::Silent { ms: 700 }));
}

#[test]
fn where_earlier_runs_needed_longer_calls_a_call_may_be_silent_for_longer() {
    let home = Home::new();
    let system = home.system();
    let commands = system.commands().unwrap();
    let took_long = AgentAct::Observed {
        turn: 1,
        tool: "bash".to_owned(),
        title: "make".to_owned(),
        outcome: CallOutcome::Done,
        ms: 600,
    };
    for _ in 0..5 {
        let id = home.assigned(THIRSTY);
        let epoch = commands.take_driver(id, &this_process(), LEASE_MS).unwrap();
        commands.act(id, epoch, std::slice::from_ref(&took_long)).unwrap();
        commands.release_driver(id, epoch).unwrap();
        run_work(&system, id).unwrap();
        assert!(home.is_complete(id));
    }
    let patience = Patience { call: Duration::from_millis(700), ..Patience::default() };
    let Some(switch::CutShort::Silent { ms }) =
        silent_call(&home.system().with_patience(patience), home.assigned(THIRSTY))
    else {
        panic!("it was ended for another reason")
    };
    assert!(
        (1200..=2800).contains(&ms),
        "twice what nearly all needed, at most four times the default: {ms}"
    );
}

#[test]
fn a_turn_that_is_not_heard_of_has_stalled_and_is_asked_again() {
    let home = Home::new();
    let id = home.assigned(
        "
cassette: 1
turns:
  - match: { step: look }
    fault: { kind: stall, for: 1h }
  - match: { step: look }
    complete: { notes: Done. }
  - match: { step: change }
    complete: { notes: Done. }
",
    );
    let patience = Patience { turn: Duration::from_millis(300), ..Patience::default() };
    let start = Instant::now();
    run_work(&home.system().with_patience(patience), id).unwrap();
    assert!(home.is_complete(id), "{:?}", home.did(id));
    assert!((300..30_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    let stalled = home.did(id).into_iter().any(|act| match act {
        AgentDid::Failed { fault: TurnFault::Stalled, ms, .. } => ms >= 300,
        _ => false,
    });
    assert!(stalled, "{:?}", home.did(id));
}

#[test]
fn nobody_waits_for_room_at_a_provider_longer_than_the_session_may_take() {
    let home = Home::new();
    let busy = "  - { match: { step: look }, fault: { error: rate_limit } }\n".repeat(4);
    let id = home.with_caps(&format!("cassette: 1\nturns:\n{busy}"), Caps { time_ms: 700, ..PLENTY });
    let start = Instant::now();
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id).0, "budget_time");
    // The first pause alone would be two seconds.
    let failed = home.did(id).into_iter().filter(|act| matches!(act, AgentDid::Failed { .. })).count();
    assert_eq!(failed, 1, "{:?}", start.elapsed());
}

#[test]
fn nobody_waits_for_a_turn_longer_than_the_session_may_take() {
    let home = Home::new();
    let stalls = "cassette: 1\nturns:\n  - { match: { step: look }, fault: { kind: stall, for: 1h } }\n";
    let id = home.with_caps(stalls, Caps { time_ms: 1500, ..PLENTY });
    let start = Instant::now();
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.parked(id).0, "budget_time");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

#[test]
fn what_the_world_does_not_let_us_do_is_for_a_person_to_see() {
    let home = Home::new();
    // The process of a test cannot put up walls: only the binary can.
    let walls = home.assigned("cassette: 1\nturns:\n  - tools: [ { bash: { command: ls } } ]\n");
    run_work(&home.system(), walls).unwrap_err();
    assert_eq!(home.parked(walls).0, "no_sandbox");
    let files = home.assigned(THIRSTY);
    let session = home.system().commands().unwrap().load_session(files).unwrap();
    fs::remove_dir_all(session.workplace.unwrap().checkout.path).unwrap();
    run_work(&home.system(), files).unwrap_err();
    assert_eq!(home.parked(files).0, "checkout_gone");
    let outcome = home.system().commands().unwrap().load_session(files).unwrap().outcome().unwrap();
    assert_eq!(outcome.word(), "could not");
}

#[test]
fn work_whose_files_are_gone_ends_as_something_that_could_not_be_run() {
    let home = Home::new();
    let id = home.at_work();
    let commands = home.system().commands().unwrap();
    let session = commands.load_session(id).unwrap();
    fs::remove_dir_all(session.workplace.unwrap().checkout.path).unwrap();
    let error = run_work(&home.system(), id).unwrap_err();
    assert!(matches!(error, Error::Tool(_)), "{error:?}");
    let session = commands.load_session(id).unwrap();
    assert!(matches!(session.at, At::Parked(_)), "nobody tries for ever: {:?}", session.at);
    assert_eq!(session.lease, None);
    let reasons = commands.session_view(id).unwrap().blocked.unwrap().reasons;
    assert!(reasons[0].message.contains("could_not_run"), "{reasons:?}");
}

#[test]
fn nothing_is_begun_for_a_session_that_is_stopped() {
    let home = Home::new();
    let id = home.at_work();
    let system = home.system();
    let commands = system.commands().unwrap();
    let epoch = commands.take_driver(id, &this_process(), LEASE_MS).unwrap();
    let label = SessionLabel::of(id, &system.places().data).unwrap();
    let stopwatch = Stopwatch { before_ms: 0, since: Instant::now() };
    let driven = Driven {
        at_rest: AtRest::GoesOn,
        owner: None,
        system: &system,
        commands: &commands,
        id,
        epoch,
        label: &label,
        sandbox: None,
        setup: &[],
        stopwatch,
    };
    let stop = StopSwitch::default();
    stop.wind_down();
    let order = commands.work_order(id).unwrap().unwrap();
    let performed = driven.perform(&order, &stop).unwrap();
    assert!(performed.is_none());
    assert_eq!(commands.work_order(id).unwrap().unwrap().started, None);
}

#[test]
fn a_set_up_that_is_stopped_between_two_commands_is_not_taken_for_done() {
    let home = Home::new();
    let id = home.assigned(THIRSTY);
    let command = |word: &str| SetupCommand { run: vec![word.to_owned()], timeout_ms: 10_000 };
    let commands = [command("true"), command("echo")];
    let begun = |most: usize| {
        let mut count = 0;
        let mut perform = |program: &Program| {
            count += 1;
            (count <= most).then(|| run(program))
        };
        let set_up = home.system().set_up_with(id, &commands, &mut perform).unwrap().unwrap();
        (set_up, count)
    };
    let (SetUp::Now(stopped), 2) = begun(1) else { panic!("both were to be begun") };
    assert!(!stopped.succeeded(), "{stopped:?}");
    let (SetUp::Now(whole), 2) = begun(2) else { panic!("it was taken for done") };
    assert!(whole.succeeded(), "{whole:?}");
}

#[test]
fn a_step_that_was_given_up_and_taken_up_again_is_not_done_without_the_lease() {
    let home = Home::new();
    let id = home.assigned(THIRSTY);
    let system = home.system();
    let commands = system.commands().unwrap();
    let epoch = commands.take_driver(id, &this_process(), LEASE_MS).unwrap();
    let label = SessionLabel::of(id, &system.places().data).unwrap();
    let stopwatch = Stopwatch { before_ms: 0, since: Instant::now() };
    let driven = Driven {
        at_rest: AtRest::GoesOn,
        owner: None,
        system: &system,
        commands: &commands,
        id,
        epoch,
        label: &label,
        sandbox: None,
        setup: &[],
        stopwatch,
    };
    let tip = driven.own_tip().unwrap();
    assert!(tip.is_some());
    commands.park_step(id, epoch, &[longhaul_events::Reason::new("stuck", "so", "do this")]).unwrap();
    commands.steer(id, "go on", "ada").unwrap();
    assert_eq!(commands.load_session(id).unwrap().tip().map(|tip| tip.node), tip.map(|tip| tip.node));
    assert_eq!(driven.own_tip().unwrap(), None);
}

#[test]
fn an_agent_that_is_never_heard_of_is_given_up_as_one_that_does_not_answer() {
    let home = Home::new();
    let silent = "  - match: { step: look }\n    fault: { kind: stall, for: 1h }\n".repeat(6);
    let id = home.assigned(&format!("cassette: 1\nturns:\n{silent}"));
    let patience = Patience { turn: Duration::from_millis(100), ..Patience::default() };
    run_work(&home.system().with_patience(patience), id).unwrap();
    let stalled = home
        .did(id)
        .into_iter()
        .filter(|act| matches!(act, AgentDid::Failed { fault: TurnFault::Stalled, .. }))
        .count();
    assert_eq!((home.parked(id).0.as_str(), stalled), ("no_answer", 5), "{:?}", home.did(id));
}

#[test]
fn what_others_paid_is_known_as_soon_as_it_is_on_record() {
    let home = Home::new();
    let id = home.with_caps(COSTLY, PLENTY);
    let commands = home.system().commands().unwrap();
    let of_the_day = || commands.paid_beside(id).unwrap().unwrap().day_micros;
    assert_eq!((of_the_day(), of_the_day()), (0, 0));
    run_work(&home.system(), home.with_caps(COSTLY, PLENTY)).unwrap();
    let paid = of_the_day();
    assert!(paid > 0, "another process has paid meanwhile");
    assert_eq!(of_the_day(), paid);
}
