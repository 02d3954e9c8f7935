//! What a person hands in: typed, in a file (`@FILE`), or through standard input (`-`).

mod strict;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::CliError;

/// Nothing that a session takes comes near it; it keeps an endless input from filling the memory.
const MOST_BYTES: u64 = 64 << 20;

/// `TEXT`, `-` or `@FILE`.
pub(crate) fn text(what: &'static str, argument: &str) -> Result<String, CliError> {
    match argument.strip_prefix('@') {
        Some(path) => {
            let file = File::open(path).map_err(CliError::file("read", path))?;
            read(what, file)
        }
        None if argument == "-" => read(what, io::stdin().lock()),
        None => Ok(argument.to_owned()),
    }
}

/// `JSON`, `-` or `@FILE`.
pub(crate) fn json(what: &'static str, argument: &str) -> Result<Value, CliError> {
    let text = text(what, argument)?;
    strict::parse(&text).map_err(|error| CliError::BadInput {
        what,
        problem: format!(
            "it is not JSON that can be taken ({error}); write JSON, or name a file with `@FILE`"
        ),
    })
}

/// The same, for an object.
pub(crate) fn object(what: &'static str, argument: &str) -> Result<Map<String, Value>, CliError> {
    match json(what, argument)? {
        Value::Object(fields) => Ok(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let problem = "it is not a JSON object; write it as `{\"name\": value}`".to_owned();
            Err(CliError::BadInput { what, problem })
        }
    }
}

/// What an export is read from: a file, or `-` for standard input.
pub(crate) fn export(path: &Path) -> Result<Box<dyn BufRead>, CliError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(CliError::file("read", path))?;
    Ok(Box::new(BufReader::new(file)))
}

fn read(what: &'static str, source: impl Read) -> Result<String, CliError> {
    let bad = |problem: String| CliError::BadInput { what, problem };
    let mut bytes = Vec::new();
    let read = source.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| bad(format!("{error}; check the file")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(bad("it has more than 64 MB; shorten it".to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8 text; convert it first".to_owned()))
}
