//! Writing ourselves into the settings of agents, and out again.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{Home, Outcome, program};

const FILES: [(&str, &str); 5] = [
    ("claude", "user/.claude.json"),
    ("codex", "user/.codex/config.toml"),
    ("cursor", "user/.cursor/mcp.json"),
    ("vscode", "user/.config/Code/User/mcp.json"),
    ("gemini", "user/.gemini/settings.json"),
];

fn install(home: &Home, arguments: &[&str]) -> Outcome {
    let mut all = vec!["mcp", "install"];
    all.extend(arguments);
    home.run(&all).go()
}

#[test]
fn every_client_is_written_once_and_undone() {
    for (client, file) in FILES {
        let home = Home::new();
        fs::create_dir_all(home.join("user")).unwrap();
        let path = home.join(file);
        install(&home, &[client]).succeeded();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("longhaul") && text.contains("mcp"), "{client}: {text}");
        let again = install(&home, &[client]).succeeded();
        assert!(again.stderr.contains("has it already"), "{again}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        install(&home, &[client, "--undo"]).succeeded();
        assert!(!fs::read_to_string(&path).unwrap().contains("longhaul"), "{client}");
        let nothing = install(&home, &[client, "--undo"]).succeeded();
        assert!(nothing.stderr.contains("no entry of ours"), "{nothing}");
    }
}

#[test]
fn what_cannot_be_read_is_left_alone_and_what_to_paste_is_shown() {
    let home = Home::new();
    fs::create_dir_all(home.join("user/.cursor")).unwrap();
    let path = home.join("user/.cursor/mcp.json");
    fs::write(&path, "{ \"mcpServers\": ").unwrap();
    let refused = install(&home, &["cursor"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("by hand") && refused.stderr.contains("\"args\""), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"mcpServers\": ");
    let undone = install(&home, &["cursor", "--undo"]);
    assert_eq!(undone.code, Some(3), "{undone}");
    assert!(undone.stderr.contains("take the server `longhaul` out"), "{undone}");
}

#[test]
fn printing_writes_nothing() {
    for (client, file) in FILES {
        let home = Home::new();
        let shown = install(&home, &[client, "--print"]).succeeded();
        assert!(shown.stdout.contains("longhaul"), "{shown}");
        assert!(!home.join(file).exists());
    }
}

#[test]
fn a_link_to_nothing_is_written_through_and_a_circle_is_refused() {
    let home = Home::new();
    fs::create_dir_all(home.join("user/dots")).unwrap();
    let link = home.join("user/.claude.json");
    symlink("dots/claude.json", &link).unwrap();
    install(&home, &["claude"]).succeeded();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(home.join("user/dots/claude.json")).unwrap().contains("longhaul"));
    fs::create_dir_all(home.join("user/.cursor")).unwrap();
    symlink("mcp.json", home.join("user/.cursor/mcp.json")).unwrap();
    assert_ne!(install(&home, &["cursor"]).code, Some(0));
}

#[test]
fn a_file_that_may_not_be_written_is_left_alone() {
    let home = Home::new();
    fs::create_dir_all(home.join("user/.cursor")).unwrap();
    let path = home.join("user/.cursor/mcp.json");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = install(&home, &["cursor"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn the_link_that_somebody_calls_is_written_and_not_where_it_leads_today() {
    let home = Home::new();
    fs::create_dir_all(home.join("bin")).unwrap();
    fs::create_dir_all(home.join("user")).unwrap();
    let link = home.join("bin/longhaul");
    symlink(env!("CARGO_BIN_EXE_longhaul"), &link).unwrap();
    for word in [link.display().to_string(), "../bin/longhaul".to_owned()] {
        let mut command = program(&word);
        command.args(["mcp", "install", "cursor", "--print"]).current_dir(home.join("user")).env_clear();
        let shown = command.envs(home.variables()).output().unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        assert!(text.contains(&format!("{:?}", link.display().to_string())), "{text}");
    }
}
