//! Plain commands: one process a prompt, what it prints is what it says.

use std::time::{Duration, Instant};

use longhaul_exec::{Finished, Heard, Outcome, Running, Stdin, Talk};

use crate::HandsError;
use crate::hands::CommandStart;
use crate::record::{News, Record};
use crate::session::{last_words, tail};
use crate::turn::{EndCause, TurnEnd, Waiting, Watch};

const PLACE: &str = "{prompt}";
const TICK: Duration = Duration::from_millis(50);
const CHUNK_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Plain {
    start: CommandStart,
}

/// Why we no longer listen.
enum Over {
    ByItself,
    Silent(Duration),
    Unwanted,
}

impl Plain {
    pub(crate) fn new(start: CommandStart) -> Self {
        Self { start }
    }

    pub(crate) fn prompt(&mut self, text: &str, watch: &dyn Watch) -> Result<TurnEnd, HandsError> {
        let args = self.start.args.iter().map(|arg| arg.replace(PLACE, text));
        let program = self.start.program.clone().args(args).grace(self.start.grace).stdin(Stdin::Talk);
        let mut running = longhaul_exec::start(&program)?;
        let mut talk = running.talk().expect("it was started to be talked with");
        if !self.start.args.iter().any(|arg| arg.contains(PLACE)) {
            talk.say(text.as_bytes());
        }
        talk.finish_saying();
        let mut record = Record::new(watch);
        let over = listen(&mut talk, &running, watch, &mut record)?;
        let finished = running.kill()?;
        match over {
            Over::Unwanted => Ok(record.finish(EndCause::Cancelled, None)),
            Over::Silent(silence) => {
                let ms = u64::try_from(silence.as_millis()).unwrap_or(u64::MAX);
                Err(HandsError::Silent { ms, last_words: last_words(&finished.stderr) })
            }
            Over::ByItself => ended(&finished, record),
        }
    }
}

/// Anything but success is no turn: what such a command printed is about itself.
fn ended(finished: &Finished, record: Record<'_>) -> Result<TurnEnd, HandsError> {
    let turn = record.finish(EndCause::EndTurn, None);
    match finished.outcome {
        Outcome::Exited(0) => Ok(turn),
        outcome => {
            let words = last_words(&finished.stderr);
            let last_words = if words.is_empty() { tail(&turn.said) } else { words };
            Err(HandsError::Ended { outcome, last_words })
        }
    }
}

/// Hears what it prints until it is over. It tells nothing of its tools, so any silence may be one at work.
fn listen(
    talk: &mut Talk,
    running: &Running,
    watch: &dyn Watch,
    record: &mut Record<'_>,
) -> Result<Over, HandsError> {
    let (mut chunk, mut pieces) = (vec![0; CHUNK_BYTES], Pieces::default());
    let mut heard_at = Instant::now();
    loop {
        if !watch.is_wanted() {
            return Ok(Over::Unwanted);
        }
        if heard_at.elapsed() >= watch.patience(Waiting::Tool) {
            return Ok(Over::Silent(heard_at.elapsed()));
        }
        match talk.listen(&mut chunk, TICK) {
            Ok(Heard::Bytes(count)) => {
                heard_at = Instant::now();
                record.take(News::Said { message: None, text: pieces.text(&chunk[..count]) });
            }
            Ok(Heard::Nothing) => {}
            Ok(Heard::End) if running.is_over() => return Ok(Over::ByItself),
            Ok(Heard::End) => {
                // tidy: the end of a process comes without a descriptor to wait on here
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => {
                let problem = format!("its pipe cannot be read: {error}");
                return Err(HandsError::Broken { problem, last_words: String::new() });
            }
        }
    }
}

/// Text out of bytes as they come: a character may be in two pieces.
#[derive(Debug, Default)]
struct Pieces {
    rest: Vec<u8>,
}

impl Pieces {
    fn text(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            // Cut off, not wrong: the rest of it is to come.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.rest.len(),
        };
        let rest = self.rest.split_off(whole);
        String::from_utf8_lossy(&std::mem::replace(&mut self.rest, rest)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let mut pieces = Pieces::default();
        let bytes = "a…b".as_bytes();
        let text: String = bytes.chunks(2).map(|chunk| pieces.text(chunk)).collect();
        assert_eq!(text, "a…b");
        assert_eq!(pieces.text(b"\xff!"), "\u{fffd}!");
    }
}
