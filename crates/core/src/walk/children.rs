//! Sessions below a session: which ones a step wants, what is to be done about them next, and what they come to.

use std::fmt::Write as _;

use longhaul_events::{Reason, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Found, Walk};
use crate::parking::ParkCode;
use crate::workflow::scope::Scope;
use crate::workflow::step::{Brief, Child, Files, Join, OnFailure, Sessions};
use crate::workflow::{ModelTier, Step, StepKind, Workflow, template};

/// The var that holds what a session is told before its first step, until somebody was told. No file can name it.
pub const BRIEF: &str = "lh:brief";

/// A session that a step wants, after templates.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedChild {
    pub workflow: String,
    pub goal: String,
    pub vars: Map<String, Value>,
    pub files: Files,
    pub brief: Brief,
    pub model: Option<ModelTier>,
}

/// Which sessions a step starts where its session stands.
pub fn wanted(family: &Sessions<'_>, scope: &Scope<'_>) -> Result<Vec<WantedChild>, Reason> {
    let mut all = Vec::new();
    for child in family.children {
        let Some(items) = &child.for_each else {
            all.extend(one(child, family.files, scope));
            continue;
        };
        let found = scope.lookup(&items.list);
        let list = found.value().and_then(Value::as_array).ok_or_else(|| {
            let message = format!("`{}` is not a list, and one session per item is wanted", items.list);
            ParkCode::ListExpected.reason(message, "let an earlier step set it to a list")
        })?;
        if list.len() as u64 > items.max {
            let message = format!("`{}` has {} items, and `max` is {}", items.list, list.len(), items.max);
            let fix = "raise `max`, or make the list shorter";
            return Err(ParkCode::ListTooLong.reason(message, fix));
        }
        for item in list {
            let mut scope = scope.clone();
            scope.local.insert(items.item_var.clone(), item.clone());
            all.extend(one(child, family.files, &scope));
        }
    }
    Ok(all)
}

fn one(child: &Child, files: Files, scope: &Scope<'_>) -> Option<WantedChild> {
    if child.when.as_ref().is_some_and(|when| !when.judge(scope).holds) {
        return None;
    }
    let text = |text: &str| template::render(text, scope);
    let goal = child.goal.as_deref().unwrap_or("{{goal}}");
    // What is not set is not given, so that the session below has its own default.
    let given = child.with.iter().map(|(name, value)| (name.clone(), template::resolve(value, scope)));
    let given = given.filter(|(_, value)| !value.is_null());
    Some(WantedChild {
        workflow: text(&child.workflow),
        goal: text(goal),
        vars: given.collect(),
        files: child.files.unwrap_or(files),
        brief: child.brief.clone().unwrap_or(Brief::Inherit),
        model: child.model,
    })
}

/// How a session below another ended.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    pub outcome: EndWord,
    /// What the session above is parked for, where that is what follows.
    pub code: ParkCode,
    pub because: Option<String>,
    pub result: Value,
}

impl End {
    pub const fn completed(result: Value) -> Self {
        Self { outcome: EndWord::Completed, code: ParkCode::ChildFailed, because: None, result }
    }

    pub const fn without_result(outcome: EndWord, code: ParkCode, because: Option<String>) -> Self {
        Self { outcome, code, because, result: Value::Null }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndWord {
    Completed,
    Failed,
    CouldNot,
    Cancelled,
}

/// Where a session below another stands, as far as the one above is concerned.
#[derive(Debug, Clone, PartialEq)]
pub enum Stands {
    /// Nobody has opened it yet.
    NotThere,
    /// Somebody has to drive it.
    GoesOn,
    /// For a person, for an agent that we do not drive, for time to pass.
    Waits,
    Over(End),
}

/// One of the sessions of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub files: Files,
    pub stands: Stands,
}

/// What is to be done about the sessions of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// These have to be driven, side by side; those that are not there are opened first.
    Drive(Vec<usize>),
    /// Nothing goes on before this one does.
    Wait(usize),
    /// What the step comes to is known. Whoever is still open is ended.
    Finish,
}

/// Readers go side by side, and whoever writes goes alone, in the order of the file.
pub fn next(family: &Sessions<'_>, members: &[Member]) -> Next {
    if is_decided(family, members) {
        return Next::Finish;
    }
    let is_over = |member: &Member| matches!(member.stands, Stands::Over(_));
    let Some(first) = members.iter().position(|member| !is_over(member)) else { return Next::Finish };
    // What lies between two writers goes together.
    let starts = members[..=first].iter().rposition(|member| member.files == Files::Write);
    let from = match starts {
        Some(writer) if writer == first => writer,
        Some(writer) => writer + 1,
        None => 0,
    };
    let batch: Vec<usize> = if members[from].files == Files::Write {
        vec![from]
    } else {
        (from..members.len()).take_while(|index| members[*index].files == Files::Read).collect()
    };
    let goes_on = |index: &usize| matches!(members[*index].stands, Stands::NotThere | Stands::GoesOn);
    let due: Vec<usize> = batch.into_iter().filter(goes_on).collect();
    if due.is_empty() { Next::Wait(first) } else { Next::Drive(due) }
}

fn is_decided(family: &Sessions<'_>, members: &[Member]) -> bool {
    let ended = |wanted: bool| {
        members.iter().any(|member| match &member.stands {
            Stands::Over(end) => (end.outcome == EndWord::Completed) == wanted,
            Stands::NotThere | Stands::GoesOn | Stands::Waits => false,
        })
    };
    match (family.join, family.on_failure) {
        (Join::Any, _) => ended(true),
        (Join::All, OnFailure::Abort) => ended(false),
        (Join::All, OnFailure::Continue) => false,
    }
}

/// What one of the sessions of a step came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub workflow: String,
    /// None where it could not even be opened.
    pub session: Option<SessionId>,
    pub end: End,
}

/// What the step came to: the result of the work that it is.
pub fn result(family: &Sessions<'_>, ended: &[Ended]) -> Value {
    let children: Vec<Value> = ended.iter().map(Ended::told).collect();
    let is_completed = |one: &&Ended| one.end.outcome == EndWord::Completed;
    let passed = match (family.join, family.on_failure) {
        (Join::Any, _) => ended.is_empty() || ended.iter().any(|one| is_completed(&one)),
        (Join::All, OnFailure::Abort) => ended.iter().all(|one| is_completed(&one)),
        (Join::All, OnFailure::Continue) => true,
    };
    if passed {
        return json!({ "outcome": "passed", "children": children });
    }
    let failed: Vec<&Ended> = ended.iter().filter(|one| !is_completed(one)).collect();
    // Whoever was ended because another failed is not the reason.
    let first = failed.iter().find(|one| one.end.outcome != EndWord::Cancelled).or(failed.first());
    let could_not = failed.iter().all(|one| one.end.outcome == EndWord::CouldNot);
    let outcome = if could_not { "could_not_run" } else { "failed" };
    let (code, because) =
        first.map_or((ParkCode::ChildFailed, String::new()), |one| (one.end.code, one.in_words()));
    json!({ "outcome": outcome, "code": code.code(), "because": because, "children": children })
}

/// What a step comes to that cannot even begin.
pub fn refused(reason: &Reason) -> Value {
    json!({ "outcome": "could_not_run", "code": reason.code, "because": reason.message, "fix": reason.fix, "children": [] })
}

impl Ended {
    fn told(&self) -> Value {
        let Self { workflow, session, end } = self;
        json!({
            "workflow": workflow,
            "session": session.map(|session| session.to_string()),
            "outcome": end.outcome,
            "because": end.because,
            "result": end.result,
        })
    }

    fn in_words(&self) -> String {
        let word = match self.end.outcome {
            EndWord::Completed => "completed",
            EndWord::Failed => "failed",
            EndWord::CouldNot => "could not",
            EndWord::Cancelled => "was cancelled",
        };
        let session = self.session.map(|session| format!(" ({session})")).unwrap_or_default();
        let because = self.end.because.as_ref().map(|because| format!(": {because}")).unwrap_or_default();
        format!("`{}`{session} {word}{because}", self.workflow)
    }
}

/// The vars that may hold the result of a session, the likeliest first: what the last of its steps handed in, else what the
/// last step of the engine's own came to.
pub fn result_vars(workflow: &Workflow) -> Vec<&str> {
    let steps = workflow.all_steps();
    let outputs = steps.iter().rev().filter_map(|step| match &step.kind {
        StepKind::Prompt(prompt) => prompt.outputs.iter().rev().find_map(|output| output.into.as_deref()),
        StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Decide(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Deliver(_) => None,
    });
    let engine = steps.iter().rev().filter_map(|step| match &step.kind {
        StepKind::Run(run) => run.into.as_deref(),
        StepKind::Gather(gather) => Some(gather.into.as_str()),
        StepKind::Parallel(_) | StepKind::Spawn(_) => step.kind.family()?.into,
        StepKind::Decide(decide) => Some(decide.into.as_str()),
        StepKind::Deliver(deliver) => deliver.into.as_deref(),
        StepKind::Prompt(_)
        | StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Gate(_) => None,
    });
    outputs.chain(engine).collect()
}

impl<'a> Walk<'a> {
    /// After the sessions of a step: their results are kept, and brought together where the author wants that.
    pub(super) fn after_children(&mut self, step: &'a Step, result: &Value) -> Found<'a> {
        if result["outcome"] != "passed" {
            return Found::Park(step, vec![self.child_failed(step, result)]);
        }
        if let Some(into) = step.kind.family().and_then(|family| family.into) {
            let value = kept(&step.kind, result);
            self.set([(into.to_owned(), value)].into(), Vec::new());
        }
        if step.kind.inner().is_empty() {
            return self.leave(step);
        }
        self.go_inside(step);
        Found::Nothing
    }

    fn child_failed(&self, step: &Step, result: &Value) -> Reason {
        let (id, session) = (&step.id, self.session);
        let code = result["code"].as_str().and_then(ParkCode::of).unwrap_or(ParkCode::ChildFailed);
        let because = result["because"].as_str().unwrap_or("it is not known why");
        let again =
            format!("`longhaul session rewind {session} --to {id} --reason TEXT` starts others in its place");
        let fix = result["fix"].as_str().map_or(again.clone(), |fix| format!("{fix}; then {again}"));
        code.reason(format!("`{id}`: {because}"), fix)
    }

    /// What whoever brings results together has to know.
    pub(super) fn results_around(&self) -> Option<String> {
        let around = self.spots.len().checked_sub(2).and_then(|index| self.spots.get(index))?;
        let StepKind::Parallel(parallel) = &around.steps[around.index].kind else { return None };
        let results = self.vars.get(parallel.into.as_deref()?)?.as_array()?;
        let mut text = "## Results\n".to_owned();
        for one in results {
            let word = |key: &str| one[key].as_str().unwrap_or("none").to_owned();
            let because = one["because"].as_str().map(|because| format!(": {because}")).unwrap_or_default();
            let _ = write!(text, "\n### {} ({}{because})\n\n", word("workflow"), word("outcome"));
            let result = serde_json::to_string_pretty(&one["result"]).unwrap_or_default();
            let _ = write!(text, "```json\n{result}\n```\n");
        }
        Some(text)
    }
}

/// A spawned session gives its result, sessions side by side a list of what each came to.
fn kept(kind: &StepKind, result: &Value) -> Value {
    if matches!(kind, StepKind::Spawn(_)) {
        return result["children"][0]["result"].clone();
    }
    let children = result["children"].as_array().into_iter().flatten();
    let kept = children.map(|one| {
        let mut kept = json!({
            "workflow": one["workflow"], "session": one["session"], "outcome": one["outcome"], "result": one["result"],
        });
        if !one["because"].is_null() {
            kept["because"] = one["because"].clone();
        }
        kept
    });
    Value::Array(kept.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::workflow::step::StepKind;

    fn child(text: &str) -> Child {
        serde_json::from_str(text).unwrap()
    }

    fn family(children: &[Child]) -> Sessions<'_> {
        let (join, on_failure, files) = (Join::All, OnFailure::Abort, Files::Read);
        Sessions { children, join, on_failure, files, into: None }
    }

    fn over(outcome: EndWord) -> Stands {
        Stands::Over(End { outcome, code: ParkCode::ChildFailed, because: None, result: Value::Null })
    }

    fn members(files: &str, stands: &[Stands]) -> Vec<Member> {
        let file = |letter| if letter == 'w' { Files::Write } else { Files::Read };
        files
            .chars()
            .zip(stands)
            .map(|(letter, stands)| Member { files: file(letter), stands: stands.clone() })
            .collect()
    }

    #[test]
    fn a_value_keeps_its_type_and_a_text_is_filled_in() {
        let vars: BTreeMap<String, Arc<Value>> = [
            ("goal".to_owned(), Arc::new(json!("mend it"))),
            ("spec".to_owned(), Arc::new(json!({ "n": [1, 2] }))),
        ]
        .into();
        let children = [
            child(
                r#"{"workflow":"a.b","with":{"spec":"{{ spec }}","say":"for {{goal}}","deep":{"n":"{{spec.n}}"},"none":"{{nope}}"}}"#,
            ),
            child(r#"{"workflow":"a.c","when":{"var":{"path":"nope","tests":[]}}}"#),
            child(
                r#"{"workflow":"a.d","goal":"part {{n}}","for_each":{"list":"spec.n","item_var":"n","max":2}}"#,
            ),
        ];
        let wanted = wanted(&family(&children), &Scope::new(&vars)).unwrap();
        assert_eq!(
            json!(wanted[0].vars),
            json!({ "spec": { "n": [1, 2] }, "say": "for mend it", "deep": { "n": [1, 2] } })
        );
        let goals: Vec<&str> = wanted.iter().map(|one| one.goal.as_str()).collect();
        assert_eq!(goals, ["mend it", "part 1", "part 2"]);
    }

    #[test]
    fn a_list_that_is_none_or_too_long_starts_nothing() {
        let vars: BTreeMap<String, Arc<Value>> = [("list".to_owned(), Arc::new(json!([1, 2, 3])))].into();
        let code = |list: &str| {
            let text =
                format!(r#"{{"workflow":"a.d","for_each":{{"list":"{list}","item_var":"n","max":2}}}}"#);
            wanted(&family(&[child(&text)]), &Scope::new(&vars)).unwrap_err().code
        };
        assert_eq!((code("list").as_str(), code("other").as_str()), ("list_too_long", "list_expected"));
    }

    #[test]
    fn readers_go_side_by_side_and_a_writer_goes_alone() {
        use Stands::{GoesOn, NotThere, Waits};
        let family = family(&[]);
        let done = || over(EndWord::Completed);
        assert_eq!(next(&family, &members("rrw", &[NotThere, GoesOn, NotThere])), Next::Drive(vec![0, 1]));
        assert_eq!(next(&family, &members("rrw", &[Waits, GoesOn, NotThere])), Next::Drive(vec![1]));
        assert_eq!(next(&family, &members("rrw", &[Waits, done(), NotThere])), Next::Wait(0));
        assert_eq!(next(&family, &members("rwr", &[done(), NotThere, NotThere])), Next::Drive(vec![1]));
        assert_eq!(next(&family, &members("wwr", &[done(), Waits, NotThere])), Next::Wait(1));
        assert_eq!(next(&family, &members("wrr", &[done(), done(), NotThere])), Next::Drive(vec![2]));
        assert_eq!(next(&family, &members("wr", &[done(), done()])), Next::Finish);
        assert_eq!(next(&family, &[]), Next::Finish);
    }

    #[test]
    fn the_first_that_decides_ends_the_step() {
        use Stands::GoesOn;
        let plain = family(&[]);
        let failed = || members("rr", &[over(EndWord::Failed), GoesOn]);
        assert_eq!(next(&plain, &failed()), Next::Finish);
        let goes_on = Sessions { on_failure: OnFailure::Continue, ..plain };
        assert_eq!(next(&goes_on, &failed()), Next::Drive(vec![1]));
        let any = Sessions { join: Join::Any, ..plain };
        assert_eq!(next(&any, &failed()), Next::Drive(vec![1]));
        assert_eq!(next(&any, &members("rr", &[GoesOn, over(EndWord::Completed)])), Next::Finish);
    }

    #[test]
    fn what_a_step_came_to_names_who_failed_and_why() {
        let ended = |outcome, because: &str| Ended {
            workflow: "a.b".to_owned(),
            session: None,
            end: End::without_result(outcome, ParkCode::NoSuchWorkflow, Some(because.to_owned())),
        };
        let all = [ended(EndWord::Cancelled, "unwanted"), ended(EndWord::CouldNot, "no such workflow")];
        let plain = family(&[]);
        let told = result(&plain, &all);
        assert_eq!((&told["outcome"], &told["code"]), (&json!("failed"), &json!("no_such_workflow")));
        assert_eq!(told["because"], "`a.b` could not: no such workflow");
        assert_eq!(result(&plain, &all[1..])["outcome"], "could_not_run");
        let goes_on = Sessions { on_failure: OnFailure::Continue, ..plain };
        assert_eq!(result(&goes_on, &all)["outcome"], "passed");
        let any = Sessions { join: Join::Any, ..plain };
        assert_eq!(result(&any, &all)["outcome"], "failed");
    }

    #[test]
    fn the_result_is_what_the_last_step_handed_in_else_what_the_engine_found() {
        let workflow = crate::walk::tests::play::compiled(
            "longhaul: 1\nid: t.result\nname: T\nversion: 1.0.0\ncontracts:\n  a: { type: object }\n  b: { type: object }\nsteps:\n\
             \x20 - { id: one, prompt: A, output: a }\n\
             \x20 - { id: two, prompt: B, output: b }\n\
             \x20 - { id: checks, run: { command: [make] }, into: checks }\n",
        );
        assert_eq!(result_vars(&workflow), ["b", "a", "checks"]);
        assert!(matches!(workflow.steps[2].kind, StepKind::Run(_)));
    }
}
