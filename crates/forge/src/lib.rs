//! Forges: where issues, pull requests, reviews and merges are.
//!
//! What is asked of one is shaped so that doing it twice comes to the same: a pull request is known by its branch, a
//! comment by a mark in it, a merge by the commit that it is of. A forge must never decide whether something should be
//! delivered; it does what it is told, or says why not.

mod failure;
mod kinds;
mod local;

use longhaul_git::Snapshots;

pub use failure::{Failure, Rule};
pub use kinds::{
    Check, CheckOutcome, Comment, Issue, MergeMethod, MergePull, Merged, NewIssue, NewPull, NewReview, Pull,
    PullEdit, PullState, PushBranch, Readiness, Review, ReviewVerdict, State,
};
pub use local::{Fault, FaultAct, FaultMoment, FaultOn, LocalForge, LocalRules};

/// What a forge can be asked. Everything that changes it may be asked again after an outcome nobody knows.
pub trait Forge: std::fmt::Debug {
    /// How people name it, as in `forge:NAME#3`.
    fn name(&self) -> String;

    /// What git fetches from and pushes to.
    fn address(&self) -> String;

    fn issue(&self, number: u64) -> Result<Issue, Failure>;

    fn issues(&self, state: Option<State>) -> Result<Vec<Issue>, Failure>;

    fn open_issue(&self, new: &NewIssue) -> Result<Issue, Failure>;

    /// Closing what is closed changes nothing.
    fn close_issue(&self, number: u64) -> Result<Issue, Failure>;

    /// All labels of an issue or a pull request, in place of those that it had.
    fn label(&self, number: u64, labels: &[String]) -> Result<(), Failure>;

    /// The one comment that has this mark in it: edited where it is there, else made.
    fn keep_comment(&self, number: u64, mark: &str, body: &str) -> Result<Comment, Failure>;

    /// The comment with this mark, if there is one.
    fn comment(&self, number: u64, mark: &str) -> Result<Option<Comment>, Failure>;

    fn pull(&self, number: u64) -> Result<Pull, Failure>;

    fn pulls(&self, state: Option<PullState>) -> Result<Vec<Pull>, Failure>;

    /// The pull request of a branch: the open one, else the newest.
    fn pull_of(&self, head: &str) -> Result<Option<Pull>, Failure>;

    /// Opens a pull request; where one is open for the same branch, that one is meant.
    fn open_pull(&self, new: &NewPull) -> Result<Pull, Failure>;

    fn edit_pull(&self, number: u64, edit: &PullEdit) -> Result<Pull, Failure>;

    /// A word about a pull request. One's own cannot be approved.
    fn review(&self, number: u64, review: &NewReview) -> Result<Review, Failure>;

    /// Puts on record how a check of a commit went; under the same name, in place of what it said before.
    fn report_check(&self, commit: &str, check: &Check) -> Result<(), Failure>;

    fn checks(&self, commit: &str) -> Result<Vec<Check>, Failure>;

    /// Merges, if the head is what is expected. What is merged with this head already is given back as it is.
    fn merge(&self, wanted: &MergePull) -> Result<Merged, Failure>;

    /// Where a branch is; `None` if it is not there.
    fn branch(&self, name: &str) -> Result<Option<String>, Failure>;

    /// Moves a branch to a commit that lies in our own repository.
    fn push(&self, from: &Snapshots, wanted: &PushBranch) -> Result<(), Failure>;

    /// Removes a branch that is still at a commit; one that is gone is as wanted.
    fn remove_branch(&self, name: &str, at: &str) -> Result<(), Failure>;
}
