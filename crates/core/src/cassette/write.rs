//! A script as a file that reads back to the same script.
//!
//! Every text is quoted, and whatever a reader of YAML might take for more than a letter is escaped.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::budget::{Price, Pricing};
use crate::units::show_money;

use super::{Act, Cassette, Failure, Fault, Order, Scripted, Usage, When};

/// The text of a cassette: [`parse`](super::parse) gives back what was written.
pub fn write(cassette: &Cassette) -> String {
    let mut text = format!("cassette: 1\nwindow: {}\n", cassette.window);
    text += &price(cassette.pricing);
    text += &cassette.max_output.map(|most| format!("max_output: {most}\n")).unwrap_or_default();
    text += if cassette.turns.is_empty() { "turns: []\n" } else { "turns:\n" };
    cassette.turns.iter().for_each(|turn| text += &entry(turn));
    text + "otherwise: fail\n"
}

fn price(pricing: Pricing) -> String {
    match pricing {
        Pricing::Unknown => "price: unknown\n".to_owned(),
        Pricing::Known(price) if price.is_free() => String::new(),
        Pricing::Known(Price { input_micros, output_micros, .. }) => {
            let (input, output) = (show_money(input_micros), show_money(output_micros));
            format!("price: {{ input: {input}, output: {output} }}\n")
        }
    }
}

fn entry(turn: &Scripted) -> String {
    let mut lines: Vec<String> = place(&turn.when).into_iter().collect();
    if !turn.say.is_empty() {
        lines.push(format!("say: {}", quoted(&turn.say)));
    }
    let Usage { input, output } = turn.usage;
    if (input, output) != (0, 0) {
        lines.push(format!("usage: {{ input: {input}, output: {output} }}"));
    }
    match &turn.act {
        Act::Nothing => {}
        Act::Complete(answer) => lines.push(format!("complete: {}", object(answer))),
        Act::Fault(fault) => lines.push(format!("fault: {}", trouble(fault))),
        Act::Tools { calls, order } => {
            lines.push(if calls.is_empty() { "tools: []".to_owned() } else { "tools:".to_owned() });
            for call in calls {
                let mut arguments = call.arguments.clone();
                if let Some(exit) = call.expect_exit {
                    arguments.insert("expect_exit".to_owned(), Value::from(exit));
                }
                lines.push(format!("  - {}: {}", quoted(&call.tool), object(&arguments)));
            }
            if *order == Order::AtOnce {
                lines.push("parallel: true".to_owned());
            }
        }
    }
    if turn.optional {
        lines.push("optional: true".to_owned());
    }
    let marks = std::iter::once("  - ").chain(std::iter::repeat("    "));
    marks.zip(lines).fold(String::new(), |text, (mark, line)| text + mark + &line + "\n")
}

fn place(when: &When) -> Option<String> {
    let text = |name: &str, value: &Option<String>| {
        value.as_deref().map(|value| format!("{name}: {}", quoted(value)))
    };
    let visit = when.visit.map(|visit| format!("visit: {visit}"));
    let parts: Vec<String> =
        [text("workflow", &when.workflow), text("step", &when.step), visit].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("match: {{ {} }}", parts.join(", ")))
}

fn trouble(fault: &Fault) -> String {
    match fault {
        Fault::Stall { ms } => format!("{{ kind: stall, for: \"{ms}ms\" }}"),
        Fault::CutStream => "{ kind: cut_stream }".to_owned(),
        Fault::Garbage => "{ kind: garbage }".to_owned(),
        Fault::Repeat { times } => format!("{{ repeat: {times} }}"),
        Fault::Error(failure) => {
            let word = match failure {
                Failure::RateLimit => "rate_limit",
                Failure::Overloaded => "overloaded",
                Failure::UsageLimit => "usage_limit",
                Failure::Auth => "auth",
            };
            format!("{{ error: {word} }}")
        }
    }
}

fn object(fields: &Map<String, Value>) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}: {}", quoted(name), flow(value))).collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) => object(fields),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => quoted(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A text that any reader of YAML takes as it is.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            letter if is_plain(letter) => quoted.push(letter),
            letter if u32::from(letter) > 0xffff => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(letter));
            }
            letter => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Neither a control character nor one of the marks that end a line, turn it round or take no room.
fn is_plain(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{ffff}' | '\u{ad}' | '\u{61c}')
}
