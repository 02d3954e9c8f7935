//! `longhaul mcp` as a client starts it: a real process, with pipes or a port.

mod agent;
mod clients;
mod http;
mod install;
pub(crate) mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use longhaul_testkit::times;
use serde_json::{Value, json};

use crate::support::{Home, git};
use crate::terminal::Terminal;
use crate::walking::{TWO_STEPS, advance, handle, one, workflow};
use server::{Era, Server};

const ERAS: [Era; 2] = [Era::Initialized, Era::Stateless];

fn two_steps(home: &Home) {
    workflow(home, "team.two.yml", TWO_STEPS);
}

fn start(server: &mut Server, home: &Home) -> Value {
    let folder = home.path.display().to_string();
    server.object(
        "start_workflow",
        &json!({ "workflowId": "team.two", "workspacePath": folder, "goal": "tidy up" }),
    )
}

fn answer(view: &Value) -> Value {
    json!({ "continueToken": handle(view), "notes": "I looked.", "context": { "size": "small" } })
}

#[test]
fn a_walk_over_pipes_in_both_eras_and_nothing_is_made_before_it_is_needed() {
    for era in ERAS {
        let home = Home::new();
        let mut server = Server::start(&home, era);
        assert_eq!(server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 6);
        assert!(!home.longhaul_home().exists(), "starting and listing leave nothing behind");
        two_steps(&home);
        let first = start(&mut server, &home);
        let second = server.object("continue_workflow", &answer(&first));
        assert_eq!(second["stepId"], "tell");
        let end = server
            .object("continue_workflow", &json!({ "continueToken": handle(&second), "notes": "Seen." }));
        assert_eq!(end["isComplete"], true);
        let tasks = home.longhaul(&["task", "list", "--all", "--json"]).rows();
        let told: Vec<(&Value, &Value)> =
            tasks.iter().map(|task| (&task["source"], &task["state"])).collect();
        assert_eq!(told, [(&json!("mcp"), &json!("completed"))]);
        let (status, stderr) = server.end();
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn two_servers_and_the_shell_agree_at_once() {
    let home = Home::new();
    two_steps(&home);
    let (mut one_of_them, mut other) =
        (Server::start(&home, Era::Initialized), Server::start(&home, Era::Stateless));
    let first = start(&mut one_of_them, &home);
    let second = advance(&home, &first, &["--notes", "I looked.", "--vars", r#"{"size": "small"}"#]);
    assert_eq!(other.object("continue_workflow", &answer(&first)), second, "the same answer by another way");
    let last =
        other.object("continue_workflow", &json!({ "continueToken": handle(&second), "notes": "Seen." }));
    assert_eq!(last["isComplete"], true);
    let folder = home.path.display().to_string();
    let resumed = one_of_them
        .object("resume_session", &json!({ "workspacePath": folder, "sessionId": first["sessionId"] }));
    assert_eq!(resumed["step"]["isComplete"], true);
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_an_advance_loses_nothing() {
    let home = Home::new();
    two_steps(&home);
    for round in 0..times(12, 200) {
        let mut server = Server::start(&home, ERAS[usize::from(round % 2 == 1)]);
        let first = start(&mut server, &home);
        server.send_call("continue_workflow", &answer(&first));
        // From before it is read to after it is answered.
        std::thread::sleep(std::time::Duration::from_micros(round % 12 * 400)); // tidy: a moment to die in
        server.kill();
        let mut again = Server::start(&home, Era::Stateless);
        let second = again.object("continue_workflow", &answer(&first));
        assert_eq!(
            (&second["stepId"], &second["isComplete"]),
            (&json!("tell"), &json!(false)),
            "round {round}"
        );
        assert_eq!(again.object("continue_workflow", &answer(&first)), second);
    }
    assert_eq!(home.longhaul(&["log", "verify"]).code, Some(0));
}

#[test]
fn a_line_of_a_hundred_megabytes_is_answered_without_keeping_it() {
    let home = Home::new();
    let mut server = Server::start(&home, Era::Stateless);
    let before = server.largest_kilobytes();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        server.write(&piece);
    }
    server.write(b"\n");
    assert_eq!(server.next()["error"]["code"], -32600);
    let grown = server.largest_kilobytes() - before;
    assert!(grown < 40 << 10, "it took {grown} KB");
    assert_eq!(server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 6);
}

#[test]
fn a_line_of_tiny_values_takes_no_more_memory_than_a_session_may() {
    let home = Home::new();
    let mut server = Server::start(&home, Era::Stateless);
    let before = server.largest_kilobytes();
    // Few enough to be read, and what takes most room for its length.
    let most = longhaul_mcp::protocol::MOST_VALUES - 100;
    let folder = home.path.display();
    let many = format!("{}{{}}", "{},".repeat(most / 2));
    let params = format!(
        "{{\"name\":\"list_workflows\",\"arguments\":{{\"workspacePath\":\"{folder}\",\"tags\":[{many}]}}}}"
    );
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}\n");
    server.write(line.as_bytes());
    let answer = server.next();
    assert!(answer["error"].is_object(), "it says nothing of its revision: {answer:#}");
    let many = format!("{}0", "0,".repeat(3_000_000));
    server
        .write(format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\",\"params\":[{many}]}}\n").as_bytes());
    assert_eq!(server.next()["error"]["code"], -32600);
    let grown = server.largest_kilobytes() - before;
    assert!(grown < 80 << 10, "it took {grown} KB");
}

#[test]
fn a_client_that_leaves_while_its_person_is_asked_is_not_waited_for() {
    let home = Home::new();
    workflow(
        &home,
        "team.sure.yml",
        "longhaul: 1\nid: team.sure\nname: Sure\nversion: 1.0.0\nsteps:\n  - { id: plan, prompt: Plan., confirm: true }\n  - { id: act, prompt: Act. }\n",
    );
    let mut server = Server::start_with(&home, Era::Initialized, &json!({ "elicitation": {} }));
    let folder = home.path.display().to_string();
    let first = server.object(
        "start_workflow",
        &json!({ "workflowId": "team.sure", "workspacePath": folder, "goal": "tidy up" }),
    );
    server.send_call("continue_workflow", &json!({ "continueToken": handle(&first), "notes": "The plan." }));
    assert_eq!(server.next()["method"], "elicitation/create");
    let start = Instant::now();
    server.end_with_words();
    assert!(start.elapsed() < Duration::from_secs(3), "it took {:?}", start.elapsed());
    let open = home.longhaul(&["gate", "list", "--json"]).succeeded().rows();
    assert_eq!(open.len(), 1, "the answer is on record, and the gate is open: {open:?}");
}

#[test]
fn a_leaf_is_for_a_session_that_is_there() {
    let home = Home::new();
    two_steps(&home);
    let view = one(&home
        .longhaul(&["session", "start", "--workflow", "team.two", "--goal", "it", "--json"])
        .succeeded());
    let id = view["sessionId"].as_str().unwrap();
    let alone = home.longhaul(&["mcp", "--session", id]);
    assert_eq!(alone.code, Some(2), "{alone}");
    assert!(alone.stderr.contains("--profile leaf"), "{alone}");
    assert_eq!(home.longhaul(&["mcp", "--profile", "leaf"]).code, Some(2));
    let unknown = home.longhaul(&["mcp", "--profile", "leaf", "--session", "s-zzzzzzzzzzzzz"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert!(unknown.stderr.contains("E0201"), "{unknown}");
    let shortened = home.longhaul(&["mcp", "--profile", "leaf", "--session", &id[..8]]);
    assert_eq!(shortened.code, Some(0), "its input ended at once: {shortened}");
}

#[test]
fn an_address_that_is_none_is_answered_with_one_that_is() {
    let home = Home::new();
    for (text, instead) in
        [("localhost:7311", "127.0.0.1:7311"), ("7312", "127.0.0.1:7312"), ("here", "127.0.0.1:7311")]
    {
        let refused = home.longhaul(&["mcp", "--http", text]);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains(instead), "{refused}");
    }
}

#[test]
fn work_of_the_engine_is_waited_for_and_told_about() {
    let home = Home::new();
    let repo = home.join("repo");
    fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    git(&repo, &["commit", "--quiet", "--allow-empty", "--message=first"]);
    workflow(
        &home,
        "team.run.yml",
        "longhaul: 1\nid: team.run\nname: Run\nversion: 1.0.0\nabout: For tests.\nsteps:\n\
         \x20 - { id: first, title: First, prompt: Begin. }\n\
         \x20 - { id: work, title: Work, run: { command: [sleep, '2.5'] }, into: work }\n\
         \x20 - { id: last, title: Last, prompt: \"It {{work.outcome}}.\" }\n",
    );
    let mut server = Server::start(&home, Era::Initialized);
    let arguments =
        json!({ "workflowId": "team.run", "workspacePath": repo.display().to_string(), "goal": "it" });
    let first = server.object("start_workflow", &arguments);
    let call = json!({
        "name": "continue_workflow", "_meta": { "progressToken": "p" },
        "arguments": { "continueToken": handle(&first), "notes": "Begun." },
    });
    let after = server.request("tools/call", call);
    let last = &after["result"]["structuredContent"];
    assert!(last["prompt"].as_str().unwrap().contains("It passed."), "{after:#}");
    let told: Vec<&Value> =
        server.aside.iter().filter(|it| it["method"] == "notifications/progress").collect();
    assert!(told.len() >= 2, "{told:?}");
    let steps: Vec<f64> = told.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
    assert!(steps.is_sorted_by(|one, next| one < next), "{steps:?}");
}

#[test]
fn a_server_whose_client_is_gone_waits_for_nothing() {
    let home = Home::new();
    let repo = home.join("repo");
    fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    git(&repo, &["commit", "--quiet", "--allow-empty", "--message=first"]);
    workflow(
        &home,
        "team.long.yml",
        "longhaul: 1\nid: team.long\nname: Long\nversion: 1.0.0\nabout: For tests.\nsteps:\n\
         \x20 - { id: first, title: First, prompt: Begin. }\n\
         \x20 - { id: work, title: Work, run: { command: [sleep, '9'] }, into: work }\n",
    );
    let mut server = Server::start(&home, Era::Initialized);
    let arguments =
        json!({ "workflowId": "team.long", "workspacePath": repo.display().to_string(), "goal": "it" });
    let first = server.object("start_workflow", &arguments);
    server.send_call("continue_workflow", &json!({ "continueToken": handle(&first), "notes": "Begun." }));
    let id = first["sessionId"].as_str().unwrap().to_owned();
    let story = || home.longhaul(&["session", "show", &id]).succeeded().stdout;
    while !story().contains("a runner started `work`") {
        std::thread::yield_now();
    }
    let before = Instant::now();
    let last = server.end_with_words();
    assert!(before.elapsed() < Duration::from_secs(3), "{:?}", before.elapsed());
    assert!(last.contains("the engine is at work"), "whoever still reads learns where it stands: {last}");
    assert!(story().contains("`first` was answered"));
}

#[test]
fn workflows_are_listed_beside_a_store_that_may_not_be_written() {
    let home = Home::new();
    two_steps(&home);
    let repo = home.join("repo");
    fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    start(&mut Server::start(&home, Era::Stateless), &home);
    let data = home.longhaul_home().join("data");
    let modes = |folder: u32, file: u32| {
        for entry in fs::read_dir(&data).unwrap() {
            let path = entry.unwrap().path();
            let mode = if path.is_dir() { folder } else { file };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&data, fs::Permissions::from_mode(folder)).unwrap();
    };
    modes(0o500, 0o400);
    let mut server = Server::start(&home, Era::Stateless);
    let listed = server.object("list_workflows", &json!({ "workspacePath": repo.display().to_string() }));
    modes(0o700, 0o600);
    assert!(listed["workflows"].to_string().contains("team.two"), "{listed:#}");
}

#[test]
fn whoever_is_served_is_an_agent_and_does_not_open_gates_at_a_terminal() {
    let home = Home::new();
    two_steps(&home);
    let first = one(&home
        .longhaul(&["session", "start", "--workflow", "team.two", "--goal", "it", "--json"])
        .succeeded());
    let view = advance(&home, &first, &["--notes", "x", "--vars", r#"{"size": "large"}"#]);
    let gate = view["gate"]["id"].as_str().unwrap();
    let mut server = Server::start(&home, Era::Stateless);
    server.request("tools/list", json!({}));
    let refused = Terminal::start(&home, &["gate", "approve", gate]).end().0;
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("E0303"), "{refused}");
    server.end();
    let mut terminal = Terminal::start(&home, &["gate", "approve", gate, "--json"]);
    terminal.wait_for("Type `approve` to confirm: ");
    terminal.type_text("approve\n");
    assert_eq!(
        one(&terminal.end().0.succeeded())["stepId"],
        "tell",
        "once it is gone, a person is a person again"
    );
}
