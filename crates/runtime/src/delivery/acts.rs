//! The acts of a delivery, each with how it is looked up and how it is done.

use longhaul_core::delivery::{Done, MergeMethod, MergedSeen, PullWanted, Sign, proof_comment, proof_mark};
use longhaul_events::DeliveryAct;
use longhaul_forge::{
    Check, CheckOutcome, Failure, Forge, MergePull, NewPull, PullEdit, PullState, PushBranch, Readiness,
    State,
};
use longhaul_git::{
    Author, Joined, NewCommit, ObjectId, Push, Signing, put_branch, resolve, user_identity, wants_signature,
};
use serde_json::{Value, json};

use super::ground::Ground;
use super::words::{self, digest};
use super::{Delivery, Holds, Plan, Trouble, author, could_not, refused, tried};

/// The pull request of this delivery.
#[derive(Debug, Clone)]
pub(super) struct PullRecord {
    pub(super) number: u64,
    pub(super) url: String,
}

/// A merge that happened.
#[derive(Debug, Clone)]
pub(super) struct MergeRecord {
    pub(super) commit: ObjectId,
    pub(super) head: ObjectId,
    pub(super) tree: Option<ObjectId>,
    /// The base as it was before.
    pub(super) onto: Option<ObjectId>,
    /// What was to be there.
    expected: Option<ObjectId>,
}

impl Delivery<'_> {
    pub(super) fn act(&mut self, act: DeliveryAct) -> Result<(), Trouble> {
        match act {
            DeliveryAct::Commit => self.make_commit(),
            DeliveryAct::Branch => self.bring_branch(),
            DeliveryAct::PullRequest => self.open_pull(),
            DeliveryAct::Comment => self.comment(),
            DeliveryAct::Merge => self.merge(),
            DeliveryAct::RemoveBranch => self.remove_branch(),
            DeliveryAct::Close => self.close(),
        }?;
        self.done.entry(act).or_insert(Done::Yes);
        Ok(())
    }

    fn make_commit(&mut self) -> Result<(), Trouble> {
        let (base, tree) = self.target()?;
        let author = self.author()?;
        let signing = match self.ground.settings.sign {
            Sign::Always => Signing::Signed,
            Sign::Never => Signing::Unsigned,
            Sign::Inherit => wants_signature(&self.ground.place.main)?,
        };
        let message = self.by.commands.scrubbed(&words::commit(&self.ground));
        let key = format!("commit:{base}:{tree}:{}", digest(&[&author.name, &author.email, &message]));
        let what = json!({ "base": base.as_str(), "tree": tree.as_str(), "message": message });
        let plan = Plan { act: DeliveryAct::Commit, key, what, receipt: Holds::ForEver };
        if !self.history.iter().any(|known| known.key == plan.key) {
            self.record_intent(&plan)?;
        }
        let known = self.history.iter().find(|known| known.key == plan.key);
        if let Some(receipt) = known.and_then(|known| known.receipt.as_ref()) {
            self.commit = receipt["commit"].as_str().and_then(ObjectId::parse);
            return Ok(());
        }
        // Made again after a crash it is the same one, but for its signature; nobody has seen the other.
        let at_s = known.map_or(0, |known| known.intended_at.0 / 1000);
        let (session, main) = (self.ground.session().to_string(), &self.ground.place.main);
        let new = NewCommit { tree: &tree, parent: &base, message: &message, author: &author, at_s, signing };
        let commit = self.ground.snapshots.commit_for(&session, main, &new)?;
        let receipt = json!({ "commit": commit.as_str(), "base": base.as_str(), "tree": tree.as_str() });
        self.record_receipt(&plan, receipt, crate::commands::delivering::Found::Now)?;
        self.commit = Some(commit);
        Ok(())
    }

    fn author(&self) -> Result<Author, Trouble> {
        let own = user_identity(&self.ground.place.main)?;
        author(&self.ground.settings, own.as_ref()).ok_or_else(|| {
            Trouble::Ends(could_not(
                "git does not know in whose name to commit; set `identity.name` and `identity.email`, or `git config user.name` and `user.email`",
            ))
        })
    }

    /// The branch, at the forge or else in the main repository.
    fn bring_branch(&mut self) -> Result<(), Trouble> {
        let commit = self.commit()?;
        let branch = self.ground.branch.clone();
        // Whatever we put there ourselves may be replaced; anything else is somebody's work.
        let ours = self.own_heads(&branch);
        let key = format!("branch:{branch}:{commit}");
        let what = json!({ "branch": branch, "commit": commit.as_str() });
        let plan = Plan { act: DeliveryAct::Branch, key, what: what.clone(), receipt: Holds::WhileSeen };
        self.once(
            &plan,
            &mut |ground| {
                let there = ground.branch_there(&branch)?;
                Ok((there.as_deref() == Some(commit.as_str())).then(|| what.clone()))
            },
            &mut |ground| {
                let expected = ground.branch_there(&branch)?;
                if let Some(found) = expected.as_ref().filter(|found| !ours.contains(*found)) {
                    let expected = "a commit of ours".to_owned();
                    return Err(Failure::HeadMoved { expected, found: found.clone() });
                }
                ground.put(&branch, &commit, expected)?;
                Ok(what.clone())
            },
        )
        .map(drop)
    }

    /// The commits that this session has put, or was about to put, at a branch.
    fn own_heads(&self, branch: &str) -> Vec<String> {
        let of_branch = |value: &Value| value["branch"] == *branch;
        let acts = self.history.iter().filter(|known| known.act == DeliveryAct::Branch);
        let heads =
            acts.filter(|known| of_branch(&known.what)).filter_map(|known| known.what["commit"].as_str());
        heads.map(str::to_owned).collect()
    }

    fn open_pull(&mut self) -> Result<(), Trouble> {
        let (base, _) = self.target()?;
        let readiness = match self.ground.wanted.pull_request {
            Some(PullWanted::Draft) => Readiness::Draft,
            Some(PullWanted::Ready) | None => Readiness::Ready,
        };
        let title = self.by.commands.scrubbed(&words::title(&self.ground));
        let body = self.by.commands.scrubbed(&words::pull(&self.ground, &base)?);
        let (head, into) = (self.ground.branch.clone(), self.ground.place.own.base_branch.clone());
        let state = format!("{readiness:?}");
        let key = format!("pull_request:{head}:{}", digest(&[&title, &body, &state]));
        let what = json!({ "branch": head, "title": title, "into": into });
        let plan = Plan { act: DeliveryAct::PullRequest, key, what, receipt: Holds::WhileSeen };
        let new =
            NewPull { title: title.clone(), body: body.clone(), head: head.clone(), base: into, readiness };
        let is_so = |pull: &longhaul_forge::Pull| {
            pull.title == title && pull.body == body && pull.readiness == readiness
        };
        let receipt = self.once(
            &plan,
            &mut |ground| {
                let pull = ground.forge()?.pull_of(&head)?;
                let pull = pull.filter(|pull| pull.state == PullState::Open && is_so(pull));
                Ok(pull.map(|pull| json!({ "number": pull.number, "url": pull.url })))
            },
            &mut |ground| {
                let pull = ground.forge()?.open_pull(&new)?;
                if !is_so(&pull) {
                    let (title, body) = (Some(title.clone()), Some(body.clone()));
                    let edit = PullEdit { title, body, readiness: Some(readiness) };
                    ground.forge()?.edit_pull(pull.number, &edit)?;
                }
                Ok(json!({ "number": pull.number, "url": pull.url }))
            },
        )?;
        self.pull = pull_in(&receipt);
        Ok(())
    }

    /// The one comment with the proof, edited where it is there.
    fn comment(&mut self) -> Result<(), Trouble> {
        let Some(proof) = self.ground.proof.clone() else { return Ok(()) };
        let number = self.pull_number()?;
        let session = self.ground.session().to_string();
        let mark = proof_mark(&session);
        let body = self.by.commands.scrubbed(&proof_comment(&session, &proof));
        let key = format!("comment:{number}:{}", digest(&[&body]));
        let what = json!({ "pull_request": number, "mark": mark });
        let plan = Plan { act: DeliveryAct::Comment, key, what, receipt: Holds::WhileSeen };
        self.once(
            &plan,
            &mut |ground| {
                let comment = ground.forge()?.comment(number, &mark)?.filter(|comment| comment.body == body);
                Ok(comment.map(|comment| json!({ "pull_request": number, "comment": comment.id })))
            },
            &mut |ground| {
                let comment = ground.forge()?.keep_comment(number, &mark, &body)?;
                Ok(json!({ "pull_request": number, "comment": comment.id }))
            },
        )
        .map(drop)
    }

    fn merge(&mut self) -> Result<(), Trouble> {
        let (base, tree) = self.target()?;
        let (head, number) = (self.commit()?, self.pull_number()?);
        let method = match self.ground.settings.method {
            MergeMethod::Squash => longhaul_forge::MergeMethod::Squash,
            MergeMethod::Merge => longhaul_forge::MergeMethod::Merge,
            MergeMethod::Rebase => longhaul_forge::MergeMethod::Rebase,
        };
        let message = self.by.commands.scrubbed(&words::commit(&self.ground));
        let change = self.ground.change.to_string();
        let key = format!("merge:{number}:{head}");
        let what = json!({
            "pull_request": number, "head": head.as_str(), "base": base.as_str(), "tree": tree.as_str(),
            "change": change, "method": method,
        });
        let plan = Plan { act: DeliveryAct::Merge, key: key.clone(), what, receipt: Holds::ForEver };
        let receipt = |commit: &str| {
            json!({
                "pull_request": number, "commit": commit, "head": head.as_str(), "tree": tree.as_str(), "change": change,
            })
        };
        let at_s = self.history.last().map_or(0, |last| last.intended_at.0 / 1000);
        let wanted =
            MergePull { number, method, head: head.to_string(), base: Some(base.to_string()), message, at_s };
        self.report_checks(&head)?;
        let merged = self.once(
            &plan,
            &mut |ground| {
                let merged = ground.forge()?.pull(number)?.merged;
                let merged = merged.filter(|merged| merged.head == head.as_str());
                Ok(merged.map(|merged| receipt(&merged.commit)))
            },
            &mut |ground| Ok(receipt(&ground.forge()?.merge(&wanted)?.commit)),
        )?;
        self.take_merge(&merged)
    }

    /// A merge that was done, or may have been done, before: nothing of it is done again.
    pub(super) fn look_for_merge(&mut self) -> Result<(), Trouble> {
        let change = self.ground.change.to_string();
        let is_of_this = |value: &Value| value["change"] == *change;
        let mut merges = self.history.iter().filter(|known| known.act == DeliveryAct::Merge);
        let Some(last) = merges.rfind(|known| is_of_this(&known.what)).cloned() else {
            return self.look_for_merge_of_others();
        };
        let number = last.what["pull_request"].as_u64().unwrap_or_default();
        self.pull = self.known_pull(number);
        if let Some(receipt) = &last.receipt {
            return self.take_merge(receipt);
        }
        let head = last.what["head"].as_str().unwrap_or_default().to_owned();
        let merged = tried(&mut || Ok(self.ground.forge()?.pull(number)?.merged))?;
        let Some(merged) = merged.filter(|merged| merged.head == head) else { return Ok(()) };
        let receipt = json!({
            "pull_request": number, "commit": merged.commit, "head": head, "tree": last.what["tree"], "change": change,
        });
        let (key, what) = (last.key, last.what);
        let plan = Plan { act: DeliveryAct::Merge, key, what, receipt: Holds::ForEver };
        let receipt = self.record_receipt(&plan, receipt, crate::commands::delivering::Found::Before)?;
        self.take_merge(&receipt)
    }

    /// A person may have merged what we put there, before it was our turn. It is taken as if it were ours.
    fn look_for_merge_of_others(&mut self) -> Result<(), Trouble> {
        let branch = self.ground.branch.clone();
        let ours = self.own_heads(&branch);
        if ours.is_empty() || self.ground.forge.is_none() {
            return Ok(());
        }
        let Some(pull) = tried(&mut || self.ground.forge()?.pull_of(&branch))? else { return Ok(()) };
        let Some(merged) = pull.merged.filter(|merged| ours.contains(&merged.head)) else { return Ok(()) };
        let commits = self.history.iter().filter(|known| known.act == DeliveryAct::Commit);
        let mut receipts = commits.filter_map(|known| known.receipt.clone());
        let Some(made) = receipts.rfind(|receipt| receipt["commit"] == *merged.head) else { return Ok(()) };
        if !self.is_of_this_change(&made)? {
            return Ok(());
        }
        let (number, url) = (pull.number, pull.url);
        self.pull = Some(PullRecord { number, url });
        let change = self.ground.change.to_string();
        let key = format!("merge:{number}:{}", merged.head);
        let what = json!({
            "pull_request": number, "head": merged.head, "base": made["base"], "tree": made["tree"], "change": change,
        });
        let receipt = json!({
            "pull_request": number, "commit": merged.commit, "head": merged.head, "tree": made["tree"], "change": change,
        });
        let plan = Plan { act: DeliveryAct::Merge, key, what, receipt: Holds::ForEver };
        self.record_intent(&plan)?;
        let receipt = self.record_receipt(&plan, receipt, crate::commands::delivering::Found::Before)?;
        self.take_merge(&receipt)
    }

    /// Whether a commit holds the files as they are now, and not an earlier state of them.
    fn is_of_this_change(&self, made: &Value) -> Result<bool, Trouble> {
        let id = |key: &str| made[key].as_str().and_then(ObjectId::parse);
        let (Some(base), Some(tree)) = (id("base"), id("tree")) else { return Ok(false) };
        let joined = self.ground.snapshots.join(&self.ground.place.base, &self.ground.change, &base)?;
        Ok(joined == Joined::Tree(tree))
    }

    /// Tells the forge what the checks came to, which may insist on them before it merges.
    fn report_checks(&self, head: &ObjectId) -> Result<(), Trouble> {
        let checks = self.ground.proof.as_ref().map_or(&Value::Null, |proof| &proof["checks"]);
        let wanted: Vec<Check> = checks.as_array().into_iter().flatten().filter_map(check_in).collect();
        let known = tried(&mut || self.ground.forge()?.checks(head.as_str()))?;
        for check in wanted.iter().filter(|check| !known.contains(check)) {
            tried(&mut || self.ground.forge()?.report_check(head.as_str(), check))?;
        }
        Ok(())
    }

    fn known_pull(&self, number: u64) -> Option<PullRecord> {
        let receipts = self.history.iter().filter(|known| known.act == DeliveryAct::PullRequest);
        let mut pulls = receipts.filter_map(|known| pull_in(known.receipt.as_ref()?));
        pulls.find(|pull| pull.number == number)
    }

    /// Looks at what the base branch really holds now. What the forge says of it is not asked.
    fn take_merge(&mut self, receipt: &Value) -> Result<(), Trouble> {
        let id = |key: &str| receipt[key].as_str().and_then(ObjectId::parse);
        let unknown = || Trouble::Ends(could_not("the receipt of the merge names no commit"));
        let (commit, head) = (id("commit").ok_or_else(unknown)?, id("head").ok_or_else(unknown)?);
        let address = self.ground.forge()?.address();
        let (session, branch) = (self.ground.session().to_string(), &self.ground.place.own.base_branch);
        let tip = self.ground.snapshots.bring_branch(&session, &address, branch)?;
        let mut merged = MergeRecord { commit, head, tree: None, onto: None, expected: id("tree") };
        self.seen_merged = Some(self.compared(&mut merged, &tip)?);
        self.commit = Some(merged.head.clone());
        self.merged = Some(merged);
        Ok(())
    }

    fn compared(&self, merged: &mut MergeRecord, tip: &ObjectId) -> Result<MergedSeen, Trouble> {
        let (snapshots, place) = (&self.ground.snapshots, &self.ground.place);
        let commit = &merged.commit;
        let is_there = snapshots.is_in(commit, tip).unwrap_or(false);
        if !is_there {
            return Ok(MergedSeen::Otherwise(format!(
                "`{}` does not hold the merge {commit} that the forge says it made",
                place.own.base_branch
            )));
        }
        let tree = snapshots.tree_of_commit(commit)?;
        merged.tree = Some(tree.clone());
        merged.onto = snapshots.first_parent(commit)?;
        if merged.expected.as_ref() == Some(&tree) {
            return Ok(MergedSeen::AsProven);
        }
        // A forge that cannot hold to a base may have merged onto a newer one.
        if let Some(base) = &merged.onto
            && snapshots.join(&place.base, &self.ground.change, base)? == Joined::Tree(tree.clone())
            && self.ground.holds_on(base)
        {
            return Ok(MergedSeen::AsProven);
        }
        let expected = merged.expected.as_ref().map_or("unknown", ObjectId::as_str);
        Ok(MergedSeen::Otherwise(format!(
            "the merge {commit} holds the tree {tree}, and what was proven is {expected}; look at the branch before anything else is merged"
        )))
    }

    fn remove_branch(&mut self) -> Result<(), Trouble> {
        let (head, branch) = (self.commit()?, self.ground.branch.clone());
        let key = format!("remove_branch:{branch}:{head}");
        let what = json!({ "branch": branch, "commit": head.as_str() });
        let plan = Plan { act: DeliveryAct::RemoveBranch, key, what: what.clone(), receipt: Holds::ForEver };
        let removed = self.once(
            &plan,
            &mut |ground| Ok(ground.forge()?.branch(&branch)?.is_none().then(|| what.clone())),
            &mut |ground| match ground.forge()?.remove_branch(&branch, head.as_str()) {
                // Somebody went on with it: it is theirs now.
                Err(Failure::HeadMoved { found, .. }) => Ok(json!({ "branch": branch, "left_at": found })),
                done => done.map(|()| what.clone()),
            },
        )?;
        if let Some(found) = removed["left_at"].as_str() {
            let because = format!("somebody moved the branch to {found}");
            self.done.insert(DeliveryAct::RemoveBranch, Done::Skipped(because));
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Trouble> {
        let Some(ticket) = self.ground.ticket else { return Ok(()) };
        let what = json!({ "issue": ticket });
        let key = format!("close:{ticket}");
        let plan = Plan { act: DeliveryAct::Close, key, what: what.clone(), receipt: Holds::ForEver };
        self.once(
            &plan,
            &mut |ground| {
                let issue = ground.forge()?.issue(ticket)?;
                Ok((issue.state == State::Closed).then(|| what.clone()))
            },
            &mut |ground| ground.forge()?.close_issue(ticket).map(|_| what.clone()),
        )
        .map(drop)
    }

    fn target(&self) -> Result<(ObjectId, ObjectId), Trouble> {
        let both = self.target.base.clone().zip(self.target.tree.clone());
        both.ok_or_else(|| Trouble::Ends(could_not("there is nothing to deliver")))
    }

    fn commit(&self) -> Result<ObjectId, Trouble> {
        self.commit.clone().ok_or_else(|| Trouble::Ends(could_not("there is no commit to deliver")))
    }

    fn pull_number(&self) -> Result<u64, Trouble> {
        let number = self.pull.as_ref().map(|pull| pull.number);
        number.ok_or_else(|| Trouble::Ends(refused("there is no pull request")))
    }
}

/// A check of a proof as a forge knows them.
fn check_in(entry: &Value) -> Option<Check> {
    let outcome = match entry["outcome"].as_str()? {
        "passed" | "carried" => CheckOutcome::Passed,
        _ => CheckOutcome::Failed,
    };
    Some(Check { name: entry["name"].as_str()?.to_owned(), outcome })
}

fn pull_in(receipt: &Value) -> Option<PullRecord> {
    let (number, url) = (receipt["number"].as_u64()?, receipt["url"].as_str()?.to_owned());
    Some(PullRecord { number, url })
}

impl Ground {
    pub(super) fn forge(&self) -> Result<&dyn Forge, Failure> {
        self.forge.as_deref().ok_or_else(|| Failure::NotFound("forge".to_owned()))
    }

    /// Where the branch is, at the forge or else in the main repository.
    fn branch_there(&self, branch: &str) -> Result<Option<String>, Failure> {
        match &self.forge {
            Some(forge) => forge.branch(branch),
            None => {
                Ok(resolve(&self.place.main, &format!("refs/heads/{branch}")).ok().map(|id| id.to_string()))
            }
        }
    }

    fn put(&self, branch: &str, commit: &ObjectId, expected: Option<String>) -> Result<(), Failure> {
        let Some(forge) = &self.forge else {
            let expected = expected.as_deref().and_then(ObjectId::parse);
            let push = Push { address: "", commit, branch, expected: expected.as_ref() };
            let session = self.session().to_string();
            return put_branch(&self.snapshots, &self.place.main, &session, &push)
                .map_err(|error| Failure::Garbled(error.to_string()));
        };
        let (branch, commit) = (branch.to_owned(), commit.to_string());
        forge.push(&self.snapshots, &PushBranch { branch, commit, expected })
    }
}
