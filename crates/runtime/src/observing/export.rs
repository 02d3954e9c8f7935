//! Tells a collector what sessions did, as spans and metrics in the protocol of OpenTelemetry.
//!
//! It follows the log from where it was when it was first switched on, and keeps in a file how far it came. So nothing
//! depends on a process having survived, a collector that is away for a week misses nothing, and what is told twice has
//! the same ids. It has a thread of its own: a collector that is slow, away, or answers with garbage disturbs nobody.

mod batch;
mod cursor;
mod settings;

use std::fs::{File, TryLockError};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use longhaul_core::spans::otlp;
use longhaul_gateway::{Post, PostError, Poster, Replied, Target};

use crate::clock::{Clock as _, SystemClock};
use crate::system::System;
use batch::{Batch, Reading};
use cursor::Cursor;
pub(crate) use settings::plain;
pub use settings::{ExportError, Options};

/// How long a collector that did not take something is left alone, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// It is said again that something is wrong after this long, not each time.
const SAY_AGAIN: Duration = Duration::from_mins(10);
const CONTENT_TYPE: &str = "application/x-protobuf";

/// An exporter at work. Dropped, it ends without a last look.
#[derive(Debug)]
pub struct Handle {
    stop: SyncSender<()>,
    stopped: Receiver<()>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Handle {
    /// Why the collector did not take the last thing that it was told.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has it tell what is left and end, and waits for that, but no longer than this. What is not told then is told by
    /// whoever starts next.
    pub fn stop(self, patience: Duration) {
        let _ = self.stop.send(());
        let _ = self.stopped.recv_timeout(patience);
    }
}

/// Starts one.
pub fn start(options: Options) -> Result<Handle, ExportError> {
    let poster = Poster::new().map_err(|_| ExportError::Start)?;
    let (stop, stopping) = mpsc::sync_channel(1);
    let (ended, stopped) = mpsc::sync_channel(1);
    let trouble = Arc::new(Mutex::new(None));
    let exporter = Exporter {
        reading: Reading::new(options.telling),
        pause: FIRST_PAUSE.min(options.every),
        options,
        poster,
        lock: None,
        cursor: None,
        pending: None,
        trouble: trouble.clone(),
        said: None,
    };
    let work = move || {
        exporter.work(&stopping);
        let _ = ended.send(());
    };
    thread::Builder::new().name("otlp".to_owned()).spawn(work).map_err(|_| ExportError::Start)?;
    Ok(Handle { stop, stopped, trouble })
}

struct Exporter {
    options: Options,
    poster: Poster,
    /// Held while this is the one that tells.
    lock: Option<File>,
    reading: Reading,
    cursor: Option<Cursor>,
    /// What was read and is not taken yet.
    pending: Option<Batch>,
    pause: Duration,
    trouble: Arc<Mutex<Option<String>>>,
    said: Option<Instant>,
}

/// What follows a look.
enum Next {
    /// There is more to tell.
    More,
    CaughtUp,
    /// Another process tells.
    NotMine,
    /// The same again after a while.
    Again {
        after: Duration,
    },
}

/// What a collector made of something.
enum Taken {
    Yes,
    /// It never will take this.
    Never(u16),
    Later {
        because: String,
        after: Option<Duration>,
    },
}

impl Exporter {
    fn work(mut self, stopping: &Receiver<()>) {
        let mut wait = Duration::ZERO;
        loop {
            match stopping.recv_timeout(wait) {
                Ok(()) => return self.finish(),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            wait = match self.look() {
                Next::More => Duration::ZERO,
                Next::CaughtUp | Next::NotMine => self.options.every,
                Next::Again { after } => after,
            };
        }
    }

    /// A last look, as long as everything is taken.
    fn finish(&mut self) {
        while matches!(self.look(), Next::More) {}
    }

    fn look(&mut self) -> Next {
        if !self.is_mine() {
            return Next::NotMine;
        }
        if self.pending.is_none() {
            match self.read() {
                Ok(Some(batch)) => self.pending = Some(batch),
                Ok(None) => return Next::CaughtUp,
                Err(problem) => {
                    // It may have been replaced; it is opened anew.
                    self.reading = Reading::new(self.options.telling);
                    return self.fail(format!("the log could not be read: {problem}"), None);
                }
            }
        }
        self.send()
    }

    /// One process tells, and the next one goes on when it is gone.
    fn is_mine(&mut self) -> bool {
        if self.lock.is_some() {
            return true;
        }
        let path = self.options.system.places().export_cursor().with_extension("lock");
        let open = || {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            File::options().create(true).append(true).open(&path)
        };
        let Ok(file) = open() else { return false };
        match file.try_lock() {
            Ok(()) => {
                self.lock = Some(file);
                // The one before may have come further than this one knows.
                (self.cursor, self.pending) = (None, None);
                self.reading = Reading::new(self.options.telling);
                true
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
        }
    }

    fn read(&mut self) -> Result<Option<Batch>, String> {
        let Some(reader) = self.reading.open(&self.options.system)? else { return Ok(None) };
        let now = SystemClock.now();
        let cursor = match self.cursor.take() {
            Some(cursor) => cursor,
            None => Cursor::load(&self.options.system.places().export_cursor(), &reader, now)?,
        };
        let batch = self.reading.batch(&reader, &self.options.system, &cursor);
        self.cursor = Some(cursor);
        batch
    }

    fn send(&mut self) -> Next {
        let Some(batch) = self.pending.take() else { return Next::CaughtUp };
        let has_spans = !batch.spans.is_empty();
        if has_spans {
            let body = otlp::traces(&self.options.resource, &batch.spans);
            let told = self.options.traces.as_ref().map(|target| self.post(target, body));
            let sums =
                || otlp::metrics(&self.options.resource, &batch.cursor.meters, batch.cursor.since, batch.at);
            for told in
                told.into_iter().chain(self.options.metrics.as_ref().map(|target| self.post(target, sums())))
            {
                match told {
                    Taken::Yes => {}
                    Taken::Never(status) => {
                        tracing::warn!(
                            status,
                            spans = batch.spans.len(),
                            "the collector refused what it was told; it is left out"
                        );
                    }
                    Taken::Later { because, after } => {
                        self.pending = Some(batch);
                        return self.fail(because, after);
                    }
                }
            }
            self.recover();
        }
        let saved = batch.cursor.save(&self.options.system.places().export_cursor());
        let is_last = batch.is_last;
        self.cursor = Some(batch.cursor);
        match saved {
            Ok(()) if is_last => Next::CaughtUp,
            Ok(()) => Next::More,
            Err(problem) => self.fail(format!("how far it came could not be kept: {problem}"), None),
        }
    }

    fn post(&self, target: &Target, body: Vec<u8>) -> Taken {
        let post = Post { content_type: CONTENT_TYPE, body, patience: self.options.patience };
        match self.poster.send(target, post) {
            Ok(Replied { status: 200..=299, .. }) => Taken::Yes,
            Ok(Replied { status: status @ (400 | 413 | 422), .. }) => Taken::Never(status),
            // Of its words nothing is told: it may say what it was shown.
            Ok(Replied { status, retry_after, .. }) => {
                Taken::Later { because: format!("the collector answered {status}"), after: retry_after }
            }
            Err(error @ (PostError::Silent(_) | PostError::Network(_) | PostError::Garbage(_))) => {
                Taken::Later { because: format!("the collector did not answer: {error}"), after: None }
            }
        }
    }

    fn fail(&mut self, problem: String, after: Option<Duration>) -> Next {
        let is_due = self.said.is_none_or(|said| said.elapsed() >= SAY_AGAIN);
        if is_due {
            tracing::warn!(problem, "could not tell the collector; trying again");
            self.said = Some(Instant::now());
        }
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
        let after = after.unwrap_or(self.pause).min(LONGEST_PAUSE);
        self.pause = self.pause.saturating_mul(2).min(LONGEST_PAUSE);
        Next::Again { after }
    }

    fn recover(&mut self) {
        self.pause = FIRST_PAUSE.min(self.options.every);
        let before = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        if before.is_some() && self.said.take().is_some() {
            tracing::info!("the collector takes what it is told again");
        }
    }
}

impl System {
    /// Starts telling the collector that the environment names, if it names one. What is wrong with that is told in the
    /// lines of this process, and nobody is kept from work by it.
    pub fn start_export(&self) -> Option<Handle> {
        let started = Options::find(self).and_then(|options| options.map(start).transpose());
        started.unwrap_or_else(|problem| {
            tracing::warn!(%problem, "no collector is told what is done");
            None
        })
    }
}
