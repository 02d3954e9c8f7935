//! What an import brings counts as if it had happened here: a person at a terminal vouches for it, or it stays out.

use longhaul_runtime::types::{Channel, GateVerdict};
use longhaul_runtime::{AnswerGate, Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::gate::{at_the_gate, gate_id};
use crate::running::{begin, plain_repository, running};
use crate::support::{Home, Outcome, shows};
use crate::terminal::Terminal;
use crate::walking::{TWO_STEPS, advance, id, log, one, workflow};

const ASKED: &str = "Type `import` to confirm: ";

/// Writes a session to a file, from where another home can take it in.
fn exported(home: &Home, session: &str) -> String {
    let file = home.join("session.jsonl").into_os_string().into_string().unwrap();
    home.longhaul(&["session", "export", session, "-o", &file]).succeeded();
    file
}

fn import_at_a_terminal(home: &Home, arguments: &[&str], word: &str) -> (Outcome, String) {
    let mut terminal = Terminal::start(home, arguments);
    terminal.wait_for(ASKED);
    terminal.type_text(&format!("{word}\n"));
    terminal.end()
}

/// Says yes where nobody is at a terminal, and writes down that somebody was.
fn approve_in_the_name_of_root(home: &Home, gate: &str) {
    let system = home.system();
    let gate = system.reader().unwrap().unwrap().gate(gate, SystemClock.now()).unwrap();
    let answer = AnswerGate {
        session: gate.session,
        gate: gate.node,
        verdict: GateVerdict::Approved,
        by: "root".to_owned(),
        channel: Channel::Terminal,
        words: String::new(),
    };
    system.commands().unwrap().answer_gate(&answer).unwrap();
}

/// A session that waits at its gate, and a file in which it was approved by nobody.
fn a_forged_approval(home: &Home) -> (Value, String) {
    let forger = Home::new();
    let view = at_the_gate(home, TWO_STEPS);
    // No answer is in it yet, so that nobody has to be asked.
    let waiting = home.longhaul(&["session", "export", id(&view)]).succeeded().stdout;
    forger.run(&["session", "import", "-"]).stdin(waiting).go().succeeded();
    approve_in_the_name_of_root(&forger, gate_id(&view));
    let forged = home.join("forged.jsonl").into_os_string().into_string().unwrap();
    forger.longhaul(&["session", "export", id(&view), "-o", &forged]).succeeded();
    (view, forged)
}

#[test]
fn a_forged_approval_opens_no_gate() {
    let home = Home::new();
    let (view, forged) = a_forged_approval(&home);
    let before = log(&home);
    shows!(Terminal::without(&home, &["session", "import", &forged]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0303]: nobody is at a terminal to vouch for what the export brings, and it would count as if it had happened here: 1 answer to a gate, 1 session with gates or commands that goes on; nothing was imported, import it in a terminal
        hint: longhaul explain E0303
    ");
    for noun in ["session", "log"] {
        assert_eq!(Terminal::without(&home, &[noun, "import", &forged]).code, Some(3));
        let (refused, _) = import_at_a_terminal(&home, &[noun, "import", &forged], "yes");
        assert!(refused.code == Some(3) && refused.stderr.contains("type the word `import`"), "{refused}");
        let agent = [("LONGHAUL_SESSION", "s-1")];
        let agent = Terminal::start_in(&home, &home.path, &[noun, "import", &forged], &agent).end();
        assert_eq!((agent.0.code, agent.1.as_str()), (Some(3), ""), "{}", agent.0);
    }
    assert_eq!(log(&home), before);
    let gate = one(&home.longhaul(&["gate", "show", gate_id(&view), "--json"]).succeeded());
    assert_eq!(gate["state"], "open");
}

#[test]
fn a_person_who_knows_where_it_comes_from_vouches_for_an_answer() {
    let home = Home::new();
    let (view, forged) = a_forged_approval(&home);
    let (outcome, shown) = import_at_a_terminal(&home, &["session", "import", &forged, "--json"], "import");
    shows!(shown, @r"
        New here: 1 decision, 0 sessions and 0 tasks; sessions that were here and go on: 1
        Answers to gates: 1
          [session].9 approved by root (terminal)
        Sessions that were here, have gates or commands, and go on: 1
          [session]
        Nothing in an export proves who wrote it, and all of it counts as if it had happened here.
        Type `import` to confirm: import
    ");
    assert_eq!(one(&outcome.succeeded())["step"], "tell");
    let gate = one(&home.longhaul(&["gate", "show", gate_id(&view), "--json"]).succeeded());
    assert_eq!(gate["state"]["answered"]["verdict"], "approved");
    let again = Terminal::without(&home, &["session", "import", &forged]).succeeded();
    assert!(again.stderr.contains("all of it was here already"), "{again}");
}

#[test]
fn commands_of_an_imported_session_run_only_if_a_person_vouched_for_them() {
    let (elsewhere, home) = (Home::new(), Home::new());
    plain_repository(&elsewhere);
    workflow(&elsewhere, "team.run.yml", &running("[touch, done]"));
    let first = begin(&elsewhere);
    let file = exported(&elsewhere, id(&first));
    home.longhaul(&["workspace", "add", elsewhere.join("repo").to_str().unwrap()]).succeeded();
    let before = log(&home);
    shows!(Terminal::without(&home, &["session", "import", &file]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0303]: nobody is at a terminal to vouch for what the export brings, and it would count as if it had happened here: 1 command; nothing was imported, import it in a terminal
        hint: longhaul explain E0303
    ");
    let (refused, _) = import_at_a_terminal(&home, &["session", "import", &file], "");
    assert_eq!(refused.code, Some(3), "{refused}");
    assert_eq!(log(&home), before);
    let (outcome, shown) = import_at_a_terminal(&home, &["session", "import", &file], "import");
    shows!(shown, @r"
        New here: 2 decisions, 1 session and 1 task; sessions that were here and go on: 0
        Commands that workflows in it run: 1
          touch done
        Nothing in an export proves who wrote it, and all of it counts as if it had happened here.
        Type `import` to confirm: import
    ");
    outcome.succeeded();
    assert!(!elsewhere.join("repo/done").exists());
    let last = advance(&home, &first, &["--notes", "Begun."]);
    assert!(last["prompt"].as_str().unwrap().contains("It passed"), "{last:#}");
    assert!(elsewhere.join("repo/done").exists());
}

#[test]
fn a_session_that_was_here_does_not_go_round_its_gate_elsewhere() {
    let (home, elsewhere) = (Home::new(), Home::new());
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = crate::walking::start(&home, "team.two", "it");
    let out = exported(&home, id(&first));
    elsewhere.longhaul(&["session", "import", &out]).succeeded();
    advance(&elsewhere, &first, &["--notes", "I looked.", "--vars", &json!({"size": "small"}).to_string()]);
    let back = exported(&elsewhere, id(&first));
    let refused = Terminal::without(&home, &["session", "import", &back]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("1 session with gates or commands that goes on"), "{refused}");
    let (outcome, _) = import_at_a_terminal(&home, &["session", "import", &back, "--json"], "import");
    assert_eq!(one(&outcome.succeeded())["step"], "tell");
}

#[test]
fn others_write_while_a_person_thinks() {
    let home = Home::new();
    let (_, forged) = a_forged_approval(&home);
    let mut terminal = Terminal::start(&home, &["session", "import", &forged]);
    terminal.wait_for(ASKED);
    home.session(["meanwhile", "b", "c", "d"]);
    terminal.type_text("import\n");
    terminal.end().0.succeeded();
}

#[test]
fn what_changed_while_a_person_was_thinking_is_not_vouched_for() {
    let home = Home::new();
    let (view, forged) = a_forged_approval(&home);
    let mut terminal = Terminal::start(&home, &["session", "import", &forged]);
    terminal.wait_for(ASKED);
    import_at_a_terminal(&home, &["session", "import", &forged], "import").0.succeeded();
    let before = log(&home);
    terminal.type_text("import\n");
    shows!(terminal.end().0, @r"
        exit 5
        --- stdout
        --- stderr
        error[E0501]: what is here went on while you were looking, nothing was imported; import it again
        hint: longhaul explain E0501
    ");
    assert_eq!(log(&home), before);
    assert_eq!(before.matches("gate_answered").count(), 1, "{view:#}");
}

#[test]
fn what_is_no_export_is_said_to_be_none_in_the_words_of_whoever_asked() {
    let home = Home::new();
    std::fs::write(home.join("a.json"), "{}").unwrap();
    shows!(home.longhaul(&["session", "import", "a.json"]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0501]: line 1 is not part of an export: it does not begin as one; nothing was imported, name a file that `longhaul session export` wrote
        hint: longhaul explain E0501
    ");
    shows!(home.longhaul(&["log", "import", "a.json"]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0501]: line 1 is not part of an export: it does not begin as one; nothing was imported, name a file that `longhaul log export` wrote
        hint: longhaul explain E0501
    ");
}
