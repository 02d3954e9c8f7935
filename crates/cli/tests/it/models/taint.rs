//! Text from outside: what a session may have that works on it, cell by cell of the table in the guide.

use std::fs;

use longhaul_testkit::model_server::Answer;
use serde_json::{Value, json};

use super::{KEY, World, fixes_it, id_of};
use crate::support::git;
use crate::walking::one;

const MODEL: [&str; 2] = ["--agent", "anthropic/claude-haiku"];

/// Looks for what it should not have, and hands that in.
fn looks_around() -> World {
    World::new(|asked| match asked.results().len() {
        0 => Answer::call(
            "bash",
            &json!({ "command": "env; ls -a; cat .env.local; cat $HOME/.ssh/id 2>&1; true" }),
        ),
        1 => Answer::call("complete_step", &json!({ "notes": asked.results()[0].text })),
        _ => Answer::call("complete_step", &json!({ "notes": "Done." })),
    })
}

fn with_a_secret_file(world: &World) {
    let repository = world.home.join("repo");
    fs::write(repository.join(".gitignore"), ".env.local\n").unwrap();
    fs::create_dir_all(repository.join(".longhaul")).unwrap();
    let config = "checkout:\n  copy: [ { path: .env.local, secret: true } ]\n";
    fs::write(repository.join(".longhaul/config.yml"), config).unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "settings"]);
    fs::write(repository.join(".env.local"), "PASSWORD=sing-little-bird-sing\n").unwrap();
    world.command(&["workspace", "add"]).go().succeeded();
    world.home.trust("repo");
}

fn seen(world: &World, told: &Value) -> String {
    let finished = world.acts(&id_of(told), &["call_finished"]);
    finished[0]["result"]["inline"].as_str().unwrap_or_default().to_owned()
}

fn assigned(world: &World, told: &Value) -> Value {
    let shown = world.acts(&id_of(told), &["assigned"]);
    shown[0].clone()
}

#[test]
fn a_tainted_session_has_no_secrets_and_no_secret_files_and_says_that_it_is_one() {
    let world = looks_around();
    with_a_secret_file(&world);
    let clean = one(&world.run(&MODEL).succeeded());
    assert!(seen(&world, &clean).contains(".env.local\n"), "{}", seen(&world, &clean));
    let tainted = one(&world.run(&[&MODEL[..], &["--from-outside"]].concat()).succeeded());
    let found = seen(&world, &tainted);
    assert!(!found.contains(".env.local\n") && !found.contains("sing-little-bird-sing"), "{found}");
    assert!(!found.contains(KEY) && !found.contains("ANTHROPIC_API_KEY"), "{found}");
    assert_eq!(assigned(&world, &tainted)["taint"], "outside");
    assert_eq!(assigned(&world, &clean)["taint"], Value::Null);
    let story = world.home.longhaul(&["session", "show", &id_of(&tainted)]).succeeded().stdout;
    assert!(story.contains("comes from outside"), "{story}");
}

#[test]
fn a_tainted_session_reaches_models_and_listed_registries_and_changes_no_cache() {
    let world = World::new(fixes_it);
    let settings = ["-c", "sandbox.hosts=docs.example.com,pypi.org", "-c", "sandbox.caches=~/.cache/tool"];
    let home = world.home.join("person");
    fs::create_dir_all(&home).unwrap();
    let run = |more: &[&str]| {
        let goal = ["run", "--workflow", "team.fix", "--goal", "fix it", "--json"];
        one(&world
            .command(&[&goal[..], &MODEL, &settings, more].concat())
            .variable("HOME", &home)
            .go()
            .succeeded())
    };
    let clean = run(&[]);
    let reach = |told: &Value| assigned(&world, told)["settings"]["inline"]["reach"].clone();
    assert_eq!(reach(&clean)["hosts"], json!(["docs.example.com", "pypi.org"]));
    assert_eq!(reach(&clean)["caches"], json!(["~/.cache/tool"]));
    let tainted = run(&["--from-outside"]);
    assert_eq!((&reach(&tainted)["hosts"], &reach(&tainted)["caches"]), (&json!(["pypi.org"]), &json!([])));
    assert_eq!(tainted["outcome"]["kind"], "completed", "its model was reached: {tainted}");
}

#[test]
fn what_is_too_much_of_a_risk_is_not_started() {
    let world = World::new(fixes_it);
    for (more, says) in [
        (vec!["--network", "open"], "has no open network"),
        (vec!["--sandbox", "none"], "level full or not at all"),
        (vec!["--sandbox", "reduced"], "level full or not at all"),
        (vec!["--agent", "claude-login"], "gets no credentials"),
    ] {
        let agent: &[&str] = if more[0] == "--agent" { &[] } else { &MODEL };
        let refused = world.run(&[agent, &more, &["--from-outside"]].concat());
        assert_eq!(refused.code, Some(3), "{more:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(says) && refused.stderr.contains("E0912"),
            "{more:?}: {}",
            refused.stderr
        );
    }
    assert_eq!(world.server.tally().requests, 0);
    assert!(
        world.home.longhaul(&["session", "list", "--all", "--json"]).rows().is_empty(),
        "nothing was begun"
    );
}

#[test]
fn a_rehearsal_is_held_to_the_same() {
    let world = World::new(fixes_it);
    fs::write(
        world.home.join("run.yml"),
        "cassette: 1\nturns:\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n",
    )
    .unwrap();
    let cassette = world.home.join("run.yml").display().to_string();
    let outside = ["--cassette", cassette.as_str(), "--from-outside"];
    world.run(&outside).succeeded();
    let refused = world.run(&[&outside[..], &["--network", "open"]].concat());
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
}
