//! `longhaul sandbox check`: what works on this machine, and what a command here could and could not do.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use longhaul_runtime::sandbox::{
    self, Ability, Finished, Level, Limits, Network, Outcome, SECRETS, SYSTEM, Sandbox, Surroundings, Wall,
};
use longhaul_runtime::types::{SandboxLevel, SandboxNetwork, show_size};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Format, Row};
use crate::words;

/// What a shell gives a program that a signal ended, less the signal.
const SIGNAL_BASE: i32 = 128;

/// Show what works here, and what a command in this folder could and could not do; with a command, run it so.
///
/// The current folder can be changed, the system and the tools in your home can be used, and of the environment
/// only what is listed is handed on. The exit code is that of the command; without one, 4 if the level cannot be had.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How strong the walls are.
    #[arg(long, value_parser = words::one_of(SandboxLevel::WORDS), default_value = "full")]
    level: SandboxLevel,

    /// What can be reached. Without a session nobody lets listed hosts through.
    #[arg(long, value_parser = words::one_of(SandboxNetwork::WORDS), default_value = "none")]
    network: SandboxNetwork,

    /// A path that can be changed too; may be repeated.
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,

    /// A path that can be seen too; may be repeated.
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,

    /// Show also what the walls do not hold, and which paths are hidden.
    #[arg(long)]
    explain: bool,

    /// The command to run.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Debug, Serialize)]
struct CheckRow {
    subject: &'static str,
    finding: String,
}

impl Row for CheckRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("SUBJECT", self.subject.to_owned()), ("FINDING", self.finding.clone())]
    }
}

#[derive(Debug, Serialize)]
struct RunRow {
    level: &'static str,
    network: &'static str,
    ended: &'static str,
    exit: Option<i32>,
    signal: Option<i32>,
    duration_ms: u64,
    stdout: String,
    stderr: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let directory = std::env::current_dir().map_err(CliError::file("enter", "."))?;
    let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or(CliError::NoHome)?;
    let policy = args.policy(&Surroundings { directory: &directory, home: &home });
    if args.command.is_empty() || args.explain {
        let ability = sandbox::probe(&policy.init);
        let mut rows = ability_rows(&ability);
        rows.extend(policy_rows(&policy));
        rows.extend(run_row(context)?);
        if args.explain {
            rows.extend(explained(&policy, &ability));
        }
        context.output.rows(&rows)?;
        if args.command.is_empty() {
            let works = ability.of(policy.level).works();
            return Ok(if works { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) });
        }
    }
    let finished = sandbox::try_out(&policy, directory, &args.command)?;
    show(context, &policy, &finished)
}

impl Args {
    fn policy(&self, places: &Surroundings<'_>) -> Sandbox {
        let mut policy = sandbox::everyday(self.level, self.network, places);
        policy.writable.extend(self.write.iter().cloned());
        policy.read_only.extend(self.read.iter().cloned());
        policy
    }
}

fn ability_rows(ability: &Ability) -> Vec<CheckRow> {
    let wall = |wall: &Wall| match wall {
        Wall::Works => "works here".to_owned(),
        Wall::Fails { step, because } => format!("cannot {step}: {because}"),
    };
    let landlock = match ability.landlock_abi {
        0 => "not there".to_owned(),
        version => format!("version {version}"),
    };
    vec![
        CheckRow { subject: "level full", finding: wall(&ability.full) },
        CheckRow { subject: "level reduced", finding: wall(&ability.reduced) },
        CheckRow { subject: "landlock", finding: landlock },
    ]
}

/// What an agent would get: that is for the settings to say, and not for the flags of this command.
fn run_row(context: &Context) -> Result<Option<CheckRow>, CliError> {
    let config = context.system()?.config()?;
    let value = |key: &str| config.rows.iter().find(|row| row.key == key).map(|row| row.value.clone());
    let (Some(level), Some(network)) = (value("sandbox.level"), value("sandbox.network")) else {
        return Ok(None);
    };
    let hosts = value("sandbox.hosts").filter(|hosts| network == "allow-list" && !hosts.is_empty());
    let hosts = hosts.map(|hosts| format!(" (to {hosts})")).unwrap_or_default();
    let finding = format!("`longhaul run` here has level {level}, network {network}{hosts}");
    Ok(Some(CheckRow { subject: "a run", finding }))
}

fn policy_rows(policy: &Sandbox) -> Vec<CheckRow> {
    let row = |subject, finding: String| CheckRow { subject, finding };
    let mut rows =
        vec![row("chosen", format!("level {}, network {}", policy.level.word(), policy.network.word()))];
    let system = SYSTEM.iter().map(Path::new).filter(|path| path.exists());
    match policy.level {
        Level::Full | Level::Reduced => {
            for path in system.chain(policy.read_only.iter().map(PathBuf::as_path)) {
                rows.push(row("read-only", path.display().to_string()));
            }
            rows.extend(policy.writable.iter().map(|path| row("writable", path.display().to_string())));
        }
        Level::None => rows.push(row("writable", "everything that you may write".to_owned())),
    }
    if policy.level == Level::Full {
        let places =
            format!("/tmp, /var/tmp, /run and {}: empty at first, gone at the end", policy.home.display());
        rows.push(row("writable", places));
    }
    rows.push(row("network", reachable(policy).to_owned()));
    let kept = policy.variables.iter().filter(|name| std::env::var_os(name).is_some());
    let kept: Vec<String> = kept.map(|name| name.display().to_string()).collect();
    rows.push(row("variables", format!("HOME, {}", kept.join(", "))));
    rows.push(row("limits", limits(&policy.limits)));
    rows
}

fn reachable(policy: &Sandbox) -> &'static str {
    match (policy.level, policy.network) {
        (Level::None, _) | (_, Network::Open) => "everything that this machine reaches",
        (Level::Full | Level::Reduced, Network::None) => "nothing",
        (Level::Full | Level::Reduced, Network::AllowList) => {
            "nothing here; in a session, what its gateway lets through"
        }
    }
}

fn limits(limits: &Limits) -> String {
    let sized = |what: &str, bytes: Option<u64>| bytes.map(|bytes| format!("{what} {}", show_size(bytes)));
    let counted = |what: &str, most: Option<u64>| most.map(|most| format!("{what} {most}"));
    let all = [
        counted("processes", limits.processes),
        counted("open files", limits.open_files),
        sized("a file", limits.file_bytes),
        sized("memory", limits.memory_bytes),
        sized("scratch", Some(limits.scratch_bytes)),
        sized("left on the disk", limits.disk_reserve_bytes),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn explained(policy: &Sandbox, ability: &Ability) -> Vec<CheckRow> {
    let hidden = SECRETS.iter().map(Path::new).filter(|path| path.exists());
    let hidden = hidden.map(|path| CheckRow { subject: "hidden", finding: path.display().to_string() });
    let holes = sandbox::holes(policy, ability).into_iter();
    let holes =
        holes.map(|hole| CheckRow { subject: "not held", finding: format!("{}: {}", hole.name, hole.what) });
    match policy.level {
        Level::Full | Level::Reduced => hidden.chain(holes).collect(),
        Level::None => holes.collect(),
    }
}

/// Hands on what the command said, and how it ended.
fn show(context: &Context, policy: &Sandbox, finished: &Finished) -> Result<ExitCode, CliError> {
    let (ended, exit, signal) = match finished.outcome {
        Outcome::Exited(code) => ("exited", Some(code), None),
        Outcome::Signalled(signal) => ("signalled", None, Some(signal)),
        Outcome::TimedOut => ("timed_out", None, None),
        Outcome::OutOfRoom => ("out_of_room", None, None),
        Outcome::Stopped => ("stopped", None, None),
    };
    let (level, network) = (policy.level.word(), policy.network.word());
    let (stdout, stderr) = (finished.stdout.to_text(), finished.stderr.to_text());
    let duration_ms = u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX);
    match context.output.format() {
        Format::Json => {
            let row = RunRow { level, network, ended, exit, signal, duration_ms, stdout, stderr };
            context.output.text("", &row)?;
        }
        Format::Table => {
            context
                .output
                .data()
                .write_all(&finished.stdout.to_bytes())
                .map_err(longhaul_runtime::Error::Show)?;
            if !stderr.is_empty() {
                context.output.complain(stderr.trim_end_matches('\n'));
            }
            let how = match (exit, signal) {
                (Some(code), _) => format!("exited with {code}"),
                (None, Some(signal)) => format!("was ended by signal {signal}"),
                (None, None) => ended.replace('_', " "),
            };
            context.output.say(&format!(
                "{how} at level {level}, network {network}; the kernel does not tell what it refused"
            ));
        }
    }
    let code = exit.or(signal.map(|signal| SIGNAL_BASE + signal)).unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
