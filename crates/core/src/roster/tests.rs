//! Files in, definitions out.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

fn file(text: &str) -> UserFile {
    UserFile { path: "agents/mine.yml".to_owned(), text: text.to_owned() }
}

fn with(text: &str) -> Roster {
    Roster::with(None, &[("mine".to_owned(), file(text))]).unwrap()
}

fn mine(text: &str) -> Definition {
    with(text).resolve("mine").unwrap()
}

fn refused(text: &str) -> String {
    with(text).resolve("mine").unwrap_err().to_string()
}

#[test]
fn whoever_comes_with_us_can_be_resolved() {
    let roster = Roster::bundled();
    let all: Vec<String> = roster
        .definitions()
        .map(|one| {
            let by = one.provider.as_deref().unwrap_or("-");
            format!("{} {} {by} {}", one.name, one.kind, one.model.as_deref().unwrap_or("-"))
        })
        .collect();
    assert_snapshot!(all.join("\n"), @"
    claude acp anthropic claude-sonnet-5-5
    claude-login acp - -
    codex acp openai gpt-6.1-sol
    codex-login acp - -
    gemini acp - -
    opencode acp openai gpt-6.1-terra
    rehearsal rehearsal - -
    ");
    assert_eq!(roster.broken().count(), 0);
    for one in roster.definitions() {
        assert_ne!(one.pricing, Pricing::Unknown, "{}", one.name);
        assert!(one.provider.is_none() || one.own_credentials.is_empty(), "{}", one.name);
        assert!(!roster.is_own(&one.name));
    }
    assert!(roster.as_of() >= "2026-11");
}

#[test]
fn every_bundled_model_belongs_to_a_provider_and_says_all_that_a_budget_needs() {
    let roster = Roster::bundled();
    let names: Vec<String> = roster.models.names().collect();
    assert!(names.len() > 15);
    for name in names {
        let definition = roster.resolve(&name).unwrap();
        assert!(definition.pricing.known().is_ok_and(|price| !price.is_free()), "{name}");
        assert!(definition.window > definition.max_output && definition.max_output.is_some(), "{name}");
    }
}

#[test]
fn a_model_goes_by_its_provider_and_any_of_its_names() {
    let roster = Roster::bundled();
    let opus = roster.resolve("anthropic/claude-opus").unwrap();
    assert_eq!(opus.name, "anthropic/claude-opus");
    assert_eq!(opus.model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(opus.kind, Kind::Model { wire: Wire::AnthropicMessages });
    let dated = roster.resolve("openai/gpt-6.1-sol-2026-09-29").unwrap();
    assert_eq!(dated.model.as_deref(), Some("gpt-6.1-sol-2026-09-29"));
    assert_eq!(dated.pricing, roster.pricing("openai", "gpt-sol"));
    assert_eq!(dated.kind, Kind::Model { wire: Wire::OpenAiResponses });
    let local = roster.resolve("ollama/qwen3-coder:30b").unwrap();
    assert_eq!((local.pricing, local.window), (Pricing::Known(Price::default()), None));
    let routed = roster.resolve("openrouter/z-ai/glm-5.3").unwrap();
    assert_eq!(routed.model.as_deref(), Some("z-ai/glm-5.3"));
    assert_eq!(routed.pricing, Pricing::Unknown);
}

#[test]
fn an_unknown_name_is_answered_with_what_was_probably_meant() {
    let roster = Roster::bundled();
    let words = |name: &str| roster.resolve(name).unwrap_err().to_string();
    assert_snapshot!(words("cluade"), @"there is no agent `cluade`; did you mean `claude`? `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`");
    assert_snapshot!(words("claude-opus-5-5"), @"there is no agent `claude-opus-5-5`; did you mean `anthropic/claude-opus-5-5`? `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`");
    assert_snapshot!(words("antropic/claude-opus"), @"there is no agent `antropic/claude-opus`; did you mean `anthropic/claude-opus`? `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`");
    assert_snapshot!(words("ollama"), @"there is no agent `ollama`; did you mean `ollama/MODEL`? `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`");
    assert_snapshot!(words("anthropic/"), @"there is no agent `anthropic/`; did you mean `anthropic/MODEL`? `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`");
    assert_snapshot!(words("zzz"), @"there is no agent `zzz`; `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`");
}

#[test]
fn a_chain_is_resolved_whole_or_not_at_all() {
    let roster = Roster::bundled();
    let chain = roster.chain(["claude", "openai/gpt-sol"]).unwrap();
    assert_eq!(chain.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["claude", "openai/gpt-sol"]);
    assert!(roster.chain(["claude", "nobody"]).is_err());
}

#[test]
fn the_users_agents_are_read_with_what_is_known_of_their_models() {
    let plain = mine("{ kind: anthropic, model: claude-haiku, max_output: 8k }");
    assert_eq!(plain.model.as_deref(), Some("claude-haiku-5-5"));
    assert_eq!((plain.window, plain.max_output), (Some(1_000_000), Some(8000)));
    assert_eq!(plain.provider.as_deref(), Some("anthropic"));
    let acp = mine(
        "{ kind: acp, command: [my-agent, --acp], own_credentials: [~/.my-agent], price: subscription, env: { A: '{home}' } }",
    );
    assert_eq!(acp.kind, Kind::Acp { command: vec!["my-agent".into(), "--acp".into()] });
    assert_eq!(acp.pricing, Pricing::Known(Price::default()));
    let command = mine(
        "{ kind: command, command: [aider, --message, '{prompt}'], hands_in: by_ending, provider: openai, model: gpt-luna }",
    );
    assert_eq!(command.kind.word(), "command");
    assert!(matches!(command.kind, Kind::Command { hands_in: HandsIn::ByEnding, .. }));
    let priced = mine(
        "{ kind: openai-responses, model: new-one, price: { input: 3usd, output: 15usd, cache_read: 0.30usd } }",
    );
    let expected = Price { cache_read_micros: Some(300_000), ..Price::plain(3_000_000, 15_000_000) };
    assert_eq!(priced.pricing, Pricing::Known(expected));
}

#[test]
fn an_own_address_is_a_provider_of_its_own_and_never_gets_the_usual_key() {
    let roster = with("{ kind: anthropic, base_url: 'https://proxy.example.com/v1', model: claude-opus }");
    let provider = roster.provider("mine").unwrap();
    assert_eq!(provider.base_url, "https://proxy.example.com");
    assert_eq!((&provider.key_variable, &provider.base_url_variable), (&None, &None));
    let definition = roster.resolve("mine").unwrap();
    assert_eq!(definition.provider.as_deref(), Some("mine"));
    assert_eq!(definition.pricing, roster.pricing("anthropic", "claude-opus"));
    assert_eq!(roster.resolve("mine/claude-haiku").unwrap().provider.as_deref(), Some("mine"));
    let keyed = with("{ kind: openai-responses, key: $WORK_KEY, model: gpt-sol }");
    let provider = keyed.provider("mine").unwrap();
    assert_eq!(provider.key_variable.as_deref(), Some("WORK_KEY"));
    assert_eq!(provider.base_url, "https://api.openai.com");
    let local = with("{ kind: openai-chat, base_url: 'http://localhost:1234/v1', model: some-model }");
    assert!(local.provider("mine").unwrap().is_local);
    assert_eq!(local.resolve("mine").unwrap().pricing, Pricing::Known(Price::default()));
}

#[test]
fn a_file_that_cannot_be_used_says_why_and_leaves_the_others() {
    let roster = with("{ kind: acp }");
    assert_eq!(roster.broken().map(|(name, _)| name).collect::<Vec<_>>(), ["mine"]);
    assert!(roster.resolve("claude").is_ok());
    for (text, says) in [
        ("{ kind: acp }", "needs what is started"),
        ("{ kind: acp, command: [''] }", "needs what is started"),
        ("{ kind: mind }", "mind"),
        ("{ kind: anthropic }", "write `model`"),
        ("{ kind: anthropic, model: m, command: [x] }", "`command` says nothing"),
        ("{ kind: acp, command: [x], key: $A }", "`key` says nothing"),
        ("{ kind: openai-chat, model: m }", "nobody knows where it is"),
        ("{ kind: acp, command: [x], provider: antropic }", "there is no provider `antropic`"),
        ("{ kind: acp, command: [x], own_credentials: [/etc] }", "from `~/` on"),
        ("{ kind: acp, command: [x], own_credentials: [~/../x] }", "from `~/` on"),
        ("{ kind: acp, command: [x], own_credentials: [~/] }", "from `~/` on"),
        ("{ kind: acp, command: [x], files: { ../x: y } }", "below the private home"),
        ("{ kind: acp, command: [x], hosts: ['*'] }", "is not a host"),
        ("{ kind: anthropic, model: m, window: lots }", "`window`: `lots` is not a count"),
        ("{ kind: anthropic, model: m, window: 0 }", "`window` is 0"),
        ("{ kind: anthropic, model: m, price: cheap }", "`price: cheap` is no price"),
        ("{ kind: anthropic, model: m, price: { input: 3, output: 15usd } }", ""),
        ("kind: acp\ncommand: [x]\ncolour: red\n", "line 3"),
        ("", ""),
    ] {
        let message = refused(text);
        assert!(message.contains(says) && message.contains("agents/mine.yml"), "{text}: {message}");
    }
}

#[test]
fn a_key_in_the_file_is_refused_and_not_repeated() {
    for text in [
        "kind: anthropic\nmodel: m\nkey: sk-ant-real\n",
        "kind: anthropic\nkey: sk-ant-real\nwrong: 1\nmodel: m\n",
    ] {
        let message = refused(text);
        assert!(!message.contains("sk-ant-real"), "{message}");
    }
    assert!(refused("{ kind: anthropic, model: m, key: sk-ant-real }").contains("longhaul secret set"));
}

#[test]
fn the_users_models_come_last_and_take_names_over() {
    let text = "models:\n  anthropic/claude-next: { aliases: [claude-opus], window: 2M, price: { input: 1usd, output: 2usd } }\n  ollama/small: { window: 8k }\n";
    let models = UserFile { path: "models.yml".to_owned(), text: text.to_owned() };
    let roster = Roster::with(Some(&models), &[]).unwrap();
    assert_eq!(roster.resolve("anthropic/claude-opus").unwrap().model.as_deref(), Some("claude-next"));
    assert_eq!(roster.resolve("ollama/small").unwrap().window, Some(8000));
    assert_eq!(roster.pricing("ollama", "small"), Pricing::Known(Price::default()));
    assert!(roster.as_of() >= "2026-11");
    for text in ["models: { nameless: {} }", "models: { a/b: { windows: 1k } }", "modles: {}", "- a"] {
        let models = UserFile { path: "models.yml".to_owned(), text: text.to_owned() };
        let error = Roster::with(Some(&models), &[]).unwrap_err().to_string();
        assert!(error.starts_with("`models.yml` cannot be used: "), "{error}");
    }
}

#[test]
fn a_definition_that_a_session_pinned_reads_back() {
    let roster = Roster::bundled();
    let models =
        ["anthropic/claude-haiku", "ollama/x", "openrouter/a/b"].map(|name| roster.resolve(name).unwrap());
    for definition in roster.definitions().cloned().chain(models) {
        let stored = serde_json::to_string(&definition).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&stored).unwrap(), definition);
    }
    for provider in roster.providers() {
        let stored = serde_json::to_string(provider).unwrap();
        assert_eq!(serde_json::from_str::<Provider>(&stored).unwrap(), *provider);
    }
}

#[test]
fn what_is_added_reads_back_as_it_was_meant() {
    let new = NewAgent {
        kind: "openai-chat".to_owned(),
        base_url: Some("https://models.example.com/v1".to_owned()),
        key: Some("WORK_KEY".to_owned()),
        model: Some("a: b # c".to_owned()),
        window: Some("128k".to_owned()),
        price: Some("0.50usd, 2usd".to_owned()),
        ..NewAgent::default()
    };
    assert_snapshot!(new.text().unwrap(), @r#"
    kind: openai-chat
    base_url: "https://models.example.com/v1"
    key: $WORK_KEY
    model: "a: b # c"
    window: "128k"
    price: { input: "0.50usd", output: "2usd" }
    "#);
    let read = mine(&new.text().unwrap());
    assert_eq!(read.model.as_deref(), Some("a: b # c"));
    assert_eq!(read.pricing, Pricing::Known(Price::plain(500_000, 2_000_000)));
    let bad = |new: NewAgent| NewAgent { kind: "acp".to_owned(), ..new }.text().unwrap_err();
    assert!(!bad(NewAgent { key: Some("sk-real".into()), ..NewAgent::default() }).contains("sk-real"));
    assert!(bad(NewAgent { price: Some("free".into()), ..NewAgent::default() }).contains("is no price"));
    assert!(bad(NewAgent { env: vec!["A".into()], ..NewAgent::default() }).contains("`NAME=value`"));
}

proptest! {
    #[test]
    fn any_command_and_environment_that_is_added_reads_back(
        program in "[^\\s\\x00].{0,20}",
        rest in proptest::collection::vec(".{0,20}", 0..4),
        value in ".{0,20}",
    ) {
        let command: Vec<String> = [program].into_iter().chain(rest).collect();
        let new = NewAgent {
            kind: "acp".to_owned(),
            command: command.clone(),
            env: vec![format!("A={value}")],
            ..NewAgent::default()
        };
        let read = agent::parse("mine", "mine.yml", &new.text().unwrap()).unwrap().definition;
        prop_assert_eq!(read.kind, Kind::Acp { command });
        prop_assert_eq!(&read.env["A"], &value);
    }

    #[test]
    fn no_text_makes_reading_panic(text in "\\PC{0,80}") {
        let _ = agent::parse("mine", "mine.yml", &text);
        let _ = model::parse("models.yml", &text);
    }
}
