//! Caps in, admitted or not out.

use longhaul_events::{CloseOutcome, Driver, Epoch, SessionEvent, Urgency};
use proptest::prelude::*;

use super::*;

const CAPS: Caps = Caps {
    tokens: 1000,
    time_ms: 60_000,
    money_micros: 2_000_000,
    turns: 3,
    task_money_micros: 3_000_000,
    day_money_micros: 4_000_000,
};
const PRICE: Price = Price::plain(3_000_000, 15_000_000);

fn tokens(input: u64, output: u64) -> TokenCount {
    TokenCount { input, output }
}

#[test]
fn a_turn_costs_whole_millionths_and_never_less_than_it_does() {
    assert_eq!(PRICE.of(tokens(1_000_000, 1_000_000)), 18_000_000);
    assert_eq!(Price::plain(1, 0).of(tokens(1, 0)), 1);
    assert_eq!(Price::plain(u64::MAX, u64::MAX).of(tokens(u64::MAX, u64::MAX)), u64::MAX);
    assert!(Price::default().is_free() && !PRICE.is_free());
}

#[test]
fn a_turn_is_asked_only_if_all_that_it_may_use_fits() {
    let used = Used { tokens: 400, turns: 1, time_ms: 59_999, ..Used::default() };
    let free = Price::default();
    assert_eq!(before_turn(&CAPS, &used, tokens(500, 100), free), Ok(()));
    let over = before_turn(&CAPS, &used, tokens(500, 101), free).unwrap_err();
    assert_eq!(over, Exceeded { limit: Limit::Tokens, cap: 1000, used: 400, needs: 601 });
    let late = Used { time_ms: 60_000, ..used };
    assert_eq!(before_turn(&CAPS, &late, tokens(0, 0), free).unwrap_err().limit, Limit::Time);
    let last = Used { turns: 3, ..used };
    assert_eq!(before_turn(&CAPS, &last, tokens(0, 0), free).unwrap_err().limit, Limit::Turns);
}

#[test]
fn money_of_task_and_day_stops_only_what_costs_something() {
    let used = Used { money_micros: 0, task_money_micros: 3_000_000, day_money_micros: 0, ..Used::default() };
    assert_eq!(before_turn(&CAPS, &used, tokens(10, 10), Price::default()), Ok(()));
    assert_eq!(before_turn(&CAPS, &used, tokens(10, 10), PRICE).unwrap_err().limit, Limit::TaskMoney);
    let used = Used { day_money_micros: 4_000_000, ..Used::default() };
    assert_eq!(before_turn(&CAPS, &used, tokens(10, 10), PRICE).unwrap_err().limit, Limit::DayMoney);
}

#[test]
fn an_answer_that_used_more_than_was_left_is_noticed() {
    assert_eq!(after_turn(&CAPS, &Used { tokens: 1000, turns: 3, ..Used::default() }), Ok(()));
    for (used, limit) in [
        (Used { tokens: 1001, ..Used::default() }, Limit::Tokens),
        (Used { money_micros: 2_000_001, ..Used::default() }, Limit::Money),
        (Used { time_ms: 60_000, ..Used::default() }, Limit::Time),
    ] {
        assert_eq!(after_turn(&CAPS, &used).unwrap_err().limit, limit);
    }
}

#[test]
fn every_reason_says_how_to_go_on() {
    let id = SessionId::from_bytes([7; 8]);
    let limits = [Limit::Tokens, Limit::Time, Limit::Money, Limit::Turns, Limit::TaskMoney, Limit::DayMoney];
    for limit in limits {
        let reason = Exceeded { limit, cap: 2_000_000, used: 2_000_000, needs: 0 }.reason(id);
        assert_eq!(reason.code, limit.code().code());
        let more = match limit {
            Limit::TaskMoney => format!("task budget {id} money="),
            Limit::Tokens | Limit::Time | Limit::Money | Limit::Turns | Limit::DayMoney => {
                format!("session resume {id} --budget ")
            }
        };
        assert!(reason.fix.contains(&more), "{}", reason.fix);
    }
    let reason = Exceeded { limit: Limit::Tokens, cap: 50_000, used: 48_200, needs: 3_000 }.reason(id);
    assert_eq!(
        reason.message,
        "the budget is 50k tokens, 48200 tokens are used, and the next turn may need 3k tokens"
    );
    assert!(reason.fix.ends_with("--budget tokens=100k`"), "{}", reason.fix);
}

#[test]
fn a_budget_is_changed_in_parts() {
    let caps = changed(CAPS, "tokens=50k, time=10m,money=2.50usd,turns=30").unwrap();
    let expected = Caps { tokens: 50_000, time_ms: 600_000, money_micros: 2_500_000, turns: 30, ..CAPS };
    assert_eq!(caps, expected);
    assert_eq!(changed(CAPS, "turns=9").unwrap(), Caps { turns: 9, ..CAPS });
    assert_eq!(changed(CAPS, "same").unwrap(), CAPS);
}

#[test]
fn what_is_no_budget_is_told_what_is_one() {
    for (text, says) in [
        ("", "write `tokens=50k"),
        ("much", "write `tokens=50k"),
        ("tokens=none", "such as `1000M`"),
        ("money=unlimited", "such as `1000usd`"),
        ("time=0s", "a cap of 0"),
        ("money=3", "sum of money"),
        ("coffee=3", "there are tokens, time, money and turns"),
    ] {
        let message = changed(CAPS, text).unwrap_err().to_string();
        assert!(message.contains(says), "{text}: {message}");
    }
}

#[test]
fn without_a_price_there_is_no_cap_on_money() {
    assert_eq!(Pricing::Unknown.known(), Err(Error::UnknownPrice));
    assert_eq!(Pricing::Known(PRICE).known(), Ok(PRICE));
}

fn taken(epoch: u64, until: i64) -> SessionEvent {
    let driver = Driver { host: "here".to_owned(), process: 1, started: None };
    SessionEvent::DriverTaken { epoch: Epoch(epoch), driver, expires_at: Timestamp(until) }
}

fn renewed(epoch: u64, until: i64) -> SessionEvent {
    SessionEvent::DriverRenewed { epoch: Epoch(epoch), expires_at: Timestamp(until) }
}

fn released(epoch: u64) -> SessionEvent {
    SessionEvent::DriverReleased { epoch: Epoch(epoch) }
}

fn clock(events: &[(i64, SessionEvent)]) -> WallClock {
    let mut clock = WallClock::default();
    events.iter().for_each(|(at, event)| clock.apply(Timestamp(*at), event));
    clock
}

#[test]
fn the_clock_runs_while_somebody_drives() {
    let expired = SessionEvent::DriverExpired { epoch: Epoch(2), expired_at: Timestamp(110_000) };
    let mut clock = clock(&[
        (1_000, taken(1, 16_000)),
        (6_000, renewed(1, 21_000)),
        (7_000, released(1)),
        // A night at a gate.
        (90_000, taken(2, 105_000)),
        (95_000, renewed(2, 110_000)),
        // It died; somebody saw it an hour later.
        (3_695_000, expired),
        (4_000_000, taken(3, 4_015_000)),
    ]);
    assert_eq!(clock.ms(), 6_000 + 5_000);
    assert_eq!(clock.ms_before(Epoch(3)), 11_000);
    clock.apply(Timestamp(4_002_000), &released(3));
    assert_eq!((clock.ms(), clock.ms_before(Epoch(4))), (13_000, 13_000));
}

#[test]
fn the_clock_stops_at_the_end_of_a_session() {
    let closed = SessionEvent::Closed { outcome: CloseOutcome::Completed };
    let removed = SessionEvent::CheckoutRemoved {
        name: "q3".to_owned(),
        snapshot: None,
        by: "ada".to_owned(),
        because: "merged".to_owned(),
    };
    let clock = clock(&[(1_000, taken(1, 16_000)), (3_000, closed), (9_000, removed)]);
    assert_eq!(clock.ms(), 2_000);
}

#[test]
fn what_others_write_long_after_a_driver_died_is_not_its_time() {
    let steered = SessionEvent::StopRequested { by: "ada".to_owned(), urgency: Urgency::Now, reason: None };
    let died = [(1_000, taken(1, 16_000)), (6_000, renewed(1, 21_000))];
    let night = 36_000_000;
    let dead = clock(&[died.as_slice(), &[(night, steered.clone()), (night + 9_000, released(1))]].concat());
    assert_eq!(dead.ms(), 5_000);
    // It was asleep, and nobody took its place.
    let awake = [(night, renewed(1, night + 15_000)), (night + 4_000, steered), (night + 5_000, released(1))];
    assert_eq!(clock(&[died.as_slice(), &awake].concat()).ms(), 5_000 + 5_000);
}

#[test]
fn a_day_ends_at_midnight_of_universal_time() {
    assert_eq!([-1, 0, DAY_MS - 1, DAY_MS].map(|at| day_of(Timestamp(at))), [-1, 0, 0, 1]);
}

proptest! {
    /// However turns are sized: what is admitted by an estimate that holds is within every cap afterwards.
    #[test]
    fn what_is_admitted_never_goes_beyond_a_cap(turns in prop::collection::vec((0_u64..600, 0_u64..300), 1..20)) {
        let mut used = Used::default();
        for (input, output) in turns {
            let turn = tokens(input, output);
            if before_turn(&CAPS, &used, turn, PRICE).is_err() {
                continue;
            }
            let cost = PRICE.of(turn);
            used = Used {
                tokens: used.tokens + input + output,
                turns: used.turns + 1,
                time_ms: used.time_ms,
                money_micros: used.money_micros + cost,
                task_money_micros: used.task_money_micros + cost,
                day_money_micros: used.day_money_micros + cost,
            };
            prop_assert_eq!(after_turn(&CAPS, &used), Ok(()));
            prop_assert!(used.task_money_micros <= CAPS.task_money_micros);
        }
    }
}
