//! The forge on this machine keeps the promises of the trait.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use longhaul_forge::{
    Check, CheckOutcome, Failure, Fault, FaultAct, FaultMoment, FaultOn, Forge, LocalForge, LocalRules,
    MergeMethod, MergePull, NewIssue, NewPull, NewReview, Pull, PullEdit, PullState, Readiness,
    ReviewVerdict, Rule, State,
};
use tempfile::TempDir;

struct World {
    _folder: TempDir,
    path: PathBuf,
    forge: LocalForge,
}

#[expect(clippy::disallowed_methods, reason = "the tests run the real git")]
fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.args(arguments).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "ada").env(format!("GIT_{role}_EMAIL"), "ada@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl World {
    /// A forge with a commit on `main`, and two on `topic`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let forge = LocalForge::make(&path.join("forge.git"), "main", "longhaul").unwrap();
        let work = path.join("work");
        git(&path, &["init", "--quiet", "--initial-branch=main", "work"]);
        git(&work, &["remote", "add", "origin", path.join("forge.git").to_str().unwrap()]);
        let world = Self { _folder: folder, path, forge };
        world.commit("main", "a", "1\n");
        git(&work, &["switch", "--quiet", "-c", "topic"]);
        world.commit("topic", "b", "2\n");
        world.commit("topic", "b", "3\n");
        world
    }

    fn commit(&self, branch: &str, file: &str, text: &str) {
        let work = self.path.join("work");
        std::fs::write(work.join(file), text).unwrap();
        git(&work, &["add", "--all"]);
        git(&work, &["commit", "--quiet", "-m", &format!("{file} is {}", text.trim())]);
        git(&work, &["push", "--quiet", "origin", &format!("HEAD:{branch}")]);
    }

    fn base_moves(&self, file: &str, text: &str) {
        let work = self.path.join("work");
        git(&work, &["switch", "--quiet", "main"]);
        self.commit("main", file, text);
    }

    fn pull(&self) -> Pull {
        let (title, body) = ("A title".to_owned(), "A body".to_owned());
        let (head, base) = ("topic".to_owned(), "main".to_owned());
        self.forge.open_pull(&NewPull { title, body, head, base, readiness: Readiness::Ready }).unwrap()
    }

    fn bare(&self, arguments: &[&str]) -> String {
        git(&self.path.join("forge.git"), arguments)
    }

    fn merge(&self, number: u64, method: MergeMethod) -> MergePull {
        let head = self.forge.branch("topic").unwrap().unwrap();
        let base = self.forge.branch("main").unwrap();
        MergePull { number, method, head, base, message: "A title\n\nA body\n".to_owned(), at_s: 1 }
    }
}

#[test]
fn each_way_of_merging_leads_to_the_same_tree() {
    for (method, subjects, parents) in [
        (MergeMethod::Squash, "A title\nc is 4\na is 1", 1),
        (MergeMethod::Merge, "A title\nc is 4\na is 1", 2),
        (MergeMethod::Rebase, "b is 3\nb is 2\nc is 4\na is 1", 1),
    ] {
        let world = World::new();
        world.base_moves("c", "4\n");
        let pull = world.pull();
        let merged = world.forge.merge(&world.merge(pull.number, method)).unwrap();
        assert_eq!(world.bare(&["log", "--first-parent", "--format=%s", "main"]), subjects, "{method:?}");
        assert_eq!(world.bare(&["rev-parse", "main"]), merged.commit);
        assert_eq!(world.bare(&["rev-list", "--parents", "-1", "main"]).split(' ').count() - 1, parents);
        assert_eq!(world.bare(&["ls-tree", "--name-only", "main"]), "a\nb\nc", "{method:?}");
        assert_eq!(world.bare(&["show", "main:b"]), "3");
        assert_eq!(world.forge.pull(pull.number).unwrap().state, PullState::Merged);
        // Asked again it says what it said, and merges nothing.
        let again = MergePull { base: None, ..world.merge(pull.number, method) };
        assert_eq!(world.forge.merge(&again).unwrap(), merged);
        assert_eq!(world.bare(&["rev-parse", "main"]), merged.commit);
    }
}

#[test]
fn what_is_not_as_expected_is_not_merged() {
    let world = World::new();
    let pull = world.pull();
    let wanted = world.merge(pull.number, MergeMethod::Squash);
    let other = MergePull { head: wanted.base.clone().unwrap(), ..wanted.clone() };
    assert!(matches!(world.forge.merge(&other), Err(Failure::HeadMoved { .. })));
    world.base_moves("c", "4\n");
    assert!(matches!(world.forge.merge(&wanted), Err(Failure::BaseMoved { .. })));
    world.base_moves("b", "other\n");
    assert_eq!(world.forge.merge(&MergePull { base: None, ..wanted }), Err(Failure::Conflict));
    assert_eq!(world.forge.pull(pull.number).unwrap().state, PullState::Open);
}

#[test]
fn reviews_checks_and_drafts_are_rules_that_say_no() {
    let world = World::new();
    let pull = world.pull();
    let rule = |wanted: &MergePull| match world.forge.merge(wanted) {
        Err(Failure::Refused { rule, .. }) => rule,
        other => panic!("{other:?}"),
    };
    let wanted = world.merge(pull.number, MergeMethod::Squash);
    world.forge.set_rules(&LocalRules { reviews: 1, checks: vec!["test".to_owned()] }).unwrap();
    let draft = PullEdit { readiness: Some(Readiness::Draft), ..PullEdit::default() };
    world.forge.edit_pull(pull.number, &draft).unwrap();
    assert_eq!(rule(&wanted), Rule::Draft);
    let ready = PullEdit { readiness: Some(Readiness::Ready), ..PullEdit::default() };
    world.forge.edit_pull(pull.number, &ready).unwrap();
    assert_eq!(rule(&wanted), Rule::ReviewRequired);
    let said = |verdict| NewReview { verdict, body: String::new() };
    let own = world.forge.review(pull.number, &said(ReviewVerdict::Approved));
    assert!(matches!(own, Err(Failure::Refused { rule: Rule::SelfApproval, .. })), "{own:?}");
    let ada = world.forge.asked_by("ada");
    ada.review(pull.number, &said(ReviewVerdict::ChangesRequested)).unwrap();
    assert_eq!(rule(&wanted), Rule::ChangesRequested);
    ada.review(pull.number, &said(ReviewVerdict::Approved)).unwrap();
    assert_eq!(rule(&wanted), Rule::CheckRequired);
    let check = |outcome| Check { name: "test".to_owned(), outcome };
    world.forge.report_check(&wanted.head, &check(CheckOutcome::Failed)).unwrap();
    assert_eq!(rule(&wanted), Rule::CheckRequired);
    world.forge.report_check(&wanted.head, &check(CheckOutcome::Passed)).unwrap();
    assert_eq!(world.forge.checks(&wanted.head).unwrap(), [check(CheckOutcome::Passed)]);
    // A word about an older commit is no word about this one.
    git(&world.path.join("work"), &["switch", "--quiet", "topic"]);
    world.commit("topic", "b", "5\n");
    let newer = world.merge(pull.number, MergeMethod::Squash);
    assert_eq!(rule(&newer), Rule::ReviewRequired);
}

#[test]
fn comments_pull_requests_and_closings_asked_for_twice_are_there_once() {
    let world = World::new();
    let pull = world.pull();
    assert_eq!(world.pull(), pull, "the open one is meant");
    assert_eq!(world.forge.pull_of("topic").unwrap().unwrap().number, pull.number);
    let mark = "<!-- mark -->";
    world.forge.keep_comment(pull.number, mark, "one").unwrap();
    let kept = world.forge.keep_comment(pull.number, mark, "two").unwrap();
    assert_eq!((kept.id, kept.edits, kept.body.as_str()), (1, 1, "<!-- mark -->\ntwo"));
    assert_eq!(world.forge.pull(pull.number).unwrap().comments, [kept]);
    let new = NewIssue { title: "t".to_owned(), body: String::new(), labels: Vec::new() };
    let issue = world.forge.open_issue(&new).unwrap();
    assert_eq!(issue.number, pull.number + 1, "issues and pull requests are counted together");
    world.forge.label(issue.number, &["bug".to_owned()]).unwrap();
    for _ in 0..2 {
        let closed = world.forge.close_issue(issue.number).unwrap();
        assert_eq!((closed.state, closed.closings, closed.labels.len()), (State::Closed, 1, 1));
    }
    assert!(matches!(world.forge.issue(pull.number), Err(Failure::NotFound(_))));
    assert_eq!(world.forge.issues(Some(State::Open)).unwrap(), []);
    let head = world.forge.branch("topic").unwrap().unwrap();
    for _ in 0..2 {
        world.forge.remove_branch("topic", &head).unwrap();
    }
    assert_eq!(world.forge.branch("topic").unwrap(), None);
}

#[test]
fn faults_happen_before_or_after_the_effect_as_often_as_was_said() {
    let world = World::new();
    let fault = |when, act| Fault { on: FaultOn::OpenIssue, when, act, times: 1, ms: 0 };
    let open = || {
        let new = NewIssue { title: "t".to_owned(), body: String::new(), labels: Vec::new() };
        world.forge.open_issue(&new)
    };
    world
        .forge
        .set_faults(&[fault(FaultMoment::Before, FaultAct::Fail), fault(FaultMoment::After, FaultAct::Fail)])
        .unwrap();
    assert!(matches!(open(), Err(Failure::Network(_))));
    assert_eq!(world.forge.issues(None).unwrap().len(), 0, "nothing was done");
    assert!(matches!(open(), Err(Failure::UnknownOutcome(_))));
    assert_eq!(world.forge.issues(None).unwrap().len(), 1, "it was done");
    assert!(open().is_ok());
    for (act, is_so) in [
        (FaultAct::Refuse, (|failure| matches!(failure, Failure::Refused { .. })) as fn(&Failure) -> bool),
        (FaultAct::Auth, |failure| matches!(failure, Failure::Auth(_))),
        (FaultAct::RateLimit, |failure| matches!(failure, Failure::RateLimit { .. })),
    ] {
        world.forge.set_faults(&[fault(FaultMoment::Before, act)]).unwrap();
        assert!(is_so(&open().unwrap_err()), "{act:?}");
    }
    let slow = Fault { ms: 500, ..fault(FaultMoment::Before, FaultAct::Slow) };
    world.forge.set_faults(&[slow]).unwrap();
    let seen_by = world.forge.folder().join("slow");
    std::thread::scope(|scope| {
        let opening = scope.spawn(open);
        while !seen_by.exists() {
            assert!(!opening.is_finished(), "nobody could see that it is slow");
            std::thread::yield_now();
        }
        assert!(opening.join().unwrap().is_ok());
    });
    assert!(!seen_by.exists(), "it is over");
}

#[test]
fn a_merge_that_was_noted_and_not_finished_is_settled_by_whoever_comes_next() {
    for has_moved in [true, false] {
        let world = World::new();
        let pull = world.pull();
        let (base, head) = (world.bare(&["rev-parse", "main"]), world.bare(&["rev-parse", "topic"]));
        let file = world.forge.folder().join(format!("items/{}.json", pull.number));
        let mut item: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let merged = serde_json::json!({ "commit": head, "head": head, "method": "rebase" });
        item["merging"] = serde_json::json!({ "merged": merged, "from": base });
        std::fs::write(&file, item.to_string()).unwrap();
        if has_moved {
            world.bare(&["update-ref", "refs/heads/main", &head]);
        }
        let state = world.forge.pull(pull.number).unwrap().state;
        assert_eq!(state, if has_moved { PullState::Merged } else { PullState::Open });
    }
}
