//! Pull requests of a local forge, what is said about them, and by whom.

use longhaul_git::Bare;

use super::files::{Item, Locked};
use super::git;
use crate::failure::{Failure, Rule};
use crate::kinds::{Comment, NewPull, NewReview, Pull, PullEdit, PullState, Review, ReviewVerdict};

pub(super) fn pull_of(files: &Locked, head: &str) -> Result<Option<Pull>, Failure> {
    let mut found: Vec<Pull> = files.pulls()?.into_iter().filter(|pull| pull.head == head).collect();
    let open = found.iter().position(|pull| pull.state == PullState::Open);
    Ok(match open {
        Some(open) => Some(found.swap_remove(open)),
        None => found.pop(),
    })
}

pub(super) fn open(bare: &Bare, files: &Locked, new: &NewPull, account: &str) -> Result<Pull, Failure> {
    if let Some(pull) = pull_of(files, &new.head)?.filter(|pull| pull.state == PullState::Open) {
        return Ok(pull);
    }
    for branch in [&new.head, &new.base] {
        if bare.branch(branch).map_err(git)?.is_none() {
            return Err(Failure::NotFound(format!("branch `{branch}`")));
        }
    }
    let number = files.next_number()?;
    let pull = Pull {
        number,
        url: format!("{}#{number}", bare.folder().display()),
        title: new.title.clone(),
        body: new.body.clone(),
        author: account.to_owned(),
        head: new.head.clone(),
        base: new.base.clone(),
        readiness: new.readiness,
        state: PullState::Open,
        labels: Vec::new(),
        comments: Vec::new(),
        reviews: Vec::new(),
        merged: None,
    };
    files.put_pull(&pull)?;
    Ok(pull)
}

pub(super) fn edit(files: &Locked, number: u64, edit: &PullEdit) -> Result<Pull, Failure> {
    let mut pull = files.pull(number)?;
    if let Some(title) = &edit.title {
        pull.title.clone_from(title);
    }
    if let Some(body) = &edit.body {
        pull.body.clone_from(body);
    }
    pull.readiness = edit.readiness.unwrap_or(pull.readiness);
    files.put_pull(&pull)?;
    Ok(pull)
}

pub(super) fn review(
    bare: &Bare,
    files: &Locked,
    number: u64,
    review: &NewReview,
    account: &str,
) -> Result<Review, Failure> {
    let mut item = files.item(number)?;
    let Item::Pull { pull, .. } = &mut item else {
        return Err(Failure::NotFound(format!("pull request #{number}, it is an issue")));
    };
    if review.verdict == ReviewVerdict::Approved && pull.author == account {
        let because = format!("`{account}` opened the pull request, and nobody approves their own");
        return Err(Failure::refused(Rule::SelfApproval, because));
    }
    let commit = bare.branch(&pull.head).map_err(git)?.map(|commit| commit.to_string()).unwrap_or_default();
    let review =
        Review { author: account.to_owned(), verdict: review.verdict, body: review.body.clone(), commit };
    // The last word of each counts.
    pull.reviews.retain(|known| known.author != review.author);
    pull.reviews.push(review.clone());
    files.put(&item)?;
    Ok(review)
}

pub(super) fn keep_comment(comments: &mut Vec<Comment>, mark: &str, body: &str, account: &str) -> Comment {
    if let Some(comment) = comments.iter_mut().find(|comment| comment.body.contains(mark)) {
        if comment.body != body {
            body.clone_into(&mut comment.body);
            comment.edits += 1;
        }
        return comment.clone();
    }
    let id = comments.iter().map(|comment| comment.id).max().unwrap_or(0) + 1;
    let comment = Comment { id, author: account.to_owned(), body: body.to_owned(), edits: 0 };
    comments.push(comment.clone());
    comment
}
