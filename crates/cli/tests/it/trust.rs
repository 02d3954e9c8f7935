//! Trust: only a person at a terminal gives it, and only for what they saw.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{Home, Outcome, git, shows};
use crate::terminal::Terminal;

const ASKED: &str = "to confirm: ";

fn registered() -> Home {
    let home = Home::new();
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    home
}

fn trust_in(home: &Home, directory: &str, arguments: &[&str], word: &str) -> (Outcome, String) {
    let arguments: Vec<&str> = ["workspace", "trust"].iter().chain(arguments).copied().collect();
    let mut terminal = Terminal::start_in(home, &home.join(directory), &arguments, &[]);
    terminal.wait_for(ASKED);
    terminal.type_text(&format!("{word}\n"));
    terminal.end()
}

fn state(home: &Home) -> String {
    home.longhaul(&["workspace", "list", "--json"]).rows()[0]["trust"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_who_types_the_word_trusts_what_was_shown() {
    let home = registered();
    let script = home.join("shop/.longhaul/check.sh");
    fs::write(&script, "true\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../../etc/passwd", home.join("shop/.longhaul/link")).unwrap();
    let (outcome, shown) = trust_in(&home, "shop", &[], "trust");
    shows!(shown, @r"
        Workspace `shop` ([workspace])
        Files in [HOME]/shop/.longhaul:
          check.sh  5 bytes, executable
          config.yml  23 bytes
          link  link to ../../etc/passwd
          workflows/review.yml  10 bytes
        Hash of all of it: [hash]
        Trusted, its workflows, checks and rules may act on your behalf.
        Type `trust` to confirm: trust
    ");
    shows!(outcome, @r"
        exit 0
        --- stdout
        ID          NAME  TRUST    PATH
        [workspace]  shop  trusted  [HOME]/shop
        --- stderr
        `shop` is trusted with what is in [HOME]/shop/.longhaul
    ");
    let event = home.longhaul(&["log", "show", "--json"]).rows().pop().unwrap()["event"].clone();
    assert_eq!((event["type"].as_str(), event["channel"].as_str()), (Some("trusted"), Some("terminal")));
    shows!(home.longhaul(&["workspace", "trust", "shop"]), @r"
        exit 0
        --- stdout
        ID          NAME  TRUST    PATH
        [workspace]  shop  trusted  [HOME]/shop
        --- stderr
        `shop` is trusted with what is in [HOME]/shop/.longhaul, and was before
    ");
    assert_eq!(home.longhaul(&["log", "show", "--json"]).rows().len(), 2);
}

#[test]
fn any_other_word_changes_nothing() {
    let home = registered();
    for word in ["yes", "", "Trust", "trust me"] {
        let (outcome, _) = trust_in(&home, "", &["shop"], word);
        assert_eq!(outcome.code, Some(3), "{word}: {outcome}");
    }
    let (outcome, _) = trust_in(&home, "", &["shop"], "no");
    shows!(outcome, @r"
        exit 3
        --- stdout
        --- stderr
        error[E0303]: not confirmed, nothing was changed; type the word `trust` to confirm
        hint: longhaul explain E0303
    ");
    assert_eq!(state(&home), "untrusted");
}

#[test]
fn nothing_stands_in_for_a_terminal() {
    let home = registered();
    shows!(Terminal::without(&home, &["workspace", "trust", "shop"]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0303]: this needs a person at a terminal, and there is none; run it in one
        hint: longhaul explain E0303
    ");
    assert_eq!(state(&home), "untrusted");
}

#[test]
fn an_agent_is_refused_even_at_a_terminal() {
    let home = registered();
    let session = [("LONGHAUL_SESSION", "s-041061050r3gg")];
    let terminal = Terminal::start_in(&home, &home.path, &["workspace", "trust", "shop"], &session);
    let (outcome, shown) = terminal.end();
    assert_eq!(shown, "");
    shows!(outcome, @r"
        exit 3
        --- stdout
        --- stderr
        error[E0303]: an agent cannot do this (`LONGHAUL_SESSION` is set, or `longhaul mcp` serves a process above); a person has to, in a terminal of their own
        hint: longhaul explain E0303
    ");
    assert_eq!(state(&home), "untrusted");
}

#[test]
fn what_changes_while_a_person_reads_is_not_trusted() {
    let home = registered();
    let mut terminal = Terminal::start(&home, &["workspace", "trust", "shop"]);
    terminal.wait_for(ASKED);
    fs::write(home.join("shop/.longhaul/config.yml"), "retention:\n  blobs: 0s\n").unwrap();
    terminal.type_text("trust\n");
    let (outcome, _) = terminal.end();
    shows!(outcome, @r"
        exit 5
        --- stdout
        --- stderr
        error[E0304]: `.longhaul/` changed while you were looking, nothing was trusted; run it again
        hint: longhaul explain E0304
    ");
    assert_eq!(state(&home), "untrusted");
}

#[test]
fn what_changes_later_has_to_be_trusted_again() {
    let home = registered();
    trust_in(&home, "shop/.longhaul", &[], "trust").0.succeeded();
    assert_eq!(state(&home), "trusted");
    fs::write(home.join("shop/.longhaul/new.yml"), "steps: []\n").unwrap();
    assert_eq!(state(&home), "changed");
    trust_in(&home, "", &["shop"], "trust").0.succeeded();
    assert_eq!(state(&home), "trusted");
}

#[test]
fn what_changed_since_it_was_last_trusted_is_shown() {
    let home = registered();
    let folder = home.join("shop/.longhaul");
    fs::write(folder.join("old.yml"), "a: 1\n").unwrap();
    let (_, first) = trust_in(&home, "shop", &[], "trust");
    assert!(!first.contains("trusted last"), "{first}");
    fs::remove_file(folder.join("old.yml")).unwrap();
    fs::write(folder.join("config.yml"), "retention:\n  blobs: 9d\n").unwrap();
    fs::write(folder.join("new.yml"), "a: 1\n").unwrap();
    let script = folder.join("workflows/review.yml");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let (_, shown) = trust_in(&home, "shop", &[], "trust");
    let told = "trusted last:\n  changed  config.yml\n  added    new.yml\n  removed  old.yml\n  \
                changed  workflows/review.yml\nTrusted, its";
    assert!(shown.contains(told), "{shown}");
    home.longhaul(&["workspace", "rm", "shop"]).succeeded();
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    let (_, again) = trust_in(&home, "shop", &[], "trust");
    assert!(!again.contains("trusted last"), "{again}");
}

#[test]
fn what_was_trusted_without_a_list_is_said_to_be_unknown() {
    let home = registered();
    let folder = home.join("shop/.longhaul");
    (0..501).for_each(|n| fs::write(folder.join(format!("{n}.md")), "").unwrap());
    home.trust("shop");
    fs::write(folder.join("new.yml"), "a: 1\n").unwrap();
    let mut terminal = Terminal::start(&home, &["workspace", "trust", "shop"]);
    for page in 1..=8 {
        terminal.wait_for(&format!("-- page {page};"));
        terminal.type_text("\n");
    }
    terminal.wait_for("ada trusted it before; what it was before is not known.");
    terminal.wait_for(ASKED);
    terminal.type_text("no\n");
    assert_eq!(terminal.end().0.code, Some(3));
}

#[test]
fn hostile_file_names_do_not_hide_anything() {
    let home = registered();
    for name in ["a\u{1b}[1A\u{1b}[2K.yml", "b\nType `trust` to confirm: .yml", "c\u{202e}lmy.yml"] {
        fs::write(home.join("shop/.longhaul").join(name), "").unwrap();
    }
    symlink("\u{1b}[8m/etc/shadow", home.join("shop/.longhaul/d")).unwrap();
    let (outcome, shown) = trust_in(&home, "shop", &[], "no");
    assert_eq!(outcome.code, Some(3));
    shows!(shown, @r"
        Workspace `shop` ([workspace])
        Files in [HOME]/shop/.longhaul:
          a\u{1b}[1A\u{1b}[2K.yml  0 bytes
          b\nType `trust` to confirm: .yml  0 bytes
          config.yml  23 bytes
          c\u{202e}lmy.yml  0 bytes
          d  link to \u{1b}[8m/etc/shadow
          workflows/review.yml  10 bytes
        Hash of all of it: [hash]
        Trusted, its workflows, checks and rules may act on your behalf.
        Type `trust` to confirm: no
    ");
}

#[test]
fn a_linked_worktree_is_trusted_for_what_it_holds_itself() {
    let home = registered();
    git(&home.join("shop"), &["worktree", "add", "--quiet", "../shop-fix"]);
    fs::write(home.join("shop-fix/.longhaul/config.yml"), "retention:\n  blobs: 9d\n").unwrap();
    let (outcome, shown) = trust_in(&home, "shop-fix", &[], "trust");
    assert!(shown.contains("[HOME]/shop-fix/.longhaul"), "{shown}");
    shows!(outcome, @r"
        exit 0
        --- stdout
        ID          NAME  TRUST    PATH
        [workspace]  shop  changed  [HOME]/shop
        --- stderr
        `shop` is trusted with what is in [HOME]/shop-fix/.longhaul
    ");
    let config = home.run(&["config", "show"]).inside("shop-fix").go();
    assert!(config.stdout.contains("9d"), "{config}");
    let config = home.run(&["config", "show"]).inside("shop").go();
    let blobs = config.stdout.lines().find(|line| line.starts_with("retention.blobs")).unwrap();
    assert!(!blobs.contains("7d"), "{config}");
}

#[test]
fn a_bare_repository_is_trusted_for_what_its_head_holds() {
    let home = registered();
    git(&home.path, &["clone", "--quiet", "--bare", "shop", "depot.git"]);
    home.longhaul(&["workspace", "add", "depot.git"]).succeeded();
    let (outcome, shown) = trust_in(&home, "", &["depot"], "trust");
    assert!(shown.contains("Files in .longhaul of HEAD in [HOME]/depot.git:"), "{shown}");
    let said = "`depot` is trusted with what is in .longhaul of HEAD in [HOME]/depot.git\n";
    assert_eq!(outcome.succeeded().stderr, said);
}

#[test]
fn what_is_absent_or_no_folder_of_files_cannot_be_trusted() {
    let home = registered();
    fs::remove_dir_all(home.join("shop/.longhaul")).unwrap();
    shows!(home.longhaul(&["workspace", "trust", "shop"]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0304]: there is no `.longhaul/` in `[HOME]/shop`, so there is nothing to trust; put your settings there first
        hint: longhaul explain E0304
    ");
    symlink("/etc", home.join("shop/.longhaul")).unwrap();
    shows!(home.longhaul(&["workspace", "trust", "shop"]), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0304]: `[HOME]/shop/.longhaul` cannot be trusted: it is not a folder; put a real folder there
        hint: longhaul explain E0304
    ");
    git(&home.path, &["init", "--quiet", "other"]);
    shows!(home.run(&["workspace", "trust"]).inside("other").go(), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0302]: the workspace is not registered; run `longhaul workspace add`
        hint: longhaul explain E0302
    ");
    shows!(home.longhaul(&["workspace", "trust"]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0301]: `[HOME]` is not in a git repository; make one with `git init` or go to one
        hint: longhaul explain E0301
    ");
}

#[test]
fn what_is_long_is_shown_page_by_page() {
    let home = registered();
    for number in 0..70 {
        fs::write(home.join(format!("shop/.longhaul/rule-{number}.md")), "x").unwrap();
    }
    let mut terminal = Terminal::start_in(&home, &home.join("shop"), &["workspace", "trust"], &[]);
    terminal.wait_for("page 1; Enter shows more");
    terminal.type_text("\n");
    terminal.wait_for(ASKED);
    terminal.type_text("trust\n");
    terminal.end().0.succeeded();
    assert_eq!(state(&home), "trusted");
}
