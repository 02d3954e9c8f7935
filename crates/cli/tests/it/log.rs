//! What was decided, shown.

use std::io::{BufRead as _, BufReader};

use crate::support::{Home, shows};
use crate::terminal::{COLUMNS, Terminal};

#[test]
fn the_log_is_shown_in_the_order_of_commits_without_keys() {
    let home = Home::new();
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    home.session(["goal", "prompt", "payload", "answer"]);
    shows!(home.longhaul(&["log", "show"]), @r#"
        exit 0
        --- stdout
        TIME                      STREAM                   SEQ   TYPE             EVENT
        [time]  workspace/[workspace]     1     registered       {"name":"shop","common_dir":"[HOME]/shop/.git","checkout":"[HOME]/shop"}
        [time]  session/[session]  1     opened           {"key":"…","goal":{"inline":"goal"},"workspace":null,"parent":null}
        [time]  session/[session]  2     step_handed_out  {"node":2,"after":null,"step":"build","prompt":{"inline":"prompt"},"nonce":"[nonce]"}
        [time]  session/[session]  3     step_finished    {"node":2,"nonce":"[nonce]","payload":{"inline":"payload"},"payload_hash":"[hash]","answer":{"inline":"answer"},"epoch":null}
        [time]  session/[session]  4     closed           {"outcome":{"outcome":"completed"}}
        --- stderr
    "#);
    shows!(home.longhaul(&["log", "show", "--json"]), @r#"
        exit 0
        --- stdout
        {"position":1,"stream":"workspace/[workspace]","seq":1,"at":"[time]","redacted":false,"event":{"type":"registered","name":"shop","common_dir":"[HOME]/shop/.git","checkout":"[HOME]/shop"}}
        {"position":2,"stream":"session/[session]","seq":1,"at":"[time]","redacted":false,"event":{"type":"opened","key":"…","goal":{"inline":"goal"},"workspace":null,"parent":null}}
        {"position":3,"stream":"session/[session]","seq":2,"at":"[time]","redacted":false,"event":{"type":"step_handed_out","node":2,"after":null,"step":"build","prompt":{"inline":"prompt"},"nonce":"[nonce]"}}
        {"position":4,"stream":"session/[session]","seq":3,"at":"[time]","redacted":false,"event":{"type":"step_finished","node":2,"nonce":"[nonce]","payload":{"inline":"payload"},"payload_hash":"[hash]","answer":{"inline":"answer"},"epoch":null}}
        {"position":4,"stream":"session/[session]","seq":4,"at":"[time]","redacted":false,"event":{"type":"closed","outcome":{"outcome":"completed"}}}
        --- stderr
    "#);
}

#[test]
fn one_stream_is_shown_by_its_name_or_its_id() {
    let home = Home::new();
    let (stream, other) = (home.session(["a", "b", "c", "d"]), home.session(["e", "f", "g", "h"]));
    let by_name = home.longhaul(&["log", "show", "--json", &stream]).succeeded();
    let by_id = home.longhaul(&["log", "show", "--json", stream.strip_prefix("session/").unwrap()]);
    assert_eq!(by_name.stdout, by_id.stdout);
    assert_eq!(by_name.rows().len(), 4);
    assert!(!by_name.stdout.contains(&other));
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let home = Home::new();
    let hostile = "\u{1b}[2J\u{9b}31m\u{202e}\r\nerror: gone";
    home.session([hostile, hostile, hostile, hostile]);
    let shown = home.longhaul(&["log", "show"]).succeeded().stdout;
    assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\r']), "{shown:?}");
    assert_eq!(shown.lines().count(), 5);
    let rows = home.longhaul(&["log", "show", "--json"]).succeeded().rows();
    assert_eq!(rows[0]["event"]["goal"]["inline"], hostile);
}

#[test]
fn streams_that_are_what_was_written_are_intact() {
    let home = Home::new();
    let stream = home.session(["a", "b", "c", "d"]);
    shows!(home.longhaul(&["log", "verify"]), @r"
        exit 0
        --- stdout
        STREAM                   EVENTS  VERDICT  REASON
        session/[session]  4       intact
        --- stderr
        1 stream with 4 events: intact
    ");
    shows!(home.longhaul(&["log", "verify", "--json", &stream]), @r#"
        exit 0
        --- stdout
        {"stream":"session/[session]","events":4,"redacted":0,"verdict":"intact","reason":null}
        --- stderr
    "#);
}

#[test]
fn the_tail_shows_what_comes_and_what_came_after_a_position() {
    let home = Home::new();
    home.session(["first", "b", "c", "d"]);
    let positions: Vec<String> = home
        .longhaul(&["log", "show", "--json"])
        .rows()
        .iter()
        .map(|row| row["position"].to_string())
        .collect();
    for (arguments, before) in [
        (&["log", "tail", "--json", "--all"][..], 4),
        (&["log", "tail", "--json", "--from", &positions[0]], 3),
    ] {
        let mut tail = home.run(arguments).start();
        let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(Result::unwrap);
        let seen: Vec<String> = lines.by_ref().take(before).collect();
        assert!(seen.last().unwrap().contains("closed"), "{seen:?}");
        home.session(["later", "b", "c", "d"]);
        assert!(lines.next().unwrap().contains("later"));
        tail.kill().unwrap();
        tail.wait().unwrap();
    }
}

#[test]
fn the_tail_waits_for_a_first_event() {
    let home = Home::new();
    let mut tail = home.run(&["log", "tail"]).start();
    let mut talk = BufReader::new(tail.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(talk.next().unwrap(), "there is no log yet; waiting for the first event");
    home.session(["first", "b", "c", "d"]);
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(Result::unwrap);
    let heading = lines.next().unwrap_or_else(|| panic!("it ended: {:?}", talk.collect::<Vec<_>>()));
    assert!(heading.starts_with("TIME"), "{heading}");
    assert!(lines.next().unwrap().contains("first"));
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn lines_are_cut_to_fit_a_terminal_and_nothing_else() {
    let home = Home::new();
    home.session([&"long ".repeat(100), "b", "c", "d"]);
    let (outcome, shown) = Terminal::whole(&home, &["log", "show"]).end();
    assert_eq!((outcome.code, shown.lines().count()), (Some(0), 5), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= usize::from(COLUMNS)), "{shown}");
    assert!(shown.contains('…'), "{shown}");
    let whole = home.longhaul(&["log", "show"]).succeeded().stdout;
    assert!(whole.contains(&"long ".repeat(100)), "{whole}");
}

#[test]
fn progress_is_shown_to_people_at_a_terminal_only() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    for arguments in [&["log", "verify"][..], &["doctor"]] {
        let (outcome, shown) = Terminal::whole(&home, arguments).end();
        assert_eq!(outcome.code, Some(0), "{shown}");
        assert!(shown.contains("streams") && shown.contains("1/1"), "{shown:?}");
        assert!(!home.longhaul(arguments).succeeded().stderr.contains("1/1"));
    }
    let (_, shown) = Terminal::whole(&home, &["log", "verify", "--json"]).end();
    assert!(shown.starts_with('{') && !shown.contains("1/1"), "{shown:?}");
}
