//! The profile for `sandbox-exec` on macOS. Untested: nobody of us has run it. It holds files and the network as the
//! policy says; processes, signals and sockets of the system's own services it does not hold.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use super::{Network, Sandbox};

/// What a program needs to start at all.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/private/etc", "/private/var/db", "/dev"];

/// The program and arguments that come before the ones that are to be run.
pub(crate) fn wrapper(sandbox: &Sandbox, directory: &Path) -> Vec<OsString> {
    vec!["/usr/bin/sandbox-exec".into(), "-p".into(), profile(sandbox, directory).into()]
}

/// The profile, closed by default.
pub(crate) fn profile(sandbox: &Sandbox, directory: &Path) -> String {
    let mut text =
        String::from("(version 1)\n(deny default)\n(allow process-fork process-exec sysctl-read)\n");
    text.push_str("(allow signal (target same-sandbox))\n(allow file-read-metadata)\n");
    let mut rule = |verb: &str, path: &Path| {
        let path = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(text, "({verb} (subpath \"{path}\"))").expect("writing to a string cannot fail");
    };
    SYSTEM.iter().for_each(|path| rule("allow file-read*", Path::new(path)));
    sandbox.read_only.iter().for_each(|path| rule("allow file-read*", path));
    rule("allow file-read*", directory);
    sandbox
        .writable
        .iter()
        .chain(&sandbox.caches)
        .for_each(|path| rule("allow file-read* file-write*", path));
    sandbox.hidden.iter().for_each(|path| rule("deny file-read* file-write*", path));
    text.push_str("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))\n");
    match (sandbox.network, &sandbox.gateway) {
        (Network::Open, _) => text.push_str("(allow network*)\n"),
        (Network::None | Network::AllowList, Some(gateway)) => {
            writeln!(text, "(allow network-outbound (remote tcp \"localhost:{}\"))", gateway.port)
                .expect("writing to a string cannot fail");
        }
        (Network::None | Network::AllowList, None) => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Gateway, Level};
    use super::*;

    #[test]
    fn a_profile_is_closed_but_for_what_the_policy_names() {
        let gateway = Gateway { socket: "/s".into(), port: 8080 };
        let sandbox = Sandbox::new(Level::Full, "/srv/ada")
            .writable("/srv/ada/a \"b\"")
            .hide("/srv/ada/.ssh")
            .gateway(gateway);
        let text = profile(&sandbox, Path::new("/srv/ada/c"));
        assert!(text.starts_with("(version 1)\n(deny default)\n"), "{text}");
        assert!(text.contains("(allow file-read* file-write* (subpath \"/srv/ada/a \\\"b\\\"\"))"), "{text}");
        assert!(text.contains("(deny file-read* file-write* (subpath \"/srv/ada/.ssh\"))"), "{text}");
        assert!(text.contains("localhost:8080") && !text.contains("(allow network*)"), "{text}");
        assert_eq!(wrapper(&sandbox, Path::new("/"))[1], "-p");
    }
}
