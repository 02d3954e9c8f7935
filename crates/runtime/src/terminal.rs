//! The channel `terminal`: a person at the controlling terminal types a word.
//!
//! Nothing stands in for the terminal: no flag, no variable, no pipe. Agents are refused here: those that Longhaul
//! started, and those that a live `longhaul mcp` serves. For an agent that a person drives, this is a tripwire, not a
//! wall.

mod agents;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::LazyLock;

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, isatty, tcflush, tcgetattr, tcgetwinsize,
    tcsetattr,
};

pub use agents::{is_agent, is_under_agent};
pub use longhaul_exec::{catch_endings, catch_interrupts};

use crate::error::Error;

/// How often somebody asked this process to end, as far as that is caught.
pub fn interrupts() -> u32 {
    longhaul_exec::interrupts() + longhaul_exec::terminations()
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub lines: Vec<String>,
    /// What they have to type.
    pub word: &'static str,
}

/// Who answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub name: String,
}

/// How much is shown at a time: what has scrolled away was not read.
const PAGE_LINES: usize = 60;

/// Shows the question on the terminal and waits for the word.
pub fn confirm(question: &Question) -> Result<Person, Error> {
    if is_under_agent() {
        return Err(Error::UnderAgent);
    }
    let mut terminal = open()?;
    let lines: Vec<String> = question.lines.iter().map(|line| visible(line) + "\n").collect();
    let mut pages: Vec<&[String]> = lines.chunks(PAGE_LINES).collect();
    let last = pages.pop().unwrap_or_default();
    for (number, page) in (1..).zip(pages) {
        let more = format!("{}-- page {number}; Enter shows more --", page.concat());
        terminal.write_all(more.as_bytes()).map_err(|_| Error::NoTerminal)?;
        let mut enter = String::new();
        BufReader::new(&terminal).read_line(&mut enter).map_err(|_| Error::NoTerminal)?;
    }
    let shown = format!("{}Type `{}` to confirm: ", last.concat(), question.word);
    // What was typed before the question is no answer to it.
    tcflush(&terminal, QueueSelector::IFlush).map_err(|_| Error::NoTerminal)?;
    terminal.write_all(shown.as_bytes()).map_err(|_| Error::NoTerminal)?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).map_err(|_| Error::NoTerminal)?;
    if answer.trim() == question.word {
        Ok(Person { name: user_name() })
    } else {
        Err(Error::NotConfirmed { word: question.word })
    }
}

fn open() -> Result<File, Error> {
    OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| Error::NoTerminal)
}

/// Whether a person is at a controlling terminal, as far as that can be seen without asking them.
pub(crate) fn is_person_here() -> bool {
    !is_under_agent() && open().is_ok()
}

/// Refuses what only a person may ask for.
pub fn refuse_agents() -> Result<(), Error> {
    if is_under_agent() { Err(Error::UnderAgent) } else { Ok(()) }
}

/// Asks for a line. `None` if nothing was typed.
pub fn ask(prompt: &str) -> Result<Option<String>, Error> {
    refuse_agents()?;
    let mut terminal = open()?;
    // What was typed before the question is no answer to it.
    tcflush(&terminal, QueueSelector::IFlush).map_err(|_| Error::NoTerminal)?;
    terminal.write_all(prompt.as_bytes()).map_err(|_| Error::NoTerminal)?;
    let mut line = String::new();
    BufReader::new(terminal).read_line(&mut line).map_err(|_| Error::NoTerminal)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// Asks for a line that is not shown while it is typed. `None` if the person thought better of it (Ctrl-C).
pub fn ask_hidden(prompt: &str) -> Result<Option<String>, Error> {
    const CTRL_C: u8 = 3;
    let mut terminal = open()?;
    let shown = tcgetattr(&terminal).map_err(|_| Error::NoTerminal)?;
    let mut hidden = shown.clone();
    // Ctrl-C ends the line instead of us: killed now, we would leave a terminal that shows nothing.
    hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
    hidden.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
    // What was typed before the question is no answer to it, and was shown.
    tcsetattr(&terminal, OptionalActions::Flush, &hidden).map_err(|_| Error::NoTerminal)?;
    let mut line = Vec::new();
    let read = terminal.write_all(prompt.as_bytes()).and_then(|()| read_line(&terminal, &mut line, CTRL_C));
    let restored = tcsetattr(&terminal, OptionalActions::Now, &shown);
    terminal.write_all(b"\n").map_err(|_| Error::NoTerminal)?;
    read.and(restored.map_err(Into::into)).map_err(|_| Error::NoTerminal)?;
    let text = String::from_utf8_lossy(&line).into_owned();
    Ok((line.last() != Some(&CTRL_C)).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Reads to the end of the line, to `cancel`, or to the end of the input.
fn read_line(mut terminal: &File, line: &mut Vec<u8>, cancel: u8) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    loop {
        let count = terminal.read(&mut bytes)?;
        line.extend_from_slice(&bytes[..count]);
        if count == 0 || line.last().is_some_and(|last| *last == b'\n' || *last == cancel) {
            return Ok(());
        }
    }
}

/// How many letters fit in a line of the terminal that standard output is, if it is one.
pub fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = isatty(&stdout).then(|| tcgetwinsize(&stdout).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How many lines and letters fit on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub lines: usize,
    pub letters: usize,
}

/// The terminal that standard error is, if it is one.
pub fn room_of_stderr() -> Option<Room> {
    let stderr = std::io::stderr();
    let size = isatty(&stderr).then(|| tcgetwinsize(&stderr).ok()).flatten()?;
    let room = Room { lines: usize::from(size.ws_row), letters: usize::from(size.ws_col) };
    Some(room).filter(|room| room.lines > 0 && room.letters > 0)
}

/// Text from files and file names, without what could move the cursor or hide a line.
pub fn visible(text: &str) -> String {
    let show = |letter: char| -> String {
        if is_deceptive(letter) { letter.escape_default().to_string() } else { letter.to_string() }
    };
    text.chars().map(show).collect()
}

/// Control characters, and the marks that make text run the other way or take no room.
fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{61c}')
}

/// The name of the user who runs us, as the system knows it. Looked up once: a process has one user.
pub fn user_name() -> String {
    static NAME: LazyLock<String> = LazyLock::new(read_user_name);
    NAME.clone()
}

fn read_user_name() -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_would_move_the_cursor_is_shown_as_what_it_is() {
        assert_eq!(visible("a\u{1b}[2Jb\rc\u{202e}d\u{200b}ü"), "a\\u{1b}[2Jb\\rc\\u{202e}d\\u{200b}ü");
    }

    #[test]
    fn the_user_has_a_name() {
        assert!(!user_name().is_empty());
    }
}
