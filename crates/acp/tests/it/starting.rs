//! How a session is made: logged in or not, new or old, with what it offers to choose.

use longhaul_acp::{Beginning, Hands, HandsError, McpServer, Start};

use crate::support::{Watcher, agent, quickly, start};

/// What the agent has seen before its first prompt.
fn seen(start: &Start<'_>) -> (Beginning, serde_json::Value) {
    let watcher = Watcher::new();
    let mut hands = Hands::start(start, &watcher).unwrap();
    let said = hands.prompt("go", &watcher).unwrap().said;
    (hands.beginning(), serde_json::from_str(&said).unwrap())
}

#[test]
fn our_tools_are_handed_over() {
    let mcp = McpServer {
        name: "longhaul".into(),
        program: "/bin/longhaul".into(),
        args: vec!["mcp".into(), "--attach".into()],
        env: vec![("A".into(), "b".into())],
    };
    let (beginning, seen) = seen(&Start { mcp: Some(mcp), ..start(agent("tells")) });
    assert_eq!(beginning, Beginning::New);
    assert_eq!(
        seen.to_string(),
        r#"["initialize","session/new",{"cwd":"/some/where","mcpServers":[{"name":"longhaul","command":"/bin/longhaul","args":["mcp","--attach"],"env":[{"name":"A","value":"b"}]}]},"session/prompt"]"#
    );
}

#[test]
fn an_old_session_is_taken_up_where_the_agent_can() {
    let resume = |how| seen(&Start { resume: Some("old-1"), ..start(agent(how)) });
    let (beginning, methods) = resume("resumes");
    assert_eq!(
        (beginning, methods.to_string()),
        (Beginning::Resumed, r#"["initialize","session/resume","session/prompt"]"#.into())
    );
    let (beginning, methods) = resume("loads");
    assert_eq!(
        (beginning, methods.to_string()),
        (Beginning::Resumed, r#"["initialize","session/load","session/prompt"]"#.into())
    );
    let (beginning, methods) = resume("forgets");
    assert_eq!(
        (beginning, &methods[1], &methods[2]),
        (Beginning::New, &"session/load".into(), &"session/new".into())
    );
    let (beginning, methods) = resume("tells");
    assert_eq!((beginning, &methods[1]), (Beginning::New, &"session/new".into()));
}

#[test]
fn the_story_that_is_told_again_when_a_session_is_loaded_is_not_heard() {
    let watcher = Watcher::new();
    Hands::start(&Start { resume: Some("old-1"), ..start(agent("loads")) }, &watcher).unwrap();
    assert_eq!(watcher.heard.into_inner(), [longhaul_acp::Update::Other]);
}

#[test]
fn an_agent_is_logged_in_only_by_what_its_environment_holds() {
    let watcher = Watcher::new();
    let refused = Hands::start(&start(agent("login")), &watcher).unwrap_err();
    assert!(matches!(&refused, HandsError::Login { ways } if ways.len() == 2), "{refused}");
    says(
        &refused,
        "the agent wants a person to log in first (Log in with a browser, Use AGENT_KEY); log in with the agent itself, or give it a provider",
    );
    let (_, seen) = seen(&start(agent("login").set_variable("AGENT_KEY", "fits")));
    let methods: Vec<&str> = seen.as_array().unwrap().iter().filter_map(|entry| entry.as_str()).collect();
    assert_eq!(methods, ["initialize", "session/new", "authenticate", "session/new", "session/prompt"]);
}

fn says(error: &HandsError, words: &str) {
    assert_eq!(error.to_string(), words);
}

#[test]
fn a_model_and_a_mode_are_chosen_where_they_are_offered() {
    let choose = |how, model, mode| {
        let (_, seen) = seen(&Start { model: Some(model), mode: Some(mode), ..start(agent(how)) });
        let seen = seen.as_array().unwrap();
        seen[3..seen.len() - 1].iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        choose("options", "large", "free"),
        r#""session/set_config_option" {"sessionId":"session-1","configId":"which","value":"large"} "session/set_mode" {"sessionId":"session-1","modeId":"free"}"#
    );
    assert_eq!(
        choose("models", "large", "no such mode"),
        r#""session/set_model" {"sessionId":"session-1","modelId":"large"}"#
    );
    assert_eq!(choose("models", "no such model", "no such mode"), "");
}

#[test]
fn another_version_of_the_protocol_is_named() {
    let refused = Hands::start(&start(agent("version")), &Watcher::new()).unwrap_err();
    assert!(matches!(refused, HandsError::Version { version: 2 }), "{refused}");
}

#[test]
fn an_agent_that_never_greets_is_given_up_and_one_that_nobody_wants_is_left() {
    let began = std::time::Instant::now();
    let impatient = Watcher { answer: std::time::Duration::from_millis(300), ..Watcher::new() };
    let silent = Hands::start(&start(agent("mute")), &impatient).unwrap_err();
    assert!(matches!(silent, HandsError::Silent { .. }), "{silent}");
    let missing = Hands::start(&start(longhaul_exec::Program::new("no-such-agent")), &impatient).unwrap_err();
    assert!(matches!(missing, HandsError::Process(_)), "{missing}");
    quickly(began);
}
