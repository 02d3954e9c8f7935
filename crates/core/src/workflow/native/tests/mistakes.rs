//! Wrong files: each mistake at its place, in words that help.

use super::*;

fn told(text: &str) -> Vec<String> {
    shown(&compiled(text), text)
}

fn fix_of(text: &str) -> String {
    compiled(text)
        .diagnostics
        .first()
        .and_then(|diagnostic| diagnostic.fix.clone())
        .expect("a finding with a fix")
}

#[test]
fn mistakes_in_steps_are_told_where_they_stand() {
    for (steps, expected) in [
        ("- { prompt: A }\n", vec!["6:3 a step needs `id`"]),
        ("- { id: A b, prompt: A }\n", vec!["6:9 `A b` cannot be the id of a step"]),
        ("- { id: a }\n", vec!["6:9 the step `a` does nothing"]),
        (
            "- { id: a, prompt: A, run: { checks: all } }\n",
            vec!["6:23 a step cannot be both `prompt` and `run`"],
        ),
        ("- { id: a, prompt: A, titel: T }\n", vec!["6:23 a step has no key `titel`"]),
        (
            "- { id: a, prmpt: A, colour: T, output: x }\n",
            vec!["6:12 a step has no key `prmpt`", "6:22 a step has no key `colour`"],
        ),
        (
            "- { id: a, run: make, colour: T }\n",
            vec!["6:17 `run` must be a map, and this is a text", "6:23 a step has no key `colour`"],
        ),
        ("- { id: a, prompt: A }\n- { id: a, prompt: B }\n", vec!["7:9 two steps have the id `a`"]),
        ("- { id: a, prompt: 5 }\n", vec!["6:20 `prompt` must be a text, and this is a number"]),
        ("- { id: a, prompt: ' ' }\n", vec!["6:20 `prompt` is blank"]),
        ("- { id: a, prompt: A, notes: yes }\n", vec!["6:30 `notes` cannot be `yes`"]),
        ("- { id: a, prompt: A, model: big }\n", vec!["6:30 `model` cannot be `big`"]),
        ("- { id: a, prompt: A, attempts: 0 }\n", vec!["6:33 `attempts` must lie between 1 and 1000"]),
        (
            "- { id: a, prompt: A, attempts: -2 }\n",
            vec!["6:33 `attempts` must be a whole number that is not negative"],
        ),
        ("- { id: a, prompt: A, output: nothing }\n", vec!["6:31 there is no contract `nothing`"]),
        ("- { id: a, prompt: A, references: [style] }\n", vec!["6:35 there is no reference `style`"]),
        ("- { id: a, prompt: A, budget: { time: 5 } }\n", vec!["6:39 `time`: `5` is not a duration"]),
        (
            "- { id: a, prompt: A, produces: { constructor: string } }\n",
            vec!["6:35 the name `constructor` is kept for the engine"],
        ),
        ("- { id: a, prompt: A, produces: { x: strnig } }\n", vec!["6:38 `strnig` is not a type of vars"]),
        (
            "- { id: a, prompt: A, output: loop_control }\n",
            vec!["6:31 no loop around this step listens to a loop-control artifact"],
        ),
        ("- { id: a, prompt: { gaol: x } }\n", vec!["6:22 `prompt` has no key `gaol`"]),
        ("- { id: a, prompt: A, validate: [{ message: M }] }\n", vec!["6:34 this rule demands nothing"]),
        ("- { id: a, decide: { policy: luck } }\n", vec!["6:30 `policy` cannot be `luck`"]),
        ("- { id: a, decide: { policy: routing } }\n", vec!["6:20 policy `routing` needs `classification`"]),
        (
            "- { id: a, decide: { policy: routing, with: { classification: x, mood: y } } }\n",
            vec!["6:66 policy `routing` does not look at `mood`"],
        ),
        ("- { id: a, prompt: A, confirm: { by: robot } }\n", vec!["6:38 `by` cannot be `robot`"]),
        ("- { id: a, prompt: A, when: }\n", vec!["6:23 `when` has no value"]),
        ("- text\n", vec!["6:3 a step must be a map, and this is a text"]),
    ] {
        assert_eq!(told(&with_steps(steps)), expected, "{steps}");
    }
}

#[test]
fn mistakes_in_conditions_are_told_where_they_stand() {
    for (condition, expected) in [
        ("{}", vec!["6:29 this condition says nothing that could hold"]),
        ("{ var: a b, equals: 1 }", vec!["6:36 `var` must be the path of a var"]),
        ("{ var: goal, equal: 1 }", vec!["6:42 a condition has no key `equal`"]),
        ("{ var: goal, gt: [1] }", vec!["6:46 `gt` compares with a number, and this is a list"]),
        ("{ all: { var: goal } }", vec!["6:36 `all` must be a list, and this is a map"]),
        ("{ var: nowhere }", vec!["6:29 warning: nothing in this workflow sets `nowhere`"]),
        ("goal", vec!["6:29 a condition must be a map, and this is a text"]),
    ] {
        let steps = format!("- {{ id: a, prompt: A, when: {condition} }}\n");
        assert_eq!(told(&with_steps(&steps)), expected, "{condition}");
    }
}

#[test]
fn mistakes_in_loops_and_jumps_are_told_where_they_stand() {
    let body = "steps: [{ id: b, prompt: B }]";
    for (steps, expected) in [
        (
            format!("- {{ id: a, loop: {{ while: {{ var: goal }} }}, {body} }}\n"),
            "6:18 a loop like this needs `max`",
        ),
        (
            format!("- {{ id: a, loop: {{ for: 2, forEach: x }}, {body} }}\n"),
            "6:18 a loop goes by exactly one thing",
        ),
        (
            format!("- {{ id: a, loop: {{ for: 2000000 }}, {body} }}\n"),
            "6:25 `for` must lie between 1 and 1000000",
        ),
        (
            format!("- {{ id: a, loop: {{ while: {{ var: goal }}, max: 0 }}, {body} }}\n"),
            "6:47 `max` must lie between 1 and 1000000",
        ),
        (
            format!("- {{ id: a, loop: {{ control: artifact, max: 3 }}, {body} }}\n"),
            "6:9 no step of the loop `a` can end it",
        ),
        ("- { id: a, loop: { for: 2 }, steps: [] }\n".to_owned(), "6:37 `steps` is empty"),
        ("- { id: a, loop: { for: 2 } }\n".to_owned(), "6:3 a step needs `steps`"),
        (
            "- { id: a, todo: '{{goal}}', steps: [{ id: b, prompt: B }] }\n".to_owned(),
            "6:18 `todo` must be the path of a var",
        ),
        (
            format!(
                "- {{ id: a, loop: {{ for: 2 }}, {body} }}\n- {{ id: c, prompt: C, jumpIf: {{ when: {{ var: goal }}, to: b, maxJumps: 1 }} }}\n"
            ),
            "7:58 `b` lies inside the loop `a`, where no jump can lead",
        ),
        (
            "- { id: a, prompt: A, jumpIf: { when: { var: goal }, to: aa, maxJumps: 1 } }\n".to_owned(),
            "6:58 there is no step `aa` to jump to",
        ),
        (
            "- { id: a, prompt: A, jumpIf: { when: { var: goal }, to: a } }\n".to_owned(),
            "6:31 `jumpIf` needs `maxJumps`",
        ),
    ] {
        assert_eq!(told(&with_steps(&steps)), [expected], "{steps}");
    }
}

#[test]
fn mistakes_in_the_engines_own_steps_are_told_where_they_stand() {
    for (steps, expected) in [
        (
            "- { id: a, run: { command: cargo test } }\n",
            "6:28 `command` must be a list: no shell looks at it",
        ),
        ("- { id: a, run: { command: [a], checks: all } }\n", "6:17 `run` runs exactly one thing"),
        ("- { id: a, run: { command: [a], dir: ../x } }\n", "6:38 `dir` leads out of the workspace: `../x`"),
        ("- { id: a, run: { command: [a], network: off } }\n", "6:42 `network` cannot be `off`"),
        ("- { id: a, gate: { by: person, accepts: mail } }\n", "6:41 `accepts` cannot be `mail`"),
        ("- { id: a, gate: { by: coordinator } }\n", "6:18 `gate` needs `accept`"),
        ("- { id: a, gate: { question: Q } }\n", "6:18 `gate` needs `by`"),
        ("- { id: a, spawn: { workflow: lh.reviw } }\n", "6:31 no loaded source has the workflow `lh.reviw`"),
        ("- { id: a, spawn: { workflow: lh.review, brief: empty } }\n", "6:49 `brief` cannot be `empty`"),
        ("- { id: a, parallel: [] }\n", "6:22 `parallel` starts nothing"),
        ("- { id: a, deliver: {} }\n", "6:21 `deliver` delivers nothing"),
        ("- { id: a, gather: { from: [item] } }\n", "6:20 `gather` needs `kind`"),
        (
            "- { id: a, assess: { dimensions: { d: [low] } } }\n",
            "6:39 the dimension `d` needs at least two levels, each another",
        ),
        (
            "- { id: a, assess: { dimensions: { d: [x, y] }, rules: [{ when: { d: z }, then: { followUp: F } }] } }\n",
            "6:70 `z` is not a level here",
        ),
        (
            "- { id: a, assess: { dimensions: { d: [x, y] }, rules: [{ when: { e: x }, then: { followUp: F } }] } }\n",
            "6:67 there is no dimension `e`",
        ),
    ] {
        assert_eq!(told(&with_steps(steps)), [expected], "{steps}");
    }
}

#[test]
fn mistakes_in_the_root_are_told_where_they_stand() {
    let file = |head: &str| format!("{head}steps: [{{ id: a, prompt: A }}]\n");
    for (head, expected) in [
        ("longhaul: 1\nid: T.x\nname: X\nversion: 1.0.0\n", "2:5 `T.x` cannot be the id of a workflow"),
        (
            "longhaul: 1\nid: t.x\nname: X\nversion: 1.2\n",
            "4:10 `version` must be a text, and this is a number",
        ),
        ("longhaul: 1\nid: t.x\nname: X\nversion: '1.2'\n", "4:10 `1.2` is not a version"),
        ("longhaul: 1\nid: t.x\nversion: 1.0.0\n", "1:1 the workflow needs `name`"),
        ("longhaul: one\nid: t.x\nname: X\nversion: 1.0.0\n", "1:11 this is not a version of the format"),
        (
            "longhaul: 1\nid: t.x\nname: X\nversion: 1.0.0\ncategory: codng\n",
            "5:11 `category` cannot be `codng`",
        ),
        (
            "longhaul: 1\nid: t.x\nname: X\nversion: 1.0.0\nvars: { n: { type: integer, default: x } }\n",
            "5:38 the default of `n` is not of its own type",
        ),
        (
            "longhaul: 1\nid: t.x\nname: X\nversion: 1.0.0\nbudget: { money: 3 }\n",
            "5:18 `money`: `3` is not a sum of money",
        ),
    ] {
        assert_eq!(told(&file(head)), [expected], "{head}");
    }
}

#[test]
fn slips_get_a_did_you_mean() {
    for (steps, expected) in [
        ("- { id: a, prompt: A, titel: T }\n", "did you mean `title`?"),
        ("- { id: a, prompt: A, jump_if: {} }\n", "did you mean `jumpIf`?"),
        ("- { id: a, prompt: A, model: hevy }\n", "did you mean `heavy`?"),
        (
            "- { id: first, prompt: A, jumpIf: { when: { var: goal }, to: frist, maxJumps: 1 } }\n",
            "did you mean `first`?",
        ),
        ("- { id: a, prompt: A, output: loop_contrl }\n", "did you mean `loop_control`?"),
        ("- { id: a, spawn: { workflow: lh.reviw } }\n", "did you mean `lh.review`?"),
        (
            "- { id: a, prompt: A, produces: [cause] }\n- { id: b, prompt: '{{cuase}}' }\n",
            "did you mean `cause`?",
        ),
    ] {
        assert_eq!(fix_of(&with_steps(steps)), expected, "{steps}");
    }
}

#[test]
fn a_newer_version_makes_unknown_keys_a_warning() {
    let text = "longhaul: 2\nid: t.x\nname: X\nversion: 1.0.0\nsteps: [{ id: a, prompt: A, novelty: 1 }]\n";
    let outcome = compiled(text);
    assert_eq!(
        shown(&outcome, text),
        [
            "1:11 warning: this file is written for version 2 of the format, and this build knows 1",
            "5:29 warning: a step has no key `novelty`",
        ]
    );
    assert!(outcome.value.is_some());
}

#[test]
fn every_mistake_is_told_in_one_go_in_the_order_of_the_file() {
    let text = with_steps("- { id: a, promt: A }\n- { id: b, prompt: B, nots: none }\n- { prompt: C }\n");
    assert_eq!(
        told(&text),
        ["6:12 a step has no key `promt`", "7:23 a step has no key `nots`", "8:3 a step needs `id`"]
    );
}

#[test]
fn a_var_that_only_a_later_step_sets_is_a_warning_unless_the_way_leads_back() {
    let later = "- { id: a, prompt: '{{x}}' }\n- { id: b, prompt: B, produces: [x] }\n";
    assert_eq!(told(&with_steps(later)), ["6:20 warning: `x` is set only by a later step"]);
    let back = "- { id: a, prompt: '{{x}}' }\n- { id: b, prompt: B, produces: [x], jumpIf: { when: { var: x }, to: a, maxJumps: 1 } }\n";
    assert_eq!(told(&with_steps(back)), Vec::<String>::new());
    let looped = "- { id: l, loop: { for: 2 }, steps: [{ id: a, prompt: '{{x}}' }, { id: b, prompt: B, produces: [x] }] }\n";
    assert_eq!(told(&with_steps(looped)), Vec::<String>::new());
    let with_default = "- { id: a, prompt: '{{x | default(none)}}' }\n";
    assert_eq!(told(&with_steps(with_default)), Vec::<String>::new());
}

#[test]
fn an_agent_cannot_produce_what_the_engine_sets() {
    let text =
        with_steps("- { id: a, prompt: A, produces: [x] }\n- { id: b, run: { checks: all }, into: x }\n");
    assert_eq!(told(&text), ["6:33 `x` is set by the engine, so no agent can produce it"]);
}

#[test]
fn the_number_and_depth_of_steps_are_bounded() {
    let many: Vec<String> = (0..501).map(|n| format!("- {{ id: s{n}, prompt: A }}\n")).collect();
    assert_eq!(told(&with_steps(&many.concat())), ["506:3 the file has more than 500 steps"]);
    let nested = |levels: usize| {
        let mut step = "{ id: s, prompt: A }".to_owned();
        for level in 1..levels {
            step = format!("{{ id: s{level}, loop: {{ for: 1 }}, steps: [{step}] }}");
        }
        with_steps(&format!("- {step}\n"))
    };
    assert_eq!(told(&nested(16)), Vec::<String>::new());
    assert!(told(&nested(17))[0].ends_with("steps lie more than 16 levels deep"));
}

#[test]
fn a_text_with_a_colon_gets_the_advice_to_quote_it() {
    let text = with_steps("- id: a\n  prompt:\n    procedure:\n      - First: look\n");
    assert_eq!(told(&text), ["9:9 an entry of `procedure` must be a text, and this is a map"]);
    assert_eq!(fix_of(&text), "write a text; one with `: ` or `#` in it needs quotes");
}

/// Found with a made-up file: each finding costs time to make and to show, and 45,000 took minutes.
#[test]
fn a_file_of_nothing_but_mistakes_gets_a_list_with_an_end() {
    let strays: Vec<String> = (0..2000).map(|number| format!("stray-{number}: 1\n")).collect();
    let outcome = compiled(&format!("{EMPTY}{}", strays.concat()));
    assert_eq!((outcome.value, outcome.diagnostics.len()), (None, 501));
    let last = outcome.diagnostics.last().map(|last| last.message.clone());
    assert_eq!(last.as_deref(), Some("1500 more errors and 0 more warnings are not shown"));
}

#[test]
fn a_file_without_its_mark_is_told_to_have_one() {
    assert_eq!(told("id: t.x\nsteps: []\n"), ["1:1 this file does not say that it is a workflow"]);
    assert_eq!(fix_of("longhual: 1\n"), "begin it with a line `longhaul: 1`");
}

#[test]
fn a_slip_in_the_key_that_makes_a_step_is_understood() {
    assert_eq!(fix_of(&with_steps("- { id: a, promt: A }\n")), "did you mean `prompt`?");
    assert_eq!(
        told(&with_steps("- { id: a, novelty: A }\n")),
        ["6:9 the step `a` does nothing", "6:12 a step has no key `novelty`"]
    );
}

#[test]
fn an_example_that_does_not_fit_its_contract_is_an_error_at_its_place() {
    let root = |examples: &str| {
        format!(
            "contracts:\n  result:\n    type: object\n    required: [outcome]\n\
             \x20   properties: {{ outcome: {{ enum: [passed, failed] }} }}\n    examples: {examples}\n"
        )
    };
    let text = |examples: &str| {
        with_steps("- { id: a, prompt: A, output: result }\n")
            .replace("steps:", &format!("{}steps:", root(examples)))
    };
    assert_eq!(told(&text("[{ outcome: passed }]")), [""; 0]);
    assert_eq!(
        told(&text("[{ outcome: pased }]")),
        [
            "10:16 an example of the contract `result` does not fit it at `/outcome`: `\"pased\"` is not allowed here"
        ]
    );
    assert_eq!(
        told(&text("[{ outcome: 5 }, {}]")),
        [
            "10:16 an example of the contract `result` does not fit it at `/outcome`: `5` is not allowed here",
            "10:32 an example of the contract `result` does not fit it: `outcome` is missing",
        ]
    );
}

#[test]
fn a_slip_in_a_keyword_of_a_schema_is_a_warning() {
    let contracts = "contracts:\n  result:\n    type: object\n    requird: [outcome]\n    x-team: core\n\
                     \x20   properties: { requird: { type: string, minLenght: 2 } }\nsteps:";
    let text = with_steps("- { id: a, prompt: A }\n").replace("steps:", contracts);
    assert_eq!(
        told(&text),
        [
            "8:5 warning: a schema has no keyword `requird`, so it demands nothing",
            "10:44 warning: a schema has no keyword `minLenght`, so it demands nothing",
        ]
    );
}

#[test]
fn values_and_parts_that_can_never_be_are_warnings() {
    let root = "vars:\n  risk: { enum: [low, high] }\ncontracts:\n  result:\n    type: object\n\
                \x20   properties: { outcome: { $ref: '#/$defs/o' }, note: { type: string } }\n\
                \x20   $defs: { o: { enum: [passed, failed] } }\nsteps:\n\
                - { id: r, prompt: R, output: result }";
    let text = |step: &str| with_steps(&format!("- {{ id: a, {step} }}\n")).replacen("steps:", root, 1);
    let until = |condition: &str| {
        text(&format!("loop: {{ until: {{ {condition} }}, max: 2 }}, steps: [{{ id: b, prompt: B }}]"))
    };
    for (text, message, fix) in [
        (
            until("var: result.outcome, equals: pased"),
            "`result.outcome` is never `pased`",
            "did you mean `passed`?",
        ),
        (
            until("var: result.outcome, in: [failed, x]"),
            "`result.outcome` is never `x`",
            "known are `passed`, `failed`",
        ),
        (until("var: risk, equals: hgih"), "`risk` is never `hgih`", "did you mean `high`?"),
        (
            until("var: result.outcom, equals: passed"),
            "the contract of `result` has no `outcom` in `result`",
            "did you mean `result.outcome`?",
        ),
        (
            text("prompt: '{{result.outcom}}'"),
            "the contract of `result` has no `outcom` in `result`",
            "did you mean `result.outcome`?",
        ),
        (
            text("prompt: 'say {{ goal'"),
            "`{{ goal` opens a template and does not close it, so it stays as it stands",
            "close it with `}}`",
        ),
        (
            text("prompt: '{{ risk and {{goal}}'"),
            "`{{ risk and {{goal}}` opens a template and does not close it, so it stays as it stands",
            "close it with `}}`",
        ),
    ] {
        let told = told(&text);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with(&format!("warning: {message}")), "{told:?}");
        assert_eq!(fix_of(&text), fix);
    }
    for text in [
        until("var: result.outcome, equals: Passed"),
        until("var: result.outcome, equals: null"),
        until("var: result.further, equals: 1"),
        until("var: risk, not: low"),
        text("prompt: '{{result.note}} {{result.note.length}} {{{goal}}} {{{{goal}}}}'"),
    ] {
        assert_eq!(told(&text), [""; 0], "{text}");
    }
}

#[test]
fn a_command_and_a_contract_are_shown_as_they_are_written() {
    let fix = |steps: &str| fix_of(&with_steps(steps));
    assert_eq!(
        fix("- { id: a, run: cargo test }\n"),
        "write `run: { command: [cargo, test] }`: no shell looks at it"
    );
    let contract = fix("- { id: a, prompt: A, output: nothing }\n");
    assert!(
        contract.starts_with("declare it under `contracts:` as `nothing: { type: object, … }`"),
        "{contract}"
    );
    assert_eq!(contract.matches("gate_verdict").count(), 1, "{contract}");
}

#[test]
fn an_outcome_that_no_command_has_is_warned_about() {
    let steps = |word: &str| {
        with_steps(&format!(
            "- {{ id: again, loop: {{ until: {{ var: work.outcome, equals: {word} }}, max: 3 }}, steps: [{{ id: w, run: {{ command: [make] }}, into: work }}] }}\n"
        ))
    };
    assert_eq!(told(&steps("passed")), [""; 0]);
    let warned = compiled(&steps("pased")).diagnostics;
    assert_eq!(warned.len(), 1, "{warned:#?}");
    assert_eq!(warned[0].message, "`work.outcome` is never `pased`");
    assert_eq!(warned[0].fix.as_deref(), Some("did you mean `passed`?"));
}
