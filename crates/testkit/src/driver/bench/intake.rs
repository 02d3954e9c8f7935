//! Webhooks to a daemon over real connections: how many are on disk and acknowledged in a second.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use longhaul_runtime::{Places, Settings, System};
use sha2::Sha256;

use super::{Args, Bar, Limit};
use crate::driver::Failure;
use crate::processes::command;

pub(super) const NAMES: &[&str] = &["intakes_per_second", "intake_tasks_missing"];

const SECRET: &str = "of-the-bench";
const TRIGGERS: &str = "triggers:\n  - id: hook\n    workspace: shop\n    webhook: { secret: $BENCH_HOOK }\n    when: { path: $.n, exists: true }\n    goal: \"Do {{$.n}}\"\n";

/// Senders at once, each on a connection of its own.
const SENDERS: usize = 64;
const WARM_UP: usize = 500;
const MEASURED: usize = 6000;
const PATIENCE: Duration = Duration::from_secs(30);

/// The daemon, killed when the bench is over: nothing of it has to be kept.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn run(args: &Args) -> Result<Vec<Bar>, Failure> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().canonicalize()?;
    let address = prepare(&home)?;
    let _served = serve(&args.longhaul, &home, address)?;
    burst(address, 0..WARM_UP)?;
    let start = Instant::now();
    burst(address, WARM_UP..WARM_UP + MEASURED)?;
    let took = start.elapsed().as_secs_f64();
    let reader = system(&home).reader()?.ok_or("there is no store")?;
    let missing = (WARM_UP + MEASURED).abs_diff(reader.tasks()?.0.len());
    #[expect(clippy::cast_precision_loss, reason = "a few thousand deliveries")]
    let (rate, missing) = (MEASURED as f64 / took, missing as f64);
    Ok(vec![
        Bar::new(NAMES[0], rate, "1/s", Limit::AtLeast(1000.0)),
        Bar::new(NAMES[1], missing, "tasks", Limit::AtMost(0.0)),
    ])
}

/// A repository, a trigger for it, a queue that starts nothing, and a port that nobody has.
fn prepare(home: &Path) -> Result<SocketAddr, Failure> {
    let shop = home.join("shop");
    fs::create_dir_all(&shop)?;
    let made = command("git").args(["init", "--quiet"]).current_dir(&shop).status()?;
    if !made.success() {
        return Err("git could not make a repository".into());
    }
    let places = Places::under(&home.join("home"));
    fs::create_dir_all(&places.config)?;
    fs::write(places.triggers(), TRIGGERS)?;
    let commands = system(home).commands()?;
    commands.add_workspace(&shop, None)?;
    commands.pause_queue(None, "bench", None)?;
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn system(home: &Path) -> System {
    System::new(Settings {
        places: Places::under(&home.join("home")),
        variables: std::collections::BTreeMap::new(),
        directory: home.to_owned(),
        flags: Vec::new(),
    })
}

fn serve(longhaul: &Path, home: &Path, address: SocketAddr) -> Result<Served, Failure> {
    let mut daemon = command(longhaul);
    daemon.args(["-c", &format!("daemon.listen={address}"), "daemon", "run"]);
    daemon.env("LONGHAUL_HOME", home.join("home")).env("BENCH_HOOK", SECRET).current_dir(home);
    let served = Served(daemon.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let start = Instant::now();
    while TcpStream::connect(address).is_err() {
        if start.elapsed() > PATIENCE {
            return Err("the daemon takes no requests".into());
        }
        std::thread::yield_now();
    }
    Ok(served)
}

/// Sends these, each once, and returns when all are acknowledged.
fn burst(address: SocketAddr, numbers: std::ops::Range<usize>) -> Result<(), Failure> {
    let sent = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|first| {
                let numbers = numbers.clone().skip(first).step_by(SENDERS);
                scope.spawn(move || send_all(address, numbers).map_err(|failure| failure.to_string()))
            })
            .collect();
        senders
            .into_iter()
            .map(|sender| sender.join().unwrap_or_else(|_| Err("a sender panicked".to_owned())))
            .collect::<Result<Vec<()>, String>>()
    });
    Ok(sent.map(drop)?)
}

fn send_all(address: SocketAddr, numbers: impl Iterator<Item = usize>) -> Result<(), Failure> {
    let mut stream = BufReader::new(TcpStream::connect(address)?);
    stream.get_ref().set_nodelay(true)?;
    stream.get_ref().set_read_timeout(Some(PATIENCE))?;
    for number in numbers {
        let body = format!("{{\"n\": {number}, \"more\": \"{}\"}}", "x".repeat(600));
        let request = format!(
            "POST /hooks/shop/hook HTTP/1.1\r\nHost: bench\r\nX-Hub-Signature-256: {}\r\nContent-Length: {}\r\n\r\n{body}",
            signature(&body),
            body.len()
        );
        // Whoever is told to come again does.
        loop {
            stream.get_mut().write_all(request.as_bytes())?;
            match answer(&mut stream)? {
                202 => break,
                503 => std::thread::yield_now(),
                status => return Err(format!("a delivery was answered with {status}").into()),
            }
        }
    }
    Ok(())
}

/// The status of an answer, which is read to its end.
fn answer(stream: &mut BufReader<TcpStream>) -> Result<u16, Failure> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).ok_or("no answer")?.parse()?;
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(status)
}

fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(body.as_bytes());
    let digest = longhaul_events::Digest(mac.finalize().into_bytes().into());
    format!("sha256={digest}")
}
