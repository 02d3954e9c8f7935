//! Who calls: the user, or an agent, or somebody else.

use std::fs;
use std::net::SocketAddr;

use longhaul_runtime::control::Caller;
use longhaul_runtime::terminal;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Port {
        address: SocketAddr,
        /// Our own end.
        own: SocketAddr,
    },
    Socket {
        user: u32,
        process: Option<i32>,
    },
}

impl Peer {
    /// Who is at the other end of the socket; none if it is another user.
    pub(crate) fn of_socket(user: u32, process: Option<i32>) -> Option<Caller> {
        if user != rustix::process::getuid().as_raw() {
            return None;
        }
        // A process that we have no number for lives behind walls.
        let is_agent = process.is_none_or(|process| process <= 0 || terminal::is_agent(process));
        Some(if is_agent { Caller::Agent } else { Caller::Person })
    }

    /// Who showed the token at the port. One that cannot be found, such as the end of a tunnel, is whoever has the token.
    pub(crate) fn of_port(address: SocketAddr, own: SocketAddr) -> Caller {
        match process_at(address, own) {
            Some(process) if terminal::is_agent(process) => Caller::Agent,
            Some(_) | None => Caller::Person,
        }
    }
}

/// The process that holds the other end of a connection within this machine.
fn process_at(address: SocketAddr, own: SocketAddr) -> Option<i32> {
    let table = match address {
        SocketAddr::V4(_) => "/proc/net/tcp",
        SocketAddr::V6(_) => "/proc/net/tcp6",
    };
    let ends = format!("{} {} ", written(address), written(own));
    let lines = fs::read_to_string(table).ok()?;
    let line = lines.lines().find(|line| line.contains(&ends))?;
    let inode = line.split_whitespace().nth(9)?;
    let wanted = format!("socket:[{inode}]");
    let numbers = fs::read_dir("/proc").ok()?.flatten();
    let mut processes = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    processes.find(|process| {
        let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
        open.flatten()
            .any(|entry| fs::read_link(entry.path()).is_ok_and(|found| found.as_os_str() == wanted.as_str()))
    })
}

/// As the kernel writes it: words of four bytes in the order of the machine, in hexadecimal.
fn written(address: SocketAddr) -> String {
    let bytes = match address {
        SocketAddr::V4(address) => address.ip().octets().to_vec(),
        SocketAddr::V6(address) => address.ip().octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).map(|word| {
        let number = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
        format!("{number:08X}")
    });
    format!("{}:{:04X}", words.collect::<String>(), address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_process_at_the_other_end_is_found() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else { continue };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (accepted, address) = listener.accept().unwrap();
            let own = i32::try_from(std::process::id()).unwrap();
            assert_eq!(process_at(address, accepted.local_addr().unwrap()), Some(own), "{host}");
            drop(stream);
        }
    }

    #[test]
    fn another_user_is_nobody_and_who_has_no_number_is_an_agent() {
        let own = rustix::process::getuid().as_raw();
        assert_eq!(Peer::of_socket(own + 1, Some(1)), None);
        assert_eq!(Peer::of_socket(own, None), Some(Caller::Agent));
        assert_eq!(Peer::of_socket(own, Some(0)), Some(Caller::Agent));
    }
}
