//! The control API: for the user, not for pages, other users or agents.

use std::os::unix::fs::MetadataExt as _;

use longhaul_exec::{Program, run};
use longhaul_runtime::lifecycle::Serve as _;
use longhaul_web::rows::{DoneRow, QueueRow, StatusRow, TaskRow, TriggerRow};
use longhaul_web::{Client, ClientError, description};
use serde_json::{Value, json};

use crate::world::World;

#[test]
fn the_user_sees_and_changes_everything_through_the_socket() {
    let world = World::new();
    let client = world.client();
    let status: StatusRow = client.get("/v1/status").unwrap();
    assert_eq!((status.process, status.queued), (std::process::id(), 0));
    assert_eq!(status.paused.as_ref().unwrap().by, "ada");
    let body =
        json!({"goal": "Mend the login", "workspace": "shop", "priority": "high", "agent": "ollama/small"});
    let entered: DoneRow = client.post("/v1/queue", &body).unwrap();
    let task = entered.task.unwrap();
    let queue: Vec<QueueRow> = client.get("/v1/queue").unwrap();
    assert_eq!(
        (queue[0].id.as_str(), queue[0].priority.as_str(), queue[0].goal.as_str()),
        (task.as_str(), "high", "Mend the login")
    );
    let moved: DoneRow = client.post(&format!("/v1/queue/{task}/move"), &json!({"to": "first"})).unwrap();
    assert!(moved.changed);
    let shown: TaskRow = client.get(&format!("/v1/tasks/{task}")).unwrap();
    assert_eq!((shown.state.as_str(), shown.attempts), ("queued", 0));
    let removed: DoneRow =
        client.post(&format!("/v1/queue/{task}/remove"), &json!({"because": "done by hand"})).unwrap();
    assert!(removed.changed);
    let all: Vec<TaskRow> = client.get("/v1/tasks?all=true").unwrap();
    assert_eq!(all[0].state, "cancelled");
    assert!(all[0].outcome.as_ref().unwrap().contains("done by hand"), "{all:?}");
    assert_eq!(client.get::<Vec<TaskRow>>("/v1/tasks").unwrap(), []);
    let again: DoneRow = client.post(&format!("/v1/tasks/{task}/retry"), &json!({})).unwrap();
    assert_eq!(again.became.as_deref(), Some("queued"));
    let cancelled: DoneRow = client.post(&format!("/v1/tasks/{task}/cancel"), &json!({})).unwrap();
    assert!(cancelled.changed);
    let paused: DoneRow = client.post("/v1/queue/pause", &json!({"workspace": "shop"})).unwrap();
    let resumed: DoneRow = client.post("/v1/queue/resume", &json!({"workspace": "shop"})).unwrap();
    assert!(paused.changed && resumed.changed);
    let fired: DoneRow = client.post("/v1/triggers/shop/nightly/fire", &json!({})).unwrap();
    let triggers: Vec<TriggerRow> = client.get("/v1/triggers").unwrap();
    let nightly = triggers.iter().find(|row| row.name == "shop/nightly").unwrap();
    assert_eq!((nightly.tasks, nightly.last_task.as_ref()), (1, fired.task.as_ref()));
    assert_eq!(client.text("/metrics").unwrap(), "longhaul_up 1\n");
}

#[test]
fn what_goes_wrong_has_a_code_words_and_a_status() {
    let world = World::new();
    let client = world.client();
    let refused = |result: Result<Value, ClientError>| match result {
        Err(ClientError::Refused { code, message, status }) => (status, code.unwrap_or_default(), message),
        other => panic!("{other:?}"),
    };
    let (status, code, _) = refused(client.get("/v1/tasks/t-none"));
    assert_eq!((status, code.as_str()), (404, "E0252"));
    let (status, _, message) = refused(client.post("/v1/queue", &json!({"goal": "x"})));
    assert!(status == 400 && message.contains("workspace"), "{message}");
    let (status, _, message) =
        refused(client.post("/v1/queue", &json!({"goal": "x", "workspace": "shop", "colour": "red"})));
    assert!(status == 400 && message.contains("colour"), "{message}");
    let (status, ..) = refused(client.post("/v1/queue", &json!({"goal": "x", "workspace": "none"})));
    assert_eq!(status, 404);
    let (status, _, message) = refused(client.post("/v1/queue/pause", &json!([1])));
    assert!(status == 400, "{message}");
    assert_eq!(refused(client.get("/v1/nothing")).0, 404);
    assert_eq!(refused(client.post("/v1/status", &json!({}))).0, 405);
}

#[test]
fn only_the_user_may_open_the_socket_and_the_token() {
    let world = World::new();
    for path in [world.places().control_socket(), world.places().control_token()] {
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!(found.mode() & 0o777, 0o600, "{}", path.display());
    }
    assert_eq!(std::fs::metadata(&world.places().run).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn the_port_wants_the_token_its_own_name_and_no_page() {
    let world = World::new();
    assert_eq!(world.call("GET /v1/status", "").status, 200);
    let usual = world.usual_head();
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut head = usual.clone();
        change(&mut head);
        world.request("POST /v1/queue/pause", &head, br#"{"because": "forged"}"#).unwrap().status
    };
    assert_eq!(with(&|head| drop(head.remove(1))), 401);
    assert_eq!(
        with(&|head| head[1] = "Authorization: Bearer 0123456789012345678901234567890123".to_owned()),
        401
    );
    assert_eq!(with(&|head| head[0] = "Host: rebound.example".to_owned()), 403);
    assert_eq!(with(&|head| head[0] = format!("Host: rebound.example:{}", world.address().port())), 403);
    assert_eq!(with(&|head| head.push("Origin: https://evil.example".to_owned())), 403);
    assert_eq!(with(&|head| head.push(format!("Origin: http://{}", world.address()))), 403);
    assert_eq!(with(&|head| head.push("Sec-Fetch-Site: cross-site".to_owned())), 403);
    assert_eq!(with(&|head| head[2] = "Content-Type: text/plain".to_owned()), 415);
    assert_eq!(with(&|head| drop(head.remove(2))), 415);
    assert_eq!(with(&|head| head.push("Host: localhost".to_owned())), 400);
    // Nothing of that was done.
    let status: StatusRow = world.client().get("/v1/status").unwrap();
    assert_eq!(status.paused.unwrap().because.as_deref(), Some("a test"));
    let preflight = world
        .request(
            "OPTIONS /v1/status",
            &["Host: localhost".to_owned(), "Origin: https://evil.example".to_owned()],
            b"",
        )
        .unwrap();
    assert!(preflight.status == 403 && !preflight.head.contains("access-control"), "{preflight:?}");
    let absolute = world.request("GET http://rebound.example/v1/status", &usual, b"").unwrap();
    assert_eq!(absolute.status, 403);
}

#[test]
fn an_agent_may_look_and_change_nothing() {
    let world = World::new();
    let socket = world.places().control_socket().display().to_string();
    // A process that a session started, and one behind walls of its own.
    let curl = |program: Program, more: &[&str]| {
        let asked = program
            .args([
                "--silent",
                "--unix-socket",
                &socket,
                "--header",
                "Content-Type: application/json",
                "--write-out",
                " %{http_code}",
            ])
            .args(more.iter().copied());
        let finished = run(&asked).unwrap();
        finished.stdout.to_text()
    };
    let marked = || Program::new("curl").set_variable("LONGHAUL_SESSION", "s-1");
    let seen = curl(marked(), &["http://localhost/v1/status"]);
    assert!(seen.ends_with(" 200"), "{seen}");
    for path in ["queue/pause", "daemon/stop", "daemon/drain", "triggers/shop/nightly/fire"] {
        let address = format!("http://localhost/v1/{path}");
        let refused = curl(marked(), &["--data", "{}", &address]);
        assert!(refused.ends_with(" 403") && refused.contains("E0303"), "{path}: {refused}");
    }
    let address = format!("http://{}/v1/queue/resume", world.address());
    let token = format!("Authorization: Bearer {}", world.token());
    let refused = curl_at_port(marked(), &token, &address);
    assert!(refused.ends_with(" 403"), "{refused}");
    let allowed = curl_at_port(Program::new("curl"), &token, &address);
    assert!(allowed.ends_with(" 200"), "{allowed}");
    assert_eq!(world.tasks().len(), 0);
}

fn curl_at_port(program: Program, token: &str, address: &str) -> String {
    let asked = program.args([
        "--silent",
        "--header",
        token,
        "--header",
        "Content-Type: application/json",
        "--data",
        "{}",
        "--write-out",
        " %{http_code}",
        address,
    ]);
    run(&asked).unwrap().stdout.to_text()
}

#[test]
fn a_daemon_that_is_told_to_ends_and_its_door_is_gone() {
    let world = World::new();
    let client = world.client();
    let told: DoneRow = client.post("/v1/daemon/stop", &json!({})).unwrap();
    assert!(told.changed);
    world.daemon.wait();
    world.web.stop();
    assert!(Client::find(&world.places().control_socket()).is_none());
}

#[test]
fn answers_are_what_the_description_says() {
    let world = World::new();
    world.deliver(r#"{"n": 1}"#, &[]);
    let described = description();
    assert_eq!(world.call("GET /openapi.json", "").json(), described);
    let components = described["components"].clone();
    let client = world.client();
    for (path, methods) in described["paths"].as_object().unwrap() {
        let Some(get) = methods.get("get") else { continue };
        let Some(schema) = get.pointer("/responses/200/content/application~1json/schema") else { continue };
        let mut schema = schema.clone();
        if schema.get("type") == Some(&json!("object")) && schema.get("properties").is_none() {
            continue;
        }
        schema["components"] = components.clone();
        let task = world.tasks()[0].id.to_string();
        let value: Value = client.get(&path.replace("{task}", &task)).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let problems: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(problems, [""; 0], "{path}: {value:#}");
    }
}

#[test]
fn the_socket_answers_what_is_no_request_and_goes_on() {
    let world = World::new();
    assert!(world.at_socket(b"\r\n\r\nGET\r\n\r\n").is_none_or(|answer| answer.status == 400));
    let status =
        world.at_socket(b"GET /v1/health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(status.status, 200, "{status:?}");
}
