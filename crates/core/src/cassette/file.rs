//! The file: YAML as people write it, into a script.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::shape;
use super::{
    Act, Cassette, DEFAULT_WINDOW, Error, Failure, Fault, Order, Scripted, ScriptedCall, Usage, When,
};
use crate::budget::{Price, Pricing};
use crate::units::{parse_count, parse_duration_ms, parse_money_micros};

/// The only form of the file there is so far.
const FORM: u32 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cassette: u32,
    window: Option<Count>,
    price: Option<PriceEntry>,
    max_output: Option<Count>,
    turns: Vec<Turn>,
    otherwise: Option<Otherwise>,
}

/// Per million tokens, or what it is to play an agent whose price nobody knows.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PriceEntry {
    Word(String),
    Known(KnownPrice),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownPrice {
    input: String,
    output: String,
}

/// A script never makes an answer up.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Otherwise {
    Fail,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Count {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default, rename = "match")]
    when: Where,
    #[serde(default)]
    say: String,
    #[serde(default)]
    usage: Tokens,
    tools: Option<Vec<BTreeMap<String, Map<String, Value>>>>,
    #[serde(default)]
    parallel: bool,
    complete: Option<Map<String, Value>>,
    fault: Option<Trouble>,
    #[serde(default)]
    optional: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Where {
    workflow: Option<String>,
    step: Option<String>,
    visit: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    input: Option<Count>,
    output: Option<Count>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trouble {
    kind: Option<Kind>,
    #[serde(rename = "for")]
    duration: Option<String>,
    error: Option<Refusal>,
    repeat: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Stall,
    CutStream,
    Error,
    Garbage,
    Repeat,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Refusal {
    RateLimit,
    Overloaded,
    UsageLimit,
    Auth,
}

/// Reads a cassette; `path` is for whoever reads the error.
pub fn parse(path: &str, text: &str) -> Result<Cassette, Error> {
    let error = |problem: String| Error { path: path.to_owned(), problem };
    let file: File = serde_saphyr::from_str(text).map_err(|problem| {
        error(shape::mistake(text).unwrap_or_else(|| format!("it cannot be read: {problem}")))
    })?;
    if file.cassette != FORM {
        return Err(error(format!(
            "`cassette: {}` is not known here; write `cassette: {FORM}`",
            file.cassette
        )));
    }
    let window = file.window.map_or(Ok(DEFAULT_WINDOW), Count::tokens).map_err(error)?;
    let max_output = file.max_output.map(Count::tokens).transpose().map_err(error)?;
    let pricing = pricing(file.price).map_err(error)?;
    match file.otherwise {
        None | Some(Otherwise::Fail) => {}
    }
    let turns = file.turns.into_iter().enumerate();
    let turns: Result<Vec<Scripted>, String> = turns
        .map(|(index, turn)| turn.scripted().map_err(|why| format!("turn {}: {why}", index + 1)))
        .collect();
    Ok(Cassette { window, pricing, max_output, turns: turns.map_err(error)? })
}

impl Count {
    fn tokens(self) -> Result<u64, String> {
        match self {
            Self::Number(tokens) => Ok(tokens),
            Self::Text(text) => parse_count(&text).map_err(|problem| problem.to_string()),
        }
    }
}

fn pricing(entry: Option<PriceEntry>) -> Result<Pricing, String> {
    let money = |text: &str| parse_money_micros(text).map_err(|problem| problem.to_string());
    match entry {
        None => Ok(Pricing::Known(Price::default())),
        Some(PriceEntry::Known(KnownPrice { input, output })) => {
            Ok(Pricing::Known(Price::plain(money(&input)?, money(&output)?)))
        }
        Some(PriceEntry::Word(word)) if word == "unknown" => Ok(Pricing::Unknown),
        Some(PriceEntry::Word(word)) => Err(format!(
            "`price: {word}` is no price; write `price: {{ input: 3usd, output: 15usd }}` (per million tokens), or `unknown`"
        )),
    }
}

impl Turn {
    fn scripted(self) -> Result<Scripted, String> {
        let Where { workflow, step, visit } = self.when;
        if visit == Some(0) {
            return Err("`visit` counts from 1".to_owned());
        }
        let order = if self.parallel { Order::AtOnce } else { Order::OneByOne };
        let act = match (self.tools, self.complete, self.fault) {
            (Some(calls), None, None) => {
                Act::Tools { calls: calls.into_iter().map(call).collect::<Result<_, _>>()?, order }
            }
            (None, Some(answer), None) => Act::Complete(answer),
            (None, None, Some(trouble)) => Act::Fault(trouble.fault()?),
            (None, None, None) if self.say.is_empty() => {
                return Err("it does nothing; give `say`, `tools`, `complete` or `fault`".to_owned());
            }
            (None, None, None) => Act::Nothing,
            _ => {
                return Err(
                    "`tools`, `complete` and `fault` exclude each other; make two turns of it".to_owned()
                );
            }
        };
        if order == Order::AtOnce && !matches!(act, Act::Tools { .. }) {
            return Err("`parallel` goes with `tools`".to_owned());
        }
        let tokens = |count: Option<Count>| count.map_or(Ok(0), Count::tokens);
        let usage = Usage { input: tokens(self.usage.input)?, output: tokens(self.usage.output)? };
        Ok(Scripted {
            when: When { workflow, step, visit },
            say: self.say,
            usage,
            act,
            optional: self.optional,
        })
    }
}

fn call(entry: BTreeMap<String, Map<String, Value>>) -> Result<ScriptedCall, String> {
    let mut entries = entry.into_iter();
    let (Some((tool, mut arguments)), None) = (entries.next(), entries.next()) else {
        return Err(
            "each entry of `tools` is one tool with its arguments, such as `- read: { path: a.txt }`"
                .to_owned(),
        );
    };
    let expect_exit = match arguments.shift_remove("expect_exit") {
        None => None,
        Some(value) => {
            let exit = value.as_i64().and_then(|exit| i32::try_from(exit).ok());
            Some(exit.ok_or_else(|| format!("`expect_exit` of `{tool}` is {value}; write a whole number"))?)
        }
    };
    Ok(ScriptedCall { tool, arguments, expect_exit })
}

impl Trouble {
    fn fault(self) -> Result<Fault, String> {
        let kind = match (self.kind, &self.error, self.repeat) {
            (Some(kind), _, _) => kind,
            (None, Some(_), None) => Kind::Error,
            (None, None, Some(_)) => Kind::Repeat,
            (None, Some(_), Some(_)) | (None, None, None) => {
                return Err("`fault` needs a `kind`: stall, cut_stream, error, garbage or repeat".to_owned());
            }
        };
        match (kind, self.duration, self.error, self.repeat) {
            (Kind::Stall, Some(text), None, None) => {
                Ok(Fault::Stall { ms: parse_duration_ms(&text).map_err(|problem| problem.to_string())? })
            }
            (Kind::CutStream, None, None, None) => Ok(Fault::CutStream),
            (Kind::Garbage, None, None, None) => Ok(Fault::Garbage),
            (Kind::Error, None, Some(refusal), None) => Ok(Fault::Error(refusal.failure())),
            (Kind::Repeat, None, None, Some(times)) if times > 0 => Ok(Fault::Repeat { times }),
            _ => Err("`fault` is one of `{ kind: stall, for: 30s }`, `{ kind: cut_stream }`, `{ kind: garbage }`, \
                      `{ error: rate_limit }` (or overloaded, usage_limit, auth) and `{ repeat: 3 }`"
                .to_owned()),
        }
    }
}

impl Refusal {
    const fn failure(self) -> Failure {
        match self {
            Self::RateLimit => Failure::RateLimit,
            Self::Overloaded => Failure::Overloaded,
            Self::UsageLimit => Failure::UsageLimit,
            Self::Auth => Failure::Auth,
        }
    }
}
