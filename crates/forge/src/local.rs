//! A forge on this machine: a bare repository with a folder of JSON files in it.
//!
//! Whoever changes anything holds the one lock; files are put in place whole. A merge is noted before the branch moves,
//! so that one who dies in between leaves nothing undecided.

mod faults;
mod files;
mod merging;
mod pulls;

use std::path::{Path, PathBuf};

use longhaul_git::{Bare, ObjectId, Push, Snapshots};

pub use faults::{Fault, FaultAct, FaultMoment, FaultOn};
pub use files::LocalRules;

use crate::Forge;
use crate::failure::Failure;
use crate::kinds::{
    Check, Comment, Issue, MergePull, Merged, NewIssue, NewPull, NewReview, Pull, PullEdit, PullState,
    PushBranch, Review, State,
};
use files::{Files, Locked};

/// The folder inside the bare repository.
const FOLDER: &str = "longhaul-forge";

/// A forge, and the account that asks.
#[derive(Debug, Clone)]
pub struct LocalForge {
    bare: Bare,
    account: String,
}

impl LocalForge {
    /// The account that deliveries are made with.
    pub const OURS: &'static str = "longhaul";

    /// Makes one: an empty bare repository, or the folder in one that is there.
    pub fn make(path: &Path, branch: &str, account: &str) -> Result<Self, Failure> {
        let bare = match Bare::open(path) {
            Ok(bare) => bare,
            Err(_) => Bare::make(path, branch).map_err(|error| Failure::Network(error.to_string()))?,
        };
        let forge = Self { bare, account: account.to_owned() };
        forge.files().make()?;
        Ok(forge)
    }

    /// The forge at a path; `None` if there is none. A `file://` address names a path too.
    pub fn find(address: &str, account: &str) -> Option<Self> {
        let path = PathBuf::from(address.strip_prefix("file://").unwrap_or(address));
        if !path.join(FOLDER).is_dir() {
            return None;
        }
        let bare = Bare::open(&path).ok()?;
        Some(Self { bare, account: account.to_owned() })
    }

    /// The same, with somebody else asking.
    pub fn asked_by(&self, account: &str) -> Self {
        Self { account: account.to_owned(), ..self.clone() }
    }

    /// Where it keeps what it keeps.
    pub fn folder(&self) -> PathBuf {
        self.bare.folder().join(FOLDER)
    }

    /// What it insists on.
    pub fn rules(&self) -> Result<LocalRules, Failure> {
        self.files().rules()
    }

    pub fn set_rules(&self, rules: &LocalRules) -> Result<(), Failure> {
        self.files().lock()?.set_rules(rules)
    }

    /// What goes wrong from now on, in place of what was to.
    pub fn set_faults(&self, faults: &[Fault]) -> Result<(), Failure> {
        self.files().lock()?.set_faults(faults)
    }

    fn files(&self) -> Files {
        Files::new(self.folder())
    }

    /// Does something under the lock, with what was told to go wrong before and after it.
    fn act<T>(&self, on: FaultOn, act: impl FnOnce(&mut Locked) -> Result<T, Failure>) -> Result<T, Failure> {
        self.go_wrong(on, FaultMoment::Before)?;
        let done = {
            let mut locked = self.files().lock()?;
            merging::settle(&self.bare, &mut locked)?;
            act(&mut locked)?
        };
        self.go_wrong(on, FaultMoment::After)?;
        Ok(done)
    }

    fn go_wrong(&self, on: FaultOn, moment: FaultMoment) -> Result<(), Failure> {
        let due = self.files().lock()?.take_fault(on, moment)?;
        due.map_or(Ok(()), |fault| fault.happen(&self.folder()))
    }

    fn look<T>(&self, look: impl FnOnce(&mut Locked) -> Result<T, Failure>) -> Result<T, Failure> {
        self.go_wrong(FaultOn::Look, FaultMoment::Before)?;
        let mut locked = self.files().lock()?;
        merging::settle(&self.bare, &mut locked)?;
        look(&mut locked)
    }
}

impl Forge for LocalForge {
    fn name(&self) -> String {
        self.bare.folder().to_string_lossy().into_owned()
    }

    fn address(&self) -> String {
        self.name()
    }

    fn issue(&self, number: u64) -> Result<Issue, Failure> {
        self.look(|files| files.issue(number))
    }

    fn issues(&self, state: Option<State>) -> Result<Vec<Issue>, Failure> {
        let wanted = |issue: &Issue| state.is_none_or(|state| issue.state == state);
        self.look(|files| Ok(files.issues()?.into_iter().filter(wanted).collect()))
    }

    fn open_issue(&self, new: &NewIssue) -> Result<Issue, Failure> {
        self.act(FaultOn::OpenIssue, |files| {
            let issue = Issue {
                number: files.next_number()?,
                title: new.title.clone(),
                body: new.body.clone(),
                author: self.account.clone(),
                state: State::Open,
                labels: new.labels.clone(),
                comments: Vec::new(),
                closings: 0,
            };
            files.put_issue(&issue)?;
            Ok(issue)
        })
    }

    fn close_issue(&self, number: u64) -> Result<Issue, Failure> {
        self.act(FaultOn::Close, |files| {
            let mut issue = files.issue(number)?;
            if issue.state == State::Open {
                issue.state = State::Closed;
                issue.closings += 1;
                files.put_issue(&issue)?;
            }
            Ok(issue)
        })
    }

    fn label(&self, number: u64, labels: &[String]) -> Result<(), Failure> {
        self.act(FaultOn::Label, |files| files.change(number, |item| *item.labels() = labels.to_vec()))
    }

    fn keep_comment(&self, number: u64, mark: &str, body: &str) -> Result<Comment, Failure> {
        let body = if body.contains(mark) { body.to_owned() } else { format!("{mark}\n{body}") };
        self.act(FaultOn::Comment, |files| {
            let mut kept = None;
            files.change(number, |item| {
                kept = Some(pulls::keep_comment(item.comments(), mark, &body, &self.account));
            })?;
            kept.ok_or_else(|| Failure::NotFound(format!("#{number}")))
        })
    }

    fn comment(&self, number: u64, mark: &str) -> Result<Option<Comment>, Failure> {
        self.look(|files| {
            let mut item = files.item(number)?;
            Ok(item.comments().iter().find(|comment| comment.body.contains(mark)).cloned())
        })
    }

    fn pull(&self, number: u64) -> Result<Pull, Failure> {
        self.look(|files| files.pull(number))
    }

    fn pulls(&self, state: Option<PullState>) -> Result<Vec<Pull>, Failure> {
        let wanted = |pull: &Pull| state.is_none_or(|state| pull.state == state);
        self.look(|files| Ok(files.pulls()?.into_iter().filter(wanted).collect()))
    }

    fn pull_of(&self, head: &str) -> Result<Option<Pull>, Failure> {
        self.look(|files| pulls::pull_of(files, head))
    }

    fn open_pull(&self, new: &NewPull) -> Result<Pull, Failure> {
        self.act(FaultOn::OpenPull, |files| pulls::open(&self.bare, files, new, &self.account))
    }

    fn edit_pull(&self, number: u64, edit: &PullEdit) -> Result<Pull, Failure> {
        self.act(FaultOn::EditPull, |files| pulls::edit(files, number, edit))
    }

    fn review(&self, number: u64, review: &NewReview) -> Result<Review, Failure> {
        self.act(FaultOn::Review, |files| pulls::review(&self.bare, files, number, review, &self.account))
    }

    fn report_check(&self, commit: &str, check: &Check) -> Result<(), Failure> {
        self.act(FaultOn::Check, |files| files.put_check(commit, check))
    }

    fn checks(&self, commit: &str) -> Result<Vec<Check>, Failure> {
        self.look(|files| files.checks(commit))
    }

    fn merge(&self, wanted: &MergePull) -> Result<Merged, Failure> {
        self.act(FaultOn::Merge, |files| merging::merge(&self.bare, files, wanted, &self.account))
    }

    fn branch(&self, name: &str) -> Result<Option<String>, Failure> {
        self.look(|_| Ok(self.bare.branch(name).map_err(git)?.map(|commit| commit.to_string())))
    }

    fn push(&self, from: &Snapshots, wanted: &PushBranch) -> Result<(), Failure> {
        self.act(FaultOn::Push, |_| {
            let commit = id(&wanted.commit)?;
            let there = self.bare.branch(&wanted.branch).map_err(git)?;
            if there.as_ref() == Some(&commit) {
                return Ok(());
            }
            let expected = wanted.expected.as_deref().map(id).transpose()?;
            if there != expected {
                let found = there.map_or("no such branch".to_owned(), |there| there.to_string());
                let expected = expected.map_or("no such branch".to_owned(), |there| there.to_string());
                return Err(Failure::HeadMoved { expected, found });
            }
            let address = self.address();
            let (branch, expected) = (wanted.branch.as_str(), expected.as_ref());
            from.push(&Push { address: &address, commit: &commit, branch, expected }).map_err(git)
        })
    }

    fn remove_branch(&self, name: &str, at: &str) -> Result<(), Failure> {
        self.act(FaultOn::RemoveBranch, |_| {
            let at = id(at)?;
            match self.bare.branch(name).map_err(git)? {
                None => Ok(()),
                Some(there) if there == at => self.bare.remove_branch(name, &at).map_err(git),
                Some(there) => Err(Failure::HeadMoved { expected: at.to_string(), found: there.to_string() }),
            }
        })
    }
}

fn id(text: &str) -> Result<ObjectId, Failure> {
    ObjectId::parse(text).ok_or_else(|| Failure::Garbled(format!("`{text}` is no commit")))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn git(error: longhaul_git::Error) -> Failure {
    Failure::Network(error.to_string())
}
