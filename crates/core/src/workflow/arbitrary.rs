//! Workflows that no author wrote but the compiler would accept: for property tests of all that takes a [`Workflow`].
//!
//! Ids are unique (`s1`, `s2` …; inside a routine `caller.s3`), jumps go to a step of the same list or of one around it,
//! every named contract exists, and bounds are small.
//!
//! Every part is boxed: unboxed, a value and all that it could be simplified to lie on the stack of the test.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::condition::{Condition, Test};
use super::prompt::{
    Assessment, Body, Consequence, Control, Dimension, FollowUp, LevelTest, Notes, OutputContract, Prompt,
};
use super::step::*;
use crate::policy::{Policy, Settings};

use super::{Budget, Catalog, Contract, Format, ModelTier, VarType, Vars, Workflow};

/// The vars that conditions and templates name.
pub(crate) const VARS: [&str; 5] = ["goal", "risk", "found", "plan.slices", "done"];
/// The contract of every output.
pub(crate) const CONTRACT: &str = "finding";

/// A workflow with readable texts.
pub(crate) fn workflow() -> impl Strategy<Value = Workflow> {
    workflow_with(pattern("[A-Za-z][A-Za-z ]{0,24}( \\{\\{goal\\}\\})?"))
}

/// Texts of a pattern that is read once: a bare `&str` would be parsed again for every text.
pub(crate) fn pattern(pattern: &str) -> BoxedStrategy<String> {
    proptest::string::string_regex(pattern).expect("a pattern of the tests").boxed()
}

fn word() -> BoxedStrategy<String> {
    prop::sample::select(["", "low", "high", "passed", "Small", "a/b"].as_slice())
        .prop_map(str::to_owned)
        .boxed()
}

/// A workflow whose titles, questions and names come from `text`.
pub(crate) fn workflow_with(text: BoxedStrategy<String>) -> impl Strategy<Value = Workflow> {
    let declared = prop_oneof![Just(Format::Native), Just(Format::WorkRail)];
    (declared, text.clone(), text.clone(), vec(step(text), 1..6)).prop_map(
        |(format, name, about, mut steps)| {
            Finish::default().list(&mut steps, "");
            point_jumps(&mut steps);
            Workflow {
                format,
                id: "any.workflow".to_owned(),
                name,
                version: "1.0.0".to_owned(),
                category: None,
                about,
                catalog: Catalog::default(),
                vars: Vars::Open,
                guidance: Vec::new(),
                preconditions: Vec::new(),
                clarifications: Vec::new(),
                system_prompt: None,
                model: None,
                budget: None,
                preferences: None,
                references: Vec::new(),
                contracts: contracts(),
                below: BTreeMap::new(),
                steps,
            }
        },
    )
}

fn contracts() -> BTreeMap<String, Contract> {
    let finding = Contract { kind: None, schema: json!({ "type": "object" }), example: json!({}) };
    let control = Contract {
        kind: Some("wr.loop_control".to_owned()),
        schema: json!({ "type": "object", "required": ["decision"] }),
        example: json!({ "kind": "wr.loop_control", "decision": "stop" }),
    };
    BTreeMap::from([(CONTRACT.to_owned(), finding), ("wr.contracts.loop_control".to_owned(), control)])
}

pub(crate) fn var() -> BoxedStrategy<String> {
    prop::sample::select(VARS.as_slice()).prop_map(str::to_owned).boxed()
}

pub(crate) fn value() -> BoxedStrategy<Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-3_i64..30).prop_map(Value::from),
        word().prop_map(Value::from),
        Just(Value::Null),
    ]
    .boxed()
}

pub(crate) fn condition() -> BoxedStrategy<Condition> {
    let leaf = (var(), vec(test(), 0..3)).prop_map(|(path, tests)| Condition::Var { path, tests });
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Condition::All),
            vec(inner.clone(), 0..4).prop_map(Condition::Any),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
    .boxed()
}

pub(crate) fn test() -> BoxedStrategy<Test> {
    prop_oneof![
        value().prop_map(Test::Equals),
        value().prop_map(Test::NotEquals),
        (0..9).prop_map(|number| Test::Gt(json!(number))),
        (0..9).prop_map(|number| Test::Gte(json!(number))),
        (0..9).prop_map(|number| Test::Lt(json!(number))),
        (0..9).prop_map(|number| Test::Lte(json!(number))),
        vec(value(), 0..4).prop_map(Test::In),
        value().prop_map(Test::Contains),
        word().prop_map(Test::StartsWith),
        word().prop_map(Test::EndsWith),
        word().prop_map(|word| Test::Matches(format!("^{word}"))),
    ]
    .boxed()
}

fn step(text: BoxedStrategy<String>) -> BoxedStrategy<Step> {
    let leaf = around(leaf_kind(text.clone()), text.clone());
    leaf.prop_recursive(4, 12, 3, move |inner| around(group_kind(inner), text.clone())).boxed()
}

/// A step of the given kind. Its id and the target of its jump are filled in when the whole tree is known.
fn around(kind: BoxedStrategy<StepKind>, text: BoxedStrategy<String>) -> BoxedStrategy<Step> {
    let marks =
        (option::weighted(0.3, condition()), option::weighted(0.3, jump()), option::weighted(0.2, confirm()));
    (kind, text, marks, settings())
        .prop_map(|(kind, title, (when, jump, confirm), (model, budget, attempts))| Step {
            id: String::new(),
            title,
            when,
            jump,
            confirm,
            role: None,
            guidance: Vec::new(),
            model,
            budget,
            system_prompt: None,
            attempts,
            references: Vec::new(),
            requires: Vec::new(),
            kind,
        })
        .boxed()
}

fn settings() -> BoxedStrategy<(Option<ModelTier>, Option<Budget>, u32)> {
    let model = prop_oneof![Just(ModelTier::Light), Just(ModelTier::Standard), Just(ModelTier::Heavy)];
    let budget = (option::of(1..9000_u64), option::of(1..9000_u64), option::of(1..9_000_000_u64))
        .prop_map(|(tokens, time_ms, money_micros)| Budget { tokens, time_ms, money_micros });
    (option::weighted(0.2, model), option::weighted(0.1, budget), 1..11_u32).boxed()
}

/// `to` holds a number by which [`point_jumps`] chooses among the legal targets.
fn jump() -> BoxedStrategy<Jump> {
    (condition(), 0..1000_usize, 1..4_u32)
        .prop_map(|(when, choice, max_jumps)| Jump { when, to: choice.to_string(), max_jumps })
        .boxed()
}

fn confirm() -> BoxedStrategy<Confirm> {
    let by = prop_oneof![Just(ConfirmBy::Person), Just(ConfirmBy::Coordinator)];
    (by, option::of(channel()), option::of(condition()))
        .prop_map(|(by, accepts, when)| Confirm { by, accepts, when })
        .boxed()
}

fn channel() -> BoxedStrategy<Channel> {
    prop_oneof![Just(Channel::Client), Just(Channel::Terminal), Just(Channel::Console), Just(Channel::Forge)]
        .boxed()
}

fn leaf_kind(text: BoxedStrategy<String>) -> BoxedStrategy<StepKind> {
    let gather = (vec(gather_from(), 1..4), any::<bool>()).prop_map(|(from, optional)| Gather {
        what: "pitch".to_owned(),
        from,
        into: "found".to_owned(),
        optional,
    });
    let spawn = (child(), option::of(var())).prop_map(|(child, into)| Spawn {
        child,
        on_failure: OnFailure::Abort,
        into,
    });
    let deliver = (btree_map(word(), value(), 0..4), option::of(var()))
        .prop_map(|(settings, into)| Deliver { settings, into, pinned: None });
    let decide = prop::sample::select(Policy::ALL.as_slice()).prop_map(|policy| Decide {
        policy,
        with: BTreeMap::from([("classification".to_owned(), json!("{{found}}"))]),
        into: "found".to_owned(),
        settings: Settings::default(),
    });
    prop_oneof![
        6 => prompt(text.clone()).prop_map(|prompt| StepKind::Prompt(Box::new(prompt))),
        2 => run(text.clone()).prop_map(StepKind::Run),
        1 => gather.prop_map(StepKind::Gather),
        2 => gate(text.clone()).prop_map(StepKind::Gate),
        1 => parallel(text).prop_map(StepKind::Parallel),
        1 => spawn.prop_map(StepKind::Spawn),
        1 => decide.prop_map(StepKind::Decide),
        1 => deliver.prop_map(StepKind::Deliver),
    ]
    .boxed()
}

fn group_kind(inner: BoxedStrategy<Step>) -> BoxedStrategy<StepKind> {
    let repeated =
        (loop_over(), 1..4_u64, on_max(), vec(inner.clone(), 1..4)).prop_map(|(over, max, on_max, steps)| {
            StepKind::Loop(Loop { over, max, on_max, iteration_var: "iteration".to_owned(), steps })
        });
    let todo = (1..4_u64, any::<bool>(), vec(inner.clone(), 1..4)).prop_map(|(max, may_stop, steps)| {
        StepKind::Todo(Todo {
            list: "plan.slices".to_owned(),
            item_var: "item".to_owned(),
            index_var: "index".to_owned(),
            max,
            may_stop,
            steps,
        })
    });
    let routine = vec(inner, 1..4)
        .prop_map(|steps| StepKind::Routine(Routine { routine: "routine.any".to_owned(), steps }));
    prop_oneof![3 => repeated, 1 => todo, 1 => routine].boxed()
}

fn loop_over() -> BoxedStrategy<LoopOver> {
    prop_oneof![
        condition().prop_map(LoopOver::While),
        condition().prop_map(LoopOver::Until),
        Just(LoopOver::Control { loop_id: String::new() }),
        (0..4_u64).prop_map(|count| LoopOver::Count(Count::Fixed(count))),
        var().prop_map(|var| LoopOver::Count(Count::Var(var))),
        Just(LoopOver::Items {
            list: "plan.slices".to_owned(),
            item_var: "slice".to_owned(),
            index_var: "index".to_owned(),
        }),
    ]
    .boxed()
}

fn on_max() -> BoxedStrategy<OnMax> {
    prop_oneof![Just(OnMax::Continue), Just(OnMax::Park), Just(OnMax::Fail)].boxed()
}

fn prompt(text: BoxedStrategy<String>) -> BoxedStrategy<Prompt> {
    let notes = prop_oneof![Just(Notes::Required), Just(Notes::Optional), Just(Notes::None)];
    let produces = btree_map(var(), Just(VarType::Any), 0..2);
    let output = (any::<bool>(), option::of(var())).prop_map(|(required, into)| OutputContract {
        contract: CONTRACT.to_owned(),
        required,
        into,
    });
    (text, notes, produces, option::of(output), option::weighted(0.2, assessment()))
        .prop_map(|(text, notes, produces, output, assessment)| Prompt {
            produces,
            outputs: output.into_iter().collect(),
            assessments: assessment.into_iter().collect(),
            ..Prompt::plain(Body::Text(text), notes)
        })
        .boxed()
}

fn assessment() -> BoxedStrategy<Assessment> {
    let levels = || vec!["low".to_owned(), "high".to_owned()];
    let then = prop_oneof![
        Just(FollowUp::Guidance("Look again.".to_owned())),
        Just(FollowUp::Redo(vec!["List the callers.".to_owned()])),
    ];
    let when = prop_oneof![
        Just(LevelTest::Any("low".to_owned())),
        Just(LevelTest::Dimension { id: "evidence".to_owned(), level: "low".to_owned() }),
    ];
    vec((when, then).prop_map(|(when, then)| Consequence { when, then }), 0..3)
        .prop_map(move |consequences| {
            let dimension = |id: &str| Dimension {
                id: id.to_owned(),
                purpose: String::new(),
                levels: levels(),
                required: true,
            };
            Assessment {
                id: "confidence".to_owned(),
                purpose: String::new(),
                dimensions: vec![dimension("evidence"), dimension("scope")],
                consequences,
            }
        })
        .boxed()
}

fn run(text: BoxedStrategy<String>) -> BoxedStrategy<Run> {
    let what = prop_oneof![
        vec(text, 1..4).prop_map(RunWhat::Command),
        Just(RunWhat::Checks(CheckChoice::All)),
        Just(RunWhat::Checks(CheckChoice::Named(vec!["test".to_owned()]))),
    ];
    (what, 1..9_000_000_u64, option::of(var()), any::<bool>())
        .prop_map(|(what, timeout_ms, into, rerun)| Run {
            what,
            on: RunOn::Checkout,
            timeout_ms,
            dir: None,
            network: None,
            into,
            rerun,
        })
        .boxed()
}

fn gather_from() -> BoxedStrategy<GatherFrom> {
    prop_oneof![
        Just(GatherFrom::Injected),
        Just(GatherFrom::Item),
        Just(GatherFrom::Url),
        Just(GatherFrom::Paths("docs/*.md".to_owned())),
    ]
    .boxed()
}

fn gate(text: BoxedStrategy<String>) -> BoxedStrategy<Gate> {
    let by = prop_oneof![
        Just(GateBy::Person),
        vec(condition(), 0..3).prop_map(|accept| GateBy::Coordinator { accept }),
        run(text.clone()).prop_map(GateBy::Check),
    ];
    (by, text, channel(), 1..900_000_000_u64)
        .prop_map(|(by, question, accepts, timeout_ms)| Gate { by, question, accepts, timeout_ms })
        .boxed()
}

fn parallel(text: BoxedStrategy<String>) -> BoxedStrategy<Parallel> {
    let join = prop_oneof![Just(Join::All), Just(Join::Any)];
    let on_failure = prop_oneof![Just(OnFailure::Abort), Just(OnFailure::Continue)];
    (vec(child(), 0..9), join, on_failure, option::of(prompt(text)))
        .prop_map(|(children, join, on_failure, synthesis)| Parallel {
            children,
            join,
            on_failure,
            into: None,
            synthesis: synthesis.map(|prompt| Parallel::synthesis_of("later", prompt)),
        })
        .boxed()
}

fn child() -> BoxedStrategy<Child> {
    let brief = prop_oneof![
        Just(Brief::Inherit),
        Just(Brief::Blank),
        Just(Brief::Custom { include: vec!["spec".to_owned()] }),
    ];
    let items = (1..4_u64).prop_map(|max| ChildItems {
        list: "plan.slices".to_owned(),
        item_var: "slice".to_owned(),
        max,
    });
    let name = pattern("[a-z]{1,9}(\\.[a-z-]{1,14}){0,2}");
    (name, option::of(condition()), option::of(brief), option::of(items))
        .prop_map(|(workflow, when, brief, for_each)| Child {
            workflow,
            goal: None,
            when,
            brief,
            with: BTreeMap::new(),
            for_each,
            model: None,
            allowed_tools: Vec::new(),
            files: None,
        })
        .boxed()
}

/// Gives ids, and makes loops by control artifact end in a step of theirs.
#[derive(Default)]
struct Finish {
    count: usize,
}

impl Finish {
    fn list(&mut self, steps: &mut [Step], prefix: &str) {
        for step in steps {
            self.count += 1;
            step.id = format!("{prefix}s{}", self.count);
            let inside = if matches!(step.kind, StepKind::Routine(_)) {
                format!("{}.", step.id)
            } else {
                prefix.to_owned()
            };
            self.kind(&mut step.kind, &step.id, &inside);
        }
    }

    fn kind(&mut self, kind: &mut StepKind, id: &str, prefix: &str) {
        match kind {
            StepKind::Loop(repeated) => {
                self.list(&mut repeated.steps, prefix);
                settle_control(repeated, id);
            }
            StepKind::Todo(Todo { steps, .. }) | StepKind::Routine(Routine { steps, .. }) => {
                self.list(steps, prefix);
            }
            StepKind::Prompt(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => {}
            StepKind::Parallel(Parallel { synthesis, .. }) => {
                synthesis.iter_mut().for_each(|step| step.id = format!("{id}.synthesis"));
            }
        }
    }
}

fn settle_control(repeated: &mut Loop, id: &str) {
    let LoopOver::Control { loop_id } = &mut repeated.over else { return };
    id.clone_into(loop_id);
    let deciding = repeated.steps.iter_mut().rev().find_map(|step| match &mut step.kind {
        StepKind::Prompt(prompt) => Some(prompt),
        _ => None,
    });
    match deciding {
        Some(prompt) => {
            prompt.control = Some(Control { loop_id: id.to_owned() });
            let contract = "wr.contracts.loop_control".to_owned();
            prompt.outputs = vec![OutputContract { contract, required: true, into: None }];
        }
        None => repeated.over = LoopOver::Count(Count::Fixed(2)),
    }
}

/// Turns each jump's number into one of its legal targets.
fn point_jumps(steps: &mut [Step]) {
    fn point(steps: &mut [Step], around: &[String]) {
        let mut legal = around.to_vec();
        legal.extend(steps.iter().map(|step| step.id.clone()));
        for step in steps {
            if let Some(jump) = &mut step.jump {
                let choice: usize = jump.to.parse().expect("`jump` wrote a number");
                jump.to.clone_from(&legal[choice % legal.len()]);
            }
            if let StepKind::Loop(Loop { steps, .. })
            | StepKind::Todo(Todo { steps, .. })
            | StepKind::Routine(Routine { steps, .. }) = &mut step.kind
            {
                point(steps, &legal);
            }
        }
    }
    point(steps, &[]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn legal_jumps(steps: &[Step], around: &BTreeSet<String>) -> bool {
        let mut legal = around.clone();
        legal.extend(steps.iter().map(|step| step.id.clone()));
        steps.iter().all(|step| {
            step.jump.as_ref().is_none_or(|jump| legal.contains(&jump.to))
                && legal_jumps(step.kind.inner(), &legal)
        })
    }

    proptest! {
        #[test]
        fn ids_are_unique_and_jumps_are_legal(workflow in workflow()) {
            let ids: BTreeSet<&str> = workflow.all_steps().iter().map(|step| step.id.as_str()).collect();
            prop_assert_eq!(ids.len(), workflow.all_steps().len());
            prop_assert!(legal_jumps(&workflow.steps, &BTreeSet::new()));
        }

        #[test]
        fn a_compiled_workflow_survives_being_stored(workflow in workflow()) {
            let text = serde_json::to_string(&workflow).unwrap();
            prop_assert_eq!(serde_json::from_str::<Workflow>(&text).unwrap(), workflow);
        }
    }
}
