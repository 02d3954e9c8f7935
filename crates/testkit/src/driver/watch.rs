//! Noticing commits: `seen POSITION NANOSECONDS` on the machine's monotonic clock.

use std::path::PathBuf;
use std::time::Duration;

use longhaul_runtime::Places;
use longhaul_store::Log;
use longhaul_store::watch::{Watcher, Woke};
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

use crate::driver::{Failure, say, store};

#[derive(Debug, clap::Args)]
pub(in crate::driver) struct Args {
    #[arg(long)]
    home: PathBuf,
    /// Be the one who is poked.
    #[arg(long)]
    listen: bool,
    /// Stop after so many seconds and say how much processor time went by.
    #[arg(long)]
    seconds: Option<u64>,
}

pub(in crate::driver) fn run(args: &Args) -> Result<(), Failure> {
    let log = store(&args.home)?;
    let places = Places::under(&args.home);
    let mut watcher = if args.listen {
        Watcher::listening(&places.data, &places.poke_socket())?
    } else {
        Watcher::polling(&places.data)?
    };
    say("watching")?;
    if let Some(seconds) = args.seconds {
        let before = processor_ms()?;
        watcher.wait(Duration::from_secs(seconds))?;
        return say(&format!("used {}", processor_ms()? - before));
    }
    loop {
        if watcher.wait(Duration::from_mins(1))? == Woke::Changed {
            let seen = now_ns()?;
            say(&format!("seen {} {seen}", log.last_position()?))?;
        }
    }
}

/// Comparable between processes of one machine.
pub(in crate::driver) fn now_ns() -> Result<i64, Failure> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(now.tv_sec() * 1_000_000_000 + now.tv_nsec())
}

fn processor_ms() -> Result<i64, Failure> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let ms = |time: nix::sys::time::TimeVal| time.tv_sec() * 1000 + time.tv_usec() / 1000;
    Ok(ms(used.user_time()) + ms(used.system_time()))
}
