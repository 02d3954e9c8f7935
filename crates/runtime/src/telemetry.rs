//! What Longhaul says about itself while it works: structured, on standard error, without secrets.

use std::io::{self, Write};
use std::sync::Arc;

use longhaul_core::scrub::Scrubber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Starts logging if anybody asked for it: `filter` is in the words of `LONGHAUL_LOG`, such as `debug` or
/// `longhaul_store=trace`. With `json`, a line is an object.
pub fn start_logging(filter: Option<&str>, format: LogFormat, scrubber: Arc<Scrubber>) {
    let Some(filter) = filter else { return };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(ScrubbedStderr(scrubber));
    // A second start in one process changes nothing.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

struct ScrubbedStderr(Arc<Scrubber>);

impl<'a> MakeWriter<'a> for ScrubbedStderr {
    type Writer = ScrubbedLine<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        ScrubbedLine(&self.0)
    }
}

struct ScrubbedLine<'a>(&'a Scrubber);

impl Write for ScrubbedLine<'_> {
    /// The formatter hands over whole lines, so a secret cannot be cut in two here.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(&self.0.bytes(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
