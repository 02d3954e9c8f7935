//! Texts without their escapes, so that a value is found however it was written down.
//!
//! The same letter has many spellings (`\u00e9`, `\u00E9`, `%C3%A9`, `%c3%a9`), and whoever writes mixes them at
//! will. So not the spellings of a value are listed, but the text is read as its reader would, and each byte
//! remembers where it came from.

/// A text as one of its readers would understand it.
#[derive(Debug)]
pub(super) struct Plain {
    pub(super) bytes: Vec<u8>,
    /// Where each byte stood in the text, and where the text ended.
    pub(super) places: Vec<usize>,
}

/// What an escape stands for, and how long it is.
struct Escape {
    letter: Vec<u8>,
    length: usize,
}

/// The readings of a text beside the literal one. JSON is looked through twice: what people paste into a field
/// is often JSON itself.
pub(super) fn readings(bytes: &[u8]) -> Vec<Plain> {
    let mut found: Vec<Plain> = Vec::new();
    if let Some(once) = read(bytes, b'\\', json_escape) {
        let twice = read(&once.bytes, b'\\', json_escape).map(|inner| inner.within(&once));
        found.push(once);
        found.extend(twice);
    }
    let mut in_urls: Vec<Plain> = read(bytes, b'%', percent_escape).into_iter().collect();
    for outer in &found {
        in_urls.extend(read(&outer.bytes, b'%', percent_escape).map(|inner| inner.within(outer)));
    }
    found.extend(in_urls);
    found
}

impl Plain {
    /// The places of a text that was read from another reading.
    fn within(mut self, outer: &Self) -> Self {
        self.places.iter_mut().for_each(|place| *place = outer.places[*place]);
        self
    }
}

/// `None` if there is no escape.
fn read(bytes: &[u8], mark: u8, escape: fn(&[u8]) -> Option<Escape>) -> Option<Plain> {
    let first = bytes.iter().position(|byte| *byte == mark)?;
    let mut plain = Plain { bytes: bytes[..first].to_vec(), places: (0..first).collect() };
    let mut at = first;
    let mut escapes = 0;
    while at < bytes.len() {
        let met = (bytes[at] == mark).then(|| escape(&bytes[at..])).flatten();
        if let Some(Escape { letter, length }) = met {
            escapes += 1;
            plain.places.extend(std::iter::repeat_n(at, letter.len()));
            plain.bytes.extend(letter);
            at += length;
        } else {
            plain.places.push(at);
            plain.bytes.push(bytes[at]);
            at += 1;
        }
    }
    plain.places.push(bytes.len());
    (escapes > 0).then_some(plain)
}

fn percent_escape(rest: &[u8]) -> Option<Escape> {
    let letter = u8::try_from(hexadecimal(rest.get(1..3)?)?).ok()?;
    Some(Escape { letter: vec![letter], length: 3 })
}

fn json_escape(rest: &[u8]) -> Option<Escape> {
    let short = |letter: u8| Some(Escape { letter: vec![letter], length: 2 });
    match rest.get(1)? {
        letter @ (b'"' | b'\\' | b'/') => short(*letter),
        b'b' => short(0x08),
        b'f' => short(0x0c),
        b'n' => short(b'\n'),
        b'r' => short(b'\r'),
        b't' => short(b'\t'),
        b'u' => unicode_escape(rest),
        _ => None,
    }
}

fn unicode_escape(rest: &[u8]) -> Option<Escape> {
    let unit = |rest: &[u8]| hexadecimal(rest.strip_prefix(b"\\u")?.get(..4)?);
    let first = unit(rest)?;
    let pair = || {
        let second = unit(rest.get(6..)?)?;
        char::decode_utf16([first, second]).next()?.ok().map(|letter| (letter, 12))
    };
    let (letter, length) = char::from_u32(first.into()).map(|letter| (letter, 6)).or_else(pair)?;
    Some(Escape { letter: letter.to_string().into_bytes(), length })
}

/// The value of up to four digits.
fn hexadecimal(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value * 16 + u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let readings = readings(text.as_bytes()).into_iter();
        readings.map(|plain| String::from_utf8_lossy(&plain.bytes).into_owned()).collect()
    }

    #[test]
    fn a_text_is_read_as_json_and_as_part_of_a_url() {
        assert_eq!(texts("plain"), [""; 0]);
        assert_eq!(texts("50% off"), [""; 0]);
        assert_eq!(texts(r"caf\u00e9 caf\u00C9 \ud83d\ude00 \n"), ["café cafÉ 😀 \n"]);
        assert_eq!(texts(r"\\u00e9"), [r"\u00e9", "é"]);
        assert_eq!(texts("%C3%a9%"), ["é%"]);
        assert_eq!(texts(r"\/%2f"), ["/%2f", r"\//", "//"]);
    }

    #[test]
    fn an_escape_that_is_none_stays_as_it_is() {
        for text in [r"\", r"\u12", r"\ud83d alone", r"\x", "%", "%4", "%zz", "%+1", r"\u+123"] {
            assert_eq!(texts(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_byte_knows_where_it_stood() {
        let [once, twice] = &readings(br"a\\u00e9b")[..] else { panic!("two readings") };
        assert_eq!(once.places, [0, 1, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(twice.places, [0, 1, 1, 8, 9]);
    }
}
