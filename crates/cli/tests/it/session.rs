//! `longhaul session`: a person plays the agent from start to end.

use std::fs;

use serde_json::json;

use crate::support::{Home, git, shows};
use crate::terminal::Terminal;
use crate::walking::{
    TWO_STEPS, advance, handle, id, log, one, start, try_advance, walk_to_the_end, workflow,
};

const LOOKED: [&str; 4] = ["--notes", "I looked.", "--vars", r#"{"size": "small"}"#];

#[test]
fn the_quick_task_is_walked_from_start_to_end() {
    let home = Home::new();
    let first = start(&home, "lh.quick-task", "sort the list of users");
    let keys: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "sessionId stepId title prompt continueToken checkpointToken isComplete requires blocked gate \
                    working progress warnings";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(first["progress"], json!({"done": 0, "total": 4}));
    assert!(first["prompt"].as_str().unwrap().contains("sort the list of users"));
    let session = id(&first).to_owned();
    assert_eq!(walk_to_the_end(&home, first), ["understand", "do", "verify", "summary"]);
    let shown = home.longhaul(&["session", "show", &session, "--why"]).succeeded().stdout;
    for told in ["`larger-than-it-looked` skipped because", "handed out `verify`: Verify it", "completed"] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let without_reasons = home.longhaul(&["session", "show", &session]).succeeded().stdout;
    assert!(!without_reasons.contains("skipped"), "{without_reasons}");
    assert_eq!(home.longhaul(&["session", "list", "--json"]).rows(), [] as [serde_json::Value; 0]);
    let all = home.longhaul(&["session", "list", "--all", "--json"]).rows();
    assert_eq!((&all[0]["state"], &all[0]["steps_finished"]), (&json!("completed"), &json!(4)));
}

#[test]
fn a_step_can_be_read_and_answered_without_json() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let arguments = ["session", "start", "--workflow", "team.two", "--goal", "the\u{1b}[2Jfile"];
    shows!(home.longhaul(&arguments), @r#"
        exit 0
        --- stdout
        # Look

        ## Workflow: Two steps

        For tests.

        ## Guidance for the whole workflow

        - Be brief.

        Look at the\u{1b}[2Jfile.

        ## What to hand in

        - `notes`: what you did, what you found and how you know it. Required.
        - `vars`: set `size` (text). Required.

        Session [session], step `look` (Look), 0 of 2 steps done
          next: longhaul session advance [handle] --notes TEXT --vars '{"size": …}'
          next: longhaul session checkpoint [handle] --notes TEXT  # notes on the way
        --- stderr
    "#);
    let view = one(&home.longhaul(&["session", "resume", "--json"]))["step"].clone();
    shows!(home.longhaul(&["session", "advance", handle(&view), "--notes", "x"]), @r#"
        exit 3
        --- stdout
        Not accepted:
        - the step must set `size` (text)
          fix: add `"size": …` to vars
        9 of 10 attempts are left.

        # Look

        ## Workflow: Two steps

        For tests.

        ## Guidance for the whole workflow

        - Be brief.

        Look at the\u{1b}[2Jfile.

        ## What to hand in

        - `notes`: what you did, what you found and how you know it. Required.
        - `vars`: set `size` (text). Required.

        Session [session], step `look` (Look), 0 of 2 steps done
          next: longhaul session advance [handle] --notes TEXT --vars '{"size": …}'
          next: longhaul session checkpoint [handle] --notes TEXT  # notes on the way
        --- stderr
    "#);
}

#[test]
fn the_same_call_gets_the_same_answer_and_another_is_refused_with_both_shown() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let second = advance(&home, &first, &LOOKED);
    let before = log(&home);
    assert_eq!(advance(&home, &first, &LOOKED), second);
    let other = try_advance(&home, &first, &["--notes", "I did not look.", "--vars", r#"{"size": "small"}"#]);
    assert_eq!(other.code, Some(5), "{other}");
    assert!(other.stderr.contains("I looked.") && other.stderr.contains("I did not look."), "{other}");
    assert_eq!(log(&home), before);
    advance(&home, &second, &["--notes", "Told."]);
    assert_eq!(advance(&home, &first, &LOOKED), second, "the answer stays, however far the session went");
}

#[test]
fn an_answer_that_does_not_do_is_on_record_and_the_step_stays_under_a_new_handle() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let refused = try_advance(&home, &first, &["--notes", "no size"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    let again = one(&refused);
    assert_eq!(again["stepId"], "look");
    assert_ne!(handle(&again), handle(&first));
    let reason = &again["blocked"]["reasons"][0];
    assert!(reason["message"].as_str().unwrap().contains("size"), "{reason}");
    assert!(!reason["fix"].as_str().unwrap().is_empty());
    assert_eq!(one(&try_advance(&home, &first, &["--notes", "no size"])), again);
    assert_eq!(advance(&home, &again, &LOOKED)["stepId"], "tell");
    let shown = home.longhaul(&["session", "show", id(&first)]).succeeded().stdout;
    assert!(shown.contains("an answer to `look` was not accepted"), "{shown}");
    assert!(shown.contains("it was: {"), "{shown}");
}

#[test]
fn what_cannot_be_kept_is_refused_and_nothing_is_written() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let deep = format!("{{\"size\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let deeper = format!("{{\"size\": {}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let files = [
        ("long", "n".repeat(10_000_000)),
        ("nul", "a\0b".to_owned()),
        ("large", json!({"size": "v".repeat(300_000)}).to_string()),
        ("deep", deep),
        ("deeper", deeper),
        ("list", "[1]".to_owned()),
        ("torn", "{\"size\": ".to_owned()),
        ("escaped", r#"{"size": "a\u0000b"}"#.to_owned()),
        ("proto", r#"{"size": {"__proto__": {"x": 1}}}"#.to_owned()),
        ("ours", r#"{"longhaul": 1}"#.to_owned()),
    ];
    for (name, text) in &files {
        fs::write(home.join(name), text).unwrap();
    }
    fs::write(home.join("binary"), [0xff, 0xfe, 0]).unwrap();
    let before = log(&home);
    for (flag, file, told) in [
        ("--notes", "@long", "1000000 are the most"),
        ("--notes", "@nul", "NUL"),
        ("--notes", "@binary", "not UTF-8"),
        ("--notes", "@absent", "could not read"),
        ("--vars", "@large", "262144 are the most"),
        ("--vars", "@deep", "64 are the most"),
        ("--vars", "@deeper", "not JSON"),
        ("--vars", "@list", "an object"),
        ("--vars", "@torn", "line 1"),
        ("--vars", "@escaped", "NUL"),
        ("--vars", "@proto", "__proto__"),
        ("--vars", "@ours", "engine's own"),
        ("--artifact", "@long", "not JSON"),
        ("--artifact", "@escaped", "NUL"),
    ] {
        let outcome = try_advance(&home, &first, &[flag, file]);
        let expected = if file == "@absent" { 4 } else { 2 };
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(expected), ""), "{flag} {file}: {outcome}");
        assert!(outcome.stderr.contains(told), "{flag} {file}: {outcome}");
        let begin = ["session", "start", "--workflow", "team.two", "--json"];
        let argument = match flag {
            "--notes" => ["--goal", file, "--vars", "{}"],
            _ => ["--goal", "it", "--vars", file],
        };
        let outcome = home.longhaul(&[&begin[..], &argument].concat());
        assert_ne!(outcome.code, Some(0), "start {flag} {file}: {outcome}");
    }
    let checkpoint = first["checkpointToken"].as_str().unwrap();
    for arguments in [
        &["session", "checkpoint", checkpoint, "--notes", "@long"][..],
        &["session", "rewind", id(&first), "--to", "look", "--reason", "@nul"],
        &["session", "cancel", id(&first), "--reason", "@long"],
    ] {
        let outcome = home.longhaul(arguments);
        assert_eq!(outcome.code, Some(2), "{outcome}");
    }
    assert_eq!(log(&home), before);
    assert_eq!(advance(&home, &first, &LOOKED)["stepId"], "tell", "the handle is as good as before");
}

#[test]
fn a_handle_that_is_malformed_forged_or_for_notes_only_is_refused() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let forged = format!("{}.5.aaaaaaaa.aaaaaaaaaaaaaaaa", id(&first));
    let notes_only = first["checkpointToken"].as_str().unwrap();
    let nobody = "s-041061050r3gg.5.aaaaaaaa.aaaaaaaaaaaaaaaa";
    for (text, code) in [("x", 2), (forged.as_str(), 3), (notes_only, 3), (nobody, 2)] {
        let outcome = home.longhaul(&["session", "advance", text, "--notes", "x"]);
        assert_eq!(outcome.code, Some(code), "{text}: {outcome}");
        assert_eq!(outcome.stderr.contains("`checkpointToken` of a step"), text == notes_only, "{outcome}");
    }
    let outcome = home.longhaul(&["session", "checkpoint", handle(&first), "--notes", "x"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("`continueToken` of a step"), "{outcome}");
}

#[test]
fn notes_come_from_a_file_or_through_standard_input() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let vars = home.join("vars.json");
    fs::write(&vars, r#"{"size": "small"}"#).unwrap();
    let arguments = ["session", "advance", handle(&first), "--notes", "-", "--vars", "@vars.json", "--json"];
    let second = one(&home.run(&arguments).stdin("- a list\n- of notes\n").go().succeeded());
    assert_eq!(second["stepId"], "tell");
    let arguments =
        ["session", "checkpoint", second["checkpointToken"].as_str().unwrap(), "--notes", "- half"];
    home.longhaul(&arguments).succeeded();
    let shown = home.longhaul(&["session", "show", id(&first)]).succeeded().stdout;
    for told in ["      - a list\n      - of notes\n", "notes in the middle of `tell`\n      - half\n"] {
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let session = id(&start(&home, "team.two", "it")).to_owned();
    for text in [&session[..6], &session[2..7], &session] {
        home.longhaul(&["session", "show", text]).succeeded();
    }
    shows!(home.longhaul(&["session", "show", "nobody"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0201]: no session has an id that begins with `nobody`; `longhaul session list --all` shows them
        hint: longhaul explain E0201
    ");
    let other = start(&home, "team.two", "it");
    let common = id(&other).chars().zip(session.chars()).take_while(|(a, b)| a == b).count();
    let outcome = home.longhaul(&["session", "show", &session[..common]]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
}

#[test]
fn resuming_ranks_by_words_then_place_and_changes_nothing() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let login = start(&home, "team.two", "mend the login");
    let logout = start(&home, "team.two", "mend the logout");
    advance(&home, &login, &["--notes", "The cookie is stale.", "--vars", r#"{"size": "small"}"#]);
    let before = log(&home);
    let resume = |query: &[&str]| {
        let arguments: Vec<&str> = ["session", "resume", "--json"].iter().chain(query).copied().collect();
        one(&home.longhaul(&arguments).succeeded())
    };
    let unclear = resume(&[]);
    assert_eq!(unclear["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(unclear["step"], json!(null), "being newer makes nobody sure");
    let by_notes = resume(&["stale", "cookie"]);
    assert_eq!(by_notes["candidates"][0]["because"][0], "`cookie`, `stale` in its goal or notes");
    assert_eq!(by_notes["step"]["stepId"], "tell");
    assert!(by_notes["step"]["prompt"].as_str().unwrap().contains("Be brief."), "{by_notes:#}");
    let by_id = resume(&[&id(&logout)[..9]]);
    assert_eq!(resume(&[&id(&logout)[2..9]]), by_id, "as `show` takes it");
    assert_eq!((id(&by_id["step"]), handle(&by_id["step"])), (id(&logout), handle(&logout)));
    assert_eq!(home.longhaul(&["session", "resume", "unheard"]).code, Some(2));
    assert_eq!(log(&home), before);
}

#[test]
fn resuming_knows_the_commit_and_the_branch() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let repository = home.repository("repo");
    let begin = |goal: &str| {
        let arguments = ["session", "start", "--workflow", "team.two", "--goal", goal, "--json"];
        one(&home.run(&arguments).inside("repo").go().succeeded())
    };
    let here = begin("here");
    git(&repository, &["checkout", "--quiet", "-b", "topic"]);
    git(&repository, &["commit", "--quiet", "--allow-empty", "--message=second"]);
    begin("there");
    git(&repository, &["checkout", "--quiet", "main"]);
    let resumed = one(&home.run(&["session", "resume", "--json"]).inside("repo").go().succeeded());
    assert_eq!(id(&resumed["step"]), id(&here));
    let because = resumed["candidates"][0]["because"].to_string();
    assert!(
        because.contains("began at this commit") && because.contains("began on branch `main`"),
        "{because}"
    );
}

#[test]
fn starting_in_a_repository_registers_it_and_says_that_nobody_trusts_it() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    home.repository("repo");
    let arguments = ["session", "start", "--workflow", "team.two", "--goal", "it", "--json"];
    let first = one(&home.run(&arguments).inside("repo").go().succeeded());
    assert!(first["warnings"][0].as_str().unwrap().contains("nobody trusts it yet"), "{first:#}");
    let workspaces = home.longhaul(&["workspace", "list", "--json"]).rows();
    assert_eq!(workspaces[0]["trust"], "untrusted");
    let second = one(&home.run(&arguments).inside("repo").go().succeeded());
    assert_eq!(second["warnings"], json!([]));
    let row = home.longhaul(&["session", "list", "--json"]).rows().remove(0);
    assert_eq!((&row["workspace"], &row["checkout"]["branch"]), (&workspaces[0]["id"], &json!("main")));
}

#[test]
fn a_rewind_goes_back_with_a_reason_and_tells_what_it_left_behind() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let second = advance(&home, &first, &LOOKED);
    let session = id(&first);
    let arguments = ["session", "rewind", session, "--to", "look", "--reason", "the wrong file", "--json"];
    let again = one(&home.longhaul(&arguments).succeeded());
    assert_eq!(again["stepId"], "look");
    assert!(again["warnings"][0].as_str().unwrap().contains("files are as they are"), "{again:#}");
    assert_eq!(try_advance(&home, &second, &["--notes", "Told."]).code, Some(5), "that branch is left");
    let shown = home.longhaul(&["session", "show", session]).succeeded().stdout;
    for told in
        ["went back to `look`\n      the wrong file", "left behind: `look`", "its last notes: I looked."]
    {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let unknown = home.longhaul(&["session", "rewind", session, "--to", "nowhere", "--reason", "x"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert_eq!(advance(&home, &again, &LOOKED)["stepId"], "tell");
}

#[test]
fn a_completed_session_goes_on_when_asked_for_more_and_a_cancelled_one_does_not() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let session = id(&first).to_owned();
    let early = home.longhaul(&["session", "continue", &session, "more"]);
    assert_eq!(early.code, Some(3), "{early}");
    let second = advance(&home, &first, &LOOKED);
    assert_eq!(advance(&home, &second, &["--notes", "Told."])["isComplete"], true);
    let more =
        one(&home.longhaul(&["session", "continue", &session, "Also the docs.", "--json"]).succeeded());
    let prompt = more["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("# Follow-up"), "{prompt}");
    for told in ["Also the docs.", "Its goal was: it", "- size: small"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert_eq!(advance(&home, &more, &["--notes", "Docs too."])["isComplete"], true);
    let arguments = ["session", "cancel", &session, "--reason", "x"];
    assert_eq!(home.longhaul(&arguments).code, Some(3), "what is closed cannot be cancelled");
    let other = start(&home, "team.two", "other");
    home.longhaul(&["session", "cancel", id(&other), "--reason", "nobody wants it"]).succeeded();
    let shown = home.longhaul(&["session", "show", id(&other)]).succeeded().stdout;
    assert!(shown.contains(": nobody wants it"), "{shown}");
    let late = try_advance(&home, &other, &LOOKED);
    assert_eq!(late.code, Some(3));
    assert!(late.stdout.contains("session_cancelled"), "{}", late.stdout);
}

#[test]
fn a_session_goes_on_in_another_home_with_the_same_handle() {
    let (home, other) = (Home::new(), Home::new());
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "it");
    let file = home.join("session.jsonl").into_os_string().into_string().unwrap();
    home.longhaul(&["session", "export", id(&first), "-o", &file]).succeeded();
    assert_eq!(home.longhaul(&["session", "export", id(&first), "-o", &file]).code, Some(3));
    let row = one(&other.longhaul(&["session", "import", &file, "--json"]).succeeded());
    assert_eq!((&row["id"], &row["step"]), (&first["sessionId"], &json!("look")));
    let second = advance(&other, &first, &LOOKED);
    assert_eq!(advance(&other, &second, &["--notes", "Told."])["isComplete"], true);
    let closed = other.longhaul(&["session", "export", id(&first)]).succeeded().stdout;
    let third = Home::new();
    let told = third.run(&["session", "import", "-"]).stdin(closed).go().succeeded();
    assert!(told.stderr.contains("it is closed"), "{told}");
    fs::write(home.join("empty"), "").unwrap();
    let empty = other.longhaul(&["session", "import", home.join("empty").to_str().unwrap()]);
    assert_eq!(empty.code, Some(3), "{empty}");
}

#[test]
fn times_are_local_at_a_terminal_and_utc_for_everybody_else() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let first = start(&home, "team.two", "the gate");
    let view = advance(&home, &first, &["--notes", "Seen.", "--vars", r#"{"size": "large"}"#]);
    let changed =
        one(&home.longhaul(&["session", "list", "--json"]))["updated_at"].as_str().unwrap().to_owned();
    let until = one(&home.longhaul(&["gate", "list", "--json"]))["until"].as_str().unwrap().to_owned();
    assert!(changed.len() == "2026-11-15T20:00:00.120Z".len() && changed.ends_with('Z'), "{changed}");
    let gate = view["gate"]["id"].as_str().unwrap();
    for (arguments, utc) in [
        (&["session", "list"][..], &changed),
        (&["session", "show", id(&view)], &until),
        (&["session", "resume"], &changed),
        (&["gate", "list"], &until),
        (&["gate", "show", gate], &until),
        (&["log", "show"], &changed),
    ] {
        let later = utc.parse::<jiff::Timestamp>().unwrap() + jiff::SignedDuration::from_hours(14);
        let local = later.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let (_, shown) = Terminal::whole_in(&home, &home.path, arguments, &[("TZ", "EARLY-14")]).end();
        assert!(shown.contains(&local) && !shown.contains(utc.as_str()), "{local} {arguments:?}: {shown}");
        let piped = home.run(arguments).variable("TZ", "EARLY-14").go().stdout;
        assert!(piped.contains(utc.as_str()) && !piped.contains(&local), "{utc} {arguments:?}: {piped}");
    }
}

#[test]
fn a_session_is_found_by_words_deep_in_notes_that_are_too_long_for_a_row() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let long = format!("{} the Ocelot sleeps. {}", "so it began. ".repeat(400), "and so on. ".repeat(900));
    fs::write(home.join("long.txt"), &long).unwrap();
    let found = start(&home, "team.two", "one");
    advance(&home, &found, &["--notes", "@long.txt", "--vars", r#"{"size": "small"}"#]);
    let checkpoint = start(&home, "team.two", "two");
    let token = checkpoint["checkpointToken"].as_str().unwrap();
    home.longhaul(&["session", "checkpoint", token, "--notes", &long.replace("Ocelot", "lynx")]).succeeded();
    start(&home, "team.two", "three");
    for (query, meant) in [("ocelot", &found), ("LYNX", &checkpoint), ("ocelot nonesuch", &found)] {
        let resumed = one(&home.longhaul(&["session", "resume", query, "--json"]).succeeded());
        assert_eq!(resumed["step"]["sessionId"], meant["sessionId"], "{query}: {resumed:#}");
        assert_eq!(resumed["candidates"].as_array().unwrap().len(), 1, "{query}: {resumed:#}");
    }
    assert_eq!(home.longhaul(&["session", "resume", "nonesuch"]).code, Some(2));
}

#[test]
fn what_a_policy_said_and_was_given_is_told_with_the_reasons() {
    let home = Home::new();
    let text = "longhaul: 1\nid: team.rule\nname: Rule\nversion: 1.0.0\nsteps:\n\
                - { id: ask, decide: { policy: intent, with: { intent: '{{goal}}', classification: small }, into: rule } }\n\
                - { id: look, title: 'It is for a {{rule.decision}}', prompt: Look. }\n";
    workflow(&home, "team.rule.yml", text);
    let first = start(&home, "team.rule", "sort the users");
    assert_eq!(first["title"], "It is for a person");
    let shown = home.longhaul(&["session", "show", id(&first), "--why"]).succeeded().stdout;
    let told = [
        "`ask`: policy `intent` says person",
        "because `intent` is not what it must be",
        "given intent = sort the users",
        "given classification = small",
    ];
    told.iter().for_each(|line| assert!(shown.contains(line), "{line}: {shown}"));
    let without_reasons = home.longhaul(&["session", "show", id(&first)]).succeeded().stdout;
    assert!(!without_reasons.contains("says person"), "{without_reasons}");
}
