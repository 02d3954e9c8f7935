//! Hosts that may be reached: how they are named, by a person in a list and by a program in a request, and which
//! addresses are nobody's business but this machine's.
//!
//! Nothing here looks a name up. What a name leads to is judged by [`is_public`], by whoever asked.

// Addresses are data; `core::net` talks to nobody.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;

/// The ports of a host that is listed without one.
pub const USUAL_PORTS: [u16; 2] = [443, 80];

const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// A host as a request names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// In small letters, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

/// One entry of a list: `docs.example.com`, `*.example.com`, `10.0.0.7:8443`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    name: Pattern,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    This(Host),
    /// Whatever ends in a dot and this.
    Below(String),
}

impl Host {
    /// Reads a name or an address, without a port. `None` for whatever two programs may read in two ways.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            return inner.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(|address| plain(address.into()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(plain(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        is_name(&name).then_some(Self::Name(name))
    }

    /// Reads `host:port`; without a port it is the given one.
    pub fn with_port(text: &str, usual: Option<u16>) -> Option<(Self, u16)> {
        let (host, port) = split_port(text)?;
        Some((Self::parse(host)?, port.or(usual)?))
    }
}

/// An address of version 4 that is written as one of version 6 is the same one.
fn plain(address: IpAddr) -> Host {
    Host::Address(address.to_canonical())
}

fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let end_of_host = text.rfind(']').map_or(0, |end| end + 1);
    match text[end_of_host..].find(':') {
        None => Some((text, None)),
        Some(colon) => {
            let (host, port) = text.split_at(end_of_host + colon);
            let digits = &port[1..];
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let port = digits.parse().ok().filter(|port| is_number && *port > 0)?;
            Some((host, Some(port)))
        }
    }
}

/// Letters, digits, hyphens and underscores in labels. A last label that is a number is an address in one of its many
/// disguises (`127.1`, `0x7f000001`).
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= LONGEST_LABEL
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_number = |label: &str| {
        let digits = label.strip_prefix("0x");
        digits.map_or_else(
            || label.bytes().all(|byte| byte.is_ascii_digit()),
            |digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        )
    };
    name.len() <= LONGEST_NAME
        && name.split('.').all(is_label)
        && name.rsplit('.').next().is_some_and(|last| !is_number(last))
}

impl HostPattern {
    /// Reads an entry; what is wrong with it ends in what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unfit = || {
            format!(
                "`{text}` is not a host; write a name or an address, such as `docs.example.com`, `*.example.com` or `10.0.0.7:8443`"
            )
        };
        // Without brackets every colon of such an address could begin a port.
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(Self { name: Pattern::This(plain(address.into())), port: None });
        }
        let (host, port) = split_port(text).ok_or_else(unfit)?;
        let name = match host.strip_prefix("*.") {
            // All of `*.com` is nobody's list.
            Some(below) => match Host::parse(below) {
                Some(Host::Name(name)) if name.contains('.') => Pattern::Below(name),
                Some(Host::Name(_) | Host::Address(_)) | None => return Err(unfit()),
            },
            None => Pattern::This(Host::parse(host).ok_or_else(unfit)?),
        };
        Ok(Self { name, port })
    }

    /// Whether this entry lets a host and port through.
    pub fn fits(&self, host: &Host, port: u16) -> bool {
        let is_port = self.port.map_or_else(|| USUAL_PORTS.contains(&port), |listed| listed == port);
        let is_host = match (&self.name, host) {
            (Pattern::This(listed), host) => listed == host,
            (Pattern::Below(top), Host::Name(name)) => {
                name.strip_suffix(top.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Pattern::Below(_), Host::Address(_)) => false,
        };
        is_port && is_host
    }
}

/// Whether any entry lets a host and port through.
pub fn allows(list: &[HostPattern], host: &Host, port: u16) -> bool {
    list.iter().any(|entry| entry.fits(host, port))
}

/// Whether an address belongs to the world, and to neither this machine nor the networks around it.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_protocol = (first, second, third) == (192, 0, 0);
    let is_benchmark = first == 198 && (second == 18 || second == 19);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || first == 0
        || first >= 240
        || is_shared
        || is_protocol
        || is_benchmark)
}

/// Only what is handed out to the world, without the ranges that wrap an address of version 4.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_wrapped = segments[0] == 0x2002 || (segments[0] == 0x2001 && segments[1] == 0);
    let is_documentation = segments[0] == 0x2001 && segments[1] == 0x0db8;
    is_global && !is_wrapped && !is_documentation
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Pattern::This(host) => host.fmt(f)?,
            Pattern::Below(top) => write!(f, "*.{top}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(list: &[&str], asked: &str) -> bool {
        let list: Vec<HostPattern> = list.iter().map(|entry| HostPattern::parse(entry).unwrap()).collect();
        let Some((host, port)) = Host::with_port(asked, None) else { return false };
        allows(&list, &host, port)
    }

    #[test]
    fn a_host_is_let_through_on_the_usual_ports_or_on_the_one_that_is_listed() {
        assert!(allowed(&["docs.example.com"], "docs.example.com:443"));
        assert!(allowed(&["docs.example.com"], "DOCS.example.com.:80"));
        assert!(!allowed(&["docs.example.com"], "docs.example.com:8443"));
        assert!(allowed(&["docs.example.com:8443"], "docs.example.com:8443"));
        assert!(!allowed(&["docs.example.com:8443"], "docs.example.com:443"));
        assert!(!allowed(&["docs.example.com"], "example.com:443"));
        assert!(!allowed(&["docs.example.com"], "evil-docs.example.com:443"));
        assert!(!allowed(&["docs.example.com"], "docs.example.com.evil.org:443"));
    }

    #[test]
    fn a_star_stands_for_what_is_below_and_not_for_the_name_itself() {
        assert!(allowed(&["*.example.com"], "a.b.example.com:443"));
        assert!(!allowed(&["*.example.com"], "example.com:443"));
        assert!(!allowed(&["*.example.com"], "badexample.com:443"));
        for wide in ["*", "*.com", "*.", "a.*.com", "*.10.0.0.1"] {
            assert!(HostPattern::parse(wide).is_err(), "{wide}");
        }
    }

    #[test]
    fn addresses_are_let_through_only_as_themselves() {
        assert!(allowed(&["127.0.0.1:9000"], "127.0.0.1:9000"));
        assert!(allowed(&["127.0.0.1:9000"], "[::ffff:127.0.0.1]:9000"));
        assert!(allowed(&["[::1]:9000"], "[::1]:9000"));
        assert!(allowed(&["::1"], "[::1]:443"));
        assert!(!allowed(&["*.example.com"], "10.0.0.1:443"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_no_host() {
        let two_ways = [
            "127.1:80",
            "0x7f000001:80",
            "2130706433:80",
            "0177.0.0.1:80",
            "a b:80",
            "a%00b:80",
            "a\0b:80",
            "user@host:80",
            "host:80:80",
            "host:",
            "host:0",
            "host:+80",
            "host:99999",
            ":80",
            "a..b:80",
            "-a:80",
            "[::1:80",
            "[127.0.0.1]:80",
            "host/path:80",
            "h\u{f6}st:80",
            "1.2.3.4.5:80",
            "",
        ];
        for text in two_ways {
            assert_eq!(Host::with_port(text, None), None, "{text:?}");
        }
        assert_eq!(Host::with_port(&format!("{}:80", "a".repeat(64)), None), None);
    }

    #[test]
    fn only_the_worlds_addresses_are_public() {
        let public = |text: &str| is_public(text.parse().unwrap());
        for address in ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "100.63.0.1", "172.32.0.1"] {
            assert!(public(address), "{address}");
        }
        let own = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
            "2001:db8::1",
            "::127.0.0.1",
        ];
        for address in own {
            assert!(!public(address), "{address}");
        }
    }

    #[test]
    fn a_pattern_is_shown_as_it_is_written() {
        for text in ["docs.example.com", "*.example.com:8443", "10.0.0.7", "[::1]:80"] {
            assert_eq!(HostPattern::parse(text).unwrap().to_string(), text);
        }
    }
}
