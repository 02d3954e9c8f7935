//! A home of its own for each test, the binary run in it, and what came of it in one text.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use longhaul_runtime::opaque::{FinishRequest, NewSession, StepRequest, ThenRequest};
use longhaul_runtime::types::{CloseOutcome, StepId};
use longhaul_runtime::{Places, Settings, System};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where nobody listens.
const NOBODY: &str = "127.0.0.1:1";

/// A folder with a `LONGHAUL_HOME` and room for repositories.
pub(crate) struct Home {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        Self { _folder: folder, path }
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn longhaul_home(&self) -> PathBuf {
        self.join("home")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.longhaul_home().join("data/longhaul.db")
    }

    /// Runs the binary in the home's top folder.
    pub(crate) fn longhaul(&self, arguments: &[&str]) -> Outcome {
        self.run(arguments).go()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run<'_> {
        let mut command = program(env!("CARGO_BIN_EXE_longhaul"));
        command.args(arguments).current_dir(&self.path).env_clear().envs(self.variables());
        Run { home: self, command, stdin: Vec::new() }
    }

    /// Runs the binary where no file may grow beyond so many kilobytes, as on a disk that is full.
    pub(crate) fn longhaul_with_files_up_to(&self, kilobytes: u64, arguments: &[&str]) -> Outcome {
        // What is beyond the limit shall be an error for whoever writes, and not the end of it.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", kilobytes * 2);
        let mut command = program("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_longhaul")]).args(arguments);
        command.current_dir(&self.path).env_clear().envs(self.variables());
        Run { home: self, command, stdin: Vec::new() }.go()
    }

    pub(crate) fn variables(&self) -> BTreeMap<&'static str, String> {
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        BTreeMap::from([
            ("HOME", text(self.join("user"))),
            ("LONGHAUL_HOME", text(self.longhaul_home())),
            ("PATH", std::env::var("PATH").unwrap()),
            ("LC_ALL", "C".to_owned()),
            // Whatever serves models on this machine has no part in a test.
            ("OLLAMA_HOST", NOBODY.to_owned()),
            ("VLLM_BASE_URL", NOBODY.to_owned()),
            ("LLAMA_CPP_BASE_URL", NOBODY.to_owned()),
        ])
    }

    /// The same installation, used from inside this process.
    pub(crate) fn system(&self) -> System {
        System::new(Settings {
            places: Places::under(&self.longhaul_home()),
            variables: BTreeMap::new(),
            directory: self.path.clone(),
            flags: Vec::new(),
        })
    }

    /// A closed session whose goal, prompt, payload and answer are given; returns its stream.
    pub(crate) fn session(&self, texts: [&str; 4]) -> String {
        let [goal, prompt, payload, answer] = texts.map(|text| json!(text));
        let commands = self.system().commands().unwrap();
        let id = commands.open_session(NewSession { goal, workspace: None, parent: None }).unwrap();
        let step = StepRequest { step: StepId("build".to_owned()), prompt };
        let handle = commands.hand_out(id, step, None).unwrap();
        let then = ThenRequest::Close(CloseOutcome::Completed);
        commands.finish_step(FinishRequest { handle, payload, answer, then, epoch: None }).unwrap();
        format!("session/{id}")
    }

    /// A repository with one commit of a `.longhaul/`.
    pub(crate) fn repository(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.join(".longhaul/workflows")).unwrap();
        fs::write(path.join(".longhaul/config.yml"), "retention:\n  blobs: 7d\n").unwrap();
        fs::write(path.join(".longhaul/workflows/review.yml"), "steps: []\n").unwrap();
        git(&path, &["init", "--quiet", "--initial-branch=main"]);
        git(&path, &["add", "--all"]);
        git(&path, &["commit", "--quiet", "--message=first"]);
        path
    }

    /// Trusts what is there, as if a person had said so.
    pub(crate) fn trust(&self, workspace: &str) {
        let system = self.system();
        let (reader, workspace) = system.find_workspace(Some(workspace)).unwrap();
        let candidate = reader.trust_candidate(&workspace, None).unwrap();
        let trust = longhaul_runtime::TrustRequest {
            hash: candidate.hash,
            files: candidate.listing,
            by: "ada".to_owned(),
            channel: longhaul_runtime::types::Channel::Terminal,
        };
        system.commands().unwrap().trust_workspace(workspace.id, &trust).unwrap();
    }
}

/// One run of the binary that is being prepared.
pub(crate) struct Run<'a> {
    home: &'a Home,
    command: Command,
    stdin: Vec<u8>,
}

impl Run<'_> {
    pub(crate) fn inside(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(self.home.join(directory));
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Starts it and does not wait.
    pub(crate) fn start(self) -> Child {
        self.start_into(Stdio::piped())
    }

    pub(crate) fn start_into(mut self, stdout: impl Into<Stdio>) -> Child {
        self.command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        // A child that does not read its input may be gone before it is written.
        let _ = child.stdin.take().unwrap().write_all(&self.stdin);
        child
    }

    pub(crate) fn go(self) -> Outcome {
        let home = self.home.path.clone();
        Outcome::of(&home, &self.start().wait_with_output().unwrap())
    }
}

/// What a run came to. The home's path is written `[HOME]`.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn of(home: &Path, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(home.to_str().unwrap(), "[HOME]");
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// For what only prepares a test.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }

    /// The rows of a `--json` run.
    pub(crate) fn rows(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self.code.map_or("signal".to_owned(), |code| code.to_string());
        write!(f, "exit {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// What differs from run to run, and what stands in its place.
pub(crate) const FILTERS: &[(&str, &str)] = &[
    (r"\bs-[0-9a-z]{13}\b", "[session]"),
    (r"\[session\]\.\d+\.[0-9a-z]{8}\.[0-9a-z]{16}\b", "[handle]"),
    (r"\bt-[0-9a-z]{13}\b", "[task]"),
    (r"\bi-[0-9a-z]{8}\b", "[entry]"),
    (r"\bw-[0-9a-z]{8}\b", "[workspace]"),
    (r"\b[0-9a-f]{64}\b", "[hash]"),
    (r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z", "[time]"),
    (r#""nonce":"[0-9a-z]{8}""#, r#""nonce":"[nonce]""#),
    (r"\b\d+\.\d [KM]B\b", "[size]"),
    (r"\b\d+\.\d+\.\d+\b", "[version]"),
];

/// Compares an outcome, or any text, with what stands beside it.
macro_rules! shows {
    ($shown:expr, @$snapshot:literal) => {{
        let mut settings = insta::Settings::clone_current();
        for (pattern, replacement) in crate::support::FILTERS {
            settings.add_filter(pattern, *replacement);
        }
        let shown = $shown.to_string();
        settings.bind(|| insta::assert_snapshot!(shown, @$snapshot));
    }};
}
pub(crate) use shows;

#[expect(clippy::disallowed_methods, reason = "the tests run the real binary, and git")]
pub(crate) fn program(name: &str) -> Command {
    Command::new(name)
}

/// Runs git without any user's configuration; it must work.
pub(crate) fn git(directory: &Path, arguments: &[&str]) {
    let mut command = program("git");
    command.args(arguments).current_dir(directory).env_clear().env("PATH", std::env::var("PATH").unwrap());
    for (role, name) in
        [("AUTHOR", "NAME"), ("AUTHOR", "EMAIL"), ("COMMITTER", "NAME"), ("COMMITTER", "EMAIL")]
    {
        command.env(format!("GIT_{role}_{name}"), "person@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Root may write anywhere, so permissions prove nothing to it.
pub(crate) fn is_root(home: &Home) -> bool {
    fs::metadata(&home.path).unwrap().uid() == 0
}
