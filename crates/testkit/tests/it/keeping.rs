//! Edits, crashes, clean-ups and restores in any order: no byte that was there when a step ended is ever lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use longhaul_runtime::opaque::NewSession;
use longhaul_runtime::types::{CloseOutcome, SessionId};
use longhaul_runtime::{Places, Settings, System};
use longhaul_testkit::processes::{command, driver};
use longhaul_testkit::{Dice, seed, times};
use serde_json::json;

use crate::driven::DRIVER;

/// Every file but git's own: its kind and its content.
type Files = BTreeMap<PathBuf, (&'static str, Vec<u8>)>;

struct Desk {
    _folder: tempfile::TempDir,
    home: PathBuf,
    repository: PathBuf,
    session: SessionId,
    worktree: PathBuf,
    dice: Dice,
    /// What was there when a step ended, by the snapshot of it.
    ends: Vec<(String, Files)>,
}

fn git(directory: &Path, arguments: &[&str]) -> bool {
    let mut git = command("git");
    git.current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        git.env(name, "a@example.org");
    }
    git.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

fn files(top: &Path) -> Files {
    fn collect(top: &Path, folder: &Path, found: &mut Files) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let about = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(top).unwrap().to_owned();
            if name == Path::new(".git") || name.starts_with("ignored") {
                continue;
            }
            if about.is_dir() {
                collect(top, &path, found);
            } else if about.is_symlink() {
                let target = fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes();
                found.insert(name, ("link", target));
            } else {
                let kind = if about.permissions().mode() & 0o100 == 0 { "file" } else { "program" };
                found.insert(name, (kind, fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = Files::new();
    collect(top, top, &mut found);
    found
}

impl Desk {
    fn new(seed: u64, linked: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (home, repository) = (top.join("home"), top.join("repository"));
        fs::create_dir_all(&repository).unwrap();
        assert!(git(&repository, &["init", "--quiet", "--initial-branch=main"]));
        for number in 0..20 {
            fs::write(repository.join(format!("file-{number}")), format!("{number}\n").repeat(200)).unwrap();
        }
        fs::write(repository.join(".gitignore"), "ignored\n").unwrap();
        assert!(git(&repository, &["add", "--all"]) && git(&repository, &["commit", "--quiet", "-m", "one"]));
        let system = System::new(Settings {
            places: Places::under(&home),
            variables: BTreeMap::new(),
            directory: repository.clone(),
            flags: Vec::new(),
        });
        let commands = system.commands().unwrap();
        let workspace = Some(commands.add_workspace(&repository, None).unwrap().workspace.id);
        let session =
            commands.open_session(NewSession { goal: json!("a goal"), workspace, parent: None }).unwrap();
        commands.close_session(session, &CloseOutcome::Completed, None).unwrap();
        let mut desk = Self {
            _folder: folder,
            home,
            repository,
            session,
            worktree: PathBuf::new(),
            dice: Dice::new(seed),
            ends: Vec::new(),
        };
        let make: &[&str] = if linked { &["make", "--linked"] } else { &["make"] };
        desk.worktree = PathBuf::from(desk.act(make));
        desk
    }

    fn driver(&self, act: &[&str]) -> Command {
        let mut command = driver(DRIVER, &self.home, "keep");
        command.arg("--directory").arg(&self.repository).arg("--session").arg(self.session.to_string());
        command.args(act);
        command
    }

    /// Acts to the end and answers what was said.
    fn act(&self, act: &[&str]) -> String {
        let output = self.driver(act).output().unwrap();
        assert!(output.status.success(), "{act:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Acts, and is killed at a random moment.
    fn crash(&mut self, act: &[&str]) {
        let mut child = self.driver(act).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = Duration::from_micros(self.dice.below(250_000));
        std::thread::sleep(moment); // tidy: a random moment is the point
        child.kill().unwrap();
        child.wait().unwrap();
        // Whoever goes on after a crash looks first, which also ends what the dead one left running.
        self.act(&["snapshot"]);
    }

    fn edit(&mut self) {
        for _ in 0..=self.dice.below(4) {
            let path = self.worktree.join(format!("file-{}", self.dice.below(25)));
            let text = format!("{}\n", self.dice.throw()).repeat(1 + usize::from(self.dice.once_in(3)) * 400);
            let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
            match self.dice.below(8) {
                0 => drop(fs::remove_file(&path)),
                1 if !path.exists() && !is_link => symlink(&text[..8], &path).unwrap(),
                2 if path.is_file() && !is_link => {
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
                }
                3 => {
                    let folder = self.worktree.join(format!("folder-{}", self.dice.below(3)));
                    fs::create_dir_all(&folder).unwrap();
                    fs::write(folder.join(format!("x\n{}", self.dice.below(5))), text).unwrap();
                }
                4 => drop(fs::remove_dir_all(self.worktree.join(format!("folder-{}", self.dice.below(3))))),
                5 => fs::write(self.worktree.join("ignored"), text).unwrap(),
                _ if is_link => fs::remove_file(&path).unwrap(),
                _ => fs::write(&path, text).unwrap(),
            }
        }
    }

    fn commit(&self) {
        git(&self.worktree, &["add", "--all"]);
        git(&self.worktree, &["commit", "--quiet", "--message=work"]);
    }

    /// All of it goes into the base as one commit, as a forge would do it.
    fn squash(&self) {
        self.commit();
        let top = self.worktree.to_str().unwrap();
        if git(&self.repository, &["fetch", "--quiet", top, "HEAD"])
            && git(&self.repository, &["merge", "--quiet", "--squash", "FETCH_HEAD"])
        {
            git(&self.repository, &["commit", "--quiet", "--message=squash"]);
        } else {
            git(&self.repository, &["reset", "--quiet", "--hard"]);
        }
    }

    fn end_step(&mut self) {
        let files = files(&self.worktree);
        let snapshot = self.act(&["snapshot"]);
        self.ends.push((snapshot, files));
    }

    /// The files of any step's end come back as they were.
    fn check(&self, index: usize) {
        let (snapshot, files_then) = &self.ends[index];
        self.act(&["restore", snapshot]);
        let (now, then) = (files(&self.worktree), files_then);
        let differing: BTreeSet<&PathBuf> =
            now.keys().chain(then.keys()).filter(|path| now.get(*path) != then.get(*path)).collect();
        assert!(differing.is_empty(), "step {index} of {}: {differing:?}", self.ends.len());
    }

    fn any_end(&mut self) -> usize {
        let count = self.ends.len() as u64;
        usize::try_from(self.dice.below(count)).unwrap()
    }

    fn round(&mut self) {
        if !self.worktree.exists() {
            let index = self.any_end();
            self.check(index);
        }
        self.edit();
        if self.dice.once_in(3) {
            self.commit();
        }
        self.end_step();
        match self.dice.below(8) {
            0 => {
                self.edit();
                self.crash(&["snapshot"]);
            }
            1 | 2 => {
                let index = self.any_end();
                let snapshot = self.ends[index].0.clone();
                self.crash(&["restore", &snapshot]);
            }
            3 => self.crash(&["clean"]),
            4 => {
                self.squash();
                self.crash(&["clean"]);
            }
            5 => {
                self.squash();
                self.act(&["clean"]);
            }
            6 => {
                git(&self.repository, &["reflog", "expire", "--expire=now", "--all"]);
                assert!(git(&self.repository, &["gc", "--quiet", "--prune=now"]));
            }
            _ => {
                let index = self.any_end();
                self.check(index);
            }
        }
    }
}

#[test]
fn heavy_no_byte_of_a_steps_end_is_lost_by_edits_crashes_clean_ups_and_restores() {
    let mut removed = 0;
    for number in 0..times(3, 20) {
        let mut desk = Desk::new(seed() + number, number % 3 == 2);
        for _ in 0..times(12, 20) {
            desk.round();
            removed += u64::from(!desk.worktree.exists());
        }
        for index in 0..desk.ends.len() {
            desk.check(index);
        }
    }
    assert!(removed > 0, "no clean-up ever removed anything, so nothing was proved about it");
}
