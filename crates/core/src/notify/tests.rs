//! Which messages follow from entries, rules and what was told before.

use std::collections::BTreeSet;

use super::*;
use crate::inbox::{Kind, Severity, Trouble};

const HOUR: i64 = 60 * 60 * 1000;
const NOW: Timestamp = Timestamp(1_794_902_400_000); // 2026-11-17T08:00:00Z

fn rule(on: &[Topic]) -> Rule {
    let way = Way::command(["notify-send", "{{title}}", "{{text}}"].map(str::to_owned).to_vec()).unwrap();
    Rule { on: on.iter().copied().collect(), way, digest: None }
}

/// Troubles are the entries that need the least.
fn trouble(number: usize) -> Trouble {
    Trouble {
        subject: number.to_string(),
        title: format!("Broken {number}"),
        problem: "line 3".to_owned(),
        remedy: "longhaul doctor".to_owned(),
        severity: Severity::Hinders,
        workspace: None,
        since: Timestamp(NOW.0 - HOUR),
    }
}

fn entries(count: usize) -> Vec<Entry> {
    let troubles = (0..count).map(trouble).collect();
    crate::inbox::entries(&crate::inbox::Seen { now: NOW, troubles, ..Default::default() })
}

fn fresh() -> Memory {
    Memory::recall([], Failures::default(), Timestamp(NOW.0 - 2 * HOUR))
}

fn due_now(rule: &Rule, entries: &[Entry], memory: &Memory, now: Timestamp) -> Vec<Message> {
    due(std::slice::from_ref(rule), &entries.iter().collect::<Vec<_>>(), memory, now)
}

#[test]
fn news_are_told_once_and_under_the_same_id_if_nobody_knows_whether_they_arrived() {
    let (rule, entries, mut memory) = (rule(&[Topic::Trouble]), entries(2), fresh());
    let first = due_now(&rule, &entries, &memory, NOW);
    assert_eq!(first.len(), 2);
    assert_eq!(first, due_now(&rule, &entries, &memory, NOW), "killed before it was remembered");
    let facts = memory.delivered(&first[0]);
    let record = facts.iter().map(|told| (told.entry.as_str(), told.way.as_str()));
    let memory = Memory::recall(record, Failures::default(), NOW);
    let rest = due_now(&rule, &entries, &memory, NOW);
    assert_eq!(rest, first[1..], "at most the one in flight is told twice");
}

#[test]
fn only_what_a_rule_asks_for_and_what_is_young_is_told() {
    let (entries, memory) = (entries(1), fresh());
    assert_eq!(due_now(&rule(&[Topic::Gate, Topic::Done]), &entries, &memory, NOW), []);
    let late = Timestamp(NOW.0 + 30 * HOUR);
    assert_eq!(due_now(&rule(&[Topic::Trouble]), &entries, &memory, late), [], "the inbox has it");
}

#[test]
fn many_at_once_are_one_message() {
    let (rule, entries, mut memory) = (rule(&[Topic::Trouble]), entries(40), fresh());
    let all = due_now(&rule, &entries, &memory, NOW);
    assert_eq!((all.len(), all[0].title.as_str()), (1, "40 things in the inbox of Longhaul"));
    assert!(all[0].text.contains("and 20 more\nlonghaul inbox"), "{}", all[0].text);
    memory.delivered(&all[0]);
    assert_eq!(due_now(&rule, &entries, &memory, NOW), []);
}

#[test]
fn what_does_not_arrive_is_tried_again_later_each_time_and_keeps_nothing_else_back() {
    let (rule, all, mut memory) = (rule(&[Topic::Trouble]), entries(2), fresh());
    let messages = due_now(&rule, &all, &memory, NOW);
    memory.failed(&messages[0], "no such\nprogram", NOW);
    assert_eq!(due_now(&rule, &all, &memory, NOW), messages[1..], "the other one is not kept back");
    let mut now = NOW;
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
        let just_before = Timestamp(now.0 + minutes * 60_000 - 1);
        assert_eq!(due_now(&rule, &all[..1], &memory, just_before), []);
        now = Timestamp(now.0 + minutes * 60_000);
        let again = due_now(&rule, &all[..1], &memory, now);
        assert_eq!(again.iter().map(|message| &message.id).collect::<Vec<_>>(), [&messages[0].id]);
        memory.failed(&again[0], "no such program", now);
    }
    let later = Timestamp(NOW.0 + 30 * HOUR);
    assert_eq!(due_now(&rule, &all[..1], &memory, later).len(), 1, "what was tried stays news");
}

#[test]
fn a_way_that_fails_several_times_is_in_the_inbox_until_something_arrives() {
    let (rule, all, mut memory) = (rule(&[Topic::Trouble]), entries(1), fresh());
    let rules = std::slice::from_ref(&rule);
    let message = due_now(&rule, &all, &memory, NOW).remove(0);
    for times in 1..=3 {
        assert_eq!(memory.failures.troubles(rules), [], "{times}");
        memory.failed(&message, "it was answered with status 410", NOW);
    }
    let told = memory.failures.troubles(rules);
    assert_eq!(told[0].problem, "`notify-send` failed 3 times: it was answered with status 410");
    memory.delivered(&message);
    assert_eq!(memory.failures.troubles(rules), []);
}

#[test]
fn failures_that_concern_nobody_any_more_are_forgotten() {
    let (rule, all, mut memory) = (rule(&[Topic::Trouble]), entries(1), fresh());
    let rules = std::slice::from_ref(&rule);
    let message = due_now(&rule, &all, &memory, NOW).remove(0);
    memory.failed(&message, "no", NOW);
    let kept = serde_json::to_string(&memory.failures).unwrap();
    assert_eq!(serde_json::from_str::<Failures>(&kept).unwrap(), memory.failures);
    let present: BTreeSet<&str> = all.iter().map(|entry| entry.id.as_str()).collect();
    assert!(!memory.clone().tidy(rules, &present, NOW), "it is still in the inbox");
    assert!(memory.clone().tidy(&[], &present, NOW), "nobody is told in this way any more");
    assert!(memory.tidy(rules, &BTreeSet::new(), NOW));
    assert_eq!(memory.failures, Failures::default());
}

#[test]
fn a_digest_is_due_once_a_day_at_its_time_in_its_zone() {
    let digest = Digest::read("08:00", Some("Europe/Berlin"), None).unwrap();
    let rule = Rule { digest: Some(digest), ..rule(&[]) };
    let rules = std::slice::from_ref(&rule);
    // 07:30 in Berlin.
    let before = Timestamp(NOW.0 - 90 * 60 * 1000);
    let mut memory = Memory::recall([], Failures::default(), before);
    let text = |_| "all is well".to_owned();
    assert_eq!(
        digests(rules, &memory, before, text),
        [],
        "nothing from before the first look is made up for"
    );
    let sent = digests(rules, &memory, NOW, text);
    assert_eq!(sent[0].about, About::Digest(Timestamp(NOW.0 - HOUR)), "08:00 in Berlin is 07:00 in UTC");
    let facts = memory.delivered(&sent[0]);
    let record = facts.iter().map(|told| (told.entry.as_str(), told.way.as_str()));
    let memory = Memory::recall(record, Failures::default(), Timestamp(NOW.0 + 30 * HOUR));
    assert_eq!(digests(rules, &memory, Timestamp(NOW.0 + 22 * HOUR), text), []);
    assert_eq!(digests(rules, &memory, Timestamp(NOW.0 + 24 * HOUR), text).len(), 1);
    assert_eq!(
        digests(rules, &memory, Timestamp(NOW.0 + 36 * HOUR), text),
        [],
        "one that is so late is left out"
    );
}

#[test]
fn the_days_on_which_clocks_change_have_one_digest_each() {
    // Clocks in Berlin go forward at 02:00 on 2026-03-29 and back at 03:00 on 2026-10-25.
    let digest = Digest::read("02:30", Some("Europe/Berlin"), None).unwrap();
    for first in [1_774_569_600_000, 1_792_713_600_000] {
        let mut moments: Vec<Timestamp> = (0..5 * 24 * 4)
            .filter_map(|quarter| digest.newest(Timestamp(first + quarter * HOUR / 4)))
            .collect();
        moments.dedup();
        assert_eq!(moments.len(), 6, "five days, and the one before: {moments:?}");
    }
}

fn message(title: &str, text: &str) -> Message {
    let mut message = due_now(&rule(&[Topic::Trouble]), &entries(1), &fresh(), NOW).remove(0);
    (message.title, message.text) = (title.to_owned(), text.to_owned());
    message
}

#[test]
fn whatever_stands_in_a_place_is_one_argument_and_no_option() {
    let hostile = message("--icon=/etc/passwd {{text}} $(id) `id`; 'x'", "-u critical\nsecond line");
    assert_eq!(hostile.fill("{{title}}"), " --icon=/etc/passwd { {text}} $(id) `id`; 'x'");
    assert_eq!(hostile.fill("{{text}}"), " -u critical\nsecond line");
    assert_eq!(hostile.fill("--body={{text}}"), "--body=-u critical\nsecond line");
    assert_eq!(hostile.fill("{{topic}}/{{urgency}}"), "trouble/normal");
}

#[test]
fn a_webhook_gets_an_id_and_a_text_that_chats_can_show() {
    let body = message("Broken 1", "line 3").body();
    assert_eq!(body["text"], "Broken 1\nline 3");
    assert!(body["id"].as_str().unwrap().starts_with("n-"), "{body:#}");
    assert_eq!((&body["topic"], &body["at"]), (&"trouble".into(), &"2026-11-17T08:00:00.000Z".into()));
}

#[test]
fn every_kind_of_entry_has_a_topic() {
    let kinds = [
        (Kind::Gate, "gate"),
        (Kind::Question, "question"),
        (Kind::HandedOver, "blocked"),
        (Kind::Blocked, "blocked"),
        (Kind::CouldNot, "blocked"),
        (Kind::Failed, "blocked"),
        (Kind::Budget, "budget"),
        (Kind::Result, "done"),
        (Kind::Trouble, "trouble"),
    ];
    for (kind, word) in kinds {
        assert_eq!(Topic::of(kind).word(), word);
    }
}
