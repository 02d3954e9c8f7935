//! Clients that others wrote, against the real binary: the official SDKs and the inspector, over pipes and a port.
//!
//! Each makes the same walk. Every day the TypeScript SDKs do; under `--full` all of them, in both eras.

mod inspector;
mod sdk;

use serde_json::{Value, json};

use super::http::Port;
use crate::support::Home;
use inspector::Inspector;
use sdk::Sdk;

/// Answers that walk the workflow to its end; the library is tested with the same.
const ANSWERS: &str = include_str!("../../../../core/library/walks/lh.quick-task.json");

/// Five answers, one of which is refused.
pub(super) const FITS: &str = "it fits and passes at once";

const TOOLS: [&str; 6] = [
    "list_workflows",
    "inspect_workflow",
    "start_workflow",
    "continue_workflow",
    "checkpoint_workflow",
    "resume_session",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    TypeScript1,
    TypeScript2,
    Python2,
    Inspector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Pipes,
    Port,
}

/// How a client finds out which revision to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// With `initialize`, as ever.
    Legacy,
    /// Asks first, and takes the newest.
    Auto,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    maker: Maker,
    way: Way,
    mode: Mode,
}

/// Where the server is.
pub(super) enum Place<'a> {
    Pipes(&'a Home),
    Port { url: String, _port: Port },
}

/// Whether somebody sits at the client who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    Present,
    Absent,
}

/// What every client can be asked to do, in the words of `clients/talk.mjs`.
pub(super) trait Client {
    fn wish(&mut self, wish: Value) -> Result<Value, Value>;

    fn get(&mut self, wish: Value) -> Value {
        self.wish(wish.clone()).unwrap_or_else(|bad| panic!("{wish}: {bad}"))
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.get(json!({ "wish": "call", "name": name, "arguments": arguments }));
        assert_ne!(result["isError"], true, "{name}: {result:#}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let object = &result["structuredContent"];
        assert!(object["continueToken"].as_str().is_none_or(|token| text.contains(token)), "{text}");
        object.clone()
    }
}

impl Setup {
    fn all() -> Vec<Self> {
        let everyday = [(Maker::TypeScript1, Mode::Legacy), (Maker::TypeScript2, Mode::Auto)];
        let others = [
            (Maker::TypeScript2, Mode::Legacy),
            (Maker::Python2, Mode::Legacy),
            (Maker::Python2, Mode::Auto),
            (Maker::Inspector, Mode::Legacy),
            (Maker::Inspector, Mode::Auto),
        ];
        let others = if longhaul_testkit::full() { &others[..] } else { &[] };
        let chosen = everyday.iter().chain(others);
        chosen
            .flat_map(|&(maker, mode)| [Way::Pipes, Way::Port].map(|way| Self { maker, way, mode }))
            .collect()
    }

    fn place(self, home: &Home) -> Place<'_> {
        match self.way {
            Way::Pipes => Place::Pipes(home),
            Way::Port => {
                let port = Port::open(home, "127.0.0.1:0");
                Place::Port { url: format!("http://{}/mcp", port.address), _port: port }
            }
        }
    }

    fn connect<'a>(self, place: &'a Place<'a>, person: Person) -> Box<dyn Client + 'a> {
        match self.maker {
            Maker::Inspector => Box::new(Inspector::new(place, self.mode)),
            maker @ (Maker::TypeScript1 | Maker::TypeScript2 | Maker::Python2) => {
                Box::new(Sdk::start(maker, place, self.mode, person))
            }
        }
    }

    const fn version(self) -> &'static str {
        match self.mode {
            Mode::Legacy => "2025-11-25",
            Mode::Auto => "2026-07-28",
        }
    }
}

/// One of the paths of the library's own script for the workflow.
pub(super) fn answers(path: &str) -> Vec<Value> {
    let script: Value = serde_json::from_str(ANSWERS).unwrap();
    let paths = script["paths"].as_array().unwrap();
    let found = paths.iter().find(|candidate| candidate["name"] == path).unwrap();
    found["answers"].as_array().unwrap().clone()
}

fn hand_in(view: &Value, answer: &Value) -> Value {
    let artifacts = answer.get("artifacts").cloned().unwrap_or(json!([]));
    let output = json!({ "notesMarkdown": answer["notes"], "artifacts": artifacts });
    json!({ "continueToken": view["continueToken"], "intent": "advance", "output": output })
}

fn start(client: &mut dyn Client, home: &Home) -> Value {
    let folder = home.path.display().to_string();
    let goal = "Show the newest users first";
    client.call(
        "start_workflow",
        json!({ "workflowId": "lh.quick-task", "workspacePath": folder, "goal": goal }),
    )
}

#[test]
fn heavy_clients_that_others_wrote_walk_a_workflow_to_its_end() {
    for setup in Setup::all() {
        let home = Home::new();
        let place = setup.place(&home);
        let mut client = setup.connect(&place, Person::Absent);
        let client = client.as_mut();
        let spoken = client.get(json!({ "wish": "version" }));
        if !spoken.is_null() {
            assert_eq!(spoken, setup.version(), "{setup:?}");
        }
        look_around(client, &home);
        let mut view = start(client, &home);
        for answer in answers(FITS) {
            assert_eq!(view["stepId"], answer["step"], "{setup:?}: {view:#}");
            let next = client.call("continue_workflow", hand_in(&view, &answer));
            let refused = answer["refused"] == true;
            assert_eq!(next["blocked"].is_object(), refused, "{setup:?}: {next:#}");
            view = next;
            if view["stepId"] == "verify" {
                after_a_compaction(client, &view);
            }
        }
        assert_eq!(view["isComplete"], true, "{setup:?}: {view:#}");
        all_is_on_record(&home);
    }
}

/// Lists and prompts. Nothing of it starts anything.
fn look_around(client: &mut dyn Client, home: &Home) {
    let tools = client.get(json!({ "wish": "tools" }));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    let folder = home.path.display().to_string();
    let listed = client.call("list_workflows", json!({ "workspacePath": folder }));
    let is_quick = |row: &Value| row["workflowId"] == "lh.quick-task";
    assert!(listed["workflows"].as_array().unwrap().iter().any(is_quick), "{listed:#}");
    let prompts = client.get(json!({ "wish": "prompts" }));
    let is_quick = |row: &Value| row["name"] == "lh.quick-task";
    assert!(prompts["prompts"].as_array().unwrap().iter().any(is_quick), "{prompts:#}");
    let wish = json!({ "wish": "prompt", "name": "lh.quick-task", "arguments": { "goal": "newest first" } });
    let prompt = client.get(wish);
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("start_workflow") && text.contains("newest first"), "{text}");
    assert_eq!(client.get(json!({ "wish": "resources" }))["resources"], json!([]));
    assert!(!home.database().exists(), "looking makes nothing");
    let unknown = client.wish(json!({ "wish": "call", "name": "no_such_tool", "arguments": {} }));
    assert!(unknown.is_err(), "{unknown:?}");
}

/// The agent knows only its handle: step, plan and notes come back, by tool and by resource.
fn after_a_compaction(client: &mut dyn Client, view: &Value) {
    let again = client.call("continue_workflow", json!({ "continueToken": view["continueToken"] }));
    assert_eq!((&again["stepId"], &again["continueToken"]), (&view["stepId"], &view["continueToken"]));
    let recap = again["recap"].as_str().unwrap();
    assert!(recap.contains("Read the list command and its tests."), "{recap}");
    let resources = client.get(json!({ "wish": "resources" }));
    let uri = format!("longhaul://session/{}", view["sessionId"].as_str().unwrap());
    assert_eq!(resources["resources"][0]["uri"], uri.as_str(), "{resources:#}");
    let read = client.get(json!({ "wish": "read", "uri": uri }));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("Show the newest users first") && text.contains("Verify it"), "{text}");
}

/// What the log says of the only session in a home, whoever made it.
pub(super) fn all_is_on_record(home: &Home) {
    let listed = home.longhaul(&["session", "list", "--all", "--json"]).succeeded().rows();
    assert_eq!(listed.len(), 1, "{listed:#?}");
    assert_eq!(listed[0]["state"], "completed", "{listed:#?}");
    let story = home.longhaul(&["session", "show", listed[0]["id"].as_str().unwrap(), "--json"]).succeeded();
    let story = &story.rows()[0]["story"];
    let of = |kind: &'static str| story.as_array().unwrap().iter().filter(move |event| event["type"] == kind);
    let finished: Vec<&Value> = of("finished").map(|event| &event["notes"]).collect();
    let (refused, accepted): (Vec<_>, Vec<_>) =
        answers(FITS).into_iter().partition(|answer| answer["refused"] == true);
    assert_eq!(finished, accepted.iter().map(|answer| &answer["notes"]).collect::<Vec<_>>(), "{story:#}");
    assert_eq!(of("refused").count(), refused.len(), "{story:#}");
    home.longhaul(&["log", "verify"]).succeeded();
}

#[test]
fn heavy_a_gate_stops_clients_that_others_wrote_until_a_person_speaks() {
    for setup in Setup::all() {
        let home = Home::new();
        let place = setup.place(&home);
        let larger = &answers("it is larger, goes on by a word, and passes the second time")[0];
        let mut alone = setup.connect(&place, Person::Absent);
        let first = start(alone.as_mut(), &home);
        let stopped = alone.call("continue_workflow", hand_in(&first, larger));
        stands_at_the_gate(setup, &stopped);
        let words = json!({
            "continueToken": first["continueToken"],
            "context": { "approved": true, "decision": "approve" },
            "output": { "notesMarkdown": "The person approved.", "artifacts": [{ "kind": "approval" }] },
        });
        let tried = alone.wish(json!({ "wish": "call", "name": "continue_workflow", "arguments": words }));
        // An answer that differs from the recorded one is refused with its own code, and not for any other reason.
        let said = tried.unwrap_or_else(|bad| bad).to_string();
        assert!(said.contains("E0203"), "{setup:?}: words open nothing: {said}");
        let here =
            json!({ "workspacePath": home.path.display().to_string(), "sessionId": first["sessionId"] });
        stands_at_the_gate(setup, &alone.call("resume_session", here)["step"]);
        if setup.maker == Maker::Inspector {
            continue; // It has no way to ask its person.
        }
        let mut with_person = setup.connect(&place, Person::Present);
        // Somebody who closes the window has said nothing.
        let dismissed = with_person.call("continue_workflow", hand_in(&first, larger));
        stands_at_the_gate(setup, &dismissed);
        let yes = json!({ "action": "accept", "content": { "decision": "approve", "words": "Go on." } });
        with_person.get(json!({ "wish": "decide", "answer": yes }));
        let next = with_person.call("continue_workflow", hand_in(&first, larger));
        assert_eq!(next["stepId"], "do", "{setup:?}: {next:#}");
        let story =
            home.longhaul(&["session", "show", first["sessionId"].as_str().unwrap(), "--json"]).succeeded();
        let story = &story.rows()[0]["story"];
        let answered =
            story.as_array().unwrap().iter().find(|event| event["type"] == "gate_answered").unwrap();
        assert_eq!(
            (&answered["channel"], &answered["words"]),
            (&json!("client"), &json!("Go on.")),
            "{story:#}"
        );
    }
}

fn stands_at_the_gate(setup: Setup, view: &Value) {
    assert_eq!(view["continueToken"], Value::Null, "{setup:?}: {view:#}");
    assert_eq!(view["gate"]["accepts"], "client", "{setup:?}: {view:#}");
    let question = view["gate"]["question"].as_str().unwrap();
    assert!(question.contains("more than a quick task"), "{setup:?}: {question}");
}
