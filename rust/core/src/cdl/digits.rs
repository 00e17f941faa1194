//! One number as text: integers, and floats as C's `%.<digits>g` rounds and writes them.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions and exponents are bounded by the 64 bits of one number"
)]

use std::fmt::Write;

/// Most significant digits that the quick way gives; 10^18 fits into 64 bits, with a digit to spare.
const QUICK: usize = 17;

/// Powers of ten that fit into 128 bits.
static TENS: [u128; 39] = {
    let mut tens = [1_u128; 39];
    let mut i = 1;
    while i < 39 {
        tens[i] = tens[i - 1] * 10;
        i += 1;
    }
    tens
};

static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut i = 0_u8;
    while i < 100 {
        pairs[i as usize] = [b'0' + i / 10, b'0' + i % 10];
        i += 1;
    }
    pairs
};

/// Append an integer without a sign.
pub fn unsigned(out: &mut Vec<u8>, mut value: u64) {
    let mut text = [0_u8; 20];
    let mut at = text.len();
    while value >= 100 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    if value >= 10 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
    } else {
        at -= 1;
        text[at] = b'0' + (value % 10) as u8;
    }
    out.extend_from_slice(&text[at..]);
}

/// Append an integer.
pub fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    unsigned(out, value.unsigned_abs());
}

/// Append a finite number as C's `%.<digits>g` writes it.
pub fn general(out: &mut Vec<u8>, value: f64, digits: usize) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let digits = digits.max(1);
    if value == 0.0 {
        out.push(b'0');
    } else if let Some((all, ten)) = quick(value, digits) {
        let mut text = [b'0'; 20];
        let mut at = digits;
        let mut rest = all;
        while at >= 2 {
            at -= 2;
            text[at..at + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
            rest /= 100;
        }
        if at == 1 {
            text[0] = b'0' + (rest % 10) as u8;
        }
        lay_out(out, &text[..digits], ten);
    } else {
        slow(out, value.abs(), digits);
    }
}

/// The first `digits` digits of a number, correctly rounded, and the power of ten of the first one.
///
/// A number is `m * 2^e`; what is wanted is `m * 2^e * 10^k`, rounded. Where that fits into 128 bits it is exact; `None`
/// where it does not.
fn quick(value: f64, digits: usize) -> Option<(u64, i32)> {
    if digits > QUICK {
        return None;
    }
    let bits = value.to_bits();
    let stored = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (m, e) = if stored == 0 { (fraction, -1074) } else { (fraction | 1 << 52, stored - 1075) };
    let zeros = m.trailing_zeros();
    let (m, e) = (m >> zeros, e + zeros.cast_signed());
    let log2 = e + 63 - m.leading_zeros().cast_signed();
    let mut ten = (log2 * 78_913) >> 18; // at most one less than the logarithm to the base ten
    let k = i32::try_from(digits).ok()? - 1 - ten;
    let (mut q, mut above) = if k >= 0 { times(m, e, k.cast_unsigned())? } else { over(m, e, k.unsigned_abs())? };
    if u128::from(q) >= TENS[digits] {
        // One digit too many: the last one decides, and what was below it only breaks the tie.
        let last = q % 10;
        above = match last.cmp(&5) {
            Side::Equal if above == Exact::Zero => Exact::Half,
            Side::Equal | Side::Greater => Exact::Above,
            Side::Less => Exact::Below,
        };
        q /= 10;
        ten += 1;
    }
    if above == Exact::Above || (above == Exact::Half && q % 2 == 1) {
        q += 1;
        if u128::from(q) == TENS[digits] {
            q /= 10;
            ten += 1;
        }
    }
    Some((q, ten))
}

use std::cmp::Ordering as Side;

/// What was cut off, against half of the last digit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exact {
    Zero,
    Below,
    Half,
    Above,
}

impl Exact {
    fn of(rest: u128, half: u128) -> Self {
        match rest.cmp(&half) {
            _ if rest == 0 => Self::Zero,
            Side::Less => Self::Below,
            Side::Equal => Self::Half,
            Side::Greater => Self::Above,
        }
    }
}

/// `m * 2^e * 10^k`, cut off to an integer.
fn times(m: u64, e: i32, k: u32) -> Option<(u64, Exact)> {
    let product = u128::from(m).checked_mul(*TENS.get(k as usize)?)?;
    if e >= 0 {
        let shifted = (product.leading_zeros() >= e.cast_unsigned()).then(|| product << e)?;
        return Some((u64::try_from(shifted).ok()?, Exact::Zero));
    }
    let down = e.unsigned_abs();
    if down > 127 {
        return None;
    }
    let rest = product & ((1 << down) - 1);
    Some((u64::try_from(product >> down).ok()?, Exact::of(rest, 1 << (down - 1))))
}

/// `m * 2^e / 10^k`, cut off to an integer.
fn over(m: u64, e: i32, k: u32) -> Option<(u64, Exact)> {
    let (mut above, mut below) = (u128::from(m), *TENS.get(k as usize)?);
    let (side, by) = if e >= 0 { (&mut above, e.cast_unsigned()) } else { (&mut below, e.unsigned_abs()) };
    if side.leading_zeros() < by {
        return None;
    }
    *side <<= by;
    let (q, rest) = (above / below, above % below);
    // Twice the rest may have 129 bits, half of an odd divisor is no integer: compare the rest with what is left of it.
    let exact = match rest.cmp(&(below - rest)) {
        _ if rest == 0 => Exact::Zero,
        Side::Less => Exact::Below,
        Side::Equal => Exact::Half,
        Side::Greater => Exact::Above,
    };
    Some((u64::try_from(q).ok()?, exact))
}

/// A text of at most 64 bytes, without an allocation.
struct Short {
    text: [u8; 64],
    len: usize,
}

impl Write for Short {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        let room = self.text.get_mut(self.len..self.len + part.len()).ok_or(std::fmt::Error)?;
        room.copy_from_slice(part.as_bytes());
        self.len += part.len();
        Ok(())
    }
}

/// As the standard library gives it, for all that the quick way does not reach.
fn slow(out: &mut Vec<u8>, value: f64, digits: usize) {
    let digits = digits.min(40);
    let mut text = Short { text: [0; 64], len: 0 };
    // One digit, a point, the others, `e`, the power: 40 digits leave room for more than any power needs.
    let _ = write!(text, "{value:.*e}", digits - 1);
    let text = &text.text[..text.len];
    let cut = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
    let (head, tail) = text.split_at(cut);
    let ten = std::str::from_utf8(tail.get(1..).unwrap_or_default()).ok().and_then(|text| text.parse().ok());
    let plain: Vec<u8> = head.iter().copied().filter(u8::is_ascii_digit).collect();
    lay_out(out, &plain, ten.unwrap_or(0));
}

/// Write digits, the first of which counts `10^ten`, as `%g` does: plainly or with an exponent, without zeros at the end.
fn lay_out(out: &mut Vec<u8>, digits: &[u8], ten: i32) {
    let used = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |at| at + 1);
    let (kept, places) = (&digits[..used.min(digits.len())], digits.len());
    if ten < -4 || ten >= i32::try_from(places).unwrap_or(i32::MAX) {
        out.extend_from_slice(&kept[..1]);
        if used > 1 {
            out.push(b'.');
            out.extend_from_slice(&kept[1..]);
        }
        out.extend_from_slice(if ten < 0 { b"e-" } else { b"e+" });
        let power = ten.unsigned_abs();
        if power < 10 {
            out.push(b'0');
        }
        unsigned(out, u64::from(power));
    } else if ten < 0 {
        out.extend_from_slice(b"0.");
        out.extend_from_slice(&b"000"[..(ten.unsigned_abs() as usize) - 1]);
        out.extend_from_slice(kept);
    } else {
        let whole = ten.unsigned_abs() as usize + 1;
        out.extend_from_slice(&digits[..whole]);
        if used > whole {
            out.push(b'.');
            out.extend_from_slice(&kept[whole..]);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(value: f64, digits: usize) -> String {
        let mut out = Vec::new();
        general(&mut out, value, digits);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_printf_writes() {
        for (value, digits, wanted) in [
            (0.0, 7, "0"),
            (-0.0, 7, "-0"),
            (1.0, 7, "1"),
            (100_000.0, 7, "100000"),
            (1_234_567.0, 7, "1234567"),
            (12_345_678.0, 7, "1.234568e+07"),
            (0.1, 15, "0.1"),
            (0.0001, 15, "0.0001"),
            (0.000_012_5, 15, "1.25e-05"),
            (9.999_999_9, 7, "10"),
            (999_999.96, 7, "1000000"),
            (9_999_999.5, 7, "1e+07"),
            (2.5, 1, "2"),
            (3.5, 1, "4"),
            (0.125, 2, "0.12"),
            (f64::MAX, 15, "1.79769313486232e+308"),
            (f64::MAX, 17, "1.7976931348623157e+308"),
            (f64::MIN_POSITIVE, 15, "2.2250738585072e-308"),
            (5e-324, 15, "4.94065645841247e-324"),
            (5e-324, 20, "4.9406564584124654418e-324"),
            (1e22, 15, "1e+22"),
            (1e100, 15, "1e+100"),
            (f64::from(9.969_21e36_f32), 7, "9.96921e+36"),
            (f64::from(f32::MAX), 7, "3.402823e+38"),
            (f64::from(1e-45_f32), 7, "1.401298e-45"),
        ] {
            assert_eq!(text(value, digits), wanted, "{value:e} to {digits}");
        }
    }

    #[test]
    fn the_quick_way_and_the_slow_one_agree() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for i in 0..200_000_u32 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let value = match i % 4 {
                0 => f64::from_bits(state & !(1 << 63)),
                1 => f64::from(f32::from_bits((state >> 33) as u32)),
                2 => (state >> 40) as f64 / 1000.0,
                _ => (state >> 44) as f64 / 4096.0,
            };
            if !value.is_finite() || value == 0.0 {
                continue;
            }
            for digits in [1, 3, 7, 9, 15, 17] {
                let mut out = Vec::new();
                slow(&mut out, value, digits);
                assert_eq!(text(value, digits).as_bytes(), out, "{value:e} to {digits}");
            }
        }
    }

    #[test]
    fn integers() {
        for value in [0, 1, 9, 10, 99, 100, -1, -128, 65535, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            signed(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
        let mut out = Vec::new();
        unsigned(&mut out, u64::MAX);
        assert_eq!(String::from_utf8(out).unwrap(), u64::MAX.to_string());
    }
}
