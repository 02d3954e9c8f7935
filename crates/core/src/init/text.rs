//! A proposal as a small commented file. Every line of it that counts was found; what was not is a comment.

use super::{CopyKind, Proposal, ProposedCheck, ProposedCommand, ProposedCopy};

const HEAD: &str = "\
# Settings of this repository for Longhaul. `longhaul config show --origin` tells what counts and where it comes from.
# They count while a person trusts them: after a change by hand, run `longhaul workspace trust`.
";
const CHECKS: &str = "
# What must hold, as commands, in this order. Workflows run them with `run: { checks: all }`.
";
const NO_CHECKS: &str = "\
# checks:
#   - { name: test, run: [make, test], timeout: 15m }
";
const CHECKOUT: &str = "
# What makes a fresh worktree ready: `setup` is run once for each state of the lockfiles, `copy` names files of your own
# checkout that git does not know.
";
const NO_CHECKOUT: &str = "\
# checkout:
#   setup: [ { run: [npm, ci] } ]
#   copy: [ { path: .env, secret: true } ]
#   ports: 2    # free ports, as LONGHAUL_PORT_1 and so on
";

/// What belongs into `.longhaul/config.yml`.
pub fn config_text(proposal: &Proposal) -> String {
    let mut text = HEAD.to_owned() + CHECKS;
    if proposal.checks.is_empty() {
        text += NO_CHECKS;
    } else {
        text += "checks:\n";
        text.extend(proposal.checks.iter().map(check));
    }
    text += CHECKOUT;
    if proposal.setup.is_empty() && proposal.copy.is_empty() {
        return text + NO_CHECKOUT;
    }
    text += "checkout:\n";
    if !proposal.setup.is_empty() {
        text += "  setup:\n";
        text.extend(proposal.setup.iter().map(command));
    }
    if !proposal.copy.is_empty() {
        text += "  copy:\n";
        text.extend(proposal.copy.iter().map(copy));
    }
    text
}

fn check(check: &ProposedCheck) -> String {
    format!("  - {{ name: {}, run: {} }}    # {}\n", word(&check.name), list(&check.run), check.from)
}

fn command(command: &ProposedCommand) -> String {
    format!("    - {{ run: {} }}    # {}\n", list(&command.run), command.from)
}

fn copy(copy: &ProposedCopy) -> String {
    let path = word(&copy.path);
    match copy.kind {
        CopyKind::Secret => format!("    - {{ path: {path}, secret: true }}\n"),
        CopyKind::Example => format!("    - {{ path: {path}, to: {} }}\n", word(&copy.to)),
    }
}

fn list(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|text| word(text)).collect::<Vec<_>>().join(", "))
}

/// Plain where no reader of YAML could take it for anything else.
fn word(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '.')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "._/-".contains(letter))
        && text.chars().any(|letter| letter.is_ascii_alphabetic())
        && !["y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", ".nan"]
            .contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
