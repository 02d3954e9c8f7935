//! Routines, expanded where they are used.

use super::*;
use crate::workflow::ModelTier;

fn sources(files: &[(&str, &str)]) -> Sources {
    let library = files.iter().map(|(id, text)| ((*id).to_owned(), source(&format!("{id}.yml"), text)));
    Sources { library: library.collect(), bindings: BTreeMap::new() }
}

fn routine(head: &str, steps: &str) -> String {
    format!("longhaul: 1\nid: routine.r\nname: R\nversion: 1.0.0\n{head}steps:\n{steps}")
}

fn findings(text: &str, sources: &Sources) -> Vec<String> {
    shown(&compile(&source("test.yml", text), sources), text)
}

#[test]
fn a_routine_lies_in_place_of_its_caller_with_its_ids_and_jumps_renamed() {
    let workflow = clean(WHOLE);
    let StepKind::Routine(routine) = &step(&workflow, "diagnose").kind else { panic!() };
    assert_eq!(routine.routine, "lh.routine.challenge");
    let ids: Vec<&str> = routine.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["diagnose.rivals", "diagnose.attack"]);
    assert_eq!(routine.steps[1].jump.as_ref().unwrap().to, "diagnose.rivals");
    assert_eq!(step(&workflow, "diagnose").jump.as_ref().unwrap().to, "reproduce");
}

#[test]
fn arguments_are_put_into_texts_and_become_vars_where_conditions_need_them() {
    let workflow = clean(WHOLE);
    let Body::Text(text) = &prompt(&workflow, "diagnose.rivals").body else { panic!() };
    assert_eq!(text, "Find rivals for: Why does {{failing_command}} fail?. Hunch: {{hunch | default(none)}}");
    let Body::Text(text) = &prompt(&workflow, "diagnose.attack").body else { panic!() };
    assert_eq!(text, "Break {{rivals}} (deep).");
    let Some(Condition::Var { path, .. }) = &step(&workflow, "diagnose.attack").when else { panic!() };
    assert_eq!(path, "diagnose_depth");
    let Vars::Declared(vars) = &workflow.vars else { panic!() };
    assert_eq!(vars["diagnose_depth"].default, Some(json!("deep")));
    assert!(!vars.contains_key("question") && !vars.contains_key("depth"));
}

#[test]
fn an_argument_that_is_one_var_stands_for_it_everywhere() {
    let routine = routine(
        "vars: { list: { type: array, required: true } }\n",
        "- { id: all, todo: list, steps: [{ id: one, prompt: 'Of {{list.length}}, {{ list | json }}' }] }\n",
    );
    let sources = sources(&[("routine.r", &routine)]);
    let text = with_steps(
        "- { id: p, prompt: P, output: { type: object } }\n- { id: c, use: routine.r, with: { list: '{{p.slices}}' } }\n",
    );
    let outcome = compile(&source("test.yml", &text), &sources);
    assert_eq!(shown(&outcome, &text), Vec::<String>::new());
    let workflow = outcome.value.unwrap();
    let StepKind::Todo(todo) = &step(&workflow, "c.all").kind else { panic!() };
    assert_eq!(todo.list, "p.slices");
    let Body::Text(text) = &prompt(&workflow, "c.one").body else { panic!() };
    assert_eq!(text, "Of {{p.slices.length}}, {{p.slices | json}}");
}

#[test]
fn the_callers_output_goes_to_the_last_prompt_and_the_routines_root_to_its_steps() {
    let workflow = clean(WHOLE);
    let outputs = &prompt(&workflow, "diagnose.attack").outputs;
    assert_eq!(outputs[0].contract, "diagnosis");
    assert_eq!(step(&workflow, "diagnose.rivals").guidance, ["Trust nothing."]);
    assert_eq!(step(&workflow, "diagnose.attack").model, Some(ModelTier::Light));
}

#[test]
fn routines_that_call_one_another_are_refused_with_the_way() {
    let a = routine("", "- { id: x, use: routine.b }\n");
    let b = routine("", "- { id: y, use: routine.a }\n");
    let sources = sources(&[("routine.a", &a), ("routine.b", &b)]);
    let found = findings(&with_steps("- { id: s, use: routine.a }\n"), &sources);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("6:17 in the routine `routine.a` (routine.a.yml:6:17): "), "{found:?}");
    assert!(found[0].ends_with("in a circle: `routine.a` → `routine.b` → `routine.a`"), "{found:?}");
}

#[test]
fn wrong_calls_are_told_at_their_place() {
    for (steps, expected) in [
        ("- { id: s, use: routine.chalenge }\n", "6:17 no loaded source has the routine `routine.chalenge`"),
        ("- { id: s, use: routine.challenge }\n", "6:17 the routine `lh.routine.challenge` needs `question`"),
        (
            "- { id: s, use: routine.challenge, with: { question: a, dept: deep } }\n",
            "6:57 the routine `lh.routine.challenge` has no var `dept`",
        ),
        (
            "- { id: s, use: routine.challenge, with: { question: a, depth: 'so {{goal}}' } }\n",
            "6:57 the routine `lh.routine.challenge` needs `depth` as one var, not inside a text",
        ),
    ] {
        assert_eq!(findings(&with_steps(steps), &library()), [expected], "{steps}");
    }
}

#[test]
fn a_mistake_in_a_routine_is_told_at_the_call_with_its_own_place() {
    let broken = routine("", "- { id: x, promt: Y }\n");
    let found = findings(&with_steps("- { id: s, use: routine.r }\n"), &sources(&[("routine.r", &broken)]));
    assert_eq!(found, ["6:17 in the routine `routine.r` (routine.r.yml:6:12): a step has no key `promt`"]);
}

#[test]
fn routines_cannot_grow_without_end() {
    let calls: Vec<String> = (0..40).map(|n| format!("- {{ id: s{n}, use: routine.NEXT }}\n")).collect();
    let calls = calls.concat();
    let mut files = vec![("routine.e".to_owned(), routine("", "- { id: x, prompt: Y }\n"))];
    for (id, next) in [("routine.a", "b"), ("routine.b", "c"), ("routine.c", "d"), ("routine.d", "e")] {
        files.push((id.to_owned(), routine("", &calls.replace("NEXT", next))));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let found = findings(&with_steps("- { id: s, use: routine.a }\n"), &sources(&files));
    assert!(found[0].contains("more than 500 calls or 4 MB of text"), "{found:?}");
}
