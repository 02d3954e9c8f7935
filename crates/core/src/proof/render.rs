//! The proof for people: plain text for a terminal, Markdown for a pull request.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Criterion, Outcome, Proof, Verdict};
use crate::workflow::scope::cut;

/// How much of one text stands in a line.
const MOST_SHOWN: usize = 300;
/// How much of an id tells commits and trees apart.
const SHORT: usize = 12;

/// Nobody shall take a played script for somebody's judgement.
pub const REHEARSAL: &str =
    "This is a rehearsal: a script was played in place of the agent and of the reviewers.";

/// For a terminal.
pub fn text(proof: &Proof) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&format!("{}: {}", proof.outcome.word(), proof.goal));
    line(&format!("  {}", proof.because));
    if proof.rehearsal {
        line(&format!("  {REHEARSAL}"));
    }
    line(&format!(
        "  base {}  files {}  merge result {}",
        short(&proof.base),
        short(&proof.tree),
        proof.merged_tree.as_deref().map_or("none", short)
    ));
    for (title, rows) in sections(proof) {
        line("");
        line(title);
        for row in rows {
            let because = if row.because.is_empty() { String::new() } else { format!("  {}", row.because) };
            line(&format!("  {:<13}  {}{because}", row.outcome.word(), row.name));
            row.more.iter().for_each(|more| line(&format!("                 {more}")));
        }
    }
    line("");
    line(&format!("digest {}", proof.digest));
    out
}

/// For a pull request.
pub fn markdown(proof: &Proof) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "### Proof: {}\n", in_markdown(proof.outcome.word()));
    let _ = writeln!(out, "{}\n", in_markdown(&proof.because));
    if proof.rehearsal {
        let _ = writeln!(out, "**{REHEARSAL}**\n");
    }
    for (title, rows) in sections(proof) {
        let _ = writeln!(out, "| {title} | outcome | because |\n|---|---|---|");
        for row in rows {
            let told: Vec<&str> = std::iter::once(row.because.as_str())
                .chain(row.more.iter().map(String::as_str))
                .filter(|text| !text.is_empty())
                .collect();
            let told: Vec<String> = told.into_iter().map(in_markdown).collect();
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                in_markdown(&row.name),
                in_markdown(row.outcome.word()),
                told.join("<br>")
            );
        }
        out.push('\n');
    }
    let merged = proof.merged_tree.as_deref().unwrap_or("none");
    let _ = writeln!(
        out,
        "<sub>base `{}` · files `{}` · merge result `{merged}` · session `{}` · digest `{}`</sub>",
        proof.base, proof.tree, proof.session, proof.digest
    );
    out
}

struct Row {
    name: String,
    outcome: Outcome,
    because: String,
    more: Vec<String>,
}

fn sections(proof: &Proof) -> Vec<(&'static str, Vec<Row>)> {
    let checks = proof.checks.iter().map(|check| {
        let because = if check.seen == check.outcome.word() || check.outcome == Outcome::Carried {
            check.because.clone()
        } else {
            format!("{}: {}", check.seen, check.because)
        };
        Row {
            name: check.name.clone(),
            outcome: check.outcome,
            because: one_line(&because),
            more: Vec::new(),
        }
    });
    let scope = &proof.scope;
    let scope = Row {
        name: "scope".to_owned(),
        outcome: scope.outcome,
        because: one_line(&scope.because),
        more: scope.findings.iter().map(finding).collect(),
    };
    let all = [
        ("Criterion", proof.criteria.iter().map(criterion).collect::<Vec<_>>()),
        ("Check", checks.collect()),
        ("Review", proof.reviews.iter().map(verdict).collect()),
        ("Audit", proof.audits.iter().map(verdict).collect()),
        ("Scope", vec![scope]),
    ];
    all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

fn criterion(criterion: &Criterion) -> Row {
    let more = criterion.evidence.iter().map(|one| {
        let text = if one.text.is_empty() { String::new() } else { format!(": {}", one.text) };
        one_line(&format!("{} says {}{text}", one.by, one.says))
    });
    Row {
        name: one_line(&format!("{} {}", criterion.id, criterion.text)),
        outcome: criterion.outcome,
        because: one_line(&criterion.because),
        more: more.collect(),
    }
}

fn verdict(verdict: &Verdict) -> Row {
    Row {
        name: verdict.name.clone(),
        outcome: verdict.outcome,
        because: one_line(&verdict.because),
        more: verdict.findings.iter().map(finding).collect(),
    }
}

fn finding(value: &Value) -> String {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let severity = if text("severity").is_empty() { "finding" } else { text("severity") };
    let line = value.get("line").and_then(Value::as_u64).map(|line| format!(":{line}")).unwrap_or_default();
    let place = if text("file").is_empty() { String::new() } else { format!(" {}{line}", text("file")) };
    let said = ["evidence", "message", "text", "because"].into_iter().map(text).find(|said| !said.is_empty());
    one_line(&format!("{severity}{place}: {}", said.unwrap_or("it says nothing more")))
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "), MOST_SHOWN)
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Text of agents is data: no markup, link, picture or mention of theirs shall work.
fn in_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("@\u{200b}"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(letter),
        }
    }
    out
}
