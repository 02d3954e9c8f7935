//! Which changed files decide what a check comes to: those that a command names, and those that lie beside them.
//!
//! Whoever writes one of them writes a part of the verdict. So a person looks, whatever the check says; but for the very files
//! that a check runs: such a check has to pass with those as they were before, too, so tests may be added to them.

use super::{glob, protected};

/// What stands between the words of a shell.
const BETWEEN: &str = " \t\n;&|()<>{}`\"'=,";

/// The words of a command, and those inside of them: `sh -c "sh tests/run.sh"` names a file too.
pub fn words(command: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for word in command {
        words.push(word);
        words.extend(word.split(|letter| BETWEEN.contains(letter)).filter(|part| !part.is_empty()));
    }
    words
}

/// What ends a command in a shell, and what stands before one without being it.
const ENDS: &str = ";&|()\n{}`";
const BEFORE: [&str; 9] = ["exec", "env", "time", "command", "then", "do", "else", "if", "!"];
/// Who runs the file that is named next.
const RUNS: [&str; 14] = [
    ".", "source", "sh", "bash", "dash", "ash", "ksh", "zsh", "python", "python3", "node", "ruby", "perl",
    "php",
];

/// The words of a command that may be files it runs: each by itself, and in a line for a shell what is run there. What such
/// a line only reads is no part of the check.
pub fn run_by(command: &[String]) -> Vec<&str> {
    let mut found: Vec<&str> = command.iter().map(String::as_str).collect();
    for line in command.iter().filter(|word| word.contains(char::is_whitespace)) {
        for single in line.split(|letter| ENDS.contains(letter)) {
            let words = single.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            let mut words = words.skip_while(|word| BEFORE.contains(word) || word.contains('='));
            let Some(first) = words.next() else { continue };
            let program = first.rsplit('/').next().unwrap_or(first);
            let script = words.find(|word| !word.starts_with('-')).filter(|_| RUNS.contains(&program));
            found.extend(script.or(Some(first)));
        }
    }
    found
}

/// What decides whether a change is good.
#[derive(Debug, Clone, Copy)]
pub struct Commands<'c> {
    /// Tried with their own files as they were before, too.
    pub checks: &'c [&'c [String]],
    /// What makes a checkout ready.
    pub setup: &'c [&'c [String]],
}

/// The changed paths that a person has to look at. `read` gives the text of a file as it was before the change.
pub fn touched<'p>(
    commands: Commands<'_>,
    changed: &[&'p str],
    read: &dyn Fn(&str) -> Option<String>,
) -> Vec<&'p str> {
    let all = commands.checks.iter().chain(commands.setup);
    let named: Vec<String> = all.flat_map(|command| words(command)).filter_map(plain).collect();
    let tried = commands.checks.iter().flat_map(|command| run_by(command)).filter_map(plain);
    let by_setup: Vec<String> =
        commands.setup.iter().flat_map(|command| words(command)).filter_map(plain).collect();
    let tried: Vec<String> = tried.filter(|name| !by_setup.contains(name)).collect();
    let is_touched = |path: &str| {
        !tried.iter().any(|name| name == path)
            && named.iter().any(|name| {
                if path == name || path.ends_with(&format!("/{name}")) {
                    return true;
                }
                // What names dependencies or steps says where the code lies, not where the checks do.
                if is_manifest(name) {
                    return false;
                }
                match name.rsplit_once('/') {
                    Some((folder, _)) => {
                        path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
                            && read(name).is_some()
                    }
                    // Everything lies beside a file at the top; what it speaks of is meant.
                    None => !path.contains('/') && read(name).is_some_and(|text| text.contains(path)),
                }
            })
    };
    let mut found: Vec<&str> = changed.iter().copied().filter(|path| is_touched(path)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Without `./` and `..`, as git names a path; nothing that begins elsewhere.
fn plain(word: &str) -> Option<String> {
    if word.starts_with(['/', '-']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in word.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn is_manifest(path: &str) -> bool {
    let path = path.to_lowercase();
    let groups = [&protected::DEPENDENCIES, &protected::CHECKS];
    groups.iter().flat_map(|group| group.patterns).any(|pattern| glob::fits(pattern, &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &[&str], changed: &[&str]) -> Vec<String> {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        let read = |path: &str| match path {
            "tests/run.sh" | "tests/deep/one.py" => {
                Some("set -eu\n. \"$(dirname \"$0\")/lib.sh\"\n".to_owned())
            }
            "check.sh" => Some(". ./helper.sh\nsh src/a.sh\n".to_owned()),
            "crates/a/Cargo.toml" => Some("[package]\n".to_owned()),
            _ => None,
        };
        let commands = Commands { checks: &[], setup: &[&command] };
        touched(commands, changed, &read).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn the_very_file_that_a_check_runs_is_tried_as_it_was_and_what_lies_beside_it_is_not() {
        let command = ["sh".to_owned(), "tests/run.sh".to_owned()];
        let read = |_: &str| Some("set -eu\n".to_owned());
        let changed = ["tests/run.sh", "tests/lib.sh", "web/tests/run.sh"];
        let check = Commands { checks: &[&command], setup: &[] };
        assert_eq!(touched(check, &changed, &read), ["tests/lib.sh", "web/tests/run.sh"]);
        let both = Commands { checks: &[&command], setup: &[&command] };
        assert_eq!(touched(both, &changed, &read), ["tests/lib.sh", "tests/run.sh", "web/tests/run.sh"]);
    }

    #[test]
    fn what_a_command_names_is_seen_wherever_it_names_it() {
        let changed = ["tests/run.sh", "src/a.sh"];
        for command in [
            &["sh", "tests/run.sh"][..],
            &["sh", "./tests/run.sh"],
            &["sh", "-c", "sh tests/run.sh"],
            &["bash", "-lc", "set -e; cd . && CI=1 sh ./tests/run.sh|cat"],
            &["env", "SCRIPT=tests/run.sh", "sh", "-c", "sh \"$SCRIPT\""],
            &["sh", "-c", "cd src/../tests && sh run.sh"],
        ] {
            assert_eq!(found(command, &changed), ["tests/run.sh"], "{command:?}");
        }
        assert_eq!(found(&["cargo", "test"], &changed), [""; 0]);
        assert_eq!(found(&["sh", "/usr/bin/src/a.sh"], &changed), [""; 0]);
        // In the folder of a step.
        assert_eq!(found(&["sh", "tests/run.sh"], &["web/tests/run.sh"]), ["web/tests/run.sh"]);
    }

    #[test]
    fn what_a_line_for_a_shell_runs_is_told_from_what_it_reads() {
        let run = |line: &str| {
            let command = ["sh".to_owned(), "-c".to_owned(), line.to_owned()];
            run_by(&command).into_iter().skip(3).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(run("set -e; sh tests/run.sh"), ["set", "tests/run.sh"]);
        assert_eq!(
            run("CI=1 exec ./check.sh -v && bash -e 'tests/more.sh' a.txt"),
            ["./check.sh", "tests/more.sh"]
        );
        assert_eq!(run("echo 1..1; grep -q mine a.txt"), ["echo", "grep"]);
    }

    #[test]
    fn what_lies_beside_a_script_or_below_its_folder_counts_with_it() {
        let run = &["sh", "tests/run.sh"];
        assert_eq!(found(run, &["tests/lib.sh", "src/tests/x.sh", "testsuite/y.sh"]), ["tests/lib.sh"]);
        assert_eq!(found(run, &["tests/deep/more.sh"]), ["tests/deep/more.sh"]);
        // A folder is no script, nor is what says where the code lies.
        assert_eq!(found(&["pytest", "tests/unit"], &["tests/unit/test_a.py"]), [""; 0]);
        let cargo = &["cargo", "test", "--manifest-path", "crates/a/Cargo.toml"];
        assert_eq!(found(cargo, &["crates/a/src/lib.rs"]), [""; 0]);
        // At the top, where all lies beside it, what it speaks of.
        assert_eq!(found(&["sh", "check.sh"], &["README.md", "helper.sh", "src/a.sh"]), ["helper.sh"]);
    }
}
