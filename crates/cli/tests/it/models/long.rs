//! A long session: it stays within the window of its model, and what matters is still told after the conversation was
//! shortened.

use std::fs;

use longhaul_testkit::model_server::{Answer, Asked};
use serde_json::json;

use super::{World, id_of};
use crate::walking::one;

const TURNS: usize = 300;
const WINDOW: u64 = 60_000;
const PLAN: &str = "PLAN: first the boundary, then the tests.";
const CONSTRAINT: &str = "CONSTRAINT: never touch the public interface.";

/// Makes a plan, keeps a constraint, changes files, and looks at much more than there is room for.
fn works_long(asked: &Asked) -> Answer {
    match asked.number {
        1 => Answer::call("note_fact", &json!({ "fact": CONSTRAINT, "evidence": "the goal says so" })),
        2 => Answer::call("complete_step", &json!({ "notes": PLAN })),
        number if number % 50 == 0 => {
            let path = format!("part-{number}.txt");
            Answer::call("write", &json!({ "path": path, "content": "a part of it\n" }))
        }
        number if number < TURNS => {
            let command = format!("echo turn {number}; head -c 7000 /dev/zero | tr '\\0' 'x'");
            Answer::call("bash", &json!({ "command": command }))
        }
        _ => Answer::call("complete_step", &json!({ "notes": "All of it is done." })),
    }
}

#[test]
fn heavy_a_session_of_300_turns_stays_within_its_window_and_still_knows_what_matters() {
    let world = World::new(works_long);
    let folder = world.home.longhaul_home().join("config/agents");
    fs::create_dir_all(&folder).unwrap();
    let agent = format!(
        "kind: anthropic\nmodel: some-model\nwindow: {WINDOW}\nmax_output: 4k\nprice: subscription\n"
    );
    fs::write(folder.join("small.yml"), agent).unwrap();
    let budget = "tokens=1000M,turns=1000,time=5h";
    let told = one(&world.run(&["--agent", "small", "--budget", budget]).succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    let asked = world.server.asked();
    assert_eq!(asked.len(), TURNS + 1, "each turn is asked once");
    for one in &asked {
        let tokens = one.bytes.len() as u64 / 4;
        assert!(tokens + 4000 <= WINDOW, "request {} has {tokens} tokens", one.number);
    }
    let results = world.acts(&id_of(&told), &["call_finished"]);
    let bytes = |act: &serde_json::Value| {
        let inline = act["result"]["inline"].as_str().map_or(0, str::len) as u64;
        act["result"]["blob"]["bytes"].as_u64().unwrap_or(inline)
    };
    assert!(results.iter().map(bytes).sum::<u64>() >= 1_900_000, "that is how much it saw");
    let shortened = world.acts(&id_of(&told), &["compacted"]);
    let digests = shortened.iter().filter(|act| act["turns_until"].as_u64() > Some(0)).count();
    assert!(digests >= 2, "{} shortenings, {digests} with a digest", shortened.len());
    let last = asked.last().unwrap().told();
    for what in [PLAN, CONSTRAINT, "part-50.txt", "part-150.txt", "part-250.txt", "fix it"] {
        assert!(last.contains(what), "the last request does not know of {what}: {last}");
    }
}
