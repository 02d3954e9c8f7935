//! Tools on real files, with the outside one folder up.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use longhaul_core::scrub::Secret;
use serde_json::json;
use tempfile::TempDir;

use super::*;

const KEY: &str = "first-line-of-it\nsecond-line-of-it\nthird-line-of-it";

#[derive(Debug)]
struct Bare;

impl Walls for Bare {
    fn run(&self, program: Program) -> Result<longhaul_exec::Finished, longhaul_exec::Error> {
        longhaul_exec::run(&program)
    }
}

fn checkout() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("secret.txt"), "outside").unwrap();
    folder
}

fn call(folder: &TempDir, name: &str, arguments: &Value) -> Result<Answer, ToolError> {
    let room = Room::open(&folder.path().join("tree")).unwrap();
    let known = Secret { name: "KEY".into(), value: KEY.into() };
    let desk = Desk { room: &room, walls: &Bare, scrubber: &Scrubber::new(&[known]) };
    find(name).unwrap().call(&desk, arguments.as_object().unwrap())
}

fn told(folder: &TempDir, name: &str, arguments: &Value) -> String {
    call(folder, name, arguments).unwrap().text
}

fn complaint(folder: &TempDir, name: &str, arguments: &Value) -> String {
    match call(folder, name, arguments) {
        Err(ToolError::Complaint(complaint)) => complaint.to_string(),
        other => panic!("{name} {arguments}: {other:?}"),
    }
}

#[test]
fn what_is_written_can_be_read_and_edited() {
    let folder = checkout();
    told(&folder, "write", &json!({ "path": "src/deep/a.txt", "content": "one\ntwo\nthree\n" }));
    assert_eq!(told(&folder, "read", &json!({ "path": "./src/deep/a.txt" })), "one\ntwo\nthree\n");
    assert_eq!(told(&folder, "read", &json!({ "path": "src/deep/a.txt", "from": 2, "lines": 1 })), "two\n");
    told(&folder, "edit", &json!({ "path": "src/deep/a.txt", "old": "two", "new": "2" }));
    let whole = folder.path().join("tree/src/deep/a.txt");
    assert_eq!(fs::read_to_string(&whole).unwrap(), "one\n2\nthree\n");
    assert_eq!(told(&folder, "read", &json!({ "path": whole.to_str().unwrap(), "from": 3 })), "three\n");
}

#[test]
fn an_edit_keeps_the_mode_and_refuses_where_it_would_have_to_guess() {
    let folder = checkout();
    let file = folder.path().join("tree/run.sh");
    fs::write(&file, "echo a\necho a\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(
        complaint(&folder, "edit", &json!({ "path": "run.sh", "old": "echo a", "new": "x" }))
            .contains("2 times")
    );
    assert!(
        complaint(&folder, "edit", &json!({ "path": "run.sh", "old": "gone", "new": "x" }))
            .contains("not in")
    );
    assert!(
        complaint(&folder, "edit", &json!({ "path": "run.sh", "old": "", "new": "x" })).contains("empty")
    );
    told(&folder, "edit", &json!({ "path": "run.sh", "old": "echo a", "new": "true", "all": true }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "true\ntrue\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn nothing_leads_out_of_the_checkout() {
    let folder = checkout();
    let tree = folder.path().join("tree");
    symlink("../secret.txt", tree.join("link")).unwrap();
    symlink(folder.path(), tree.join("up")).unwrap();
    symlink("/etc", tree.join("etc")).unwrap();
    let outside = folder.path().join("secret.txt");
    for path in [
        "../secret.txt",
        "a/../../secret.txt",
        "link",
        "up/secret.txt",
        "etc/hostname",
        "/etc/hostname",
        outside.to_str().unwrap(),
    ] {
        let read = complaint(&folder, "read", &json!({ "path": path }));
        assert!(read.contains("leads out of the checkout"), "{path}: {read}");
        for (tool, arguments) in [
            ("write", json!({ "path": path, "content": "x" })),
            ("edit", json!({ "path": path, "old": "outside", "new": "x" })),
        ] {
            complaint(&folder, tool, &arguments);
        }
    }
    complaint(&folder, "write", &json!({ "path": "up/new.txt", "content": "x" }));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    assert!(!folder.path().join("new.txt").exists());
    assert_eq!(told(&folder, "grep", &json!({ "pattern": "outside" })), "nothing fits");
}

#[test]
fn git_itself_and_what_is_no_file_are_left_alone() {
    let folder = checkout();
    let tree = folder.path().join("tree");
    fs::create_dir(tree.join(".git")).unwrap();
    assert!(
        complaint(&folder, "write", &json!({ "path": ".git/hooks/post-commit", "content": "x" }))
            .contains("`.git`")
    );
    assert!(
        complaint(&folder, "write", &json!({ "path": "a/../.git/config", "content": "x" }))
            .contains("`.git`")
    );
    assert!(complaint(&folder, "read", &json!({ "path": "." })).contains("folder"));
    rustix::fs::mknodat(rustix::fs::CWD, tree.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert!(complaint(&folder, "read", &json!({ "path": "pipe" })).contains("no regular file"));
    fs::write(tree.join("image"), [0xff, 0xfe, 0]).unwrap();
    assert!(complaint(&folder, "read", &json!({ "path": "image" })).contains("no text"));
    assert!(complaint(&folder, "read", &json!({ "path": "none" })).contains("there is no"));
    assert!(complaint(&folder, "read", &json!({ "path": "image/x" })).contains("no folder"));
    assert!(complaint(&folder, "read", &json!({ "path": "a", "form": 1 })).contains("no argument `form`"));
    assert!(complaint(&folder, "read", &json!({})).contains("give a text for `path`"));
}

#[test]
fn files_are_found_by_name_and_by_what_is_in_them() {
    let folder = checkout();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join(".git")).unwrap();
    fs::write(tree.join(".gitignore"), "target\n").unwrap();
    for (path, content) in
        [("src/a.rs", "fn main() {}\n"), ("src/b.txt", "main"), ("target/a.rs", "fn main() {}")]
    {
        told(&folder, "write", &json!({ "path": path, "content": content }));
    }
    assert_eq!(told(&folder, "glob", &json!({ "pattern": "**/*.rs" })), "src/a.rs");
    assert_eq!(told(&folder, "glob", &json!({ "pattern": "*.rs" })), "no file fits");
    assert_eq!(
        told(&folder, "grep", &json!({ "pattern": "ma[i]n" })),
        "src/a.rs:1: fn main() {}\nsrc/b.txt:1: main"
    );
    assert_eq!(told(&folder, "grep", &json!({ "pattern": "main", "glob": "*.txt" })), "src/b.txt:1: main");
    assert!(complaint(&folder, "grep", &json!({ "pattern": "(" })).contains("no pattern"));
}

#[test]
fn a_command_tells_how_it_ended_and_not_what_it_printed_makes_it_so() {
    let folder = checkout();
    let answer = call(&folder, "bash", &json!({ "command": "echo error: all is lost >&2; pwd" })).unwrap();
    assert_eq!(answer.exit, Some(0), "stderr is no status");
    assert!(answer.text.contains("tree") && answer.text.contains("error: all is lost"), "{}", answer.text);
    assert_eq!(call(&folder, "bash", &json!({ "command": "exit 3" })).unwrap().exit, Some(3));
    let late = call(&folder, "bash", &json!({ "command": "sleep 60", "seconds": 1 })).unwrap();
    assert_eq!(late.exit, None);
    assert!(late.text.contains("took longer than 1 s"), "{}", late.text);
}

#[test]
fn long_answers_are_cut_and_say_so() {
    let folder = checkout();
    told(&folder, "write", &json!({ "path": "long", "content": "x\n".repeat(100_000) }));
    let read = told(&folder, "read", &json!({ "path": "long" }));
    assert!(read.len() < MOST_OUTPUT_BYTES + 200 && read.ends_with("read on with `from`]"), "{}", read.len());
    let found = told(&folder, "grep", &json!({ "pattern": "x" }));
    assert!(found.ends_with("use a narrower pattern]"), "{found}");
}

fn assert_clean(text: &str, about: &str) {
    for part in ["first-l", "of-it", "second", "third"] {
        assert!(!text.contains(part), "{about}: {part}");
    }
}

#[test]
fn no_half_of_a_secret_is_left_where_an_answer_is_cut() {
    let folder = checkout();
    for before in [MOST_OUTPUT_BYTES - 60, MOST_OUTPUT_BYTES - 20, MOST_OUTPUT_BYTES - 3] {
        let content = format!("{}{KEY}{}", "x".repeat(before), "y".repeat(1000));
        told(&folder, "write", &json!({ "path": "long", "content": content }));
        assert_clean(&told(&folder, "read", &json!({ "path": "long" })), "read");
    }
    told(&folder, "write", &json!({ "path": "long", "content": format!("{}{KEY}\nend\n", "x".repeat(390)) }));
    assert_clean(&told(&folder, "grep", &json!({ "pattern": "xxx|line" })), "grep");
    for from in 1..=2 {
        assert_clean(&told(&folder, "read", &json!({ "path": "long", "from": from, "lines": 1 })), "lines");
    }
}

#[test]
fn no_half_of_a_secret_is_left_where_output_is_cut_or_the_edges_of_a_gap_are_dropped() {
    let folder = checkout();
    let (half, all) = (MOST_OUTPUT_BYTES / 2, 3 * MOST_OUTPUT_BYTES);
    let edges = [half, half - EDGE_BYTES, all - half, all - half + EDGE_BYTES];
    for before in edges.into_iter().flat_map(|edge| (edge - KEY.len()..edge + 2).step_by(6)) {
        let output = format!("{}{KEY}{}", "x".repeat(before), "y".repeat(all - before));
        fs::write(folder.path().join("tree/long"), output).unwrap();
        let printed = told(&folder, "bash", &json!({ "command": "cat long; cat long >&2" }));
        assert!(printed.contains("bytes dropped"), "{printed}");
        assert_clean(&printed, &before.to_string());
    }
}

#[test]
fn somebody_who_only_reads_changes_nothing_and_has_commands_only_where_walls_hold_them() {
    let folder = checkout();
    fs::write(folder.path().join("tree/a.txt"), "one").unwrap();
    let called = |rights: Rights, name: &str, arguments: &Value| {
        let room = Room::open(&folder.path().join("tree")).unwrap().with_rights(rights);
        let desk = Desk { room: &room, walls: &Bare, scrubber: &Scrubber::new(&[]) };
        find(name).unwrap().call(&desk, arguments.as_object().unwrap())
    };
    let (write, edit) = (
        json!({ "path": "a.txt", "content": "two" }),
        json!({ "path": "a.txt", "old": "one", "new": "two" }),
    );
    for rights in [Rights::ReadBehindWalls, Rights::Read] {
        for (name, arguments) in [("write", &write), ("edit", &edit)] {
            let refused = called(rights, name, arguments).unwrap_err().to_string();
            assert!(refused.contains("another session's"), "{refused}");
        }
        assert_eq!(called(rights, "read", &json!({ "path": "a.txt" })).unwrap().text, "one");
    }
    let command = json!({ "command": "true" });
    assert_eq!(called(Rights::ReadBehindWalls, "bash", &command).unwrap().exit, Some(0));
    assert!(matches!(called(Rights::Read, "bash", &command), Err(ToolError::Complaint(_))));
}
