//! What to start and within which bounds. Describes only; must never touch the system.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Sandbox;

const DEFAULT_GRACE: Duration = Duration::from_secs(5);
const DEFAULT_CAPTURE_LIMIT_BYTES: usize = 1024 * 1024;

/// A program with its arguments, surroundings and bounds.
///
/// A relative name with a slash is looked up from the directory the program is started in.
#[derive(Clone)]
pub struct Program {
    pub(crate) name: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) environment: Environment,
    pub(crate) removed: Vec<OsString>,
    pub(crate) set: Vec<(OsString, OsString)>,
    pub(crate) stdin: Stdin,
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) capture_limit_bytes: usize,
    pub(crate) label: Option<String>,
    pub(crate) sandbox: Option<Sandbox>,
}

/// What a program's environment starts from, before variables are removed and set.
#[derive(Clone, Default)]
pub enum Environment {
    /// Everything that this process has.
    #[default]
    Inherit,
    /// These variables and nothing else but our own mark.
    Only(Vec<(OsString, OsString)>),
}

/// What a program reads.
#[derive(Clone, Default)]
pub enum Stdin {
    /// Nothing: the end of the file at once.
    #[default]
    Null,
    /// These bytes, then the end of the file.
    Bytes(Vec<u8>),
    /// What it is sent while it runs. What it prints is then not captured but heard there: see [`crate::Talk`].
    Talk,
}

impl Program {
    /// A program in this process's directory and environment, without stdin and without a time limit.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            name: program.into(),
            args: Vec::new(),
            directory: None,
            environment: Environment::Inherit,
            removed: Vec::new(),
            set: Vec::new(),
            stdin: Stdin::Null,
            timeout: None,
            grace: DEFAULT_GRACE,
            capture_limit_bytes: DEFAULT_CAPTURE_LIMIT_BYTES,
            label: None,
            sandbox: None,
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item: Into<OsString>>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Where to start it.
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_path_buf());
        self
    }

    /// What its environment starts from.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets a variable on top of the environment, also one that is removed.
    pub fn set_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    /// Takes a variable out of the environment.
    pub fn remove_variable(mut self, name: impl Into<OsString>) -> Self {
        self.removed.push(name.into());
        self
    }

    /// What it reads.
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// After this long the whole tree is killed and the outcome is `TimedOut`.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long processes may take to end after SIGTERM before they get SIGKILL.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How much of stdout, and how much of stderr, is kept.
    pub fn capture_limit_bytes(mut self, limit: usize) -> Self {
        self.capture_limit_bytes = limit;
        self
    }

    /// A word by which any process of this machine finds its tree later, also when we are gone; see
    /// [`crate::labelled`]. It holds no `:`, which separates it from others.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        let label = label.into();
        assert!(!label.contains([':', '\0']), "a label is one word");
        self.label = Some(label);
        self
    }

    /// The walls around it. Of our own environment it then gets only what the policy keeps.
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Whether the program will see this variable.
    pub fn has_variable(&self, name: &OsStr) -> bool {
        let by_walls =
            self.sandbox.as_ref().is_some_and(|walls| walls.set.iter().any(|(set, _)| set == name));
        by_walls || self.variable(name).is_some()
    }

    /// The whole environment in a sandbox, but for our own mark.
    pub(crate) fn variables_inside(&self, sandbox: &Sandbox) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = match &self.environment {
            Environment::Inherit => std::env::vars_os().filter(|(name, _)| sandbox.keeps(name)).collect(),
            Environment::Only(list) => list.clone(),
        };
        variables.retain(|(name, _)| !self.removed.contains(name));
        let is_set = |name: &str| self.set.iter().any(|(set, _)| set == name);
        if !is_set("HOME") {
            variables.retain(|(name, _)| name != "HOME");
            variables.push(("HOME".into(), sandbox.home.clone().into()));
        }
        let given = sandbox.set.iter().filter(|(name, _)| !self.set.iter().any(|(set, _)| set == name));
        variables.retain(|(name, _)| !sandbox.set.iter().any(|(set, _)| set == name));
        variables.extend(given.cloned());
        variables.extend(self.set.iter().cloned());
        variables
    }

    /// The value the program will see for a variable.
    pub(crate) fn variable(&self, name: &OsStr) -> Option<OsString> {
        if let Some((_, value)) = self.set.iter().rfind(|(set, _)| set == name) {
            return Some(value.clone());
        }
        if self.removed.iter().any(|removed| removed == name) {
            return None;
        }
        match &self.environment {
            Environment::Inherit if self.sandbox.as_ref().is_some_and(|sandbox| !sandbox.keeps(name)) => None,
            Environment::Inherit => std::env::var_os(name),
            Environment::Only(list) => {
                list.iter().rfind(|(only, _)| only == name).map(|(_, value)| value.clone())
            }
        }
    }
}

/// Names of variables without their values and the size of stdin: both may hold secrets, and this may be logged.
impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Program")
            .field("name", &self.name)
            .field("args", &self.args)
            .field("directory", &self.directory)
            .field("environment", &self.environment)
            .field("removed", &self.removed)
            .field("set", &names(&self.set))
            .field("stdin", &self.stdin)
            .field("timeout", &self.timeout)
            .field("grace", &self.grace)
            .field("capture_limit_bytes", &self.capture_limit_bytes)
            .field("label", &self.label)
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inherit => formatter.write_str("Inherit"),
            Self::Only(list) => formatter.debug_tuple("Only").field(&names(list)).finish(),
        }
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("Null"),
            Self::Bytes(bytes) => write!(formatter, "Bytes({} bytes)", bytes.len()),
            Self::Talk => formatter.write_str("Talk"),
        }
    }
}

fn names(variables: &[(OsString, OsString)]) -> Vec<&OsStr> {
    variables.iter().map(|(name, _)| name.as_os_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Level;

    #[test]
    fn a_debug_print_shows_no_value_of_a_variable_and_no_stdin() {
        let program = Program::new("true")
            .environment(Environment::Only(vec![("TOKEN".into(), "hush-one".into())]))
            .set_variable("KEY", "hush-two")
            .stdin(Stdin::Bytes(b"hush-three".to_vec()));
        let printed = format!("{program:?}");
        assert!(printed.contains("TOKEN") && printed.contains("KEY"), "{printed}");
        assert!(!printed.contains("hush"), "{printed}");
        let sandbox = Sandbox::new(Level::Full, "/home/nobody").set_variable("TOKEN", "hush-four");
        let printed = format!("{:?}", program.sandbox(sandbox));
        assert!(printed.contains("TOKEN") && !printed.contains("hush"), "{printed}");
    }

    #[test]
    fn what_the_walls_set_is_there_unless_the_program_sets_it_itself() {
        let sandbox =
            Sandbox::new(Level::Full, "/home/nobody").set_variable("A", "walls").set_variable("B", "walls");
        let environment = Environment::Only(vec![("A".into(), "outside".into())]);
        let program = Program::new("true").environment(environment).set_variable("B", "own");
        let mut variables = program.variables_inside(&sandbox);
        variables.retain(|(name, _)| name != "HOME");
        assert_eq!(variables, [("A".into(), "walls".into()), ("B".into(), "own".into())]);
    }

    #[test]
    fn a_set_variable_wins_over_a_removed_one_and_that_over_the_environment() {
        let base =
            Program::new("true").environment(Environment::Only(vec![("A".into(), "environment".into())]));
        let name = OsStr::new("A");
        assert_eq!(base.variable(name), Some("environment".into()));
        let removed = base.remove_variable("A");
        assert_eq!(removed.variable(name), None);
        assert_eq!(removed.set_variable("A", "set").variable(name), Some("set".into()));
    }
}
