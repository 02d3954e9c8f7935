//! The registry: from wherever in a repository one stands.

use std::fs;

use crate::support::{Home, git, shows};

#[test]
fn a_repository_is_registered_listed_and_removed() {
    let home = Home::new();
    let repository = home.repository("shop");
    shows!(home.longhaul(&["workspace", "add", "shop"]), @r"
        exit 0
        --- stdout
        ID          NAME  TRUST      PATH
        [workspace]  shop  untrusted  [HOME]/shop
        --- stderr
        `shop` is registered
    ");
    shows!(home.longhaul(&["workspace", "add", "shop"]), @r"
        exit 0
        --- stdout
        ID          NAME  TRUST      PATH
        [workspace]  shop  untrusted  [HOME]/shop
        --- stderr
        `shop` was registered already
    ");
    shows!(home.longhaul(&["workspace", "add", "shop", "--name", "Corner shop"]), @r"
        exit 0
        --- stdout
        ID          NAME         TRUST      PATH
        [workspace]  Corner shop  untrusted  [HOME]/shop
        --- stderr
        `Corner shop` is registered
    ");
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        ID          NAME         TRUST      PATH
        [workspace]  Corner shop  untrusted  [HOME]/shop
        --- stderr
    ");
    shows!(home.longhaul(&["workspace", "list", "--json"]), @r#"
        exit 0
        --- stdout
        {"id":"[workspace]","name":"Corner shop","trust":"untrusted","problem":null,"registered_at":"[time]","path":"[HOME]/shop"}
        --- stderr
    "#);
    shows!(home.longhaul(&["workspace", "rm", "Corner shop"]), @r"
        exit 0
        --- stdout
        ID          NAME         PATH
        [workspace]  Corner shop  [HOME]/shop
        --- stderr
        `Corner shop` is no longer registered; its files were not touched
    ");
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        --- stderr
        no workspace is registered; `longhaul workspace add` registers one
    ");
    assert!(repository.join(".longhaul/config.yml").exists());
}

#[test]
fn every_checkout_of_a_repository_is_the_same_workspace() {
    let home = Home::new();
    let main = home.repository("shop");
    fs::create_dir_all(main.join("src/deep")).unwrap();
    git(&main, &["worktree", "add", "--quiet", "../shop-fix"]);
    for place in ["shop", "shop/src/deep", "shop-fix", "shop/.git"] {
        home.run(&["workspace", "add"]).inside(place).go().succeeded();
    }
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        ID          NAME  TRUST      PATH
        [workspace]  shop  untrusted  [HOME]/shop
        --- stderr
    ");
    home.run(&["workspace", "rm", "."]).inside("shop-fix").go().succeeded();
    assert_eq!(home.longhaul(&["workspace", "list", "--json"]).stdout, "");
}

#[test]
fn a_bare_repository_is_a_workspace_and_so_are_its_worktrees() {
    let home = Home::new();
    let main = home.repository("shop");
    git(&home.path, &["clone", "--quiet", "--bare", main.to_str().unwrap(), "depot.git"]);
    git(&home.join("depot.git"), &["worktree", "add", "--quiet", "../depot-main", "main"]);
    home.longhaul(&["workspace", "add", "depot.git"]).succeeded();
    let again = home.run(&["workspace", "add"]).inside("depot-main").go().succeeded();
    assert_eq!(again.stderr, "`depot` was registered already\n");
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        ID          NAME   TRUST      PATH
        [workspace]  depot  untrusted  [HOME]/depot.git
        --- stderr
    ");
}

#[test]
fn two_of_one_name_are_told_apart_by_id_or_path() {
    let home = Home::new();
    home.repository("one/shop");
    home.repository("two/shop");
    home.longhaul(&["workspace", "add", "one/shop"]).succeeded();
    shows!(home.longhaul(&["workspace", "add", "two/shop"]), @r"
        exit 0
        --- stdout
        ID          NAME  TRUST      PATH
        [workspace]  shop  untrusted  [HOME]/two/shop
        --- stderr
        `shop` is registered
        another workspace is called `shop` too; `--name` renames this one
    ");
    shows!(home.longhaul(&["workspace", "rm", "shop"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0302]: several workspaces are called `shop`; name one by its id or path
        hint: longhaul explain E0302
    ");
    home.longhaul(&["workspace", "rm", "one/shop"]).succeeded();
    let left = home.longhaul(&["workspace", "list", "--json"]).rows();
    home.longhaul(&["workspace", "rm", left[0]["id"].as_str().unwrap()]).succeeded();
    assert_eq!(home.longhaul(&["workspace", "list", "--json"]).stdout, "");
}

#[test]
fn a_repository_that_is_gone_is_named_and_can_be_removed_by_the_path_that_is_shown() {
    let home = Home::new();
    let path = home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    fs::remove_dir_all(&path).unwrap();
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        ID          NAME  TRUST    PATH
        [workspace]  shop  unknown  [HOME]/shop
          could not find `[HOME]/shop`; check the path
        --- stderr
    ");
    let doctor = home.longhaul(&["doctor"]).succeeded();
    assert!(doctor.stdout.contains("warning  workspace `shop`"), "{doctor}");
    home.longhaul(&["workspace", "rm", path.to_str().unwrap()]).succeeded();
    assert_eq!(home.longhaul(&["workspace", "list", "--json"]).stdout, "");
}

#[test]
fn a_hostile_folder_name_does_not_reach_the_terminal() {
    let home = Home::new();
    home.repository("shop\u{1b}[2J\u{202e}\nerror: gone");
    home.longhaul(&["workspace", "add", "shop\u{1b}[2J\u{202e}\nerror: gone"]).succeeded();
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        ID          NAME                                TRUST      PATH
        [workspace]  shop\u{1b}[2J\u{202e}\nerror: gone  untrusted  [HOME]/shop\u{1b}[2J\u{202e}\nerror: gone
        --- stderr
    ");
    fs::remove_dir_all(home.join("shop\u{1b}[2J\u{202e}\nerror: gone")).unwrap();
    shows!(home.longhaul(&["workspace", "list"]), @r"
        exit 0
        --- stdout
        ID          NAME                                TRUST    PATH
        [workspace]  shop\u{1b}[2J\u{202e}\nerror: gone  unknown  [HOME]/shop\u{1b}[2J\u{202e}\nerror: gone
          could not find `[HOME]/shop\u{1b}[2J\u{202e}\nerror: gone`; check the path
        --- stderr
    ");
    shows!(home.longhaul(&["workspace", "add", "\u{1b}[2J\u{202e}\nerror: gone"]), @r"
        exit 4
        --- stdout
        --- stderr
        error: could not find `\u{1b}[2J\u{202e}
          error: gone`; check the path
    ");
}

#[test]
fn what_was_trusted_and_then_edited_has_changed() {
    let home = Home::new();
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    home.trust("shop");
    let trust = || home.longhaul(&["workspace", "list", "--json"]).rows()[0]["trust"].clone();
    assert_eq!(trust(), "trusted");
    fs::write(home.join("shop/.longhaul/config.yml"), "retention:\n  blobs: 8d\n").unwrap();
    assert_eq!(trust(), "changed");
    shows!(home.longhaul(&["doctor"]), @r"
        exit 0
        --- stdout
        STATUS   SUBJECT           FINDING
        ok       git               [version]
        ok       data directory    `[HOME]/home/data`
        ok       secrets           kept out of everything that is stored
        ok       sandbox           level full works here
        ok       configuration     40 settings
        ok       agents            none is set up for `longhaul run`; `longhaul agent check` says how to get one
        ok       database          whole
        ok       streams           1 intact, 2 events
        ok       views             up to date, 0 sessions
        warning  workspace `shop`  its `.longhaul/` has changed since it was trusted
          remedy: look at the change, then run `longhaul workspace trust [workspace]`
        ok       disk              [size]
        --- stderr
        0 problems, 1 warning
    ");
    fs::remove_dir_all(home.join("shop/.longhaul")).unwrap();
    assert_eq!(trust(), "absent");
}

#[test]
fn a_name_that_no_list_could_show_is_refused() {
    let home = Home::new();
    home.repository("shop");
    let name = "n".repeat(70_000);
    let refused = home.longhaul(&["workspace", "add", "shop", "--name", &name]);
    shows!(refused, @r"
        exit 3
        --- stdout
        --- stderr
        error[E0305]: a name of 70000 letters is too long for a list; give one of at most 255 with `--name`
        hint: longhaul explain E0305
    ");
}
