//! Walking a workflow: against one raw insert, late against early, and as a process against git.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::workflow::compile::{Source, Sources, Syntax, compile};
use longhaul_runtime::types::{Answer, Handle, StepView, Workflow};
use longhaul_runtime::{Advance, Commands, Places, StartSession};
use longhaul_store::baseline::RawInserts;
use serde_json::{Map, json};

use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::{Failure, commands, store};
use crate::processes::command;

pub(super) const NAMES: &[&str] = &["walk_raw_insert_p50_us", "walk_advance_p50_us", "walk_vs_raw_insert"];
pub(super) const LONG_NAMES: &[&str] = &[
    "walk_linear_late_vs_early",
    "walk_foreach_late_vs_early",
    "walk_while_late_vs_early",
    "walk_linear_fresh_late_vs_early",
    "walk_foreach_fresh_late_vs_early",
    "walk_while_fresh_late_vs_early",
    "walk_linear_bytes_late_vs_early",
    "walk_foreach_bytes_late_vs_early",
    "walk_while_bytes_late_vs_early",
];
pub(super) const PROCESS_NAMES: &[&str] = &["cli_advance_ms", "git_rev_parse_ms", "cli_advance_vs_git"];

/// How far into a walk "late" is.
const LATE: u64 = 10_000;
const EARLY: u64 = 10;
const SAMPLES: usize = 200;
const FRESH_SAMPLES: usize = 40;

const HEAD: &str = "longhaul: 1\nid: bench.walk\nname: Bench\nversion: 1.0.0\nvars:\n  goal: { type: string }\n  done: { type: boolean, default: false }\n  list: { type: array }\nsteps:\n";

/// Three ways to take ten thousand steps.
#[derive(Clone, Copy)]
enum Kind {
    Linear,
    ForEach,
    While,
}

const KINDS: [Kind; 3] = [Kind::Linear, Kind::ForEach, Kind::While];

impl Kind {
    fn text(self) -> String {
        let one = "    steps: [ { id: one, prompt: \"Go on with {{goal}}.\" } ]\n";
        match self {
            // A file has at most 500 steps, so a long line of them is gone through again and again.
            Self::Linear => {
                let step = |n: u32| format!("      - {{ id: s{n}, prompt: \"Step {n}.\" }}\n");
                let steps = (0..400).map(step).collect::<Vec<_>>().concat();
                format!("{HEAD}  - id: rounds\n    loop: {{ for: 100 }}\n    steps:\n{steps}")
            }
            Self::ForEach => format!("{HEAD}  - id: each\n    loop: {{ forEach: list, max: 20000 }}\n{one}"),
            Self::While => {
                format!(
                    "{HEAD}  - id: rounds\n    loop: {{ while: {{ var: done, equals: false }}, max: 20000 }}\n{one}"
                )
            }
        }
    }

    fn start(self, commands: &Commands) -> Result<Handle, Failure> {
        let list: Vec<u64> = match self {
            Self::ForEach => (0..12_000).collect(),
            Self::Linear | Self::While => Vec::new(),
        };
        let vars = Map::from_iter([("list".to_owned(), json!(list))]);
        next(&commands.start_session(&start(self.text(), vars)?)?)
    }
}

fn start(text: String, vars: Map<String, serde_json::Value>) -> Result<StartSession, Failure> {
    Ok(StartSession {
        workflow: Arc::new(workflow(text)?),
        goal: "the bench".to_owned(),
        vars,
        workspace: None,
        checkout: None,
        parent: None,
        warnings: Vec::new(),
    })
}

fn workflow(text: String) -> Result<Workflow, Failure> {
    let source = Source { name: "bench.yml".to_owned(), text, syntax: Syntax::Yaml };
    let outcome = compile(&source, &Sources::default());
    outcome.value.ok_or_else(|| format!("{:?}", outcome.diagnostics).into())
}

fn next(view: &StepView) -> Result<Handle, Failure> {
    let token = view.continue_token.as_deref().ok_or("the walk ended too early")?;
    Ok(token.parse()?)
}

fn advance(commands: &Commands, handle: &mut Handle) -> Result<(), Failure> {
    let answer = Answer { notes: Some("x".repeat(300)), ..Answer::default() };
    *handle = next(&commands.advance(&Advance { handle: *handle, answer, epoch: None })?)?;
    Ok(())
}

/// Rounds of each kind in turn, so that a slow moment of the disk hits both.
pub(super) fn run(_: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    let store = store(home.path())?;
    let raw = RawInserts::new(home.path(), 1024)?;
    let commands = commands(store);
    let mut handle = Kind::While.start(&commands)?;
    let (mut raws, mut advances) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        raws.push(micros(timed(|| Ok(raw.insert()?))?));
        advances.push(micros(timed(|| advance(&commands, &mut handle))?));
    }
    let (raw, advance) = (median(&raws), median(&advances));
    Ok(vec![
        Bar::new(NAMES[0], raw, "µs", Limit::Reported),
        Bar::new(NAMES[1], advance, "µs", Limit::Reported),
        Bar::new(NAMES[2], advance / raw, "×", Limit::AtMost(1.5)),
    ])
}

pub(super) fn late_and_early(_: &Args) -> Result<Vec<Bar>, Failure> {
    let ratios = KINDS.into_iter().map(|kind| ratios(kind)).collect::<Result<Vec<_>, _>>()?;
    let mut bars = Vec::new();
    for (row, limit) in [(0, 1.2), (1, 1.2), (2, 1.05)] {
        for (column, kind) in ratios.iter().enumerate() {
            bars.push(Bar::new(LONG_NAMES[row * 3 + column], kind[row], "×", Limit::AtMost(limit)));
        }
    }
    Ok(bars)
}

/// The two walks take turns, so that a slow moment hits both.
fn ratios(kind: Kind) -> Result<[f64; 3], Failure> {
    let (early_home, late_home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let mut early = Stretch::begin(early_home.path(), drive(kind, early_home.path(), EARLY)?)?;
    let mut late = Stretch::begin(late_home.path(), drive(kind, late_home.path(), LATE)?)?;
    for _ in 0..SAMPLES {
        early.sample()?;
        late.sample()?;
    }
    let (mut early, mut late) = (early.closed(), late.closed());
    for _ in 0..FRESH_SAMPLES {
        early.sample()?;
        late.sample()?;
    }
    Ok([
        median(&late.before.took) / median(&early.before.took),
        median(&late.took) / median(&early.took),
        late.before.bytes / early.before.bytes,
    ])
}

/// A stretch of a walk in this process.
struct Stretch<'a> {
    home: &'a Path,
    commands: Commands,
    handle: Handle,
    figures: Figures,
}

#[derive(Default)]
struct Figures {
    took: Vec<f64>,
    bytes: f64,
}

impl<'a> Stretch<'a> {
    fn begin(home: &'a Path, mut handle: Handle) -> Result<Self, Failure> {
        let commands = commands(store(home)?);
        advance(&commands, &mut handle)?;
        Ok(Self { home, commands, handle, figures: Figures::default() })
    }

    fn sample(&mut self) -> Result<(), Failure> {
        let before = bytes_written()?;
        self.figures.took.push(micros(timed(|| advance(&self.commands, &mut self.handle))?));
        self.figures.bytes += bytes_written()? - before;
        Ok(())
    }

    fn closed(self) -> FreshStretch<'a> {
        FreshStretch { home: self.home, handle: self.handle, before: self.figures, took: Vec::new() }
    }
}

/// The same walk further on, by a process of its own for each step.
struct FreshStretch<'a> {
    home: &'a Path,
    handle: Handle,
    before: Figures,
    took: Vec<f64>,
}

impl FreshStretch<'_> {
    fn sample(&mut self) -> Result<(), Failure> {
        self.took.push(micros(timed(|| fresh_process(self.home, &mut self.handle))?));
        Ok(())
    }
}

fn drive(kind: Kind, home: &Path, steps: u64) -> Result<Handle, Failure> {
    let commands = commands(store(home)?);
    let mut handle = kind.start(&commands)?;
    for _ in 0..steps {
        advance(&commands, &mut handle)?;
    }
    Ok(handle)
}

/// One advance by a process that knows nothing before.
fn fresh_process(home: &Path, handle: &mut Handle) -> Result<(), Failure> {
    let output = command(std::env::current_exe()?)
        .args(["step", "--home"])
        .arg(home)
        .args(["--handle", &handle.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    *handle = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(())
}

/// One advance, for [`fresh_process`].
pub(in crate::driver) fn step(home: &Path, handle: &str) -> Result<String, Failure> {
    let commands = commands(store(home)?);
    let mut handle = handle.parse()?;
    advance(&commands, &mut handle)?;
    Ok(handle.to_string())
}

/// What this process has handed to the system to write.
fn bytes_written() -> Result<f64, Failure> {
    let io = fs::read_to_string("/proc/self/io")?;
    let line =
        io.lines().find_map(|line| line.strip_prefix("wchar: ")).ok_or("no `wchar` in /proc/self/io")?;
    Ok(line.trim().parse()?)
}

/// `longhaul session advance` against `git rev-parse HEAD`, taking turns.
pub(super) fn processes(args: &Args) -> Result<Vec<Bar>, Failure> {
    let folder = tempfile::tempdir()?;
    let (home, repository) = (folder.path().join("home"), folder.path().join("repository"));
    fs::create_dir_all(&repository)?;
    let git = |arguments: &[&str]| ran(Path::new("git"), arguments, &home, &repository);
    git(&["init", "--quiet"])?;
    git(&["-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "--allow-empty", "-m", "x"])?;
    let workflows = Places::under(&home).config.join("workflows");
    fs::create_dir_all(&workflows)?;
    fs::write(workflows.join("bench.walk.yml"), Kind::While.text())?;
    let longhaul = |arguments: &[&str]| ran(&args.longhaul, arguments, &home, folder.path());
    let start = ["session", "start", "--workflow", "bench.walk", "--goal", "g", "--json"];
    let mut token = token_in(&longhaul(&start)?)?;
    let (mut gits, mut advances) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        gits.push(micros(timed(|| git(&["rev-parse", "HEAD"]))?));
        advances.push(micros(timed(|| {
            let answer = longhaul(&["session", "advance", &token, "--notes", "done", "--json"])?;
            token = token_in(&answer)?;
            Ok(())
        })?));
    }
    let (git, advance) = (median(&gits) / 1000.0, median(&advances) / 1000.0);
    Ok(vec![
        Bar::new(PROCESS_NAMES[0], advance, "ms", Limit::Reported),
        Bar::new(PROCESS_NAMES[1], git, "ms", Limit::Reported),
        Bar::new(PROCESS_NAMES[2], advance / git, "×", Limit::AtMost(3.0)),
    ])
}

fn ran(program: &Path, arguments: &[&str], home: &Path, directory: &Path) -> Result<Vec<u8>, Failure> {
    let output =
        command(program).args(arguments).env("LONGHAUL_HOME", home).current_dir(directory).output()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr)).into())
    }
}

fn token_in(answer: &[u8]) -> Result<String, Failure> {
    let view: serde_json::Value = serde_json::from_slice(answer)?;
    Ok(view["continueToken"].as_str().ok_or("no continueToken")?.to_owned())
}
