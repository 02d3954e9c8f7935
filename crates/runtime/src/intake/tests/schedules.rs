//! Ticks: once each, none of them lost, none made up for that nobody wants.

use longhaul_events::Timestamp;

use super::*;

const HOUR: i64 = 60 * 60 * 1000;

fn schedule(more: &str) -> String {
    format!(
        "triggers:\n  - id: hourly\n    workspace: shop\n    schedule: {{ cron: \"0 * * * *\", zone: UTC{more} }}\n    goal: Look around.\n"
    )
}

/// The next full hour of the machine's clock: whatever is on record is from before it.
fn next_hour(world: &World) -> Timestamp {
    let now = world.system().commands().unwrap().now();
    Timestamp((now.0 / HOUR + 1) * HOUR)
}

fn finish(world: &World) {
    let commands = world.system().commands().unwrap();
    for view in world.tasks().iter().filter(|view| view.state.is_open()) {
        commands.cancel_task(view.id, "ada", None).unwrap();
    }
}

#[test]
fn a_tick_opens_one_task_however_often_it_is_looked_at_and_by_whom() {
    let world = World::new(&schedule(""));
    let (intake, other) = (world.start(), world.start());
    let hour = next_hour(&world);
    let before = Timestamp(hour.0 - 1);
    assert_eq!(intake.due_ticks(before), Ticks { opened: Vec::new(), next: Some(hour) });
    assert_eq!(other.due_ticks(before).next, Some(hour));
    let ticks = intake.due_ticks(hour);
    assert_eq!((ticks.opened.len(), ticks.next), (1, Some(Timestamp(hour.0 + HOUR))));
    assert_eq!(intake.due_ticks(hour).opened, []);
    assert_eq!(intake.due_ticks(Timestamp(hour.0 - 5)).opened, [], "a clock was put back");
    finish(&world);
    assert_eq!(other.due_ticks(hour).opened, [], "another process has looked at the same tick");
    assert_eq!(world.start().due_ticks(hour).opened, []);
    let view = &world.tasks()[0];
    assert_eq!((view.goal.as_str(), view.task.source.as_str()), ("Look around.", "cron:hourly"));
    assert!(view.task.orders.as_ref().unwrap().taint.is_clean());
}

#[test]
fn a_tick_is_left_out_while_the_task_before_it_is_not_over() {
    let world = World::new(&schedule(""));
    let intake = world.start();
    let hour = next_hour(&world);
    intake.due_ticks(Timestamp(hour.0 - 1));
    assert_eq!(intake.due_ticks(hour).opened.len(), 1);
    assert_eq!(intake.due_ticks(Timestamp(hour.0 + HOUR)).opened, []);
    finish(&world);
    assert_eq!(intake.due_ticks(Timestamp(hour.0 + HOUR + 1)).opened, [], "its moment is over");
    assert_eq!(intake.due_ticks(Timestamp(hour.0 + 2 * HOUR)).opened.len(), 1);
    let history = world.system().commands().unwrap().triggers_on_record().unwrap().remove(0).history;
    assert_eq!((history.counts.tasks, history.counts.skipped), (2, 1));
}

#[test]
fn what_was_missed_is_over_or_is_made_up_for_once() {
    for (more, opened) in [("", 0), (", catch_up: true", 1)] {
        let world = World::new(&schedule(more));
        let hour = next_hour(&world);
        world.start().due_ticks(Timestamp(hour.0 - 1));
        // Nobody was there for three of them.
        let late = Timestamp(hour.0 + 2 * HOUR + HOUR / 2);
        let intake = world.start();
        let ticks = intake.due_ticks(late);
        assert_eq!((ticks.opened.len(), ticks.next), (opened, Some(Timestamp(hour.0 + 3 * HOUR))), "{more}");
        assert_eq!(intake.due_ticks(Timestamp(late.0 + 1)).opened, []);
        assert_eq!(world.start().due_ticks(Timestamp(late.0 + 2)).opened, []);
    }
}

#[test]
fn a_schedule_that_is_new_does_not_make_up_for_what_was_before_it() {
    let world = World::new(&schedule(", catch_up: true"));
    let intake = world.start();
    let hour = next_hour(&world);
    assert_eq!(intake.due_ticks(Timestamp(hour.0 - HOUR / 2)).opened, []);
}

#[test]
fn a_clock_that_was_far_ahead_once_does_not_stop_a_schedule_for_good() {
    let world = World::new(&schedule(""));
    let hour = next_hour(&world);
    let years = Timestamp(hour.0 + 10 * 365 * 24 * HOUR);
    let intake = world.start();
    intake.due_ticks(Timestamp(years.0 - 1));
    intake.due_ticks(years);
    finish(&world);
    drop(intake);
    let intake = world.start();
    assert_eq!(intake.due_ticks(Timestamp(hour.0 - 1)).next, Some(hour));
    assert_eq!(intake.due_ticks(hour).opened.len(), 1);
}
