//! Plain numbers out of a list of CDL values, at the speed of the text: what is anything else is left to the caller.
//!
//! A number has an optional sign and, if it is an integer, an optional suffix for its type (`b`, `s`, `l`, `ll`, each with
//! or without a `u`); a floating-point number may end in `f`, `d` or `l`. `_` stands for the fill value. Between numbers
//! there are commas, blanks and comments. Octal and hexadecimal numbers, and what does not fit its suffix, stop the scan.

/// A type of numbers to convert constants to, as C does; the flag says that the value could not be kept.
pub trait Number: Copy + Default {
    /// An integer constant.
    fn of_int(value: i128) -> (Self, bool);
    /// A double constant.
    fn of_double(value: f64) -> (Self, bool);
    /// A float constant.
    fn of_float(value: f32) -> (Self, bool) {
        Self::of_double(f64::from(value))
    }
}

macro_rules! integer {
    ($type:ty, $unsigned:ty, $signed:ty) => {
        impl Number for $type {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "wrapping is what C does")]
            fn of_int(value: i128) -> (Self, bool) {
                // 255 for a byte, and -1 for an unsigned one, mean bit patterns by tradition.
                let fits = value >= i128::from(<$signed>::MIN) && value <= i128::from(<$unsigned>::MAX);
                (value as $type, !fits)
            }
            #[allow(clippy::cast_possible_truncation, reason = "saturates, and is then wrapped as C does")]
            fn of_double(value: f64) -> (Self, bool) {
                let (kept, misfit) = Self::of_int(value as i128);
                (kept, misfit || value.fract() != 0.0 || !value.is_finite())
            }
        }
    };
}

integer!(i8, u8, i8);
integer!(u8, u8, i8);
integer!(i16, u16, i16);
integer!(u16, u16, i16);
integer!(i32, u32, i32);
integer!(u32, u32, i32);
integer!(i64, u64, i64);
integer!(u64, u64, i64);

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "rounding is what C does")]
impl Number for f32 {
    fn of_int(value: i128) -> (Self, bool) {
        (value as f32, false)
    }
    fn of_double(value: f64) -> (Self, bool) {
        let kept = value as f32;
        (kept, value.is_finite() && kept.is_infinite())
    }
    fn of_float(value: f32) -> (Self, bool) {
        (value, false)
    }
}

#[allow(clippy::cast_precision_loss, reason = "rounding is what C does")]
impl Number for f64 {
    fn of_int(value: i128) -> (Self, bool) {
        (value as f64, false)
    }
    fn of_double(value: f64) -> (Self, bool) {
        (value, false)
    }
}

/// Numbers that stood next to each other.
pub struct Run<T> {
    /// Their values; anything where the fill value stands.
    pub values: Vec<T>,
    /// Where in `values` the fill value stands.
    pub fills: Vec<u64>,
    /// Where in the text the first number is whose value could not be kept.
    pub misfit: Option<usize>,
    /// Where in the text the last number ends; where the scan began if there is none.
    pub end: usize,
}

enum Constant {
    Fill,
    Int(i128),
    Double(f64),
    Float(f32),
}

/// Read numbers from a place in a text on, until something else comes.
#[must_use]
pub fn numbers<T: Number>(text: &[u8], start: usize) -> Run<T> {
    let mut run = Run { values: Vec::new(), fills: Vec::new(), misfit: None, end: start };
    let mut at = blank(text, start);
    while let Some((constant, end)) = constant(text, at) {
        let (value, misfit) = match constant {
            Constant::Fill => {
                run.fills.push(run.values.len() as u64);
                (T::default(), false)
            }
            Constant::Int(value) => T::of_int(value),
            Constant::Double(value) => T::of_double(value),
            Constant::Float(value) => T::of_float(value),
        };
        if misfit && run.misfit.is_none() {
            run.misfit = Some(at);
        }
        run.values.push(value);
        run.end = end;
        let comma = blank(text, end);
        if text.get(comma) != Some(&b',') {
            break;
        }
        at = blank(text, comma.saturating_add(1));
    }
    run
}

/// Where blanks and comments end; a comment without an end is not skipped.
fn blank(text: &[u8], mut at: usize) -> usize {
    loop {
        match text.get(at) {
            Some(b' ' | b'\n' | b'\t' | b'\r' | b'\x0c') => at = at.saturating_add(1),
            Some(b'/') => {
                let inside = at.saturating_add(2);
                let rest = text.get(inside..).unwrap_or_default();
                match text.get(at.saturating_add(1)) {
                    Some(b'/') => {
                        at = memchr::memchr(b'\n', rest).map_or(text.len(), |found| inside.saturating_add(found));
                    }
                    Some(b'*') => match memchr::memmem::find(rest, b"*/") {
                        Some(found) => at = inside.saturating_add(found).saturating_add(2),
                        None => return at,
                    },
                    _ => return at,
                }
            }
            _ => return at,
        }
    }
}

/// The constant at a place and where it ends, if it is one of the plain ones.
fn constant(text: &[u8], start: usize) -> Option<(Constant, usize)> {
    let rest = text.get(start..)?;
    let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
    let word = rest.get(..length)?;
    match rest.get(length) {
        None | Some(b' ' | b'\n' | b'\t' | b'\r' | b'\x0c' | b',' | b';' | b'}' | b'/') => {}
        Some(_) => return None,
    }
    let found = if word == b"_" { Constant::Fill } else { plain(word).or_else(|| named(word))? };
    Some((found, start.saturating_add(length)))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}

fn plain(word: &[u8]) -> Option<Constant> {
    let unsigned = word.strip_prefix(b"-").or_else(|| word.strip_prefix(b"+")).unwrap_or(word);
    let count = unsigned.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(unsigned.len());
    let (digits, tail) = unsigned.split_at_checked(count)?;
    if tail.first().is_none_or(|byte| matches!(byte, b'b' | b'B' | b's' | b'S' | b'l' | b'L' | b'u' | b'U')) {
        return integer(digits, tail, word.first() == Some(&b'-')).map(Constant::Int);
    }
    let (number, suffix) = match word.split_last()? {
        (last @ (b'f' | b'F' | b'd' | b'D' | b'l' | b'L'), number) => (number, *last),
        _ => (word, b'd'),
    };
    if !number.last()?.is_ascii_digit() && number.last() != Some(&b'.') {
        return None;
    }
    let number = std::str::from_utf8(number).ok()?;
    if matches!(suffix, b'f' | b'F') {
        return number.parse().ok().map(Constant::Float);
    }
    number.parse().ok().map(Constant::Double)
}

/// A decimal integer that fits its suffix.
fn integer(digits: &[u8], suffix: &[u8], negative: bool) -> Option<i128> {
    if digits.is_empty() || digits.len() > 20 || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    let size =
        digits.iter().fold(0i128, |sum, digit| sum.wrapping_mul(10).wrapping_add(i128::from(digit.wrapping_sub(b'0'))));
    let value = if negative { size.wrapping_neg() } else { size };
    let (low, high) = match suffix.to_ascii_lowercase().as_slice() {
        b"" => (i128::from(i64::MIN), i128::from(u64::MAX)),
        b"b" => (i128::from(i8::MIN), i128::from(i8::MAX)),
        b"s" => (i128::from(i16::MIN), i128::from(i16::MAX)),
        b"l" => (i128::from(i32::MIN), i128::from(i32::MAX)),
        b"ll" => (i128::from(i64::MIN), i128::from(i64::MAX)),
        b"ub" | b"bu" => (0, i128::from(u8::MAX)),
        b"us" | b"su" => (0, i128::from(u16::MAX)),
        b"u" | b"ul" | b"lu" => (0, i128::from(u32::MAX)),
        b"ull" | b"llu" => (0, i128::from(u64::MAX)),
        _ => return None,
    };
    let signed_unsigned = negative && low == 0;
    (value >= low && value <= high && !signed_unsigned).then_some(value)
}

fn named(word: &[u8]) -> Option<Constant> {
    let (sign, name) = match word.split_first()? {
        (b'-', name) => (-1.0f32, name),
        (b'+', name) => (1.0, name),
        _ => (1.0, word),
    };
    Some(match name {
        b"NaN" | b"nan" => Constant::Double(f64::NAN),
        b"NaNf" | b"nanf" => Constant::Float(f32::NAN),
        b"Infinity" => Constant::Double(f64::from(sign) * f64::INFINITY),
        b"Infinityf" | b"Inff" => Constant::Float(sign * f32::INFINITY),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_form_are_read() {
        let run = numbers::<f64>(b" 1, -2b,3.5f ,.5,1e3, _, // note\n 7us,/* 8, */ NaN, -Infinity ;", 0);
        let seen: Vec<String> = run.values.iter().map(f64::to_string).collect();
        assert_eq!(seen, ["1", "-2", "3.5", "0.5", "1000", "0", "7", "NaN", "-inf"]);
        assert_eq!((run.fills, run.misfit), (vec![5], None));
    }

    #[test]
    fn anything_else_stops_the_scan_behind_the_last_number() {
        for (text, end) in
            [("1, \"a\"", 1), ("1, 2x", 1), ("1, 010", 1), ("1, 0x1", 1), ("{1}", 0), ("1 /* 2", 1), ("1, ", 1)]
        {
            assert_eq!(numbers::<i32>(text.as_bytes(), 0).end, end, "{text}");
        }
        for odd in [".", "-", "1e", "--1", "300b", "-1u", "1.5x", "99999999999999999999", "1_0", ""] {
            assert_eq!(numbers::<i32>(odd.as_bytes(), 0).values.len(), 0, "{odd}");
        }
    }

    #[test]
    fn values_that_cannot_be_kept_are_told_apart_from_bit_patterns() {
        let run = numbers::<i8>(b"255, -128, 300", 0);
        assert_eq!((run.values, run.misfit), (vec![-1, -128, 44], Some(11)));
        assert_eq!(numbers::<i32>(b"1.5", 0).misfit, Some(0));
        assert_eq!(numbers::<f32>(b"1e300", 0).misfit, Some(0));
        assert_eq!(numbers::<u64>(b"18446744073709551615", 0).values, [u64::MAX]);
    }
}
