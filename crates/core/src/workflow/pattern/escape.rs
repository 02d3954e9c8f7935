//! What stands behind a backslash.

use regex_syntax::hir::ClassUnicode;

use super::class;
use super::node::Case;
use super::source::{Source, Syntax};

/// A set with a name, or one code point.
pub(super) enum Escaped {
    Set(ClassUnicode),
    CodePoint(u32),
}

/// Reads an escape that means the same inside of brackets and outside. The backslash is taken already.
pub(super) fn read(source: &mut Source, syntax: Syntax, case: Case) -> Result<Escaped, String> {
    let at = source.at;
    let Some(letter) = source.next() else {
        return Err(source.fault(at, r"a `\` stands at the end; write `\\` for the character itself"));
    };
    let set = |set: ClassUnicode| Ok(Escaped::Set(set));
    match letter {
        'd' => set(class::digits()),
        'D' => set(class::negated(class::digits())),
        'w' => set(class::words(case)),
        'W' => set(class::negated(class::words(case))),
        's' => set(class::spaces()),
        'S' => set(class::negated(class::spaces())),
        'p' | 'P' if syntax == Syntax::Unicode => {
            let named = property(source)?;
            set(if letter == 'P' { class::negated(class::folded(named, case)) } else { named })
        }
        _ => code_point(source, letter, syntax).map(Escaped::CodePoint),
    }
}

fn property(source: &mut Source) -> Result<ClassUnicode, String> {
    let at = source.at;
    let name = if source.take("{") { source.take_while(|letter| letter != '}') } else { String::new() };
    let closed = source.take("}");
    class::of_property(&name).filter(|_| closed).ok_or_else(|| {
        source.fault(at, r"this is not a property; write one such as `\p{L}` or `\p{Script=Greek}`")
    })
}

fn code_point(source: &mut Source, letter: char, syntax: Syntax) -> Result<u32, String> {
    let at = source.at - 1;
    let code =
        match letter {
            't' => '\t'.into(),
            'n' => '\n'.into(),
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => '\r'.into(),
            'c' => return control(source, syntax),
            'x' => match (source.take_hex(2), syntax) {
                (Some(code), _) => code,
                (None, Syntax::Lenient) => 'x'.into(),
                (None, Syntax::Unicode) => return Err(source.fault(at, r"`\x` wants two hexadecimal digits")),
            },
            'u' => return unicode(source, syntax),
            '0' if !source.peek().is_some_and(|next| next.is_ascii_digit()) => 0,
            '0'..='7' if syntax == Syntax::Lenient => octal(source, letter),
            _ if syntax == Syntax::Lenient => letter.into(),
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/'
            | '-' => letter.into(),
            _ => {
                return Err(source
                    .fault(at, &format!(r"`\{letter}` means nothing with the flag `u`; leave out the `\`")));
            }
        };
    Ok(code)
}

/// Without a letter behind it, `\c` is a backslash and a `c` of its own.
fn control(source: &mut Source, syntax: Syntax) -> Result<u32, String> {
    match (source.peek().filter(char::is_ascii_alphabetic), syntax) {
        (Some(letter), _) => {
            source.at += 1;
            Ok(u32::from(letter) % 32)
        }
        (None, Syntax::Lenient) => {
            source.at -= 1;
            Ok('\\'.into())
        }
        (None, Syntax::Unicode) => Err(source.fault(source.at, r"`\c` wants a letter behind it")),
    }
}

fn octal(source: &mut Source, first: char) -> u32 {
    let mut value = first.to_digit(8).unwrap_or_default();
    let most = if first <= '3' { 2 } else { 1 };
    for _ in 0..most {
        let Some(digit) = source.peek().and_then(|letter| letter.to_digit(8)) else { break };
        value = value * 8 + digit;
        source.at += 1;
    }
    value
}

fn unicode(source: &mut Source, syntax: Syntax) -> Result<u32, String> {
    let at = source.at;
    if syntax == Syntax::Unicode && source.take("{") {
        let digits = source.take_while(|letter| letter.is_ascii_hexdigit());
        let code = u32::from_str_radix(&digits, 16).ok().filter(|code| *code <= 0x10_FFFF);
        return code
            .filter(|_| source.take("}"))
            .ok_or_else(|| source.fault(at, r"`\u{…}` wants a code point up to 10FFFF"));
    }
    match (source.take_hex(4), syntax) {
        (Some(high @ 0xD800..=0xDBFF), _) => Ok(pair(source, high)),
        (Some(code), _) => Ok(code),
        (None, Syntax::Lenient) => Ok('u'.into()),
        (None, Syntax::Unicode) => Err(source.fault(at, r"`\u` wants four hexadecimal digits")),
    }
}

/// Two halves make one character. Text is read by characters here, with and without the flag `u`.
fn pair(source: &mut Source, high: u32) -> u32 {
    let start = source.at;
    if source.take("\\u")
        && let Some(low @ 0xDC00..=0xDFFF) = source.take_hex(4)
    {
        return 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    source.at = start;
    high
}
