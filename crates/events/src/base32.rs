//! Lower-case Crockford base 32: short ids without look-alike letters, safe in shells, paths and handles.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Writes bytes as base 32, most significant bit first, without padding.
pub fn encode_base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    let (mut pending, mut bits) = (0u32, 0u32);
    for &byte in bytes {
        pending = (pending << 8) | u32::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(pending >> bits) as usize & 31]));
        }
        pending &= (1 << bits) - 1;
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[(pending << (5 - bits)) as usize & 31]));
    }
    text
}

/// Reads what [`encode_base32`] wrote; `None` for any other text, so that each value has one spelling.
pub fn decode_base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut pending, mut bits) = (0u32, 0u32);
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|&known| known == letter)?;
        pending = (pending << 5) | u32::try_from(value).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((pending >> bits) & 0xff).ok()?);
            pending &= (1 << bits) - 1;
        }
    }
    (bits < 5 && pending == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_way_there_and_back() {
        for length in 0..24u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(73).wrapping_add(length)).collect();
            assert_eq!(decode_base32(&encode_base32(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn a_second_spelling_of_the_same_bytes_is_refused() {
        assert_eq!(encode_base32(&[0xff]), "zw");
        assert_eq!(decode_base32("zx"), None, "stray low bits");
        assert_eq!(decode_base32("ZW"), None, "upper case");
        assert_eq!(decode_base32("zw0"), None, "a letter too many");
    }
}
