//! Programs that outlived whoever started them, found again by their labels. Must never choose by itself:
//! what is chosen here gets killed.

use std::thread;
use std::time::Duration;

use crate::tree::{self, Chosen};
use crate::{Error, kill};

/// A process that carries marks or labels of programs that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    pub id: u32,
    /// With its id it names one process only.
    pub started_ticks: u64,
    /// Outermost first; marks that nobody chose are among them.
    pub labels: Vec<String>,
}

/// Every other process of this machine that carries labels and is ours to see.
pub fn labelled() -> Result<Vec<Labelled>, Error> {
    tree::labelled()
}

/// Ends the processes that are chosen and all that came from them, sees them dead and counts them. Never ends
/// this process.
pub fn end_labelled(grace: Duration, choice: &dyn Fn(&Labelled) -> bool) -> Result<usize, Error> {
    let mut chosen = Chosen::new(choice);
    let mut pause = |duration| {
        thread::sleep(duration);
        Ok(())
    };
    let ended = kill::end(&mut || chosen.living(), grace, &mut pause)?;
    if ended.survivors.is_empty() {
        Ok(ended.found.len())
    } else {
        Err(Error::Unkillable { pids: ended.survivor_ids() })
    }
}
