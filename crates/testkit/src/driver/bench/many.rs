//! Many streams in one process, and many processes on one database.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::processes::driver;

use super::append::Stream;
use super::{Args, Bar, Limit, median, quantile};
use crate::driver::{Failure, store};

pub(super) const NAMES: &[&str] = &["single_stream_per_s", "streams_64_per_s", "streams_64_vs_single"];
pub(super) const PROCESS_NAMES: &[&str] = &["processes_8_errors", "processes_8_p99_ms", "processes_8_max_ms"];

const THREADS: u64 = 64;
const ROUND: Duration = Duration::from_millis(600);

/// Rounds of one thread and of sixty-four in turn.
pub(super) fn streams(_: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    let log = store(home.path())?;
    let mut streams: Vec<Stream> = (0..THREADS).map(|number| Stream::numbered(log.clone(), number)).collect();
    // Until the write-ahead log has its full size, every append also makes a file grow.
    rate(&mut streams)?;
    let (mut singles, mut many, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let single = rate(&mut streams[..1])?;
        let together = rate(&mut streams)?;
        singles.push(single);
        many.push(together);
        ratios.push(together / single);
    }
    Ok(vec![
        Bar::new(NAMES[0], median(&singles), "per s", Limit::Reported),
        Bar::new(NAMES[1], median(&many), "per s", Limit::Reported),
        Bar::new(NAMES[2], median(&ratios), "×", Limit::AtLeast(8.0)),
    ])
}

/// Appends per second by one thread for each stream.
fn rate(streams: &mut [Stream]) -> Result<f64, Failure> {
    let start = Instant::now();
    let appended: u64 = thread::scope(|scope| {
        let workers: Vec<_> = streams
            .iter_mut()
            .map(|stream| scope.spawn(move || append_until(stream, start + ROUND)))
            .collect();
        let join = |worker: thread::ScopedJoinHandle<'_, Result<u64, String>>| {
            worker.join().map_err(|_| "a worker panicked".to_owned())?
        };
        workers.into_iter().map(join).sum::<Result<u64, String>>()
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a count of some ten thousands")]
    Ok(appended as f64 / start.elapsed().as_secs_f64())
}

fn append_until(stream: &mut Stream, end: Instant) -> Result<u64, String> {
    let mut count = 0;
    while Instant::now() < end {
        stream.append().map_err(|failure| failure.to_string())?;
        count += 1;
    }
    Ok(count)
}

/// Eight processes, five hundred appends each; each says how long its appends took.
pub(super) fn processes(_: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    store(home.path())?;
    let program = std::env::current_exe()?;
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let mut command = driver(&program, home.path(), "advance");
            command.args(["--count", "500", "--timed"]).stdout(Stdio::piped()).spawn()
        })
        .collect::<Result<_, _>>()?;
    let (mut waits, mut errors) = (Vec::new(), 0.0);
    let readers: Vec<_> = workers.into_iter().map(|child| thread::spawn(move || timings(child))).collect();
    for reader in readers {
        let (of_one, whole) = reader.join().map_err(|_| "a reader panicked")?;
        errors += if whole { 0.0 } else { 1.0 };
        waits.extend(of_one);
    }
    if waits.is_empty() {
        return Err("no process could append".into());
    }
    Ok(vec![
        Bar::new(PROCESS_NAMES[0], errors, "errors", Limit::AtMost(0.0)),
        Bar::new(PROCESS_NAMES[1], quantile(&waits, 0.99), "ms", Limit::AtMost(25.0)),
        Bar::new(PROCESS_NAMES[2], quantile(&waits, 1.0), "ms", Limit::AtMost(250.0)),
    ])
}

/// The times that one process reports, and whether it did all it was asked to.
fn timings(mut child: std::process::Child) -> (Vec<f64>, bool) {
    let out = child.stdout.take().map(BufReader::new);
    let lines = out.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
    let waits: Vec<f64> = lines
        .filter_map(|line| line.strip_prefix("took ").and_then(|micros| micros.parse::<f64>().ok()))
        .map(|micros| micros / 1000.0)
        .collect();
    let ended_well = child.wait().is_ok_and(|status| status.success());
    let complete = waits.len() == 500;
    (waits, ended_well && complete)
}
