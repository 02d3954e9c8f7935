//! Processes: start, capture, time out, kill a whole tree and verify that it is dead.
//!
//! The only crate that starts a process. It must never judge a result: an exit status is handed on as it
//! is and nothing is read into what a program printed.
//!
//! # Which processes belong to a program
//!
//! Every program is started in its own process group and with an unused mark in `LONGHAUL_PROCESS`. On
//! Linux its tree is whatever `/proc` shows to be in that group, to carry the mark, or to descend from a
//! process that does. Marks of nested programs are appended, so an outer program's tree holds the inner ones.
//!
//! When a program ends, the rest of its tree is killed: nothing that is started here, or from what is
//! started here, can become a daemon. Only [`detach`] and [`detach_into`] let go of a program, and only of our own
//! runners and our own daemon.
//!
//! A program may also carry a label there ([`Program::label`]). A supervisor that is killed leaves its program
//! behind; whoever comes next finds it by its label and ends it ([`end_labelled`]).
//!
//! A program may be started in a [`Sandbox`]. At level full its tree is a process namespace of its own, which the
//! kernel kills as a whole.
//!
//! What this cannot find without one: a process that left its group *and* outlived its parent *and* wiped or hid its
//! environment before we first looked. On systems other than Linux the
//! tree is the process group alone.

mod captured;
mod error;
mod interrupt;
mod kill;
mod labelled;
mod mark;
mod program;
mod pump;
mod room;
mod running;
pub mod sandbox;
mod spawn;
mod supervisor;
mod talk;
mod tree;

pub use captured::{Captured, EDGE_BYTES};
pub use error::Error;
pub use interrupt::{
    catch_endings, catch_interrupts, catch_terminations, interrupts, terminations, wait_for_signal,
};
pub use labelled::{Labelled, end_labelled, labelled};
pub use program::{Environment, Program, Stdin};
pub use running::{
    Detached, Finished, Outcome, Plea, Running, Stopper, ask, detach, detach_into, is_alive, leave_session,
    run, start, started_ticks,
};
pub use sandbox::Sandbox;
pub use talk::{Heard, Talk};
