//! Programs that are talked with while they run.

use std::time::{Duration, Instant};

use longhaul_exec::sandbox::Level;
use longhaul_exec::{Heard, Outcome, Program, Stdin, Talk, start};

use crate::sandbox::sandbox;
use crate::support::{LONG, sh};

/// No level is no sandbox at all.
const LEVELS: [Option<Level>; 4] = [Some(Level::Full), Some(Level::Reduced), Some(Level::None), None];

fn at(level: Option<Level>, program: Program) -> Program {
    let program = program.directory("/").stdin(Stdin::Talk);
    match level {
        Some(level) => program.sandbox(sandbox(level)),
        None => program,
    }
}

/// What comes until this many bytes are there or the end is.
fn hear(talk: &mut Talk, bytes: usize) -> Vec<u8> {
    let (mut heard, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    let deadline = Instant::now() + LONG;
    while heard.len() < bytes && Instant::now() < deadline {
        match talk.listen(&mut chunk, LONG).expect("its pipe can be read") {
            Heard::Bytes(count) => heard.extend(&chunk[..count]),
            Heard::Nothing => panic!("nothing came"),
            Heard::End => break,
        }
    }
    heard
}

#[test]
fn a_program_is_answered_as_it_speaks_at_every_level() {
    for level in LEVELS {
        let echo = "while read line; do echo \"heard $line\"; done; echo last words >&2; exit 7";
        let mut running = start(&at(level, sh(echo))).unwrap();
        let mut talk = running.talk().unwrap();
        assert!(running.talk().is_none());
        for word in ["one", "two"] {
            talk.say(format!("{word}\n").as_bytes());
            assert_eq!(
                String::from_utf8(hear(&mut talk, 10)).unwrap(),
                format!("heard {word}\n"),
                "{level:?}"
            );
        }
        assert!(!running.is_over());
        talk.finish_saying();
        assert_eq!(hear(&mut talk, 1), b"", "{level:?}");
        let finished = running.wait().unwrap();
        assert_eq!(finished.outcome, Outcome::Exited(7), "{level:?}");
        assert_eq!(finished.stderr.to_text(), "last words\n");
        assert_eq!(finished.stdout.to_text(), "");
    }
}

#[test]
fn both_sides_may_say_more_than_a_pipe_holds_before_either_listens() {
    for level in LEVELS {
        let mut running = start(&at(level, sh("head -c 3000000 /dev/zero; wc -c"))).unwrap();
        let mut talk = running.talk().unwrap();
        talk.say(&vec![b'x'; 2_000_000]);
        talk.finish_saying();
        let heard = hear(&mut talk, usize::MAX);
        assert_eq!(heard.len(), 3_000_008, "{level:?}");
        assert!(heard.ends_with(b"2000000\n"));
        assert_eq!(running.wait().unwrap().outcome, Outcome::Exited(0));
    }
}

#[test]
fn listening_ends_in_time_and_a_program_that_reads_nothing_does_not_hold_us() {
    for level in LEVELS {
        let mut running = start(&at(level, sh("exec sleep 600"))).unwrap();
        let mut talk = running.talk().unwrap();
        talk.say(&vec![b'x'; 1_000_000]);
        let began = Instant::now();
        assert_eq!(talk.listen(&mut [0; 16], Duration::from_millis(50)).unwrap(), Heard::Nothing);
        assert!(began.elapsed() < LONG / 2, "{level:?}");
        assert!(talk.unsent_bytes() > 500_000, "what does not fit waits");
        assert_eq!(running.kill().unwrap().outcome, Outcome::Stopped, "{level:?}");
        assert_eq!(talk.listen(&mut [0; 16], LONG).unwrap(), Heard::End, "{level:?}");
    }
}

#[test]
fn who_never_takes_the_pipes_leaves_the_program_with_the_end_of_its_input() {
    for level in LEVELS {
        let running = start(&at(level, sh("cat; exit 3"))).unwrap();
        assert_eq!(running.wait().unwrap().outcome, Outcome::Exited(3), "{level:?}");
    }
}
