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

/// A program with hands of its own that goes through our gateway, and writes down what it was given.
const HANDS: &str = r#"
gateway=$1 token=$2 cache=$3 model=$4
port=${gateway#http://127.0.0.1:}; port=${port%%/*}
say() { exec 3<>/dev/tcp/127.0.0.1/$port; printf "$@" >&3; head -n 1 <&3; exec 3>&-; }
{
  env
  ls -a
  cat .env.local
  touch "$cache/was-here" && echo cache-changed
  body="{\"model\":\"$model\",\"max_tokens\":50,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}"
  echo model: $(say 'POST /model/anthropic/v1/messages HTTP/1.1\r\nhost: gateway\r\nx-api-key: %s\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\ncontent-length: %s\r\nconnection: close\r\n\r\n%s' "$token" "${#body}" "$body")
  basic=$(printf 'longhaul:%s' "$token" | base64 -w 0)
  for host in docs.example.com pypi.org; do
    echo $host: $(say 'CONNECT %s:443 HTTP/1.1\r\nhost: %s:443\r\nproxy-authorization: Basic %s\r\n\r\n' $host $host "$basic")
  done
} >found.txt 2>&1
echo Looked.
"#;

/// Somebody of that kind, and what it finds with these flags.
fn what_hands_find(world: &World, more: &[&str]) -> (Value, String) {
    let person = world.home.join("person");
    fs::create_dir_all(person.join(".cache/tool")).unwrap();
    let cache = person.join(".cache/tool").canonicalize().unwrap().display().to_string();
    let command = json!(["bash", "-c", HANDS, "bash", "{gateway}", "{token}", cache, "{model}"]);
    let folder = world.home.longhaul_home().join("config/agents");
    fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "kind: command\ncommand: {command}\nhands_in: by_ending\nprovider: anthropic\nmodel: claude-haiku\n"
    );
    fs::write(folder.join("hands.yml"), text).unwrap();
    let settings = ["-c", "sandbox.hosts=docs.example.com,pypi.org", "-c", "sandbox.caches=~/.cache/tool"];
    let goal = ["run", "--workflow", "team.fix", "--goal", "fix it", "--json", "--agent", "hands"];
    let ended = world.command(&[&goal[..], &settings, more].concat()).variable("HOME", &person).go();
    let told = one(&ended.succeeded());
    let found = fs::read_to_string(world.worktree(&told).join("found.txt")).unwrap();
    let _ = fs::remove_file(person.join(".cache/tool/was-here"));
    (told, found)
}

fn line<'a>(found: &'a str, of: &str) -> &'a str {
    found.lines().find(|line| line.starts_with(of)).unwrap_or_default()
}

#[test]
fn hands_that_ask_through_the_gateway_are_held_to_the_same() {
    let world = World::new(|_| Answer::say("Hello."));
    with_a_secret_file(&world);
    let (_, clean) = what_hands_find(&world, &[]);
    assert!(clean.contains("PASSWORD=") && clean.contains("cache-changed"), "{clean}");
    assert!(line(&clean, "model:").contains(" 200 "), "{clean}");
    assert!(!line(&clean, "docs.example.com:").contains(" 403 "), "{clean}");
    let before = world.server.tally().requests;
    let (told, tainted) = what_hands_find(&world, &["--from-outside"]);
    assert_eq!(assigned(&world, &told)["taint"], "outside");
    // Neither secrets nor what is marked as one, nor a key, nor a login.
    assert!(!tainted.contains("PASSWORD=") && tainted.contains(".env.local: No such file"), "{tainted}");
    assert!(!tainted.contains(KEY) && !tainted.contains("\nANTHROPIC_API_KEY=sk-"), "{tainted}");
    assert!(!tainted.contains("cache-changed"), "{tainted}");
    // Its model is reached, and a registry that is listed may be; nobody else.
    assert!(line(&tainted, "model:").contains(" 200 "), "{tainted}");
    assert!(world.server.tally().requests > before);
    assert!(line(&tainted, "docs.example.com:").contains(" 403 "), "{tainted}");
    // What a network here makes of a registry is its own: it is the same as without the mark.
    assert!(!line(&tainted, "pypi.org:").is_empty(), "{tainted}");
    assert_eq!(line(&tainted, "pypi.org:"), line(&clean, "pypi.org:"), "{tainted}");
    assert_eq!(assigned(&world, &told)["settings"]["inline"]["reach"]["hosts"], json!(["pypi.org"]));
    let refused = world.events(&id_of(&told)).into_iter().filter(|event| event["type"] == "reported");
    let refused: Vec<String> = refused.map(|event| event.to_string()).collect();
    assert!(refused.iter().any(|report| report.contains("docs.example.com")), "{refused:?}");
    for more in [["--network", "open"], ["--sandbox", "none"], ["--sandbox", "reduced"]] {
        let refused = world.run(&[&["--agent", "hands", "--from-outside"][..], &more].concat());
        assert_eq!(refused.code, Some(3), "{more:?}: {refused}");
        assert!(refused.stderr.contains("E0912"), "{more:?}: {refused}");
    }
}
