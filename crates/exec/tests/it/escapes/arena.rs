//! What there is to escape to: files, sockets, processes and shared memory of the user, beside a checkout.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::io::FdFlags;
use tempfile::TempDir;

use crate::support::{count_with_argument, wait_until};

pub(super) const SECRET: &str = "the secret";

pub(super) struct Arena {
    _folder: TempDir,
    path: PathBuf,
    victim: Child,
    /// Datagrams that arrived somewhere.
    pub(super) datagrams: Arc<AtomicUsize>,
    tcp_port: u16,
    udp_port: u16,
    name: String,
    inherited: OwnedFd,
    shared_memory: PathBuf,
}

impl Arena {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let name = format!("longhaul-arena-{}", path.file_name().unwrap().to_str().unwrap());
        for part in ["checkout", "outside", "shared/private"] {
            fs::create_dir_all(path.join(part)).unwrap();
        }
        fs::write(path.join("shared/private/key"), SECRET).unwrap();
        let datagrams = Arc::new(AtomicUsize::new(0));
        let tcp_port = greet_over_tcp();
        let udp_port = count_udp(&datagrams);
        serve_unix(&path.join("outside"), &name, &datagrams);
        fs::write(path.join("outside/secret"), SECRET).unwrap();
        let inherited: OwnedFd = File::open(path.join("outside/secret")).unwrap().into();
        rustix::io::fcntl_setfd(&inherited, FdFlags::empty()).unwrap();
        let shared_memory = Path::new("/dev/shm").join(&name);
        let victim = start_victim(&path.join("outside"), &name);
        let arena = Self {
            _folder: folder,
            path,
            victim,
            datagrams,
            tcp_port,
            udp_port,
            name,
            inherited,
            shared_memory,
        };
        make_repository(&arena.outside().join("repository"));
        wait_until("the victim runs", || arena.outside().join("victim-runs").exists());
        build_preload(&arena.checkout());
        arena
    }

    pub(super) fn checkout(&self) -> PathBuf {
        self.path.join("checkout")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.path.join("outside")
    }

    pub(super) fn shared(&self) -> PathBuf {
        self.path.join("shared")
    }

    pub(super) fn hidden(&self) -> PathBuf {
        self.path.join("shared/private")
    }

    pub(super) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.outside().join(name)).ok()
    }

    pub(super) fn mode(&self, name: &str) -> u32 {
        self.outside().join(name).metadata().unwrap().permissions().mode() & 0o777
    }

    /// How many processes with the arena's name in their command line there are, beside the victim.
    pub(super) fn strangers(&self) -> usize {
        count_with_argument(&format!("{}-stranger", self.name))
    }

    /// Puts back what an attempt may have changed.
    pub(super) fn reset(&self) {
        let outside = self.outside();
        let kept = ["repository", "victim-runs", "secret"];
        for entry in fs::read_dir(&outside).unwrap().map(Result::unwrap) {
            let name = entry.file_name();
            let is_socket = Path::new(&name).extension().is_some_and(|extension| extension == "sock");
            if !is_socket && !kept.contains(&name.to_str().unwrap()) {
                remove(&entry.path());
            }
        }
        for name in ["victim", "longhaul.db", "worktree"] {
            fs::write(outside.join(name), "as it was").unwrap();
            fs::set_permissions(outside.join(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
        symlink("the target", outside.join("link")).unwrap();
        remove(&outside.join("repository/.git/hooks"));
        fs::create_dir(outside.join("repository/.git/hooks")).unwrap();
        for entry in fs::read_dir(self.checkout()).unwrap().map(Result::unwrap) {
            if entry.file_name() != "preload.so" {
                remove(&entry.path());
            }
        }
        symlink(&outside, self.checkout().join("planted")).unwrap();
        fs::write(&self.shared_memory, SECRET).unwrap();
        self.datagrams.store(0, Ordering::SeqCst);
    }

    /// What an attempt is told, so that it fails for no other reason than the walls.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let mut variables = vec![
            ("OUT", text(self.outside())),
            ("HIDDEN", text(self.hidden())),
            ("NAME", self.name.clone()),
            ("VICTIM", self.victim.id().to_string()),
            ("SUPERVISOR", std::process::id().to_string()),
            ("TCP_PORT", self.tcp_port.to_string()),
            ("UDP_PORT", self.udp_port.to_string()),
            ("INHERITED", self.inherited.as_fd().as_raw_fd().to_string()),
            ("SHARED_MEMORY", text(self.shared_memory.clone())),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ];
        let calls = [
            ("PTRACE", libc::SYS_ptrace),
            ("READV", libc::SYS_process_vm_readv),
            ("PIDFD_OPEN", libc::SYS_pidfd_open),
            ("PIDFD_GETFD", libc::SYS_pidfd_getfd),
            ("IO_URING", libc::SYS_io_uring_setup),
            ("USERFAULTFD", libc::SYS_userfaultfd),
            ("ADD_KEY", libc::SYS_add_key),
            ("KEYCTL", libc::SYS_keyctl),
            ("SETXATTR", libc::SYS_setxattr),
            ("INOTIFY_INIT", libc::SYS_inotify_init1),
            ("INOTIFY_WATCH", libc::SYS_inotify_add_watch),
        ];
        let numbers: Vec<String> = calls.iter().map(|(_, number)| number.to_string()).collect();
        variables.extend(calls.iter().zip(numbers).map(|((name, _), number)| (*name, number)));
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.shared_memory);
        // Not killed: it takes its shared memory and its queue away, which outlive a process.
        let victim = rustix::process::Pid::from_child(&self.victim);
        rustix::process::kill_process(victim, rustix::process::Signal::TERM).expect("it is our child");
        let _ = self.victim.wait();
    }
}

fn remove(path: &Path) {
    let found = path.symlink_metadata();
    match found {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn shell(script: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "what is outside of all walls is not started by us")]
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
}

/// A process of the same user, in another group, that anybody may look into as far as the system lets them.
fn start_victim(outside: &Path, name: &str) -> Child {
    let script = "exec perl -e '
        syscall($ENV{PRCTL}, 0x59616d61, -1, 0, 0, 0);
        $SIG{TERM} = sub { shmctl($id, 0, 0); msgctl(msgget(($$ << 8) | 7, 0), 0, 0); exit };
        $SIG{USR1} = sub { open my $f, \">\", \"signalled\"; };
        open my $secret, \"<\", \"secret\"; shmget(($$ << 8) | 7, 64, 0666 | 01000); msgget(($$ << 8) | 7, 0666 | 01000);
        $id = shmget(($$ << 8) | 7, 64, 0666); shmwrite($id, \"the secret\", 0, 10);
        open my $f, \">\", \"victim-runs\"; close $f;
        select undef, undef, undef, 0.05 while 1;' \"$ARGUMENT\"";
    let mut command = shell(script);
    command.current_dir(outside).env("VICTIM_SECRET", SECRET).env("ARGUMENT", format!("{name}-victim"));
    command.env("PRCTL", libc::SYS_prctl.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn make_repository(path: &Path) {
    let script = "git init -q . && printf 'the secret' > file && git add file && \
        git -c user.name=a -c user.email=a@b commit -qm m && git config secret.value 'the secret'";
    fs::create_dir(path).unwrap();
    let mut command = shell(script);
    command.current_dir(path).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(command.status().unwrap().success());
}

/// A library that writes to where `LEAK` points as soon as it is loaded.
fn build_preload(checkout: &Path) {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) {\
        char *path = getenv(\"LEAK\"); FILE *file = path ? fopen(path, \"w\") : 0; if (file) fclose(file); }";
    fs::write(checkout.join("preload.c"), source).unwrap();
    let built = shell("cc -shared -fPIC -o preload.so preload.c").current_dir(checkout).status().unwrap();
    assert!(built.success(), "the linker of Rust builds C too");
}

fn greet_over_tcp() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        listener.incoming().flatten().for_each(|mut stream| drop(stream.write_all(b"hello\n")));
    });
    port
}

fn count_udp(datagrams: &Arc<AtomicUsize>) -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    let datagrams = Arc::clone(datagrams);
    thread::spawn(move || {
        let mut bytes = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            datagrams.fetch_add(1, Ordering::SeqCst);
            // The sender may be gone.
            let _ = socket.send_to(&bytes[..length], from);
        }
    });
    port
}

/// Sockets such as a daemon, an agent of keys and a bus have, as files and without.
fn serve_unix(folder: &Path, name: &str, datagrams: &Arc<AtomicUsize>) {
    let abstract_name = SocketAddr::from_abstract_name(name).unwrap();
    let listeners = [
        UnixListener::bind(folder.join("daemon.sock")).unwrap(),
        UnixListener::bind(folder.join("ssh-agent.sock")).unwrap(),
        UnixListener::bind_addr(&abstract_name).unwrap(),
    ];
    for listener in listeners {
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.write_all(b"hello\n");
                let _ = stream.read(&mut [0]);
            }
        });
    }
    let abstract_name = SocketAddr::from_abstract_name(format!("{name}-bus")).unwrap();
    for socket in [
        UnixDatagram::bind(folder.join("docker.sock")).unwrap(),
        UnixDatagram::bind_addr(&abstract_name).unwrap(),
    ] {
        let datagrams = Arc::clone(datagrams);
        thread::spawn(move || {
            while socket.recv(&mut [0; 64]).is_ok() {
                datagrams.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
}
