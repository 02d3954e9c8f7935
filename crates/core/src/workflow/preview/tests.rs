//! What holds for the preview of every workflow, and what the preview of a known one looks like.

mod drawing;
mod sample;

use crate::workflow::preview;

#[test]
fn the_text_form_says_everything_that_decides() {
    insta::assert_snapshot!(preview::text(&sample::workflow()), @r#"
    Small bug fix
    lh.bugfix-small 1.2.0 (native, coding)
    For bugs that one person could fix in an hour.
    budget: 400000 tokens, 45 minutes, 3.00 dollars
    var goal: a text, required
    var risk: one of "low", "high", "low" unless set

    ├─ [prompt] reproduce: Reproduce it
    │     sets failing_command (a text)
    ├─ [routine] diagnose: Find the cause
    │  │  the steps of routine.hypothesis-challenge
    │  │  jumps to reproduce if the length of diagnosis.evidence is less than 2, at most 2 times
    │  ├─ [prompt] diagnose.state: State the causes
    │  └─ [prompt] diagnose.test: Test them
    │        answers with and sets diagnosis
    ├─ [loop] fix: Fix it
    │  │  repeats until checks.outcome is "passed", at most 3 times, then parks for a person
    │  ├─ [prompt] edit: Make it pass
    │  │     standard model
    │  └─ [run] checks: Run the checks
    │        runs every check of the workspace
    │        sets checks
    │        stops after 10 minutes
    │        then a person confirms at a terminal or stronger, if risk is "high"
    ├─ [todo] slices
    │  │  works through plan.slices as item, at most 20 items
    │  └─ [prompt] do: {{item.title}}
    ├─ [assess] confidence: How sure?
    │     judges evidence (low, high)
    │     redoes 1 thing if any is low
    ├─ [gather] pitch: Find the pitch
    │     looks for a pitch in what was given at the start or docs/*.md, if there is one
    │     sets pitch
    ├─ [parallel] reviewers: Reviews
    │  │  starts 2 sessions side by side
    │  ├─ [session] lh.review.correctness
    │  │     blank brief
    │  ├─ [session] lh.review.security
    │  │     only if risk is "high"
    │  ├─ [join] waits for all, goes on after a failure
    │  └─ [prompt] reviewers.synthesis
    │        takes no notes
    ├─ [spawn] audit: Audit
    │     starts a session of lh.audit.production
    │     blank brief
    │     sets audit
    ├─ [gate] look: Look at it
    │     only if risk is "high"
    │     opened by a person in the console or stronger
    │     asks "Ship {{goal}}?"
    │     fails after 3 days
    └─ [deliver] ship: Ship it
          commit: auto, pull_request: draft
    "#);
}

#[test]
fn the_flowchart_has_the_same_steps_and_ways() {
    insta::assert_snapshot!(preview::mermaid(&sample::workflow()), @r#"
    flowchart TD
        start(["start"])
        n1_reproduce("prompt: reproduce<br/>Reproduce it<br/>sets failing_command (a text)")
        start --> n1_reproduce
        subgraph n2_diagnose_box["routine: Find the cause"]
            n2_diagnose["routine: diagnose<br/>Find the cause<br/>the steps of routine.hypothesis-challenge<br/>jumps to reproduce if the length of diagnosis.evidence is less than 2, at most 2 times"]
            n3_diagnose_state("prompt: diagnose.state<br/>State the causes")
            n2_diagnose --> n3_diagnose_state
            n4_diagnose_test("prompt: diagnose.test<br/>Test them<br/>answers with and sets diagnosis")
            n3_diagnose_state --> n4_diagnose_test
            n2_diagnose_end((" "))
            n4_diagnose_test --> n2_diagnose_end
        end
        n1_reproduce --> n2_diagnose
        subgraph n5_fix_box["loop: Fix it"]
            n5_fix[/"loop: fix<br/>Fix it<br/>repeats until checks.outcome is #quot;passed#quot;, at most 3 times, then parks for a person"\]
            n6_edit("prompt: edit<br/>Make it pass")
            n5_fix --> n6_edit
            n7_checks[["run: checks<br/>Run the checks<br/>runs every check of the workspace<br/>sets checks"]]
            n6_edit --> n7_checks
            n7_checks_confirm[/"then a person confirms at a terminal or stronger, if risk is #quot;high#quot;"/]
            n7_checks --> n7_checks_confirm
            n7_checks_confirm -. "again" .-> n5_fix
        end
        n2_diagnose_end --> n5_fix
        subgraph n8_slices_box["todo: slices"]
            n8_slices[/"todo: slices<br/>works through plan.slices as item, at most 20 items"\]
            n9_do("prompt: do<br/>{{item.title}}")
            n8_slices --> n9_do
            n9_do -. "again" .-> n8_slices
        end
        n5_fix --> n8_slices
        n10_confidence("assess: confidence<br/>How sure?<br/>judges evidence (low, high)<br/>redoes 1 thing if any is low")
        n8_slices --> n10_confidence
        n11_pitch[["gather: pitch<br/>Find the pitch<br/>looks for a pitch in what was given at the start or docs/#42;.md, if there is one<br/>sets pitch"]]
        n10_confidence --> n11_pitch
        subgraph n12_reviewers_box["parallel: Reviews"]
            n12_reviewers[["parallel: reviewers<br/>Reviews<br/>starts 2 sessions side by side"]]
            n12_reviewers_join["waits for all, goes on after a failure"]
            n12_reviewers_0[["lh.review.correctness<br/>blank brief"]]
            n12_reviewers --> n12_reviewers_0 --> n12_reviewers_join
            n12_reviewers_1[["lh.review.security<br/>only if risk is #quot;high#quot;"]]
            n12_reviewers --> n12_reviewers_1 --> n12_reviewers_join
            n12_reviewers_synthesis("prompt: reviewers.synthesis")
            n12_reviewers_join --> n12_reviewers_synthesis
        end
        n11_pitch --> n12_reviewers
        n13_audit[["spawn: audit<br/>Audit<br/>starts a session of lh.audit.production<br/>blank brief<br/>sets audit"]]
        n12_reviewers_synthesis --> n13_audit
        n14_look{"only if risk is #quot;high#quot;"}
        n13_audit --> n14_look
        n15_look{{"gate: look<br/>Look at it<br/>opened by a person in the console or stronger<br/>asks #quot;Ship {{goal}}?#quot;"}}
        n14_look --> n15_look
        n16_ship[["deliver: ship<br/>Ship it<br/>commit: auto, pull_request: draft"]]
        n15_look --> n16_ship
        n14_look -. "otherwise" .-> n16_ship
        finish(["end"])
        n16_ship --> finish
        n2_diagnose_end -. "if the length of diagnosis.evidence is less than 2, at most 2 times" .-> n1_reproduce
    "#);
}

#[test]
fn no_text_of_a_file_can_break_out_of_a_flowchart_label() {
    let mut workflow = sample::workflow();
    workflow.steps.truncate(1);
    workflow.steps[0].title = "\"] --> evil\n`%%{init}%%` <b>#quot;".to_owned();
    let chart = preview::mermaid(&workflow);
    let line = chart.lines().find(|line| line.contains("evil")).expect("the title is shown");
    assert_eq!(
        line.trim(),
        "n1_reproduce(\"prompt: reproduce<br/>#quot;] --#gt; evil #96;#37;#37;{init}#37;#37;#96; #lt;b#gt;#35;quot;\
         <br/>sets failing_command (a text)\")"
    );
}
