//! The unit for systemd, as a user's own. Why it says what it says: `docs/decisions/0030-life-of-a-daemon.md`.

use std::fmt::Write as _;

use super::{Content, SUM};

pub(super) fn text(content: &Content<'_>) -> String {
    let mut environment = String::new();
    for (name, value) in &content.variables {
        let _ = writeln!(environment, "Environment={}", quoted(&format!("{name}={value}")));
    }
    // A dollar is a variable on a command line, and only there.
    let program = quoted(content.program).replace('$', "$$");
    format!(
        "# Written by `longhaul daemon install`; {SUM}\n\
         # Change it with `systemctl --user edit`. What is changed in this file is not written over.\n\
         \n\
         [Unit]\n\
         Description=Longhaul: takes tasks in and drives them\n\
         StartLimitIntervalSec=5min\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=notify\n\
         NotifyAccess=main\n\
         ExecStart={program} daemon run\n\
         {environment}\
         WorkingDirectory=/\n\
         # Runners outlive the daemon. It asks them to rest by itself when it is stopped, and not when it is replaced.\n\
         KillMode=process\n\
         TimeoutStartSec=3min\n\
         TimeoutStopSec=75s\n\
         Restart=on-failure\n\
         RestartSec=2s\n\
         # Used wrongly, refused, or another one serves: trying again changes nothing.\n\
         RestartPreventExitStatus=2 3 5\n\
         WatchdogSec=1min\n\
         # A command of an agent that takes too much memory is no reason to end the daemon.\n\
         OOMPolicy=continue\n\
         # Sandboxes need user namespaces, so nothing here may take those away.\n\
         NoNewPrivileges=yes\n\
         LimitCORE=0\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// A word that means itself to systemd.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{escaped}\"")
}
