//! Serving: over standard input and output, or on a port.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_mcp::protocol::Token;
use longhaul_mcp::{HttpOptions, Longhaul, Profile};
use longhaul_runtime::{Error, gateway};

use crate::context::Context;
use crate::error::CliError;

/// Where a token for other machines is read from.
const TOKEN_VARIABLE: &str = "LONGHAUL_MCP_TOKEN";

#[derive(Debug, clap::Args)]
pub(crate) struct Serving {
    /// Listen on this address instead of standard input.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    http: Option<SocketAddr>,

    /// Who it is for: `outer` is an agent that a person drives, `leaf` one that works on a single session.
    #[arg(long, value_name = "PROFILE", default_value = "outer")]
    profile: ProfileName,

    /// The session that a `leaf` works on; the id may be shortened.
    #[arg(long, value_name = "ID", required_if_eq("profile", "leaf"))]
    session: Option<String>,

    /// Hand everything on to the gateway of the session that this runs in.
    #[arg(long, conflicts_with_all = ["http", "profile", "session", "allow_host"])]
    attach: bool,

    /// A name, beside `localhost`, under which clients reach this machine; may be repeated.
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileName {
    Outer,
    Leaf,
}

impl Serving {
    /// A leaf is for a session that is there: it would be no use to an agent to learn otherwise with its first answer.
    fn profile(&self, context: &Context) -> Result<Profile, CliError> {
        match (self.profile, &self.session) {
            (ProfileName::Outer, None) => Ok(Profile::Outer),
            (ProfileName::Outer, Some(_)) => Err(CliError::SessionWithoutLeaf),
            (ProfileName::Leaf, session) => {
                let text = session.as_deref().unwrap_or_default();
                let unknown = || Error::NoSuchSession(text.to_owned());
                let reader = context.system()?.reader()?.ok_or_else(unknown)?;
                Ok(Profile::Leaf(reader.find_session(text)?.id))
            }
        }
    }
}

/// An address and a port; what else people write is answered with what to write instead.
fn address(text: &str) -> Result<SocketAddr, String> {
    let unfit = |instead: &str| format!("it needs an address and a port; write `{instead}`");
    match text.parse() {
        Ok(address) => Ok(address),
        Err(_) => Err(match text.rsplit_once(':') {
            Some(("localhost" | "", port)) if port.parse::<u16>().is_ok() => {
                unfit(&format!("127.0.0.1:{port}"))
            }
            None if text.parse::<u16>().is_ok() => unfit(&format!("127.0.0.1:{text}")),
            Some(_) | None => unfit("127.0.0.1:7311"),
        }),
    }
}

pub(crate) fn run(context: &Context, args: &Serving) -> Result<ExitCode, CliError> {
    if args.attach {
        return attach();
    }
    let server = Longhaul::new(context.settings()?, args.profile(context)?);
    match args.http {
        None => longhaul_mcp::serve_stdio(server).map_err(CliError::Mcp)?,
        Some(address) => {
            let token = token(context, address)?;
            let options = HttpOptions { address, token, names: args.allow_host.clone() };
            let ready = |address| context.output.complain(&format!("listening on http://{address}/mcp"));
            let failed = |source| CliError::Listen { address, source };
            longhaul_mcp::serve_http(&server, options, ready).map_err(failed)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Knows nothing but the socket: inside of a sandbox there is no store and no home.
fn attach() -> Result<ExitCode, CliError> {
    let socket = gateway::socket_here(|name| std::env::var_os(name).map(PathBuf::from));
    let token = std::env::var(gateway::TOKEN_VARIABLE).ok();
    if !socket.exists() {
        return Err(CliError::NoGateway { socket });
    }
    longhaul_mcp::attach(&socket, token.as_deref()).map_err(CliError::Mcp)?;
    Ok(ExitCode::SUCCESS)
}

/// On loopback only this machine comes in, so a token is asked for there only if one was set.
fn token(context: &Context, address: SocketAddr) -> Result<Option<Token>, CliError> {
    if let Some(text) = std::env::var_os(TOKEN_VARIABLE).filter(|text| !text.is_empty()) {
        let token = text.to_str().and_then(Token::new);
        return token.map(Some).ok_or(CliError::WeakToken { name: TOKEN_VARIABLE });
    }
    if address.ip().is_loopback() {
        return Ok(None);
    }
    let token = Token::random();
    context.output.complain(&format!("clients need this token: {}", token.reveal()));
    Ok(Some(token))
}
