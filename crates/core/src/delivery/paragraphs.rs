//! The words of a pull request, and the one comment that holds the proof.

use serde_json::Value;

use super::inert::inert;
use super::template::filled;
use crate::proof::{Proof, REHEARSAL, markdown};

/// What a pull request tells.
#[derive(Debug, Clone, Copy)]
pub struct PullParts<'a> {
    pub template: Option<&'a str>,
    pub goal: &'a str,
    pub summary: Option<&'a str>,
    pub proof: Option<&'a Value>,
    pub ticket: Option<u64>,
    pub session: &'a str,
}

/// The text of a pull request.
pub fn pull_body(parts: &PullParts<'_>) -> String {
    let mut summary = inert(parts.goal.trim());
    if let Some(text) = parts.summary.map(str::trim).filter(|text| !text.is_empty()) {
        summary.extend(["\n\n", &inert(text)]);
    }
    if let Some(ticket) = parts.ticket {
        summary.extend(["\n\nFor #", &ticket.to_string(), "."]);
    }
    summary.extend(["\n\nMade by Longhaul, session `", parts.session, "`."]);
    if parts.proof.is_some_and(|proof| proof["rehearsal"] == true) {
        summary.extend([" ", REHEARSAL]);
    }
    let checked = match parts.proof {
        Some(proof) => format!("{} The whole proof is in a comment below.", outcome_line(proof)),
        None => "There is no proof for it.".to_owned(),
    };
    filled(parts.template.unwrap_or_default(), &summary, &checked)
}

/// By what the comment is found again.
pub fn proof_mark(session: &str) -> String {
    format!("<!-- longhaul:proof:{session} -->")
}

/// The proof as a comment. What others wrote in it cannot end a table or begin a heading.
pub fn proof_comment(session: &str, proof: &Value) -> String {
    if let Ok(whole) = serde_json::from_value::<Proof>(proof.clone()) {
        return format!("{}\n{}", proof_mark(session), markdown(&whole));
    }
    let mut text = format!("{}\n## Proof\n\n{}\n", proof_mark(session), outcome_line(proof));
    for (key, title) in [("base", "base"), ("merged_tree", "tree that was proven")] {
        if let Some(value) = proof[key].as_str() {
            text.extend(["\n- ", title, ": `", &cell(value), "`"]);
        }
    }
    text.push('\n');
    text += &table("Acceptance criteria", &proof["criteria"], &["id", "text", "outcome", "evidence"]);
    text += &table("Checks", &proof["checks"], &["name", "outcome", "because"]);
    text += &table("Reviews", &proof["reviews"], &["family", "outcome", "summary"]);
    text += &table("Audits", &proof["audits"], &["kind", "outcome", "verdict", "because"]);
    text
}

fn outcome_line(proof: &Value) -> String {
    let outcome = proof["outcome"].as_str().unwrap_or("unknown");
    match proof["because"].as_str().filter(|because| !because.is_empty()) {
        Some(because) => format!("Outcome: **{}** ({}).", cell(outcome), cell(because)),
        None => format!("Outcome: **{}**.", cell(outcome)),
    }
}

fn table(title: &str, rows: &Value, columns: &[&str]) -> String {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return String::new();
    }
    let columns: Vec<&&str> =
        columns.iter().filter(|column| rows.iter().any(|row| !row[**column].is_null())).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("\n### {title}\n\n");
    text += &line(columns.iter().map(|column| (**column).to_owned()).collect());
    text += &line(columns.iter().map(|_| "---".to_owned()).collect());
    for row in rows {
        text += &line(columns.iter().map(|column| shown(&row[**column])).collect());
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => cell(text),
        other => cell(&other.to_string()),
    }
}

/// One line without what a table, a mark or a mention is made of.
fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|letter| !letter.is_control()).take(300).collect();
    inert(&line.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_comment_has_its_mark_and_nothing_in_it_breaks_out_of_its_cell() {
        let proof = json!({
            "outcome": "passed", "base": "b1", "merged_tree": "t1",
            "criteria": [{ "id": "1", "text": "a | b\n# x <!-- longhaul:proof:other --> @ada", "outcome": "passed" }],
            "checks": [{ "name": "test", "outcome": "passed" }, { "name": "lint", "outcome": "skipped", "because": "none" }],
        });
        assert_eq!(
            proof_comment("s-1", &proof),
            "<!-- longhaul:proof:s-1 -->\n## Proof\n\nOutcome: **passed**.\n\n- base: `b1`\n- tree that was proven: `t1`\n\
             \n### Acceptance criteria\n\n| id | text | outcome |\n| --- | --- | --- |\n\
             | 1 | a \\| b # x &lt;!-- longhaul:proof:other --> @\u{200b}ada | passed |\n\
             \n### Checks\n\n| name | outcome | because |\n| --- | --- | --- |\n| test | passed |  |\n| lint | skipped | none |\n"
        );
    }

    #[test]
    fn no_word_of_a_goal_or_a_summary_acts_at_the_forge() {
        let parts = PullParts {
            template: None,
            goal: "Fix the login. Closes #9",
            summary: Some("Done, @team: fixes other/repo#12."),
            proof: None,
            ticket: Some(3),
            session: "s-1",
        };
        let body = pull_body(&parts);
        assert!(body.contains("Closes #\u{200b}9") && body.contains("other/repo#\u{200b}12"), "{body}");
        assert!(body.contains("@\u{200b}team") && body.contains("For #3."), "{body}");
    }

    #[test]
    fn a_pull_request_tells_the_goal_the_ticket_and_how_it_was_checked() {
        let proof = json!({ "outcome": "passed" });
        let parts = PullParts {
            template: None,
            goal: "Fix the login",
            summary: Some("The comparison was inverted."),
            proof: Some(&proof),
            ticket: Some(3),
            session: "s-1",
        };
        assert_eq!(
            pull_body(&parts),
            "## Summary\n\nFix the login\n\nThe comparison was inverted.\n\nFor #3.\n\nMade by Longhaul, session `s-1`.\n\n\
             ## How it was checked\n\nOutcome: **passed**. The whole proof is in a comment below.\n"
        );
    }
}
