//! Which directories make up a system, where secrets lie in them, and where people keep their tools.

use std::path::{Path, PathBuf};

/// Bound read-only where they exist. Those that are links stay links.
pub const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store"];

/// Kept out even though they lie in system directories. Most are closed to all but the superuser anyway, but the
/// superuser may be who we are.
pub const SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/security/opasswd",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/docker",
    "/etc/containers/auth.json",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/ipsec.secrets",
    "/etc/NetworkManager/system-connections",
    "/etc/ppp/chap-secrets",
    "/etc/cryptsetup-keys.d",
    "/etc/credstore",
    "/etc/credstore.encrypted",
    "/etc/netrc",
    "/etc/msmtprc",
];

/// Where people keep keys and credentials in a home.
pub const HOME_SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".gitconfig",
    ".password-store",
    ".npmrc",
    ".pypirc",
    ".cargo/config.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".config/autostart",
    ".config/environment.d",
    ".config/gcloud",
    ".config/gh",
    ".config/git",
    ".config/hub",
    ".config/systemd",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".vault-token",
];

/// Where tools lie in a home, without the files beside them that hold credentials.
pub const TOOLS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/env",
    ".deno/bin",
    ".fnm",
    ".goenv",
    ".jenv",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nodenv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
];

/// The variables that programs need to find their tools and speak their language, and that hold no secret.
pub const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "COLORTERM",
    "COLUMNS",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "NVM_DIR",
    "PATH",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SHELL",
    "TERM",
    "TZ",
    "USER",
];

/// Where the socket of a gateway is inside, at level full.
pub const GATEWAY_SOCKET: &str = "/run/longhaul/gateway.sock";

/// The devices that every program may open.
#[cfg(target_os = "linux")]
pub(crate) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Of `/proc`, what tells of others and asks for no capability. The rest of it cannot be changed, as a whole.
#[cfg(target_os = "linux")]
pub(crate) const PROC_HIDDEN: &[&str] = &["/proc/key-users", "/proc/keys", "/proc/timer_list"];

/// The places of [`TOOLS`] in this home.
pub fn tools_in(home: &Path) -> Vec<PathBuf> {
    TOOLS.iter().map(|tool| home.join(tool)).collect()
}
