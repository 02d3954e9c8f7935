//! An invariant in `docs/architecture.md` names what would catch its breach, and that thing exists.

use super::CHECKS;
use super::finding::Finding;
use super::lexer;
use super::repo::Repo;

const DOCUMENT: &str = "docs/architecture.md";
const MARK: &str = "**Invariant:**";
const FORM: &str = "end it with `(check: tidy <name>)` or `(check: crates/<crate>::<test>)`";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let Some(text) = repo.files().get(DOCUMENT) else {
        return vec![Finding::new(DOCUMENT, 1, "is missing; describe the crates and their invariants there")];
    };
    let mut findings = Vec::new();
    for (line, invariant) in invariants(text) {
        let Some(checks) = checks(&invariant) else {
            findings.push(Finding::new(DOCUMENT, line, format!("an invariant without a check; {FORM}")));
            continue;
        };
        let broken = checks.iter().filter_map(|named| wrong(repo, named));
        findings.extend(broken.map(|message| Finding::new(DOCUMENT, line, message)));
    }
    findings
}

/// Each invariant with its line, joined over the lines that it is wrapped to.
fn invariants(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in (1..).zip(text.lines()) {
        let item = line.trim_start();
        if item.strip_prefix("- ").unwrap_or(item).starts_with(MARK) {
            found.push((number, line.trim().to_owned()));
            open = true;
        } else if line.trim().is_empty() || line.starts_with(['-', '#']) {
            open = false;
        } else if let (true, Some((_, invariant))) = (open, found.last_mut()) {
            invariant.push(' ');
            invariant.push_str(line.trim());
        }
    }
    found
}

/// What the closing `(check: a, b)` names; `None` if there is no such ending.
fn checks(invariant: &str) -> Option<Vec<String>> {
    let (_, ending) = invariant.rsplit_once("(check:")?;
    let named = ending.trim_end_matches('.').strip_suffix(')')?;
    Some(named.split(',').map(|name| name.replace('`', "").trim().to_owned()).collect())
}

/// Why a named check does not exist, if so.
fn wrong(repo: &Repo, named: &str) -> Option<String> {
    if let Some(name) = named.strip_prefix("tidy ") {
        let known = CHECKS.iter().any(|check| check.name == name);
        return (!known)
            .then(|| format!("there is no check `tidy {name}`; `cargo xtask tidy --help` lists them"));
    }
    let Some((folder, test)) = named.strip_prefix("crates/").and_then(|path| path.split_once("::")) else {
        return Some(format!("`{named}` is no check that we can find; {FORM}"));
    };
    let function = format!("fn {}", test.rsplit("::").next().unwrap_or(test));
    let home = format!("crates/{folder}/");
    let mut files = repo.rust().iter().filter(|file| file.path().starts_with(&home));
    let found = files.any(|file| {
        file.numbered().any(|(number, line)| file.is_test(number) && lexer::has_word(&line.code, &function))
    });
    (!found).then(|| format!("`{home}` has no test `{function}`; name one that exists"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    const STORE: (&str, &str) = (
        "crates/store/src/lib.rs",
        "fn rebuild() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn rebuild_is_live() {}\n}\n",
    );

    fn findings(document: &str) -> Vec<String> {
        shown(&check(&Repo::of(&[(DOCUMENT, document), STORE])))
    }

    #[test]
    fn invariants_with_checks_that_exist_pass() {
        let document = "**Invariant:** a. (check: tidy purity)\n\n\
                        - **Invariant:** b,\n  and c. (check: `crates/store::rebuild_is_live`, `tidy size`)\n\n\
                        Text.\n";
        assert_eq!(findings(document), [""; 0]);
    }

    #[test]
    fn an_invariant_without_a_check_is_a_finding() {
        let wanted = format!("docs/architecture.md:1: an invariant without a check; {FORM}");
        for document in [
            "**Invariant:** a.\n",
            "- **Invariant:** a.\n- (check: tidy purity)\n",
            "**Invariant:** a.\n\n(check: tidy purity)\n",
            "**Invariant:** (check: tidy purity) a.\n",
        ] {
            assert_eq!(findings(document), [wanted.as_str()], "{document}");
        }
    }

    #[test]
    fn a_check_that_does_not_exist_is_a_finding() {
        assert_eq!(
            findings("**Invariant:** a. (check: tidy beauty)\n"),
            ["docs/architecture.md:1: there is no check `tidy beauty`; `cargo xtask tidy --help` lists them"]
        );
        assert_eq!(
            findings("**Invariant:** a. (check: crates/store::replay)\n"),
            ["docs/architecture.md:1: `crates/store/` has no test `fn replay`; name one that exists"]
        );
        assert_eq!(findings("**Invariant:** a. (check: review)\n").len(), 1);
    }

    #[test]
    fn a_function_that_is_no_test_is_no_check() {
        assert_eq!(findings("**Invariant:** a. (check: crates/store::rebuild)\n").len(), 1);
    }

    #[test]
    fn a_repository_without_the_document_is_a_finding() {
        assert_eq!(shown(&check(&Repo::of(&[STORE]))).len(), 1);
    }
}
