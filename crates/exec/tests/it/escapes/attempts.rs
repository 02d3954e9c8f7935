//! The attempts. A script exits with 0 only if it got what it wanted; where that shows outside, outside is asked.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::arena::Arena;

/// One way out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) name: &'static str,
    pub(super) script: &'static str,
    /// The hole of level reduced that it goes through.
    pub(super) hole: Option<&'static str>,
    shows: Shows,
}

/// Where success shows.
#[derive(Debug, Clone, Copy)]
enum Shows {
    /// In how the script ended.
    Exit,
    /// In what is outside afterwards.
    Outside(fn(&Arena) -> bool),
    /// There as well, and what is set lets a library be loaded.
    Preloaded(fn(&Arena) -> bool),
}

/// What the script says of itself, and how long to look for what it did.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said {
    Success { patience: Duration },
    Failure,
}

impl Attempt {
    /// What arrives through another thread or process may take a moment, if the script says that it sent it.
    pub(super) fn succeeded(&self, arena: &Arena, said: Said) -> bool {
        let look = match self.shows {
            Shows::Exit => return matches!(said, Said::Success { .. }),
            Shows::Outside(look) | Shows::Preloaded(look) => look,
        };
        let patience = match said {
            Said::Success { patience } => patience,
            Said::Failure => Duration::ZERO,
        };
        let deadline = Instant::now() + patience;
        while !look(arena) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2)); // tidy: polling with a deadline
        }
        look(arena)
    }

    /// What is set for this attempt alone.
    pub(super) fn variables(&self, arena: &Arena) -> Vec<(String, String)> {
        let text =
            |path: std::path::PathBuf| path.into_os_string().into_string().expect("temporary paths are text");
        match self.shows {
            Shows::Exit | Shows::Outside(_) => Vec::new(),
            Shows::Preloaded(_) => vec![
                ("LD_PRELOAD".to_owned(), text(arena.checkout().join("preload.so"))),
                ("LEAK".to_owned(), text(arena.outside().join("leak"))),
            ],
        }
    }
}

const fn exit(name: &'static str, script: &'static str) -> Attempt {
    Attempt { name, script, hole: None, shows: Shows::Exit }
}

const fn outside(name: &'static str, script: &'static str, look: fn(&Arena) -> bool) -> Attempt {
    Attempt { name, script, hole: None, shows: Shows::Outside(look) }
}

const fn hole(hole: &'static str, attempt: Attempt) -> Attempt {
    Attempt { hole: Some(hole), ..attempt }
}

pub(super) fn attempts() -> Vec<Attempt> {
    [reading(), through_git(), writing(), processes(), network(), kernel(), resources()].concat()
}

fn reading() -> Vec<Attempt> {
    vec![
        exit("read by path", r#"test "$(cat "$OUT/secret")" = "the secret""#),
        exit("read through ..", r#"test "$(cat ../outside/secret)" = "the secret""#),
        exit("read through a planted link", r#"test "$(cat planted/secret)" = "the secret""#),
        exit("read through a new link", r#"ln -s "$OUT/secret" here && test "$(cat here)" = "the secret""#),
        exit("read through a hard link", r#"ln "$OUT/secret" here && test "$(cat here)" = "the secret""#),
        exit("read through our own root", r#"test "$(cat "/proc/self/root$OUT/secret")" = "the secret""#),
        exit(
            "read through the root of another process",
            r#"test "$(cat "/proc/$VICTIM/root$OUT/secret")" = "the secret""#,
        ),
        exit(
            "read through the folder of another process",
            r#"test "$(cat "/proc/$VICTIM/cwd/secret")" = "the secret""#,
        ),
        exit("read a file that another process has open", r#"grep -qs "the secret" /proc/$VICTIM/fd/*"#),
        exit("read the environment of another process", r#"grep -q "the secret" /proc/$VICTIM/environ"#),
        exit(
            "read the environment of our supervisor",
            r#"test -n "$(tr -d '\0' < /proc/$SUPERVISOR/environ)""#,
        ),
        exit("read the memory map of another process", r#"test -n "$(cat /proc/$VICTIM/maps)""#),
        exit("read an inherited descriptor", r#"test "$(cat /proc/self/fd/$INHERITED)" = "the secret""#),
        exit("read an environment variable of ours", r#"test -n "$CARGO_MANIFEST_DIR""#),
        exit("read a database", r#"test "$(cat "$OUT/longhaul.db")" = "as it was""#),
        exit("read another worktree", r#"test "$(cat "$OUT/worktree")" = "as it was""#),
        exit("read what is hidden below what is bound", r#"test "$(cat "$HIDDEN/key")" = "the secret""#),
        exit("list a folder outside", r#"test -n "$(ls "$OUT")""#),
        exit("read shared memory that is a file", r#"test "$(cat "$SHARED_MEMORY")" = "the secret""#),
        hole("names", exit("see that a file is there", r#"test -e "$OUT/secret""#)),
        hole("names", exit("read where a link points", r#"test "$(readlink "$OUT/link")" = "the target""#)),
        hole("names", exit("enter a folder outside", r#"cd "$OUT""#)),
        hole(
            "names",
            exit(
                "watch a file outside",
                r#"perl -e '$i = syscall($ENV{INOTIFY_INIT} + 0, 0); exit(syscall($ENV{INOTIFY_WATCH} + 0, $i, "$ENV{OUT}/victim", 2) < 0)'"#,
            ),
        ),
        hole("processes", exit("read command lines", r#"grep -qs "$NAME-victim" /proc/[0-9]*/cmdline"#)),
    ]
}

fn through_git() -> Vec<Attempt> {
    vec![
        exit(
            "read objects that alternates name",
            r#"git init -q r && cd r && echo "$OUT/repository/.git/objects" > .git/objects/info/alternates &&
            test "$(git cat-file blob "$(printf "the secret" | git hash-object --stdin)")" = "the secret""#,
        ),
        exit(
            "read settings that an include names",
            r#"git init -q r && cd r && git config include.path "$OUT/repository/.git/config" &&
            test "$(git config secret.value)" = "the secret""#,
        ),
        exit(
            "clone a repository outside",
            r#"git clone -q "file://$OUT/repository" r && test "$(cat r/file)" = "the secret""#,
        ),
        exit(
            "add a repository outside as a submodule",
            r#"git init -q r && cd r && git -c protocol.file.allow=always submodule add -q "$OUT/repository" s &&
            test "$(cat s/file)" = "the secret""#,
        ),
        exit(
            "run a filter that attributes name, outside",
            r#"git init -q r && cd r && echo '* filter=leak' > .gitattributes && git config filter.leak.clean 'cat "$OUT/secret"' &&
            echo harmless > file && git add file && test "$(git show :file)" = "the secret""#,
        ),
        outside("plant a hook outside", r#"echo evil > "$OUT/repository/.git/hooks/pre-commit""#, |arena| {
            arena.outside().join("repository/.git/hooks/pre-commit").exists()
        }),
        outside(
            "change settings of a repository outside",
            r#"git -C "$OUT/repository" config core.hooksPath "$PWD" && git -C "$OUT/repository" config core.hooksPath > "$OUT/changed""#,
            |arena| arena.outside().join("changed").exists(),
        ),
    ]
}

fn writing() -> Vec<Attempt> {
    let changed: fn(&Arena) -> bool = |arena| arena.read("victim").as_deref() != Some("as it was");
    vec![
        outside("write by path", r#"echo evil > "$OUT/victim""#, changed),
        outside("write through a planted link", "echo evil > planted/victim", changed),
        outside("write through a hard link", r#"ln "$OUT/victim" here && echo evil > here"#, changed),
        outside(
            "write through the folder of another process",
            "echo evil > /proc/$VICTIM/cwd/victim",
            changed,
        ),
        outside("cut a file off", r#"perl -e 'truncate "$ENV{OUT}/victim", 1'"#, changed),
        outside("remove a file", r#"rm -f "$OUT/victim""#, changed),
        outside("move a file away", r#"mv "$OUT/victim" here"#, changed),
        outside("replace a file", r#"echo evil > here && mv here "$OUT/victim""#, changed),
        outside("make a file", r#"echo evil > "$OUT/new""#, |arena| arena.read("new").is_some()),
        outside("make a folder", r#"mkdir "$OUT/new""#, |arena| arena.outside().join("new").exists()),
        outside("make a link", r#"ln -s x "$OUT/new""#, |arena| arena.outside().join("new").is_symlink()),
        outside("make a pipe", r#"mkfifo "$OUT/new""#, |arena| arena.outside().join("new").exists()),
        hole(
            "metadata",
            outside("change a mode", r#"chmod 777 "$OUT/victim""#, |arena| arena.mode("victim") == 0o777),
        ),
        hole(
            "metadata",
            exit(
                "change a time",
                r#"touch -c -d 2001-01-01 "$OUT/victim" && test -n "$(find "$OUT/victim" ! -newermt 2002-01-01)""#,
            ),
        ),
        hole(
            "metadata",
            exit(
                "change an attribute",
                r#"perl -e '($n, $v) = ("user.evil", "x"); exit(syscall($ENV{SETXATTR} + 0, "$ENV{OUT}/victim", $n, $v, 1, 0) != 0)'"#,
            ),
        ),
        hole("metadata", exit("change an owner", r#"chown "$(id -u)" "$OUT/victim""#)),
        outside(
            "write to shared memory that is a file",
            r#"echo evil > "$SHARED_MEMORY-new" && rm "$SHARED_MEMORY-new" && echo x > "$OUT/new""#,
            |arena| arena.read("new").is_some(),
        ),
        Attempt {
            name: "load a library into what starts us",
            script: "true",
            hole: None,
            shows: Shows::Preloaded(|arena| arena.outside().join("leak").exists()),
        },
    ]
}

fn processes() -> Vec<Attempt> {
    vec![
        outside("signal another process", "kill -USR1 $VICTIM", |arena| {
            arena.outside().join("signalled").exists()
        }),
        exit("signal our supervisor", "kill -CONT $SUPERVISOR"),
        exit(
            "trace another process",
            r"perl -e 'exit(syscall($ENV{PTRACE} + 0, 0x4206, $ENV{VICTIM} + 0, 0, 0) != 0)'",
        ),
        exit(
            "read the memory of another process",
            r#"perl -e '
                open my $maps, "<", "/proc/$ENV{VICTIM}/maps" or exit 1; my ($from) = <$maps> =~ /^([0-9a-f]+)/;
                my $buffer = "x" x 8; my $here = pack "PQ", $buffer, 8; my $there = pack "QQ", hex $from, 8;
                exit(syscall($ENV{READV} + 0, $ENV{VICTIM} + 0, $here, 1, $there, 1, 0) != 8)'"#,
        ),
        exit(
            "take a descriptor of another process",
            r"perl -e '$p = syscall($ENV{PIDFD_OPEN} + 0, $ENV{VICTIM} + 0, 0); exit(syscall($ENV{PIDFD_GETFD} + 0, $p, 0, 0) < 0)'",
        ),
        hole(
            "detaching",
            outside(
                "detach and live on",
                r#"perl -e 'use POSIX (); unless (fork) { POSIX::setsid(); %ENV = (); unless (fork) {
                    open STDIN, "</dev/null"; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null";
                    exec {"perl"} "perl", "-e", "sleep 20", $ARGV[0] } } exit' "$NAME-stranger"; sleep 0.1"#,
                |arena| arena.strangers() > 0,
            ),
        ),
        exit(
            "gain what a set-uid program has",
            r#"if [ "$(id -u)" = 0 ]; then cp /usr/bin/id u && chown 65534 u && chmod 4755 u && test "$(./u -u)" = 65534
            else passwd -S "$(id -un)" | grep -qE '[0-9]{4}.[0-9]{2}.[0-9]'; fi"#,
        ),
        hole(
            "system-v",
            exit(
                "read shared memory",
                r#"perl -e '$i = shmget(($ENV{VICTIM} << 8) | 7, 64, 0) // exit 1; shmread($i, $read, 0, 10) or exit 1; exit($read ne "the secret")'"#,
            ),
        ),
        hole(
            "system-v",
            exit(
                "send to a message queue",
                r#"perl -e '$i = msgget(($ENV{VICTIM} << 8) | 7, 0) // exit 1; exit(!msgsnd($i, pack("l! a*", 1, "x"), 04000))'"#,
            ),
        ),
    ]
}

fn network() -> Vec<Attempt> {
    let arrived: fn(&Arena) -> bool = |arena| arena.datagrams.load(Ordering::SeqCst) > 0;
    vec![
        exit(
            "connect over TCP",
            r#"perl -MSocket -e 'socket $s, PF_INET, SOCK_STREAM, 0; connect $s, pack_sockaddr_in($ENV{TCP_PORT}, INADDR_LOOPBACK) or exit 1; exit(<$s> ne "hello\n")'"#,
        ),
        outside(
            "send over UDP",
            r#"perl -MSocket -e 'socket $s, PF_INET, SOCK_DGRAM, 0 or exit 1; exit(!send $s, "x", 0, pack_sockaddr_in($ENV{UDP_PORT}, INADDR_LOOPBACK))'"#,
            arrived,
        ),
        exit(
            "ask a name server",
            r#"perl -MSocket -e '
                socket $s, PF_INET, SOCK_DGRAM, 0 or exit 1; connect $s, pack_sockaddr_in($ENV{UDP_PORT}, INADDR_LOOPBACK) or exit 1;
                my $query = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x07example\x00\x00\x10\x00\x01";
                send $s, $query, 0 or exit 1; $SIG{ALRM} = sub { exit 1 }; alarm 2; recv $s, $answer, 512, 0; exit($answer ne $query)'"#,
        ),
        hole("pathname-sockets", exit("connect to a daemon's socket", CONNECT_DAEMON)),
        hole("pathname-sockets", exit("connect to an agent of keys", CONNECT_AGENT)),
        hole(
            "pathname-sockets",
            outside(
                "send to the socket of docker",
                r#"perl -MSocket -e 'socket $s, PF_UNIX, SOCK_DGRAM, 0; exit(!send $s, "x", 0, pack_sockaddr_un("$ENV{OUT}/docker.sock"))'"#,
                arrived,
            ),
        ),
        exit(
            "connect to an abstract socket",
            r#"perl -MSocket -e 'socket $s, PF_UNIX, SOCK_STREAM, 0; connect $s, pack_sockaddr_un("\0$ENV{NAME}") or exit 1; exit(<$s> ne "hello\n")'"#,
        ),
        outside(
            "send to an abstract bus",
            r#"perl -MSocket -e 'socket $s, PF_UNIX, SOCK_DGRAM, 0; exit(!send $s, "x", 0, pack_sockaddr_un("\0$ENV{NAME}-bus"))'"#,
            arrived,
        ),
        exit("hear the kernel's events", r"perl -MSocket -e 'socket $s, 16, SOCK_RAW, 15 or exit 1'"),
    ]
}

const CONNECT_DAEMON: &str = r#"perl -MSocket -e 'socket $s, PF_UNIX, SOCK_STREAM, 0; connect $s, pack_sockaddr_un("$ENV{OUT}/daemon.sock") or exit 1; exit(<$s> ne "hello\n")'"#;
const CONNECT_AGENT: &str = r#"perl -MSocket -e 'socket $s, PF_UNIX, SOCK_STREAM, 0; connect $s, pack_sockaddr_un("$ENV{OUT}/ssh-agent.sock") or exit 1; exit(<$s> ne "hello\n")'"#;

fn kernel() -> Vec<Attempt> {
    vec![
        exit(
            "set up a ring of calls",
            r#"perl -e '$parameters = "\0" x 120; exit(syscall($ENV{IO_URING} + 0, 4, $parameters) < 0)'"#,
        ),
        exit("handle faults of memory", r"perl -e 'exit(syscall($ENV{USERFAULTFD} + 0, 1) < 0)'"),
        exit(
            "store a key",
            r#"perl -e '($t, $n, $v) = ("user", "longhaul-escape", "x"); exit(syscall($ENV{ADD_KEY} + 0, $t, $n, $v, 1, -3) < 0)'"#,
        ),
        exit("read the keyring", r"perl -e 'exit(syscall($ENV{KEYCTL} + 0, 0, -3, 1) < 0)'"),
        exit("make a user namespace", "unshare --user true"),
        exit("mount in a namespace", "unshare --user --map-root-user --mount mount -t tmpfs none /mnt"),
        exit("change the root in a namespace", "unshare --user --map-root-user chroot / true"),
        exit("make a process namespace", "unshare --user --map-root-user --pid --fork true"),
    ]
}

fn resources() -> Vec<Attempt> {
    vec![
        outside("fill the disk with one file", "head -c 3000000 /dev/zero > big", |arena| {
            arena.checkout().join("big").metadata().is_ok_and(|found| found.len() == 3_000_000)
        }),
        exit(
            "fill the space for temporary files",
            r#"d=$(mktemp -d) && for i in 1 2 3 4 5; do head -c 900000 /dev/zero > "$d/$i" || { rm -r "$d"; exit 1; }; done; rm -r "$d""#,
        ),
    ]
}
