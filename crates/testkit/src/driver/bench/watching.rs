//! How soon a commit is noticed in another process, and what waiting costs.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use crate::processes::driver;

use super::append::Stream;
use super::{Args, Bar, Limit, quantile};
use crate::driver::watch::now_ns;
use crate::driver::{Failure, store};

pub(super) const NAMES: &[&str] = &["watcher_poked_p99_ms", "watcher_polling_p99_ms"];
pub(super) const IDLE_NAMES: &[&str] = &["idle_watcher_core_percent"];

const COMMITS: u64 = 60;
const IDLE_SECONDS: u64 = 60;

pub(super) fn latency(_: &Args) -> Result<Vec<Bar>, Failure> {
    Ok(vec![
        Bar::new(NAMES[0], delay_ms(&["--listen"])?, "ms", Limit::AtMost(50.0)),
        Bar::new(NAMES[1], delay_ms(&[])?, "ms", Limit::AtMost(300.0)),
    ])
}

/// A process that is killed when the measurement is over, however it ends.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    fn start(home: &Path, arguments: &[&str]) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let mut child = driver(program, home, "watch").args(arguments).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or("no standard output")?;
        let mut watching = Self { child, lines: BufReader::new(out).lines() };
        watching.line("watching")?;
        Ok(watching)
    }

    /// The rest of the next line, which must begin with `word`.
    fn line(&mut self, word: &str) -> Result<String, Failure> {
        let line = self.lines.next().ok_or("the watcher ended")??;
        let rest = line.strip_prefix(word).ok_or("the watcher said something else")?;
        Ok(rest.trim().to_owned())
    }
}

fn delay_ms(arguments: &[&str]) -> Result<f64, Failure> {
    let home = tempfile::tempdir()?;
    let mut stream = Stream::new(store(home.path())?);
    stream.append()?;
    let mut watching = Watching::start(home.path(), arguments)?;
    let mut delays = Vec::new();
    for n in 0..COMMITS {
        // At another point of the watcher's interval each time.
        std::thread::sleep(Duration::from_millis(3 * n));
        stream.append()?;
        let committed = now_ns()?;
        let seen = watching.line("seen")?;
        let at: i64 = seen.rsplit(' ').next().unwrap_or_default().parse()?;
        #[expect(clippy::cast_precision_loss, reason = "less than a second in nanoseconds")]
        delays.push((at - committed).max(0) as f64 / 1e6);
    }
    Ok(quantile(&delays, 0.99))
}

pub(super) fn idle(_: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    store(home.path())?;
    let mut watching = Watching::start(home.path(), &["--seconds", &IDLE_SECONDS.to_string()])?;
    let used_ms: f64 = watching.line("used")?.parse()?;
    #[expect(clippy::cast_precision_loss, reason = "sixty")]
    let percent = used_ms / (IDLE_SECONDS as f64 * 1000.0) * 100.0;
    Ok(vec![Bar::new(IDLE_NAMES[0], percent, "%", Limit::AtMost(0.3))])
}
