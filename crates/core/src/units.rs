//! Durations, sizes, counts and money as people write them: `90s`, `3d`; `64k`, `20G`; `1.50usd`.

/// A text that is not of its unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}; write a whole number and a unit, such as {examples}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    examples: &'static str,
}

impl UnitError {
    /// What is wrong, and what to do about it, for those who show the two apart.
    pub fn parts(&self) -> (String, String) {
        (
            format!("`{}` is not a {}", self.text, self.what),
            format!("write a whole number and a unit, such as {}", self.examples),
        )
    }
}

/// Reads `250ms`, `90s`, `10m`, `8h`, `3d` or `2w`, in milliseconds.
pub fn parse_duration_ms(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.to_owned(), what: "duration", examples: "`90s`, `10m`, `3d`" };
    let (number, unit) = split(text).ok_or_else(error)?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return Err(error()),
    };
    number.checked_mul(factor).ok_or_else(error)
}

/// Reads `512`, `64k`, `2M`, `20G` or `1T` (powers of 1024), in bytes.
pub fn parse_size_bytes(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.to_owned(), what: "size", examples: "`64k`, `2M`, `20G`" };
    let (number, unit) = split(text).ok_or_else(error)?;
    let shift = match unit {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(error()),
    };
    number.checked_mul(1 << shift).ok_or_else(error)
}

/// Reads `900`, `64k` or `2M` (powers of ten): tokens and other things that are counted, not stored.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.to_owned(), what: "count", examples: "`900`, `64k`, `2M`" };
    let (number, unit) = split(text).ok_or_else(error)?;
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1000,
        "M" => 1_000_000,
        _ => return Err(error()),
    };
    number.checked_mul(factor).ok_or_else(error)
}

/// Reads `3usd` or `1.50usd`, in millionths of a dollar.
pub fn parse_money_micros(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.to_owned(), what: "sum of money", examples: "`3usd`, `1.50usd`" };
    let (whole, rest) = split(text).ok_or_else(error)?;
    let (cents, unit) = match rest.strip_prefix('.') {
        Some(after) => after.split_at(after.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("0", rest),
    };
    if unit != "usd" || cents.is_empty() || cents.len() > 6 {
        return Err(error());
    }
    let millionths: u64 = format!("{cents:0<6}").parse().map_err(|_| error())?;
    whole.checked_mul(1_000_000).and_then(|micros| micros.checked_add(millionths)).ok_or_else(error)
}

/// A size in the largest unit that keeps it readable: `1.4 MB`.
pub fn show_size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    for (name, unit) in UNITS {
        if bytes >= unit {
            return format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit);
        }
    }
    format!("{bytes} bytes")
}

/// A count in the largest unit that loses nothing: `50k`, `48200`, `2M`.
pub fn show_count(number: u64) -> String {
    match number {
        0 => "0".to_owned(),
        _ if number.is_multiple_of(1_000_000) => format!("{}M", number / 1_000_000),
        _ if number.is_multiple_of(1000) => format!("{}k", number / 1000),
        _ => number.to_string(),
    }
}

/// Money, to the cent where that loses nothing: `2usd`, `1.50usd`, `0.000120usd`.
pub fn show_money(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    match rest {
        0 => format!("{whole}usd"),
        _ if rest.is_multiple_of(10_000) => format!("{whole}.{:02}usd", rest / 10_000),
        _ => format!("{whole}.{rest:06}usd"),
    }
}

/// A duration in the largest unit that loses nothing: `10m`, `90s`, `1500ms`.
pub fn show_duration(ms: u64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let fitting = UNITS.into_iter().find(|(_, unit)| ms > 0 && ms.is_multiple_of(*unit));
    fitting.map_or_else(|| format!("{ms}ms"), |(name, unit)| format!("{}{name}", ms / unit))
}

fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        assert_eq!(parse_duration_ms("90d"), Ok(7_776_000_000));
        assert_eq!(parse_duration_ms("250ms"), Ok(250));
    }

    #[test]
    fn sizes_are_read_and_shown() {
        assert_eq!(parse_size_bytes("20G"), Ok(21_474_836_480));
        assert_eq!(parse_size_bytes("512"), Ok(512));
        assert_eq!(
            [show_size(512), show_size(1536), show_size(20 << 30)],
            ["512 bytes", "1.5 KB", "20.0 GB"]
        );
    }

    #[test]
    fn counts_and_money_are_read() {
        assert_eq!(
            [parse_count("900"), parse_count("64k"), parse_count("2M")],
            [Ok(900), Ok(64_000), Ok(2_000_000)]
        );
        assert_eq!(
            [parse_money_micros("3usd"), parse_money_micros("1.5usd")],
            [Ok(3_000_000), Ok(1_500_000)]
        );
        assert_eq!(parse_money_micros("0.000001usd"), Ok(1));
        for wrong in ["", "3", "3.usd", "3 usd", "3eur", "0.0000001usd", "-1usd", "99999999999999999999usd"] {
            assert!(parse_money_micros(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "k", "64 k", "1.5k", "64KB", "18446744073709551615M"] {
            assert!(parse_count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for number in [0, 1, 999, 1000, 48_200, 50_000, 2_000_000] {
            assert_eq!(parse_count(&show_count(number)), Ok(number));
        }
        for micros in [0, 1, 10_000, 1_500_000, 2_000_000, 1_000_001] {
            assert_eq!(parse_money_micros(&show_money(micros)), Ok(micros));
        }
        for ms in [0, 1, 1500, 90_000, 600_000, 3_600_000, 7_200_000] {
            assert_eq!(parse_duration_ms(&show_duration(ms)), Ok(ms));
        }
        assert_eq!([show_money(1_500_000), show_count(50_000)], ["1.50usd", "50k"]);
    }

    #[test]
    fn anything_else_is_refused_with_examples() {
        for wrong in ["", "d", "3", "3 d", "-1d", "1.5h", "99999999999999999999s", "18446744073709551615w"] {
            assert!(parse_duration_ms(wrong).is_err(), "{wrong}");
        }
        assert!(parse_size_bytes("3q").unwrap_err().to_string().contains("`64k`"));
        assert!(parse_size_bytes("18446744073709551615T").is_err());
    }
}
