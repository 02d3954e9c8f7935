//! Room on the disks that a sandboxed program may write to. No wall keeps a program from filling them, so it is ended
//! before others have none left.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

use crate::Sandbox;

/// Often enough that a fast disk does not lose the reserve between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Room {
    paths: Vec<(PathBuf, u64)>,
    next_look: Instant,
}

impl Room {
    /// Of a disk that has less than the reserve already, half of what is left is kept.
    pub(crate) fn of(sandbox: &Sandbox) -> Option<Self> {
        let reserve = sandbox.limits.disk_reserve_bytes?;
        let least = |path: &PathBuf| {
            let free = free(path)?;
            Some((path.clone(), if free < reserve { free / 2 } else { reserve }))
        };
        let paths: Vec<(PathBuf, u64)> =
            sandbox.writable.iter().chain(&sandbox.caches).filter_map(least).collect();
        (!paths.is_empty()).then(|| Self { paths, next_look: Instant::now() + INTERVAL })
    }

    /// When to ask again.
    pub(crate) fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Whether a disk has come below its reserve; looks no more often than it must.
    pub(crate) fn is_gone(&mut self, now: Instant) -> bool {
        if now < self.next_look {
            return false;
        }
        self.next_look = now + INTERVAL;
        self.paths.iter().any(|(path, least)| free(path).is_some_and(|free| free < *least))
    }
}

fn free(path: &PathBuf) -> Option<u64> {
    let found = statvfs(path).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Level, Limits};

    fn room(reserve: Option<u64>) -> Option<Room> {
        let limits = Limits { disk_reserve_bytes: reserve, ..Limits::default() };
        Room::of(&Sandbox::new(Level::None, "/").writable("/tmp").limits(limits))
    }

    #[test]
    fn a_disk_that_has_its_reserve_is_left_alone_and_half_of_a_small_one_is_kept() {
        assert!(room(None).is_none());
        let later = Instant::now() + INTERVAL * 2;
        assert!(!room(Some(1)).unwrap().is_gone(later));
        let mut small = room(Some(u64::MAX)).unwrap();
        assert!(!small.is_gone(later));
        small.paths[0].1 = u64::MAX;
        assert!(!small.is_gone(later), "it has just been looked at");
        assert!(small.is_gone(later + INTERVAL));
    }
}
