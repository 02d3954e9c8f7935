//! What an import claims, and that nobody takes more in than was vouched for.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;

use longhaul_core::canonical::sha256;
use longhaul_core::chain::{Header, link};
use longhaul_core::scrub::Scrubber;
use longhaul_core::workflow::compile::{Source, Sources, Syntax, compile};
use longhaul_events::{
    Channel, Content, Digest, NodeId, Seq, SessionEvent, SessionId, StreamId, Timestamp, Verdict,
};
use longhaul_store::{AnsweredGate, Append, Claims, ImportError, Log, NewBlob, SqliteLog, StreamAppend};
use serde_json::{Value, json};

use crate::keeping::{exported, no_scrubbing};
use crate::support::*;

const PLAIN: &str = "  - { id: look, title: Look, prompt: Look. }\n";
const GATED: &str = "  - { id: sure, title: Sure, gate: { by: person, question: Sure? } }\n";
const RUNNING: &str = "  - { id: work, title: Work, run: { command: [touch, done] } }\n";

/// A workflow as sessions pin it.
fn workflow(steps: &str) -> Vec<u8> {
    let text = format!("longhaul: 1\nid: team.try\nname: Try\nversion: 1.0.0\nsteps:\n{PLAIN}{steps}");
    let source = Source { name: "try.yml".to_owned(), text, syntax: Syntax::Yaml };
    let outcome = compile(&source, &Sources::default());
    serde_json::to_vec(&outcome.value.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics))).unwrap()
}

fn pinned(workflow: Content) -> SessionEvent {
    SessionEvent::WorkflowPinned {
        id: "team.try".to_owned(),
        version: "1.0.0".to_owned(),
        hash: Digest::ZERO,
        workflow,
        checkout: None,
    }
}

fn approved() -> SessionEvent {
    SessionEvent::GateAnswered {
        gate: NodeId(Seq(3)),
        verdict: Verdict::Approved,
        by: "root".to_owned(),
        channel: Channel::Terminal,
        words: Content::Inline(json!("")),
    }
}

/// Opens a session that follows a workflow, which lies in a blob.
fn begin(log: &SqliteLog, stream: StreamId, workflow: &[u8]) {
    let blob = NewBlob::new(workflow.to_vec());
    let events = [opened("a"), pinned(Content::Blob(blob.reference()))];
    let part = StreamAppend::new(stream, Seq(0), &events, None);
    let append = Append { at: Timestamp(1000), state_epoch: 0, streams: vec![part], blobs: vec![blob] };
    log.append(append).unwrap();
}

/// What an export would claim where `log` is.
fn claims(log: &SqliteLog, export: &str) -> Claims {
    let scrubber = no_scrubbing();
    log.spool(&mut Cursor::new(export), &scrubber).unwrap().look().unwrap().claims
}

fn id(n: u8) -> SessionId {
    SessionId::from_bytes([n; 8])
}

/// The export with one more decision of its last stream, its chain and its last line made anew: no key is needed.
fn continued(export: &str, event: &SessionEvent) -> String {
    let mut lines: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = lines.iter().rposition(|line| line.get("decision").is_some()).unwrap();
    let mut decision = lines[place]["decision"].clone();
    let stream = decision["stream"].as_str().unwrap().to_owned();
    let seq = Seq(decision["seq"].as_u64().unwrap() + decision["count"].as_u64().unwrap());
    let at = Timestamp(decision["at"].as_i64().unwrap());
    let body = serde_json::to_string(&[event]).unwrap();
    let digest = sha256(body.as_bytes());
    let previous: Digest = serde_json::from_value(decision["hash"].clone()).unwrap();
    let hash = link(previous, &Header { stream: &stream, seq, count: 1, at }, digest);
    for (field, value) in [
        ("seq", json!(seq)),
        ("count", json!(1)),
        ("previous", json!(previous)),
        ("digest", json!(digest)),
        ("hash", json!(hash)),
        ("body", json!(body)),
    ] {
        decision[field] = value;
    }
    lines.insert(place + 1, json!({ "decision": decision }));
    let last = lines.last_mut().unwrap();
    last["end"]["decisions"] = json!(last["end"]["decisions"].as_u64().unwrap() + 1);
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn a_forged_answer_to_a_gate_is_a_claim_and_is_not_taken_in_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    begin(&log, session(1), &workflow(GATED));
    let forged = continued(&exported(&log), &approved());
    let answer = AnsweredGate {
        session: id(1),
        gate: NodeId(Seq(3)),
        verdict: Verdict::Approved,
        by: "root".to_owned(),
        channel: Channel::Terminal,
    };
    let claimed = Claims { answers: vec![answer], going_on: BTreeSet::from([id(1)]), ..Claims::default() };
    assert_eq!(claims(&log, &forged), claimed);
    let scrubber = no_scrubbing();
    let spooled = log.spool(&mut Cursor::new(&forged), &scrubber).unwrap();
    assert!(matches!(spooled.take_in(&Claims::default()), Err(ImportError::ChangedMeanwhile)));
    assert_eq!(events(&log, session(1)).len(), 2);
    let spooled = log.spool(&mut Cursor::new(&forged), &scrubber).unwrap();
    assert_eq!(spooled.take_in(&claimed).unwrap().decisions, 1);
    assert_eq!(claims(&log, &forged), Claims::default(), "what is here is no news");
}

#[test]
fn a_session_that_is_here_and_is_led_past_its_gate_or_to_its_commands_is_a_claim() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    let kinds = [
        (1, PLAIN.replace("look", "again"), false),
        (2, GATED.to_owned(), true),
        (3, RUNNING.to_owned(), true),
    ];
    for (n, steps, is_claim) in kinds {
        begin(&log, session(n), &workflow(&steps));
        let mut export = Vec::new();
        log.export(&[session(n).to_string()], &mut export).unwrap();
        let forged = continued(&String::from_utf8(export).unwrap(), &step(3));
        let going_on = is_claim.then(|| id(n)).into_iter().collect();
        assert_eq!(claims(&log, &forged), Claims { going_on, ..Claims::default() });
    }
}

#[test]
fn commands_that_nobody_here_started_are_claims_wherever_their_workflow_lies() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    let commands: BTreeSet<String> = BTreeSet::from(["touch done".to_owned()]);
    let claimed = Claims { commands, ..Claims::default() };
    let inline = pinned(Content::Inline(serde_json::from_slice(&workflow(RUNNING)).unwrap()));
    append(&log, session(1), 0, &[opened("a"), inline]).unwrap();
    assert_eq!(claims(&copy, &exported(&log)), claimed, "in the event");
    begin(&copy, session(2), &workflow(RUNNING));
    let in_a_blob = exported(&copy);
    let elsewhere = tempfile::tempdir().unwrap();
    let other = sqlite(elsewhere.path());
    assert_eq!(claims(&other, &in_a_blob), claimed, "in a blob that comes with it");
    begin(&other, session(3), &workflow(RUNNING));
    assert_eq!(claims(&other, &in_a_blob), claimed, "in a blob that is here already");
    begin(&log, session(4), &workflow(PLAIN.replace("look", "again").as_str()));
    let mut plain = Vec::new();
    log.export(&[session(4).to_string()], &mut plain).unwrap();
    assert_eq!(claims(&copy, &String::from_utf8(plain).unwrap()), Claims::default(), "there are none");
}

#[test]
fn a_workflow_that_comes_later_or_in_another_form_is_a_claim() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    let text = workflow(RUNNING);
    let hash = sha256(&text);
    begin(&log, session(1), &text);
    let whole = exported(&log);
    let without: String = whole
        .lines()
        .map(|line| {
            if line.starts_with("{\"blob\"") {
                json!({"left_out": {"sha256": hash, "problem": "lost"}}).to_string() + "\n"
            } else {
                line.replace("\"blobs\":1", "\"blobs\":0").replace("\"left_out\":0", "\"left_out\":1") + "\n"
            }
        })
        .collect();
    let doubtful = BTreeSet::from([hash]);
    assert_eq!(claims(&copy, &without), Claims { doubtful: doubtful.clone(), ..Claims::default() });
    take_in(&copy, &mut Cursor::new(without), &no_scrubbing()).unwrap();
    let commands = BTreeSet::from(["touch done".to_owned()]);
    assert_eq!(claims(&copy, &whole), Claims { commands: commands.clone(), ..Claims::default() });
    let scrubber = Scrubber::redacting("Look.");
    let redacted = log.redact(&scrubber, longhaul_store::Names::TakeOut).unwrap();
    assert_eq!(redacted.blobs, 1);
    assert_eq!(claims(&copy, &exported(&log)), Claims { commands, doubtful, ..Claims::default() });
}

#[test]
fn whoever_looks_leaves_nothing_behind_and_keeps_nobody_waiting() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append_blob(&log, session(1), 0, NewBlob::new(vec![b'x'; 200_000]));
    let text = exported(&log);
    let scrubber = no_scrubbing();
    let mut spooled = copy.spool(&mut Cursor::new(&text), &scrubber).unwrap();
    let seen = spooled.look().unwrap();
    assert_eq!((seen.decisions, seen.blobs), (1, 1));
    assert_eq!(copy.stream_names().unwrap(), [""; 0]);
    assert!(fs::read_dir(there.path().join("blobs")).map_or(true, |mut found| found.next().is_none()));
    append(&sqlite(there.path()), session(2), 0, &[opened("meanwhile")]).unwrap();
    assert_eq!(spooled.take_in(&seen.claims).unwrap(), seen);
    assert_eq!(copy.stream_names().unwrap().len(), 2);
}
