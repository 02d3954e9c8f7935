//! What a program writes is kept within its limit, and nobody waits for a pipe that never closes.

use longhaul_exec::{Outcome, Program, Stdin, run};

use crate::support::sh;

#[test]
fn output_of_both_pipes_is_kept_apart() {
    let finished = run(&sh("echo out; echo err >&2")).unwrap();
    assert_eq!(finished.stdout.to_text(), "out\n");
    assert_eq!(finished.stderr.to_text(), "err\n");
}

#[test]
fn floods_on_both_pipes_at_once_do_not_stall_and_are_cut_to_the_limit() {
    let flood = "(echo first; head -c 5000000 /dev/zero; echo last)";
    let script = format!("{flood} & {flood} >&2; wait");
    let finished = run(&sh(&script).capture_limit_bytes(1000)).unwrap();
    assert_eq!(finished.outcome, Outcome::Exited(0));
    for captured in [finished.stdout, finished.stderr] {
        assert!(!captured.is_complete());
        assert!(captured.head.starts_with(b"first\n"));
        assert!(captured.tail.ends_with(b"last\n"));
        assert_eq!(captured.head.len() + captured.tail.len(), 1000);
        assert_eq!(captured.dropped_bytes, 5_000_011 - 1000);
        assert!(!captured.held_open);
    }
}

#[test]
fn what_is_written_last_before_the_end_is_not_lost() {
    for _ in 0..20 {
        let finished = run(&sh("head -c 60000 /dev/zero; printf end")).unwrap();
        assert_eq!(finished.stdout.to_bytes().len(), 60_003);
        assert!(finished.stdout.is_complete());
    }
}

#[test]
fn bytes_larger_than_a_pipe_go_in_and_come_out() {
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let cat = Program::new("cat").stdin(Stdin::Bytes(bytes.clone())).capture_limit_bytes(4_000_000);
    let finished = run(&cat).unwrap();
    assert!(finished.succeeded());
    assert!(finished.stdout.to_bytes() == bytes);
}

#[test]
fn a_program_need_not_read_its_stdin() {
    let ignoring = Program::new("true").stdin(Stdin::Bytes(vec![0; 3_000_000]));
    assert!(run(&ignoring).unwrap().succeeded());
}

#[test]
fn without_stdin_a_program_reads_the_end_at_once() {
    let finished = run(&Program::new("cat")).unwrap();
    assert!(finished.succeeded());
    assert_eq!(finished.stdout.to_bytes(), b"");
    let finished = run(&Program::new("cat").stdin(Stdin::Bytes(Vec::new()))).unwrap();
    assert!(finished.succeeded());
}
