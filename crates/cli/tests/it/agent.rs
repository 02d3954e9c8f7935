//! `longhaul agent`: who can be asked, whether that works here, and what it cost.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::run::{arguments, prepared, words};
use crate::support::{Home, Outcome, shows};
use crate::terminal::Terminal;
use crate::walking::one;

const KEY: &str = "sk-quiet-canary-4711";
const BARE: &str = "/nonexistent";

/// A provider that answers everything with one status and one body, and remembers what it was asked.
struct Server {
    base: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn answering(status: u16, body: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (kept, body) = (heard.clone(), body.to_string());
        thread::spawn(move || {
            for client in listener.incoming() {
                let mut client = client.unwrap();
                let lines = BufReader::new(client.try_clone().unwrap()).lines();
                let head: Vec<String> =
                    lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                // Whoever only looks whether somebody is here says nothing.
                if head.is_empty() {
                    continue;
                }
                kept.lock().unwrap().push(head.join("\n"));
                let length = body.len();
                let _ = write!(client, "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n{body}");
            }
        });
        Self { base, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn models(names: &[&str]) -> Value {
    json!({ "data": names.iter().map(|name| json!({ "id": name })).collect::<Vec<_>>() })
}

fn keep(home: &Home, name: &str) {
    home.run(&["secret", "set", name]).stdin(KEY).go().succeeded();
}

/// A folder with programs that answer with their name and a version, for a path of its own.
fn programs(home: &Home, names: &[&str]) -> PathBuf {
    let folder = home.join("programs");
    fs::create_dir_all(&folder).unwrap();
    for name in names {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\necho {name} 1.18\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn view(home: &Home, name: &str, path: &str) -> Value {
    let rows = home.run(&["agent", "list", "--json"]).variable("PATH", path).go().succeeded().rows();
    rows.into_iter().find(|row| row["name"] == name).unwrap()
}

fn own(home: &Home, name: &str, text: &str) {
    let folder = home.longhaul_home().join("config/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.yml")), text).unwrap();
}

#[test]
fn a_newcomer_is_told_exactly_what_to_do_in_ten_lines() {
    let home = Home::new();
    let told = home.run(&["agent", "check"]).variable("PATH", BARE).go();
    shows!(told, @r#"
        exit 4
        --- stdout
        Nobody can be asked to do a step yet. One of these is enough:
        1. a key of a provider, paid by use: get one at https://platform.claude.com/settings/keys, then
             longhaul secret set ANTHROPIC_API_KEY      and ask  anthropic/claude-sonnet
        2. Claude Code with your own login:  npm install -g @agentclientprotocol/claude-agent-acp
             npm install -g @anthropic-ai/claude-code; claude      and ask  claude-login
        3. a model on this machine, for nothing: install Ollama from https://ollama.com, then
             ollama pull qwen3-coder      and ask  ollama/qwen3-coder
        Then:  longhaul agent check NAME
               longhaul run --workflow lh.quick-task --goal "Say what this is for" --agent NAME
        --- stderr
    "#);
    assert!(told.stdout.lines().count() + told.stderr.lines().count() <= 10, "{told}");
    // Everybody whom it names is somebody, and every workflow too.
    for name in ["anthropic/claude-sonnet", "claude-login", "ollama/qwen3-coder"] {
        let checked = home.run(&["agent", "check", name]).variable("PATH", BARE).go();
        assert_eq!(checked.code, Some(4), "{checked}");
        assert!(checked.stdout.contains("  to do: "), "{checked}");
    }
    home.longhaul(&["workflow", "show", "lh.quick-task"]).succeeded();
}

#[test]
fn all_are_listed_with_how_they_are_paid_and_what_they_lack() {
    let home = Home::new();
    shows!(home.run(&["agent", "list"]).variable("PATH", BARE).go(), @r"
        exit 0
        --- stdout
        NAME              KIND              PAID BY                       STATE
        claude            acp               the key `ANTHROPIC_API_KEY`   missing: `claude-agent-acp` is not on the path
        claude-login      acp               its own login                 missing: `claude-agent-acp` is not on the path
        codex             acp               the key `OPENAI_API_KEY`      missing: `codex-acp` is not on the path
        codex-login       acp               its own login                 missing: `codex-acp` is not on the path
        gemini            acp               its own login                 missing: `gemini` is not on the path
        opencode          acp               the key `OPENAI_API_KEY`      missing: `opencode` is not on the path
        rehearsal         rehearsal         nothing                       ready
        anthropic/MODEL   anthropic         the key `ANTHROPIC_API_KEY`   missing: there is no key `ANTHROPIC_API_KEY`
        llama.cpp/MODEL   openai-chat       nothing, it runs here         missing: no server answers at http://[version].1:1
        ollama/MODEL      openai-chat       nothing, it runs here         missing: no server answers at http://[version].1:1
        openai/MODEL      openai-responses  the key `OPENAI_API_KEY`      missing: there is no key `OPENAI_API_KEY`
        openrouter/MODEL  openai-chat       the key `OPENROUTER_API_KEY`  missing: there is no key `OPENROUTER_API_KEY`
        vllm/MODEL        openai-chat       nothing, it runs here         missing: no server answers at http://[version].1:1
        --- stderr
        `longhaul agent check NAME` says how to get what is missing
    ");
    let known = home.longhaul(&["agent", "list", "--models"]).succeeded();
    assert!(known.stdout.contains("anthropic/claude-opus-5-5"), "{known}");
    assert!(known.stderr.contains("prices as of 20"), "{known}");
}

#[test]
fn programs_logins_and_keys_that_are_here_are_found() {
    let home = Home::new();
    let path = programs(&home, &["claude-agent-acp", "codex"]).display().to_string();
    let login = view(&home, "claude-login", &path);
    assert_eq!(login["state"], "missing");
    assert_eq!(login["findings"][1]["finding"], "nobody signed in: no ~/.claude, ~/.claude.json");
    fs::create_dir_all(home.join("user/.claude")).unwrap();
    let login = view(&home, "claude-login", &path);
    assert_eq!(login["state"], "ready", "{login:#}");
    assert_eq!(login["holdsItsOwnCredentials"], json!(["~/.claude", "~/.claude.json"]));
    let codex = view(&home, "codex", &path);
    assert_eq!(codex["findings"][0]["finding"], "`codex-acp` is not on the path, though `codex` is");
    assert_eq!(view(&home, "claude", &path)["state"], "missing");
    keep(&home, "ANTHROPIC_API_KEY");
    let claude = view(&home, "claude", &path);
    assert_eq!((&claude["state"], &claude["model"]), (&json!("ready"), &json!("claude-sonnet-5-5")));
    assert!(claude.get("holdsItsOwnCredentials").is_none(), "{claude:#}");
    let seen = home.run(&["agent", "list"]).variable("OPENAI_API_KEY", KEY).go().succeeded();
    assert!(
        seen.stdout.contains("openai/MODEL") && !seen.stdout.contains("there is no key `OPENAI_API_KEY`")
    );
    assert!(!format!("{seen}{claude}").contains(KEY), "a key is never shown");
}

#[test]
fn a_provider_is_really_asked_with_the_key_and_its_answer_is_told() {
    let home = Home::new();
    keep(&home, "ANTHROPIC_API_KEY");
    let good = Server::answering(200, &models(&["claude-opus-5-5", "claude-sonnet-5-5-20261001"]));
    let check = |name: &str, base: &str| {
        home.run(&["agent", "check", name]).variable("ANTHROPIC_BASE_URL", base).variable("PATH", BARE).go()
    };
    let told = |outcome: Outcome, base: &str| outcome.to_string().replace(base, "[SERVER]");
    shows!(told(check("anthropic/claude-opus", &good.base), &good.base), @r"
        exit 0
        --- stdout
        STATE  FINDING
        ready  [SERVER] answers and has 2 models
        --- stderr
        `anthropic/claude-opus` can be asked
    ");
    let heard = good.heard();
    assert!(heard[0].starts_with("GET /v1/models"), "{heard:?}");
    assert!(heard[0].contains(&format!("x-api-key: {KEY}")), "{heard:?}");
    assert_eq!(check("anthropic/claude-sonnet", &good.base).code, Some(0), "a dated version will do");
    assert_eq!(check("anthropic", &good.base).code, Some(0));
    shows!(told(check("anthropic/claude-haiku", &good.base), &good.base), @r"
        exit 4
        --- stdout
        STATE          FINDING
        ready          [SERVER] answers and has 2 models
        does not work  Anthropic has no model `claude-haiku-5-5`
          to do: name one that it has, such as `claude-opus-5-5`, `claude-sonnet-5-5-20261001`
        --- stderr
    ");
    let strict = Server::answering(401, &json!({ "error": { "message": KEY } }));
    shows!(told(check("anthropic/claude-opus", &strict.base), &strict.base), @r"
        exit 4
        --- stdout
        STATE          FINDING
        does not work  [SERVER] does not take the key `ANTHROPIC_API_KEY` (401)
          to do: set one that is good: `longhaul secret set ANTHROPIC_API_KEY`
        --- stderr
    ");
    let all = check("anthropic", "http://127.0.0.1:1");
    assert!(all.code == Some(4) && all.stdout.contains("is not reached"), "{all}");
}

#[test]
fn a_server_on_this_machine_is_found_and_asked_without_a_key() {
    let home = Home::new();
    let server = Server::answering(200, &models(&["qwen3-coder:30b"]));
    let host = server.base.trim_start_matches("http://").to_owned();
    let check = |name: &str| home.run(&["agent", "check", name]).variable("OLLAMA_HOST", &host).go();
    assert_eq!(check("ollama/qwen3-coder").code, Some(0));
    let lacking = check("ollama/llama9");
    assert!(lacking.stdout.contains("get it with `ollama pull llama9`"), "{lacking}");
    let all = home.run(&["agent", "check"]).variable("OLLAMA_HOST", &host).variable("PATH", BARE).go();
    assert_eq!(all.code, Some(0), "{all}");
    assert!(all.stdout.contains("ollama/MODEL") && all.stderr.contains("others are not set up"), "{all}");
    assert!(all.stdout.lines().count() <= 3, "those that nobody set up are not shown: {all}");
}

#[test]
fn a_program_is_asked_for_its_version_and_one_that_fails_is_told() {
    let home = Home::new();
    let path = programs(&home, &["opencode"]);
    keep(&home, "OPENAI_API_KEY");
    let server = Server::answering(200, &models(&["gpt-6.1-terra"]));
    let check = || {
        let run =
            home.run(&["agent", "check", "opencode", "--json"]).variable("OPENAI_BASE_URL", &server.base);
        run.variable("PATH", format!("{}:/bin:/usr/bin", path.display())).go()
    };
    let ready = one(&check());
    assert_eq!(ready["findings"][0]["finding"], "`opencode` opencode 1.18", "{ready:#}");
    assert_eq!(ready["state"], "ready");
    fs::write(path.join("opencode"), "#!/bin/sh\nexit 3\n").unwrap();
    let failing = one(&check());
    assert_eq!(failing["state"], "failing");
    assert_eq!(failing["findings"][0]["finding"], "`opencode --version` does not work: it ended with 3");
}

#[test]
fn an_unknown_name_is_answered_with_what_was_meant() {
    shows!(Home::new().longhaul(&["agent", "check", "cluade"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0910]: there is no agent `cluade`; did you mean `claude`? `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`
        hint: longhaul explain E0910
    ");
}

#[test]
fn an_agent_of_ones_own_is_written_once_and_its_key_stays_a_name() {
    let home = Home::new();
    let add = |more: &[&str]| home.longhaul(&[&["agent", "add", "mine"], more].concat());
    let base = ["--kind", "openai-chat", "--base-url", "https://models.example.com/v1", "--model", "big"];
    shows!(add(&[&base[..], &["--key", "WORK_KEY", "--price", "1usd,2usd", "--window", "64k"]].concat()), @r"
        exit 0
        --- stdout
        NAME  PATH
        mine  [HOME]/home/config/agents/mine.yml
        --- stderr
        next: longhaul secret set WORK_KEY
        next: longhaul agent check mine
    ");
    let path = home.longhaul_home().join("config/agents/mine.yml");
    let text = fs::read_to_string(&path).unwrap();
    shows!(text.clone(), @r#"
        kind: openai-chat
        base_url: "https://models.example.com/v1"
        key: $WORK_KEY
        model: big
        window: "64k"
        price: { input: "1usd", output: "2usd" }
    "#);
    let again = add(&["--kind", "acp", "--", "other"]);
    assert_eq!(again.code, Some(3), "{again}");
    assert!(again.stderr.contains("of yours already"), "{again}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "nothing is overwritten");
    let listed = view(&home, "mine", BARE);
    assert_eq!((&listed["own"], &listed["paid"]), (&json!(true), &json!("the key `WORK_KEY`")), "{listed:#}");
    home.longhaul(&["agent", "rm", "mine"]).succeeded();
    assert!(!path.exists());
    let gone = home.longhaul(&["agent", "rm", "mine"]);
    assert_eq!(gone.code, Some(3), "{gone}");
    assert!(gone.stderr.contains("there is no agent `mine` of yours"), "{gone}");
    home.longhaul(&["agent", "add", "mine", "--kind", "command", "--", "true"]).succeeded();
    let checked = home.longhaul(&["agent", "check", "mine"]).to_string();
    assert!(checked.contains("mine.yml`: `price:") && !checked.contains("models.yml"), "{checked}");
    for (words, says) in [
        (&["agent", "add", "Mine", "--kind", "acp", "--", "x"][..], "cannot be the name of an agent"),
        (&["agent", "add", "a", "--kind", "acp"], "needs what is started"),
        (&["agent", "add", "a", "--kind", "anthropic"], "write `model`"),
        (
            &["agent", "add", "a", "--kind", "openai-chat", "--model", "m", "--key", KEY],
            "not the name of a secret",
        ),
        (&["agent", "add", "a"], "give `--kind`"),
    ] {
        let refused = home.longhaul(words);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains(says) && !refused.stderr.contains(KEY), "{refused}");
    }
    let under = home.run(&["agent", "add", "b", "--kind", "acp", "--", "x"]);
    assert_eq!(
        under.variable("LONGHAUL_SESSION", "s-0123456789abc").go().code,
        Some(3),
        "an agent adds nobody"
    );
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_person_at_a_terminal_is_asked_for_what_a_file_needs() {
    let home = Home::new();
    let mut terminal = Terminal::whole_in(&home, &home.path, &["agent", "add", "mine"], &[]);
    for (question, answer) in [
        ("How is it driven", "acp\n"),
        ("What is started", "my-agent --acp\n"),
        ("Whose models", "\n"),
        ("Which path of your home", "~/.my-agent\n"),
        ("What do a million tokens cost", "\n"),
    ] {
        terminal.wait_for(question);
        terminal.type_text(answer);
    }
    let (outcome, shown) = terminal.end();
    assert_eq!(outcome.code, Some(0), "{shown}");
    let text = fs::read_to_string(home.longhaul_home().join("config/agents/mine.yml")).unwrap();
    shows!(text, @r#"
        kind: acp
        command: [my-agent, "--acp"]
        price: subscription
        own_credentials: ["~/.my-agent"]
    "#);
}

#[test]
fn a_file_that_cannot_be_used_is_listed_and_diagnosed_and_stops_nobody_else() {
    let home = Home::new();
    own(&home, "wrong", "kind: acp\ncommand: [x]\nkey: sk-in-the-wrong-place\n");
    let wrong = view(&home, "wrong", BARE);
    assert_eq!(wrong["state"], "failing");
    let checked = home.longhaul(&["agent", "check", "wrong"]);
    assert!(
        checked.code == Some(4) && checked.stdout.contains("put `[HOME]/home/config/agents/wrong.yml` right")
    );
    let doctor = home.longhaul(&["doctor"]);
    assert_eq!(doctor.code, Some(4), "{doctor}");
    assert!(doctor.stdout.contains("agent `wrong`"), "{doctor}");
    assert!(!format!("{wrong}{checked}{doctor}").contains("sk-in-the-wrong-place"));
    fs::write(home.longhaul_home().join("config/models.yml"), "models: { nobody: {} }").unwrap();
    let refused = home.longhaul(&["agent", "list"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.stderr.contains("models.yml` cannot be used") && refused.stderr.contains("E0910"),
        "{refused}"
    );
}

#[test]
fn settings_that_name_nobody_are_diagnosed() {
    let home = Home::new();
    fs::create_dir_all(home.longhaul_home().join("config")).unwrap();
    let settings = "agents: { default: cluade, tiers: { heavy: [claude, opencode] } }\n";
    fs::write(home.longhaul_home().join("config/config.yml"), settings).unwrap();
    let doctor = home.longhaul(&["doctor"]);
    assert_eq!(doctor.code, Some(4), "{doctor}");
    assert!(doctor.stdout.contains("there is no agent `cluade`"), "{doctor}");
    assert!(doctor.stdout.contains("did you mean `claude`?"), "{doctor}");
    assert_eq!(doctor.stdout.matches("there is no agent").count(), 1, "{doctor}");
}

const PAID: &str = "
cassette: 1
price: { input: 3usd, output: 15usd }
turns:
  - match: { step: look }
    usage: { input: 1000, output: 100 }
    complete: { notes: Looked. }
  - match: { step: change }
    usage: { input: 2000, output: 200 }
    complete: { notes: Changed. }
  - match: { step: check }
    complete: { notes: Checked. }
";

#[test]
fn what_was_used_is_told_per_agent_model_and_workflow_and_the_same_from_the_log() {
    let home = prepared(PAID);
    shows!(home.longhaul(&["agent", "cost"]), @r"
        exit 0
        --- stdout
        --- stderr
        nothing was used; sessions that `longhaul run` drives are counted here
    ");
    for _ in 0..2 {
        let arguments = arguments(&home);
        home.run(&words(&arguments)).inside("repo").go().succeeded();
    }
    let cost = || home.longhaul(&["agent", "cost"]);
    let told = cost().to_string();
    shows!(told.clone(), @r"
        exit 0
        --- stdout
        AGENT      MODEL  WORKFLOW  SESSIONS  REQUESTS  INPUT  CACHED  OUTPUT  MONEY        HELD
        rehearsal  -      team.fix  2         6         6000   0       600     0.027000usd  -
        --- stderr
        in all 6600 tokens, 0.027000usd
    ");
    home.longhaul(&["doctor", "--rebuild"]).succeeded();
    assert_eq!(cost().to_string(), told);
    fs::remove_file(home.longhaul_home().join("data/views.db")).unwrap();
    assert_eq!(cost().to_string(), told);
    let row = one(&home.longhaul(&["agent", "cost", "--json", "--since", "1d"]));
    assert_eq!((&row["costMicros"], &row["unbilled"]), (&json!(27_000), &json!(0)), "{row:#}");
    assert!(
        home.longhaul(&["agent", "cost", "--json", "--since", "2999-01-01"]).succeeded().rows().is_empty()
    );
    assert_eq!(home.longhaul(&["agent", "cost", "--since", "soon"]).code, Some(2));
}
