//! What can go wrong with an agent. After any of these but a refusal its processes are dead.

use longhaul_exec::Outcome;

/// Why there is no turn, or no agent.
#[derive(Debug, thiserror::Error)]
pub enum HandsError {
    #[error(transparent)]
    Process(#[from] longhaul_exec::Error),

    #[error(
        "the agent speaks version {version} of its protocol, and we speak 1; install a release of it that does too"
    )]
    Version { version: u64 },

    #[error("the agent wants a person to log in first ({}); log in with the agent itself, or give it a provider", listed(.ways))]
    Login { ways: Vec<String> },

    /// It answered, and may be asked again.
    #[error("the agent refused `{method}`: {message} ({code}); try again, or try another agent")]
    Refused { method: &'static str, code: i64, message: String },

    #[error("the agent does not keep to its protocol: {problem}; try another release of it{}", quoted(.last_words))]
    Broken { problem: String, last_words: String },

    #[error("the agent sent a line of more than {limit} bytes; try another release of it{}", quoted(.last_words))]
    TooLong { limit: usize, last_words: String },

    #[error("the agent reads nothing of what it is sent; try another release of it{}", quoted(.last_words))]
    Deaf { last_words: String },

    #[error("the agent ended in the middle ({}){}", how(*.outcome), quoted(.last_words))]
    Ended { outcome: Outcome, last_words: String },

    #[error("the agent was silent for {ms} ms{}", quoted(.last_words))]
    Silent { ms: u64, last_words: String },

    #[error("the agent was stopped before it was ready")]
    Unwanted,
}

fn listed(ways: &[String]) -> String {
    if ways.is_empty() { "it does not say how".to_owned() } else { ways.join(", ") }
}

fn how(outcome: Outcome) -> String {
    match outcome {
        Outcome::Exited(code) => format!("exit status {code}"),
        Outcome::Signalled(signal) => format!("signal {signal}"),
        Outcome::TimedOut => "its time was over".to_owned(),
        Outcome::OutOfRoom => "the disk was almost full".to_owned(),
        Outcome::Stopped => "it closed its output and was ended".to_owned(),
    }
}

fn quoted(last_words: &str) -> String {
    let words = last_words.trim();
    if words.is_empty() { String::new() } else { format!("; its last words: {words}") }
}
