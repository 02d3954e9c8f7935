//! Serving: over standard input and output, or on a port.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_mcp::protocol::Token;
use longhaul_mcp::{HttpOptions, Longhaul, Profile};
use longhaul_runtime::types::SessionId;

use crate::context::Context;
use crate::error::CliError;

/// Where a token for other machines is read from.
const TOKEN_VARIABLE: &str = "LONGHAUL_MCP_TOKEN";

#[derive(Debug, clap::Args)]
pub(crate) struct Serving {
    /// Listen on this address instead of standard input.
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Who it is for: `outer` is an agent that a person drives, `leaf` one that works on a single session.
    #[arg(long, value_name = "PROFILE", default_value = "outer")]
    profile: ProfileName,

    /// The session that a `leaf` works on.
    #[arg(long, value_name = "ID", required_if_eq("profile", "leaf"))]
    session: Option<SessionId>,

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
    fn profile(&self) -> Profile {
        match (self.profile, self.session) {
            (ProfileName::Leaf, Some(session)) => Profile::Leaf(session),
            (ProfileName::Outer | ProfileName::Leaf, _) => Profile::Outer,
        }
    }
}

pub(crate) fn run(context: &Context, args: &Serving) -> Result<ExitCode, CliError> {
    let server = Longhaul::new(context.settings()?, args.profile());
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
