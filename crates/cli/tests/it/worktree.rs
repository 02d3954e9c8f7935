//! `longhaul worktree`: files of sessions, made, shown, restored and cleaned up through the binary.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Home, files, git};
use crate::terminal::Terminal;
use crate::walking::{id, one};

/// A repository, a session that was started in it, and its worktree.
struct Work {
    home: Home,
    repository: PathBuf,
    session: String,
    name: String,
    path: PathBuf,
}

impl Work {
    fn new(flags: &[&str]) -> Self {
        let home = Home::new();
        let repository = home.repository("project");
        Self::in_repository(home, repository, flags)
    }

    fn in_repository(home: Home, repository: PathBuf, flags: &[&str]) -> Self {
        let start = ["session", "start", "--workflow", "lh.quick-task", "--goal", "Fix the login!", "--json"];
        let first = one(&home.run(&start).inside(&repository).go().succeeded());
        let session = id(&first).to_owned();
        let mut new = vec!["worktree", "new", &session, "--json"];
        new.extend(flags);
        let made = one(&home.run(&new).inside(&repository).go().succeeded());
        let name = made["name"].as_str().unwrap().to_owned();
        let path = made["path"].as_str().unwrap().replace("[HOME]", home.path.to_str().unwrap()).into();
        Self { home, repository, session, name, path }
    }

    fn run(&self, arguments: &[&str]) -> Vec<Value> {
        let mut all = vec!["worktree"];
        all.extend(arguments);
        all.push("--json");
        self.home.run(&all).inside(&self.repository).go().succeeded().rows()
    }

    fn cancel(&self) {
        self.home.longhaul(&["session", "cancel", &self.session]).succeeded();
    }

    fn commit(&self) {
        git(&self.path, &["add", "--all"]);
        git(&self.path, &["commit", "--quiet", "--message=work"]);
    }

    fn file(&self) -> PathBuf {
        self.repository.join(".git/longhaul/worktrees").join(format!("{}.json", self.name))
    }
}

fn info(work: &Work, place: &Path, arguments: &[&str]) -> Value {
    let mut all = vec!["worktree", "info", "--json"];
    all.extend(arguments);
    one(&work.home.run(&all).inside(place).go().succeeded())
}

#[test]
fn a_worktree_is_known_by_the_same_words_from_everywhere_and_asking_writes_nothing() {
    for flags in [&[][..], &["--linked"]] {
        let work = Work::new(flags);
        assert!(work.name.ends_with("-fix-the-login"), "{}", work.name);
        let below = work.path.join("deep/er");
        fs::create_dir_all(&below).unwrap();
        let before = files(&work.home.path);
        let inside = info(&work, &work.path, &[]);
        assert_eq!(inside, info(&work, &below, &[]));
        assert_eq!(inside, info(&work, &work.repository, &[&work.name]));
        assert_eq!(inside, info(&work, &work.path, &[&work.name]));
        let outside = info(&work, &work.repository, &[]);
        assert_eq!((&outside["source"], &outside["branch"]), (&json!("git"), &json!("main")));
        assert_eq!(files(&work.home.path), before);
        let keys: Vec<&str> = inside.as_object().unwrap().keys().map(String::as_str).take(17).collect();
        let expected = "name task session workspace worktree_path branch base_branch base_commit dependencies \
                        owned_files created_at created_by vcs_backend item phase budget status";
        assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
        assert_eq!((&inside["source"], &inside["code"]), (&json!("log"), &Value::Null));
        assert_eq!((&inside["phase"], &inside["status"]), (&json!("understand"), &json!("active")));
        assert_eq!(inside["branch"], json!(format!("longhaul/{}", work.name)));
    }
}

#[test]
fn the_log_beats_the_file_and_a_malformed_file_is_not_an_absent_one() {
    let work = Work::new(&[]);
    let text = fs::read_to_string(work.file()).unwrap();
    fs::write(work.file(), text.replace("\"base_branch\": \"main\"", "\"base_branch\": \"other\"")).unwrap();
    let shown = info(&work, &work.path, &[]);
    assert_eq!((&shown["code"], &shown["base_branch"]), (&json!("E0703"), &json!("main")));
    let stale = json!([{"field": "base_branch", "file": "other", "log": "main"}]);
    assert_eq!(shown["stale"], stale);
    fs::write(work.file(), "{").unwrap();
    let malformed = work.home.run(&["worktree", "info", &work.name, "--json"]).inside(&work.repository).go();
    assert!(malformed.stderr.contains("E0702") && malformed.code == Some(4), "{malformed}");
    assert_eq!(work.run(&["list"])[0]["status"], json!("malformed"));
    let kept = work.run(&["clean", "--apply"]);
    assert_eq!(kept[0]["state"], json!("kept"));
    assert!(work.path.exists());
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_unknown_ones_named() {
    let work = Work::new(&[]);
    for name in ["../../../x", "a/b", "..", "a b"] {
        let refused = work.home.run(&["worktree", "info", name]).inside(&work.repository).go();
        assert!(refused.code == Some(2) && refused.stderr.contains("E0701"), "{name}: {refused}");
    }
    let unknown = work.home.run(&["worktree", "info", "nobody"]).inside(&work.repository).go();
    assert!(unknown.code == Some(2) && unknown.stderr.contains("longhaul worktree list"), "{unknown}");
    let outside = work.home.run(&["worktree", "info"]).go();
    assert!(outside.stderr.contains("E0301"), "{outside}");
}

#[test]
fn a_clone_that_the_log_does_not_know_is_not_believed() {
    let work = Work::new(&[]);
    let copy = work.home.join("copy");
    git(&work.home.path, &["clone", "--quiet", "project", "copy"]);
    fs::copy(work.path.join(".git/longhaul.json"), copy.join(".git/longhaul.json")).unwrap();
    let shown = info(&work, &copy, &[]);
    assert_eq!((&shown["source"], &shown["session"]), (&json!("git"), &Value::Null));
}

#[test]
fn orphans_are_told_apart() {
    let work = Work::new(&[]);
    assert_eq!(work.run(&["list", "--orphaned"]), [] as [Value; 0]);
    assert_eq!(work.run(&["list"])[0]["orphan"], Value::Null);
    let folder = work.file().parent().unwrap().to_owned();
    let note = |name: &str, path: &Path| {
        let text = json!({"name": name, "worktree_path": path}).to_string();
        fs::write(folder.join(format!("{name}.json")), text).unwrap();
    };
    let husk = work.home.join("husk");
    fs::create_dir_all(&husk).unwrap();
    note("husk", &husk);
    note("missing", &work.home.join("nowhere"));
    git(&work.home.path, &["clone", "--quiet", "project", "clone"]);
    note("clone", &work.home.join("clone"));
    let linked = work.home.join("linked");
    git(&work.repository, &["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    note("linked", &linked);
    let moved = work.home.join("moved");
    fs::create_dir_all(&moved).unwrap();
    fs::copy(linked.join(".git"), moved.join(".git")).unwrap();
    note("moved", &moved);
    let rows = work.run(&["list", "--orphaned"]);
    let found: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), row["orphan"].as_str().unwrap())).collect();
    let expected =
        [("clone", "unknown clone"), ("husk", "husk"), ("missing", "path missing"), ("moved", "not listed")];
    assert_eq!(found, expected);
    let cleaned = work.run(&["clean", "--apply"]);
    assert!(cleaned.iter().all(|row| row["state"] == "kept"), "{cleaned:?}");
    for path in [husk, linked, moved, work.home.join("clone")] {
        assert!(path.exists(), "{}", path.display());
    }
}

#[test]
fn clean_up_removes_what_is_merged_counts_it_and_restore_brings_it_back() {
    for flags in [&[][..], &["--linked"]] {
        let work = Work::new(flags);
        fs::write(work.path.join("new.txt"), "new\n").unwrap();
        let because = |rows: &[Value]| (rows[0]["state"].clone(), rows[0]["because"].clone());
        assert_eq!(because(&work.run(&["clean", "--apply"])).1, json!("its session is open"));
        work.cancel();
        let dirty = because(&work.run(&["clean", "--apply"]));
        assert_eq!(dirty, (json!("kept"), json!("files are not committed: `new.txt`")));
        let diff = work.run(&["diff", &work.name]);
        assert_eq!(diff, [json!({"change": "added", "path": "new.txt"})]);
        let patch = work.home.run(&["worktree", "diff"]).inside(&work.path).go().succeeded().stdout;
        assert!(patch.contains("+new\n"), "{patch}");
        work.commit();
        let unmerged = because(&work.run(&["clean", "--apply"]));
        assert_eq!(unmerged.1, json!("its commits are not in the base branch"));
        fs::write(work.repository.join("new.txt"), "new\n").unwrap();
        git(&work.repository, &["add", "--all"]);
        git(&work.repository, &["commit", "--quiet", "--message=squashed"]);
        assert_eq!(because(&work.run(&["clean"])).0, json!("would be removed"));
        assert!(work.path.exists());
        let removed = work.home.run(&["worktree", "clean", "--apply"]).inside(&work.repository).go();
        assert!(removed.stderr.contains("1 worktree removed"), "{removed}");
        assert!(!work.path.exists() && !work.file().exists());
        let again = work.home.run(&["worktree", "clean", "--apply"]).inside(&work.repository).go();
        assert!(again.stderr.contains("0 worktrees removed"), "{again}");
        let archived = info(&work, &work.repository, &[&work.name]);
        assert_eq!(archived["status"], json!("archived"));
        let snapshots = work.run(&["restore", "--worktree", &work.name]);
        assert!(snapshots.len() >= 2, "{snapshots:?}");
        let newest = snapshots[0]["snapshot"].as_str().unwrap();
        work.run(&["restore", newest, "--worktree", &work.name]);
        assert_eq!(fs::read_to_string(work.path.join("new.txt")).unwrap(), "new\n");
        assert_eq!(info(&work, &work.path, &[])["status"], json!("cancelled"));
        let told = work.home.longhaul(&["session", "show", &work.session]).succeeded().stdout;
        assert!(told.contains("works in worktree") && told.contains("was removed by"), "{told}");
    }
}

#[test]
fn a_restore_keeps_what_is_there_and_says_where() {
    let work = Work::new(&[]);
    work.cancel();
    fs::write(work.path.join("a"), "first").unwrap();
    work.run(&["clean"]);
    fs::write(work.path.join("a"), "second").unwrap();
    let first = work.run(&["restore", "--worktree", &work.session])[0]["snapshot"].clone();
    let restored = work.run(&["restore", first.as_str().unwrap(), "--worktree", &work.name]);
    assert_eq!(fs::read_to_string(work.path.join("a")).unwrap(), "first");
    let before = restored[0]["before"].as_str().unwrap();
    work.run(&["restore", before, "--worktree", &work.name]);
    assert_eq!(fs::read_to_string(work.path.join("a")).unwrap(), "second");
    let missing = ["worktree", "restore", "0000000000", "--worktree", &work.name];
    let missing = work.home.run(&missing).inside(&work.repository).go();
    assert!(missing.code == Some(2) && missing.stderr.contains("E0705"), "{missing}");
}

#[test]
fn a_worktree_is_made_ready_by_the_configuration_of_a_trusted_repository() {
    let home = Home::new();
    let repository = home.repository("project");
    let config = "checkout:\n  setup: [ { run: [sh, -c, 'echo $LONGHAUL_PORT_1 >> .git/setup-ran'] } ]\n  copy:\n    - { path: .env.example, to: .env }\n    - { path: .env.local, secret: true }\n  ports: 2\n";
    fs::write(repository.join(".longhaul/config.yml"), config).unwrap();
    fs::write(repository.join(".gitignore"), ".env*\n").unwrap();
    git(&repository, &["add", "--all"]);
    git(&repository, &["commit", "--quiet", "--message=config"]);
    fs::write(repository.join(".env.example"), "A=1").unwrap();
    fs::write(repository.join(".env.local"), "TOKEN=hush").unwrap();
    home.run(&["workspace", "add"]).inside(&repository).go().succeeded();
    home.trust("project");
    let work = Work::in_repository(home, repository, &[]);
    assert_eq!(fs::read_to_string(work.path.join(".env")).unwrap(), "A=1");
    assert_eq!(fs::read_to_string(work.path.join(".env.local")).unwrap(), "TOKEN=hush");
    let ran = || fs::read_to_string(work.path.join(".git/setup-ran")).unwrap();
    assert!(ran().trim().parse::<u16>().is_ok_and(|port| port > 0), "{}", ran());
    // The same lockfiles, so nothing is run again; another one, and it is.
    let system = work.home.system();
    let again = |system: &longhaul_runtime::System| {
        system.set_up_worktree(work.session.parse().unwrap()).unwrap();
        ran().lines().count()
    };
    let system = longhaul_runtime::System::new(longhaul_runtime::Settings {
        places: system.places().clone(),
        variables: std::collections::BTreeMap::new(),
        directory: work.repository.clone(),
        flags: Vec::new(),
    });
    assert_eq!(again(&system), 1);
    fs::write(work.path.join("Cargo.lock"), "changed").unwrap();
    assert_eq!(again(&system), 2);
    work.cancel();
    work.run(&["clean"]);
    let snapshots = work.home.longhaul_home().join("data/snapshots");
    let store = fs::read_dir(snapshots).unwrap().next().unwrap().unwrap().path();
    let newest = work.run(&["restore", "--worktree", &work.name])[0]["snapshot"].as_str().unwrap().to_owned();
    let listed = crate::support::program("git")
        .args(["ls-tree", "-r", "--name-only", &newest])
        .current_dir(store)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("Cargo.lock") && !listed.contains(".env.local"), "{listed}");
}

#[test]
fn files_of_spec_kitty_are_read_too() {
    let work = Work::new(&[]);
    let folder = work.repository.join(".kittify/workspaces");
    fs::create_dir_all(&folder).unwrap();
    let text = json!({"wp_id": "WP01", "feature_slug": "010-x", "worktree_path": ".worktrees/010-x-WP01",
                      "branch_name": "010-x-WP01", "base_branch": "main"});
    fs::write(folder.join("010-x-WP01.json"), text.to_string()).unwrap();
    let shown = info(&work, &work.repository, &["010-x-WP01"]);
    assert_eq!((&shown["source"], &shown["item"]), (&json!("kittify"), &json!("WP01")));
    let rows = work.run(&["list", "--orphaned"]);
    assert_eq!((&rows[0]["name"], &rows[0]["orphan"]), (&json!("010-x-WP01"), &json!("path missing")));
}

#[test]
fn a_snapshot_is_found_from_the_main_checkout_without_its_worktree() {
    let work = Work::new(&[]);
    work.cancel();
    fs::write(work.path.join("a"), "first").unwrap();
    let first = work.run(&["clean"])[0]["snapshot"].as_str().unwrap().to_owned();
    fs::write(work.path.join("a"), "second").unwrap();
    let restored = work.run(&["restore", &first[..12]]);
    assert_eq!(restored[0]["session"], json!(work.session));
    assert_eq!(fs::read_to_string(work.path.join("a")).unwrap(), "first");
    let inside = work.home.run(&["worktree", "restore", restored[0]["before"].as_str().unwrap()]);
    inside.inside(&work.path).go().succeeded();
    assert_eq!(fs::read_to_string(work.path.join("a")).unwrap(), "second");
    let missing = work.home.run(&["worktree", "restore", "0000000000"]).inside(&work.repository).go();
    assert!(missing.code == Some(2) && missing.stderr.contains("E0705"), "{missing}");
}

#[test]
fn every_verb_takes_a_name_a_session_or_the_beginning_of_either() {
    let work = Work::new(&[]);
    fs::write(work.path.join("a"), "a").unwrap();
    let whole = info(&work, &work.repository, &[&work.name]);
    for text in [&work.name[..6], &work.session, &work.session[..8]] {
        assert_eq!(info(&work, &work.repository, &[text]), whole, "{text}");
        assert_eq!(work.run(&["diff", text]).len(), 1, "{text}");
        assert_eq!(work.run(&["clean", text])[0]["name"], json!(work.name), "{text}");
    }
    assert_eq!(info(&work, &work.home.path, &[&work.session]), whole, "a session is known everywhere");
    for verb in ["info", "diff", "clean"] {
        let unknown = work.home.run(&["worktree", verb, "nobody"]).inside(&work.repository).go();
        assert!(unknown.code == Some(2) && unknown.stderr.contains("E0701"), "{verb}: {unknown}");
    }
}

#[test]
fn a_worktree_is_discarded_by_name_and_comes_back_whole() {
    for flags in [&[][..], &["--linked"]] {
        let work = Work::new(flags);
        fs::write(work.path.join("new.txt"), "new\n").unwrap();
        let discard = ["clean", &work.name, "--apply", "--discard"];
        let open = work.run(&discard);
        assert_eq!(open[0]["because"], json!("its session is open"));
        let close = format!("`longhaul session cancel {}` closes it", work.session);
        assert_eq!(open[0]["remedy"], json!(close));
        work.cancel();
        let kept = work.home.run(&["worktree", "clean", "--apply"]).inside(&work.repository).go().succeeded();
        let remedy = format!("`longhaul worktree clean {} --apply --discard`", work.name);
        assert!(kept.stdout.contains(&remedy), "the remedy is named: {kept}");
        let all = work.home.run(&["worktree", "clean", "--apply", "--discard"]).inside(&work.repository).go();
        assert_eq!(all.code, Some(2), "only what is named is discarded: {all}");
        let dry = work.run(&["clean", &work.name, "--discard"]);
        assert_eq!(dry[0]["state"], json!("would be removed"));
        assert!(work.path.exists());
        let gone = work.run(&discard);
        assert_eq!(gone[0]["because"], json!("discarded: files are not committed: `new.txt`"));
        assert!(!work.path.exists());
        let snapshot = gone[0]["snapshot"].as_str().unwrap();
        assert_eq!(
            gone[0]["remedy"],
            json!(format!("`longhaul worktree restore {}` brings it back", &snapshot[..12]))
        );
        work.run(&["restore", &snapshot[..12]]);
        assert_eq!(fs::read_to_string(work.path.join("new.txt")).unwrap(), "new\n");
    }
}

#[test]
fn an_agent_discards_nothing() {
    let work = Work::new(&[]);
    fs::write(work.path.join("new.txt"), "new\n").unwrap();
    work.cancel();
    let discard = ["worktree", "clean", &work.name, "--apply", "--discard"];
    let agent =
        work.home.run(&discard).inside(&work.repository).variable("LONGHAUL_SESSION", &work.session).go();
    assert!(agent.code == Some(3) && agent.stderr.contains("E0303"), "{agent}");
    assert!(work.path.join("new.txt").exists());
}

#[test]
fn a_list_without_orphans_says_so_and_proposes_nothing() {
    let work = Work::new(&[]);
    let none = work.home.run(&["worktree", "list", "--orphaned"]).inside(&work.repository).go().succeeded();
    assert!(
        none.stderr.contains("no worktree is orphaned") && !none.stderr.contains("worktree new"),
        "{none}"
    );
}

#[test]
fn a_worktree_whose_git_folder_is_gone_is_kept_and_brought_back_beside_what_is_left_of_it() {
    let work = Work::new(&[]);
    work.cancel();
    fs::write(work.path.join("mine"), "1").unwrap();
    work.run(&["clean"]);
    let first = work.run(&["restore", "--worktree", &work.name]);
    let count = first.len();
    fs::write(work.path.join("mine"), "2").unwrap();
    fs::remove_dir_all(work.path.join(".git")).unwrap();
    let newest = first[0]["snapshot"].as_str().unwrap();
    work.run(&["restore", newest, "--worktree", &work.name]);
    assert_eq!(fs::read_to_string(work.path.join("mine")).unwrap(), "1");
    assert!(work.path.join(".git").is_dir());
    let aside = PathBuf::from(format!("{}.aside-1", work.path.display()));
    assert_eq!(fs::read_to_string(aside.join("mine")).unwrap(), "2");
    let kept = work.run(&["restore", "--worktree", &work.name]);
    assert!(kept.len() > count, "what was there is in a snapshot: {kept:?}");
}

#[test]
fn what_an_agent_wrote_does_not_reach_a_terminal_as_it_is() {
    let work = Work::new(&[]);
    fs::write(work.path.join("mine"), "\u{1b}[2Jgone\n\tindented\n").unwrap();
    let words = ["worktree", "diff", &work.name];
    let piped = work.home.run(&words).inside(&work.repository).go().succeeded();
    assert!(piped.stdout.contains("\u{1b}[2Jgone"), "{piped}");
    let mut terminal = Terminal::whole_in(&work.home, &work.repository, &words, &[]);
    terminal.wait_for("indented");
    let (_, shown) = terminal.end();
    assert!(!shown.contains("\u{1b}[2J") && shown.contains("\\u{1b}[2Jgone"), "{shown:?}");
}
