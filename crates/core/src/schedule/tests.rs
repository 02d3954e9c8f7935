//! When schedules are due, also when clocks are changed.

use jiff::Timestamp as Moment;
use proptest::prelude::*;

use super::*;

fn schedule(cron: &str, zone: &str) -> Schedule {
    Schedule {
        cron: Cron::parse(cron).unwrap(),
        zone: Zone::named(zone).unwrap(),
        catch_up: CatchUp::No,
        overlap: Overlap::Skip,
    }
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<Moment>().unwrap().as_millisecond())
}

/// The next ticks after a moment, as the clocks there show them, with their distance from universal time.
fn next(cron: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let schedule = schedule(cron, zone);
    let show = |upcoming: Upcoming| {
        let moment = Moment::from_millisecond(upcoming.at.0).unwrap();
        moment.to_zoned(schedule.zone.rules.clone()).strftime("%m-%d %H:%M%:z").to_string()
    };
    schedule.upcoming(at(after), count).into_iter().map(show).collect()
}

#[test]
fn a_pattern_is_due_at_its_times() {
    let after = "2026-11-13T09:00:00Z"; // A Friday.
    for (cron, due) in [
        ("30 9 * * *", "11-13 09:30+00:00 11-14 09:30+00:00"),
        ("0 9 * * *", "11-14 09:00+00:00 11-15 09:00+00:00"),
        ("*/20 * * * *", "11-13 09:20+00:00 11-13 09:40+00:00"),
        ("15/20 * * * *", "11-13 09:15+00:00 11-13 09:35+00:00"),
        ("0 2 * * 1-5", "11-16 02:00+00:00 11-17 02:00+00:00"),
        ("0 2 * * MON-fri", "11-16 02:00+00:00 11-17 02:00+00:00"),
        ("0 0 * * 7", "11-15 00:00+00:00 11-22 00:00+00:00"),
        ("0 0 * * sat-sun", "11-14 00:00+00:00 11-15 00:00+00:00"),
        ("0 0 1,15 * *", "11-15 00:00+00:00 12-01 00:00+00:00"),
        ("0 0 31 * *", "12-31 00:00+00:00 01-31 00:00+00:00"),
        ("0 0 1 jan,Jul *", "01-01 00:00+00:00 07-01 00:00+00:00"),
        // Two fields that say which days: either is enough.
        ("0 0 20 * mon", "11-16 00:00+00:00 11-20 00:00+00:00"),
        // One that begins with `*` only narrows the other down.
        ("0 0 */2 * mon", "11-23 00:00+00:00 12-07 00:00+00:00"),
        ("@daily", "11-14 00:00+00:00 11-15 00:00+00:00"),
        ("@Weekly", "11-15 00:00+00:00 11-22 00:00+00:00"),
        ("@hourly", "11-13 10:00+00:00 11-13 11:00+00:00"),
    ] {
        assert_eq!(next(cron, "UTC", after, 2).join(" "), due, "{cron}");
    }
}

#[test]
fn a_time_that_is_missing_is_due_right_after_the_gap_and_only_once() {
    // Clocks in Berlin go from 02:00 to 03:00.
    let after = "2026-03-28T12:00:00Z";
    let due = ["03-29 03:00+02:00", "03-30 02:30+02:00"];
    assert_eq!(next("30 2 * * *", "Europe/Berlin", after, 2), due);
    let due = ["03-29 03:00+02:00", "03-30 02:00+02:00", "03-30 02:15+02:00"];
    assert_eq!(next("0,15 2 * * *", "Europe/Berlin", after, 3), due, "two that are missing are one");
    let due = ["03-29 03:00+02:00", "03-30 02:30+02:00"];
    assert_eq!(next("30 2,3 * * *", "Europe/Berlin", after, 3)[..2], [due[0], "03-29 03:30+02:00"]);
}

#[test]
fn a_time_that_comes_twice_is_due_the_first_time_only() {
    // Clocks in Berlin go from 03:00 to 02:00.
    let due = ["10-25 02:30+02:00", "10-26 02:30+01:00"];
    assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2), due);
    assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", 1), ["10-26 02:30+01:00"]);
}

#[test]
fn intervals_keep_their_pace_when_clocks_are_changed() {
    let due = ["03-29 01:30+01:00", "03-29 03:00+02:00", "03-29 03:30+02:00"];
    assert_eq!(next("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3), due);
    let due = ["10-25 02:30+02:00", "10-25 02:00+01:00", "10-25 02:30+01:00", "10-25 03:00+01:00"];
    assert_eq!(next("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", 4), due);
    // Half an hour is all that changes on Lord Howe Island.
    let due = ["04-05 01:30+11:00", "04-05 01:45+11:00", "04-05 01:30+10:30", "04-05 01:45+10:30"];
    assert_eq!(next("*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:15:00Z", 4), due);
}

#[test]
fn days_that_clocks_skip_or_halve_around_midnight_are_counted_right() {
    // Samoa had no 30 December 2011.
    let due = ["12-29 09:00-10:00", "12-31 00:00+14:00", "12-31 09:00+14:00"];
    assert_eq!(next("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", 3), due);
    // In St. John's, clocks went back from 00:01 to 23:01 of the day before.
    let due = ["11-06 23:30-02:30", "11-07 00:00-02:30", "11-06 23:30-03:30", "11-07 00:00-03:30"];
    let found = next("*/30 * * * *", "America/St_Johns", "2010-11-07T01:45:00Z", 4);
    assert_eq!(found, due);
}

#[test]
fn what_is_never_due_has_no_next_tick_and_what_is_rare_has_one() {
    assert_eq!(schedule("0 0 30 2 *", "UTC").next_after(at("2026-01-01T00:00:00Z")), None);
    // The 29th of February is a Sunday next in 2032, and around 2100 it takes forty years.
    let rare = schedule("0 0 29 2 */7", "UTC");
    assert_eq!(rare.next_after(at("2026-01-01T00:00:00Z")), Some(at("2032-02-29T00:00:00Z")));
    assert_eq!(rare.next_after(at("2088-03-01T00:00:00Z")), Some(at("2128-02-29T00:00:00Z")));
    let schedule = schedule("* * * * *", "UTC");
    for moment in [i64::MAX, i64::MIN] {
        assert_eq!(schedule.next_after(Timestamp(moment)), None);
        assert_eq!(schedule.ticks_between(Timestamp(moment), Timestamp(0), 5), []);
    }
}

#[test]
fn of_many_missed_ticks_the_newest_are_given() {
    let schedule = schedule("0 * * * *", "UTC");
    let (after, until) = (at("2026-01-01T00:00:00Z"), at("2026-11-17T02:00:00Z"));
    let due = [at("2026-11-17T01:00:00Z"), at("2026-11-17T02:00:00Z")];
    assert_eq!(schedule.ticks_between(after, until, 2), due);
    assert_eq!(schedule.ticks_between(due[0], due[1], 9), [due[1]]);
    assert_eq!(schedule.ticks_between(due[1], due[0], 9), []);
    assert_eq!(schedule.ticks_between(after, until, 100_000).len(), 320 * 24 + 2);
}

#[test]
fn the_next_ticks_are_told_as_the_clocks_there_show_them() {
    let told = schedule("0 2 * * 1-5", "europe/berlin").upcoming(at("2026-11-16T17:57:00Z"), 3);
    let told: Vec<String> = told.into_iter().map(|next| format!("{} {}", next.local, next.wait)).collect();
    let due = [
        "Tue 2026-11-17 02:00 CET in 7h 3m",
        "Wed 2026-11-18 02:00 CET in 1d 7h",
        "Thu 2026-11-19 02:00 CET in 2d 7h",
    ];
    assert_eq!(told, due);
}

#[test]
fn what_is_wrong_with_a_pattern_is_said_with_its_place() {
    for (text, at, told) in [
        ("0 2 * *", 0..7, "the pattern has 4 fields, and there are five"),
        ("0 0 2 * * *", 0..11, "seconds and years are not part of it"),
        ("60 2 * * *", 0..2, "minute `60`: `60` does not fit; write `*` or a number from 0 to 59"),
        ("0 2,x * * *", 4..5, "hour `x`: `x` does not fit"),
        ("0 2,,3 * * *", 2..6, "hour ``: a value is missing"),
        ("0 2 * * fri-mon", 8..15, "the range goes backwards from 5 to 1"),
        ("*/0 * * * *", 0..3, "`0` is no step"),
        ("0 0 L * *", 4..5, "day of the month `L`"),
        ("0 0 1 jänner *", 6..13, "or a name from `jan` to `dec`"),
        ("@reboot", 0..7, "`@reboot` is no name for a pattern; write five fields, or one of `@hourly`"),
        ("", 0..0, "the pattern has 0 fields"),
    ] {
        let error = Cron::parse(text).unwrap_err();
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.to_string().contains(told), "{text}: {error}");
    }
}

#[test]
fn a_zone_is_found_by_its_name_and_a_wrong_one_is_guessed() {
    assert_eq!(Zone::named("europe/BERLIN").unwrap().name(), "Europe/Berlin");
    assert_eq!(Zone::named("UTC").unwrap(), Zone::utc());
    for (wrong, meant) in [
        ("Berlin", Some("Europe/Berlin")),
        ("Europe/Berln", Some("Europe/Berlin")),
        ("Etc/Unknown", None),
        ("", None),
    ] {
        assert_eq!(Zone::named(wrong).unwrap_err().meant.as_deref(), meant, "{wrong}");
    }
}

/// Mostly what people write.
fn patterns() -> impl Strategy<Value = String> {
    let field = |least: u8, most: u8| {
        prop_oneof![
            3 => Just("*".to_owned()),
            2 => (2..=most.min(30)).prop_map(|step| format!("*/{step}")),
            3 => (least..=most).prop_map(|value| value.to_string()),
            1 => (least..=most, least..=most).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
            1 => (least..=most, least..=most).prop_map(|(a, b)| format!("{a},{b}")),
        ]
    };
    (field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7))
        .prop_map(|(minute, hour, day, month, weekday)| format!("{minute} {hour} {day} {month} {weekday}"))
}

proptest! {
    #[test]
    fn garbage_is_refused_or_read_and_never_panics(text in "\\PC{0,40}|[0-9*/,@ a-z-]{0,20}", moment: i64) {
        if let Ok(cron) = Cron::parse(&text) {
            let schedule = Schedule { cron, zone: Zone::utc(), catch_up: CatchUp::No, overlap: Overlap::Skip };
            let _ = schedule.upcoming(Timestamp(moment), 2);
        }
        let _ = Zone::named(&text);
    }

    /// The two ways of looking for ticks know nothing of one another.
    #[test]
    fn ticks_are_the_same_one_by_one_and_all_at_once(
        pattern in patterns(),
        zone in prop_oneof![Just("UTC"), Just("Europe/Berlin"), Just("Australia/Lord_Howe"), Just("America/Santiago")],
        start in 1_750_000_000_000_i64..1_850_000_000_000,
        days in 1_i64..40,
    ) {
        let schedule = schedule(&pattern, zone);
        let (after, until) = (Timestamp(start), Timestamp(start + days * 86_400_000));
        let one_by_one: Vec<Timestamp> = std::iter::successors(schedule.next_after(after), |at| schedule.next_after(*at))
            .take_while(|at| *at <= until)
            .take(60)
            .collect();
        let mut all = schedule.ticks_between(after, until, usize::MAX);
        all.truncate(60);
        prop_assert_eq!(one_by_one, all);
    }
}
