//! `longhaul gate`: only a person opens one.

use serde_json::{Value, json};

use crate::support::{Home, shows};
use crate::terminal::Terminal;
use crate::walking::{TWO_STEPS, advance, id, log, one, start, workflow};

/// A session that waits at its gate; the view says so.
pub(crate) fn at_the_gate(home: &Home, text: &str) -> Value {
    workflow(home, "team.two.yml", text);
    let first = start(home, "team.two", "delete it");
    let view = advance(home, &first, &["--notes", "I looked.", "--vars", r#"{"size": "large"}"#]);
    assert_eq!(view["gate"]["question"], "Really delete it?");
    view
}

pub(crate) fn gate_id(view: &Value) -> &str {
    view["gate"]["id"].as_str().unwrap()
}

#[test]
fn a_person_at_a_terminal_opens_a_gate() {
    let home = Home::new();
    let view = at_the_gate(&home, TWO_STEPS);
    let mut terminal = Terminal::start(&home, &["gate", "approve", gate_id(&view), "--json"]);
    terminal.wait_for("Type `approve` to confirm: ");
    terminal.type_text("approve\n");
    let (outcome, shown) = terminal.end();
    for told in ["Really delete it?", "I looked.", "size = \"large\""] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert_eq!(one(&outcome.succeeded())["stepId"], "tell");
    let gate = one(&home.longhaul(&["gate", "show", gate_id(&view), "--json"]).succeeded());
    assert_eq!(gate["state"]["answered"]["verdict"], "approved");
    assert_eq!(gate["state"]["answered"]["channel"], "terminal");
    let again = Terminal::start(&home, &["gate", "approve", gate_id(&view)]).end().0;
    assert_eq!(again.code, Some(3), "{again}");
    assert!(again.stderr.contains("is not open any more: Approved by"), "{again}");
}

#[test]
fn a_rejected_gate_fails_the_session_with_the_words_that_were_said() {
    let home = Home::new();
    let view = at_the_gate(&home, TWO_STEPS);
    let arguments = ["gate", "reject", id(&view), "--reason", "far too much", "--json"];
    let mut terminal = Terminal::start(&home, &arguments);
    terminal.wait_for("Type `reject` to confirm: ");
    terminal.type_text("reject\n");
    let outcome = terminal.end().0;
    assert_eq!(outcome.code, Some(3), "the session is stopped: {outcome}");
    let after = one(&outcome);
    assert!(
        after["blocked"]["reasons"][0]["message"].as_str().unwrap().contains("far too much"),
        "{after:#}"
    );
    let fix = after["blocked"]["reasons"][0]["fix"].as_str().unwrap();
    let back = format!("longhaul session rewind {} --to sure --reason TEXT", id(&view));
    assert!(fix.contains(&back), "{fix}");
    home.longhaul(&["session", "rewind", id(&view), "--to", "sure", "--reason", "asked again"]).succeeded();
    assert_eq!(home.longhaul(&["gate", "list", "--json"]).rows().len(), 1);
}

#[test]
fn another_word_no_terminal_or_an_agent_leaves_it_shut() {
    let home = Home::new();
    let view = at_the_gate(&home, TWO_STEPS);
    let before = log(&home);
    let arguments = ["gate", "approve", gate_id(&view)];
    let mut terminal = Terminal::start(&home, &arguments);
    terminal.wait_for("Type `approve` to confirm: ");
    terminal.type_text("yes\n");
    assert_eq!(terminal.end().0.code, Some(3));
    assert_eq!(Terminal::without(&home, &arguments).code, Some(3));
    let agent = Terminal::start_in(&home, &home.path, &arguments, &[("LONGHAUL_SESSION", "s-1")]).end().0;
    assert!(agent.code == Some(3) && agent.stderr.contains("an agent cannot do this"), "{agent}");
    assert_eq!(log(&home), before);
}

#[test]
fn a_gate_that_wants_the_console_is_not_answered_at_a_terminal() {
    let home = Home::new();
    let view = at_the_gate(&home, &TWO_STEPS.replace("by: person,", "by: person, accepts: console,"));
    let before = log(&home);
    let (outcome, shown) = Terminal::start(&home, &["gate", "approve", gate_id(&view)]).end();
    assert_eq!(shown, "", "nobody is asked for a word that could not count");
    shows!(outcome, @r"
        exit 3
        --- stdout
        --- stderr
        error[E0209]: gate `[session].9` takes an answer by `console` or stronger, not at a terminal; answer it there
        hint: longhaul explain E0209
    ");
    assert_eq!(log(&home), before);
}

#[test]
fn gates_are_listed_and_shown_with_what_led_to_them() {
    let home = Home::new();
    shows!(home.longhaul(&["gate", "list"]), @r"
        exit 0
        --- stdout
        --- stderr
        no gate waits
    ");
    shows!(home.longhaul(&["gate", "show", "s-nobody.3"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0209]: there is no gate `s-nobody.3`; `longhaul gate list` shows the open ones
        hint: longhaul explain E0209
    ");
    let view = at_the_gate(&home, TWO_STEPS);
    shows!(home.longhaul(&["gate", "show", "nope"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0209]: there is no gate `nope`; `longhaul gate list` shows the open ones
        hint: longhaul explain E0209
    ");
    let row = one(&home.longhaul(&["gate", "list", "--json"]).succeeded());
    assert_eq!(
        (&row["id"], &row["state"], &row["accepts"]),
        (&view["gate"]["id"], &json!("open"), &json!("terminal"))
    );
    shows!(home.longhaul(&["gate", "show", gate_id(&view)]), @r#"
        exit 0
        --- stdout
        Gate [session].9 of `team.two`, step `sure`
        Goal: delete it
        Before it, `look` was answered:
          I looked.
          size = "large"
        Question:
          Really delete it?
        Open until [time]; `longhaul gate approve [session].9` or `reject` answers it
        --- stderr
    "#);
}
