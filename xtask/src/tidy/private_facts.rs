//! No file in git tells about the machine that it was written on: paths below somebody's home, or below the
//! place where we work.

use super::finding::Finding;
use super::lexer;
use super::repo::Repo;

/// Folders at the root that are private as a whole. Written without slashes, so that this file passes.
const PRIVATE: &[&str] = &["root", "work"];
/// Folders at the root whose children are people.
const OF_PEOPLE: &[&str] = &["home", "Users"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.files() {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(private) = private_path(line) {
                let message =
                    format!("`{private}` is a path of one machine; write a relative path or `<path>`");
                findings.push(Finding::new(path, number, message));
            }
        }
    }
    findings
}

/// The private part of the first absolute path of that kind in a line.
fn private_path(line: &str) -> Option<String> {
    let starts = line.match_indices('/').filter(|&(at, _)| !line[..at].ends_with(continues_a_path));
    starts.into_iter().find_map(|(at, _)| {
        let mut parts = line[at + 1..].split('/');
        let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
        if PRIVATE.contains(&first) {
            return Some(format!("/{first}/"));
        }
        let is_person = !second.is_empty()
            && second.chars().all(|character| lexer::is_word(character) || character == '-');
        (OF_PEOPLE.contains(&first) && third.is_some() && is_person).then(|| format!("/{first}/{second}/"))
    })
}

/// After one of these a slash separates parts of a relative path or of an address.
fn continues_a_path(character: char) -> bool {
    lexer::is_word(character) || matches!(character, '.' | '-' | '~' | '>' | '}' | ')' | ']' | '*')
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    fn found(line: &str) -> Option<String> {
        private_path(line)
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for folder in PRIVATE {
            assert_eq!(found(&format!("cd /{folder}/main")), Some(format!("/{folder}/")));
            assert_eq!(found(&format!("\"file:///{folder}/x\"")), Some(format!("/{folder}/")));
            assert_eq!(found(&format!("PATH=/bin:/{folder}/bin")), Some(format!("/{folder}/")));
        }
        for folder in OF_PEOPLE {
            assert_eq!(found(&format!("`/{folder}/j-doe/src`")), Some(format!("/{folder}/j-doe/")));
        }
    }

    #[test]
    fn relative_paths_addresses_and_placeholders_pass() {
        for folder in PRIVATE.iter().chain(OF_PEOPLE) {
            for before in ["target", "..", "~", "$HOME", "${TMP}", "https://host"] {
                assert_eq!(found(&format!("{before}/{folder}/doe/x")), None, "{before} {folder}");
            }
            assert_eq!(found(&format!("/{folder}s/doe/x")), None);
        }
        for folder in OF_PEOPLE {
            assert_eq!(found(&format!("/{folder}/<user>/x")), None);
        }
    }

    #[test]
    fn the_finding_names_file_and_line() {
        let text = format!("first\nsee /{}/notes\n", PRIVATE[0]);
        let findings = shown(&check(&Repo::of(&[("README.md", &text)])));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].starts_with("README.md:2: `/"), "{findings:?}");
    }
}
