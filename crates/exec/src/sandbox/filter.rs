//! Which system calls are refused inside. A list of what no build, test or agent needs and what has let others out
//! before; all else goes through, because a program that meets an unexpected refusal fails in ways nobody can read.

use std::io;

use super::bpf::{self, Condition, Rule, Test};
use super::{Level, Network, sys};

const PERMISSION: i32 = libc::EPERM;
const NO_SUCH_CALL: i32 = libc::ENOSYS;
const NO_SUCH_FAMILY: i32 = libc::EAFNOSUPPORT;

/// Refused whatever the arguments. What takes capabilities is here too: it is refused before the kernel looks.
const NEVER: &[i64] = &[
    // Rings do calls that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Keys lie outside of all namespaces.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Doors into the kernel that have stood open often.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_pidfd_getfd,
    // Other roots, other namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Files by number rather than by path pass every mount.
    libc::SYS_open_by_handle_at,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Every flag that asks for a namespace. `CLONE_NEWTIME` shares its bit with a signal number in `clone`, where
/// it cannot be asked for.
const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;
const NEW_TIME: i32 = 0x80;

const KNOWN_FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// The kind of a socket without the flags beside it.
const SOCKET_KIND: i32 = 0xf;
const TCP_FASTOPEN_CONNECT: i32 = 30;

/// Puts the filter before every call of this process. It must have no way to new privileges.
pub(super) fn install(level: Level, network: Network) -> io::Result<()> {
    let architecture = bpf::ARCHITECTURE.ok_or(io::ErrorKind::Unsupported)?;
    sys::filter_system_calls(&bpf::program(architecture, &rules(level, network)))
}

fn rules(level: Level, network: Network) -> Vec<Rule> {
    let mut rules: Vec<Rule> = NEVER.iter().map(|call| rule(*call, PERMISSION, vec![])).collect();
    rules.extend([
        // Its arguments lie behind a pointer. Those who ask go on with `clone`, which can be judged.
        rule(libc::SYS_clone3, NO_SUCH_CALL, vec![]),
        rule(libc::SYS_clone, PERMISSION, vec![any_of(0, NAMESPACES)]),
        rule(libc::SYS_unshare, PERMISSION, vec![any_of(0, NAMESPACES | NEW_TIME)]),
        // Both write to a terminal as if a person had typed.
        rule(libc::SYS_ioctl, PERMISSION, vec![is(1, constant(libc::TIOCSTI))]),
        rule(libc::SYS_ioctl, PERMISSION, vec![is(1, constant(libc::TIOCLINUX))]),
    ]);
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        rules.push(rule(call, NO_SUCH_FAMILY, KNOWN_FAMILIES.map(|family| is_not(0, family)).to_vec()));
        let other_netlink = vec![is(0, libc::AF_NETLINK), is_not(2, libc::NETLINK_ROUTE)];
        rules.push(rule(call, NO_SUCH_FAMILY, other_netlink));
    }
    if level == Level::Reduced && network != Network::Open {
        rules.extend(only_plain_tcp());
    }
    rules
}

/// Landlock judges where TCP connects to, and nothing else: what is not plain TCP is refused here.
fn only_plain_tcp() -> Vec<Rule> {
    let mut rules = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let kind = Condition { mask: SOCKET_KIND.cast_unsigned(), ..is_not(1, libc::SOCK_STREAM) };
        rules.push(rule(libc::SYS_socket, PERMISSION, vec![is(0, family), kind]));
        let protocol = vec![is(0, family), is_not(2, 0), is_not(2, libc::IPPROTO_TCP)];
        rules.push(rule(libc::SYS_socket, PERMISSION, protocol));
    }
    // Connects without the call that Landlock looks at.
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        rules.push(rule(call, PERMISSION, vec![any_of(flags, libc::MSG_FASTOPEN)]));
    }
    let option = vec![is(1, libc::IPPROTO_TCP), is(2, TCP_FASTOPEN_CONNECT)];
    rules.push(rule(libc::SYS_setsockopt, PERMISSION, option));
    rules
}

fn rule(call: i64, errno: i32, when: Vec<Condition>) -> Rule {
    Rule { call: u32::try_from(call).expect("system calls have small numbers"), when, errno }
}

fn is(argument: u8, value: i32) -> Condition {
    Condition { argument, mask: u32::MAX, test: Test::Is(value.cast_unsigned()) }
}

fn is_not(argument: u8, value: i32) -> Condition {
    Condition { argument, mask: u32::MAX, test: Test::IsNot(value.cast_unsigned()) }
}

fn any_of(argument: u8, flags: i32) -> Condition {
    Condition { argument, mask: flags.cast_unsigned(), test: Test::IsNot(0) }
}

fn constant(request: libc::Ioctl) -> i32 {
    i32::try_from(request).expect("the requests of terminals are small")
}

#[cfg(test)]
mod tests {
    use super::super::bpf::tests::{Call, judge};
    use super::*;

    fn judged(level: Level, network: Network, call: i64, arguments: &[i32]) -> Option<u32> {
        let architecture = bpf::ARCHITECTURE.unwrap();
        let program = bpf::program(architecture, &rules(level, network));
        let mut all = [0; 6];
        for (to, from) in all.iter_mut().zip(arguments) {
            *to = u64::from(from.cast_unsigned());
        }
        judge(&program, Call { architecture, number: u32::try_from(call).unwrap(), arguments: all })
    }

    fn full(call: i64, arguments: &[i32]) -> Option<u32> {
        judged(Level::Full, Network::None, call, arguments)
    }

    fn reduced(call: i64, arguments: &[i32]) -> Option<u32> {
        judged(Level::Reduced, Network::None, call, arguments)
    }

    #[test]
    fn a_thread_and_a_process_can_be_made_and_a_namespace_cannot() {
        let thread = libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND;
        assert_eq!(full(libc::SYS_clone, &[thread]), None);
        assert_eq!(full(libc::SYS_clone, &[libc::SIGCHLD]), None);
        assert_eq!(full(libc::SYS_clone, &[libc::SIGCHLD | libc::CLONE_NEWUSER]), Some(1));
        assert_eq!(full(libc::SYS_unshare, &[libc::CLONE_FS]), None);
        assert_eq!(full(libc::SYS_unshare, &[libc::CLONE_NEWNET]), Some(1));
        assert_eq!(full(libc::SYS_clone3, &[]), Some(38));
    }

    #[test]
    fn only_the_families_of_sockets_that_programs_need_are_there() {
        assert_eq!(full(libc::SYS_socket, &[libc::AF_UNIX, libc::SOCK_STREAM, 0]), None);
        assert_eq!(full(libc::SYS_socket, &[libc::AF_INET6, libc::SOCK_DGRAM, 0]), None);
        assert_eq!(full(libc::SYS_socket, &[libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE]), None);
        assert_eq!(
            full(libc::SYS_socket, &[libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT]),
            Some(97)
        );
        assert_eq!(full(libc::SYS_socket, &[libc::AF_VSOCK, libc::SOCK_STREAM, 0]), Some(97));
        assert_eq!(full(libc::SYS_socket, &[libc::AF_PACKET, libc::SOCK_RAW, 0]), Some(97));
    }

    #[test]
    fn without_a_network_namespace_only_plain_tcp_is_left() {
        let stream = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        assert_eq!(reduced(libc::SYS_socket, &[libc::AF_INET, stream, libc::IPPROTO_TCP]), None);
        assert_eq!(reduced(libc::SYS_socket, &[libc::AF_UNIX, libc::SOCK_DGRAM, 0]), None);
        assert_eq!(
            reduced(libc::SYS_socket, &[libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0]),
            Some(1)
        );
        assert_eq!(reduced(libc::SYS_socket, &[libc::AF_INET, stream, libc::IPPROTO_MPTCP]), Some(1));
        assert_eq!(reduced(libc::SYS_sendto, &[3, 0, 0, libc::MSG_FASTOPEN]), Some(1));
        assert_eq!(reduced(libc::SYS_sendto, &[3, 0, 0, libc::MSG_NOSIGNAL]), None);
        let udp = [libc::AF_INET, libc::SOCK_DGRAM, 0];
        assert_eq!(judged(Level::Reduced, Network::Open, libc::SYS_socket, &udp), None);
    }

    #[test]
    fn a_terminal_is_not_typed_into_and_its_size_can_be_asked() {
        assert_eq!(full(libc::SYS_ioctl, &[0, constant(libc::TIOCSTI)]), Some(1));
        assert_eq!(full(libc::SYS_ioctl, &[0, constant(libc::TIOCGWINSZ)]), None);
    }
}
